"""Metrics of a vehicle that holds its pose: tracking error and estimation error."""

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.tools.log.columns import column

WITHIN_95 = 3.841  # chi squared, one degree of freedom


def pose_metrics(log: Log, name: str, settle_s: float) -> dict[str, float]:
    """Returns errors against the truth from settle_s on: set-point minus truth, and estimate minus truth."""
    truth, state = f"/{name}/truth", f"/{name}/state"
    if state not in log.topics:  # a HIL controller does not record its set-points
        return {}
    count = min(len(log.topics[topic]) for topic in (truth, state))
    late = np.array(log.topics[truth].time_ns[:count]) > settle_s * 1e9

    def errors(part: str) -> tuple[np.ndarray, np.ndarray]:
        gaps = [
            column(log, state, f"{part}_{key}")[:count] - column(log, truth, key)[:count]
            for key in ("x_m", "y_m", "depth_m", "heading_rad")
        ]
        error_m = np.sqrt(gaps[0] ** 2 + gaps[1] ** 2 + gaps[2] ** 2)
        return error_m[late], np.angle(np.exp(1j * gaps[3]))[late]

    metrics: dict[str, float] = {}
    for key, part in (("track_error", "setpoint"), ("estimate_error", "is")):
        error_m, error_rad = errors(part)
        known = np.isfinite(error_m) & np.isfinite(error_rad)
        if not known.any():
            continue
        metrics |= {
            f"{key}_rms_m": float(np.sqrt(np.mean(error_m[known] ** 2))),
            f"{key}_max_m": float(error_m[known].max()),
            f"{key}_rms_deg": float(np.degrees(np.sqrt(np.mean(error_rad[known] ** 2)))),
        }
    for key in ("x", "y", "depth", "heading"):
        nis = column(log, state, f"is_{key}_nis")[:count][late]
        nis = nis[np.isfinite(nis)]
        if len(nis):
            metrics[f"{key}_innovations_within_95"] = float(np.mean(nis < WITHIN_95))
    return metrics
