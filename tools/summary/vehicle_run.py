"""Summary of an on-vehicle run, whose truth is unknown: readings, timing, lost devices."""

from typing import Any

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.tools.log.columns import column
from caudal.tools.summary.wire import percentiles


def is_vehicle_run(log: Log) -> bool:
    """Returns whether the log has no truth: written on a vehicle, or by the controller side of a HIL link."""
    return log.run.get("on") in ("pi", "hil:controller")


def summarise_vehicle_run(log: Log, name: str, rate_hz: int) -> dict[str, Any]:
    """Returns the metrics of an on-vehicle run by name."""
    loop = log.topics[f"/{name}/loop"]
    late_us = np.array(loop.column("late_us"))
    counts = log.topics[f"/{name}/counts"]
    return {
        "vehicle": log.run["vehicle"],
        "scenario": log.run["scenario"],
        "duration_s": len(loop) / rate_hz,
        "complete": log.complete,
        "armed_s": float(np.sum(column(log, f"/{name}/loop", "armed"))) / rate_hz,
        **percentiles("late", late_us),
        "worst_late_us": int(late_us.max()),
        "overruns": int(np.sum(late_us > 1_000_000 // rate_hz)),
        "failsafes": [event.details["row"] for event in log.events if event.kind == "failsafe"],
        "devices_lost": [event.details["device"] for event in log.events if event.kind == "device lost"],
        "readings_hz": {
            field: round(rate_hz * float(np.isfinite(column(log, f"/{name}/counts", field)).mean()), 2)
            for field in counts.fields
        },
    }
