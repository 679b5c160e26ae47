"""A vehicle as stations see it: its numbers, names and places, and the bridge to its loop."""

from pathlib import Path
from typing import Any

from caudal.onboard.core.loop import Loop
from caudal.onboard.station.bridge import Bridge, Rehearse, Snapshot
from caudal.onboard.station.coordinates import Places
from caudal.onboard.station.mission_items import Plan
from caudal.onboard.station.mode_numbers import AUTOPILOTS, ModeNumbers
from caudal.onboard.station.sticks import Sticks


class VehicleLink:
    """`origin` and `rehearse` come from whoever starts the run; all else is the vehicle's own."""

    def __init__(
        self,
        name: str,
        loop: Loop,
        settings: dict[str, Any],
        *,
        number: int = 0,
        origin: tuple[float, float] | None = None,
        logs: Path | None = None,
        rehearse: Rehearse | None = None,
    ) -> None:
        station = settings["station"]
        own = station["origin"]
        self.name = name
        self.system = station["system"] + number
        self.autopilot = AUTOPILOTS[station["autopilot"]]
        self.bytewise = station["autopilot"] != "ardupilot"  # whole numbers among parameters
        self.numbers = ModeNumbers(station["autopilot"])
        self.modes = list(loop.handler.modes)
        self.places = Places(
            (own["latitude_deg"], own["longitude_deg"]) if own else origin, station["bearing_deg"]
        )
        self.axes = station["axes"]
        self.rate_hz = loop.rate_hz
        self.rows = [(row.name, row.action, row.can_block_arming) for row in loop.monitor.rules]
        self.known = {key for key, sensor in settings["estimate"].items() if sensor}
        self.bridge = Bridge(loop, rehearse)
        self.rehearses = rehearse is not None
        self.params = loop.handler.params
        self.param_kinds = {param["name"]: param["kind"] for param in settings.get("params") or ()}
        self.plan = Plan()
        self.sticks = Sticks()
        self.logs = logs  # the folder that this run and earlier ones are recorded in

    @property
    def snapshot(self) -> Snapshot:
        return self.bridge.snapshot

    def time_ms(self, snapshot: Snapshot) -> int:
        return (snapshot.tick * 1000 // self.rate_hz) & 0xFFFFFFFF

    def active_rows(self, snapshot: Snapshot) -> list[tuple[str, int]]:
        """Failsafes that are active, with their actions; that nobody has armed it is no news."""
        return [
            (name, action)
            for bit, (name, action, bars) in enumerate(self.rows)
            if bars and snapshot.active >> bit & 1
        ]
