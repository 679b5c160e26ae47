"""How well a vehicle that holds any pose held it, and how well it knew where it was."""

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.tools.log.columns import column

WITHIN_95 = 3.841  # chi squared of one freedom


def pose_figures(log: Log, name: str, settle_s: float) -> dict[str, float]:
    """Against the truth, from settle_s on: where it was off what it wanted, and off what it believed."""
    truth, state = f"/{name}/truth", f"/{name}/state"
    if state not in log.topics:  # at the far end of a wire nobody wrote down what it wanted
        return {}
    count = min(len(log.topics[topic]) for topic in (truth, state))
    late = np.array(log.topics[truth].time_ns[:count]) > settle_s * 1e9

    def off(part: str) -> tuple[np.ndarray, np.ndarray]:
        gaps = [
            column(log, state, f"{part}_{key}")[:count] - column(log, truth, key)[:count]
            for key in ("x_m", "y_m", "depth_m", "heading_rad")
        ]
        off_m = np.sqrt(gaps[0] ** 2 + gaps[1] ** 2 + gaps[2] ** 2)
        return off_m[late], np.angle(np.exp(1j * gaps[3]))[late]

    figures: dict[str, float] = {}
    for key, part in (("track_error", "want"), ("estimate_error", "is")):
        off_m, off_rad = off(part)
        known = np.isfinite(off_m) & np.isfinite(off_rad)
        if not known.any():
            continue
        figures |= {
            f"{key}_rms_m": float(np.sqrt(np.mean(off_m[known] ** 2))),
            f"{key}_max_m": float(off_m[known].max()),
            f"{key}_rms_deg": float(np.degrees(np.sqrt(np.mean(off_rad[known] ** 2)))),
        }
    for key in ("x", "y", "depth", "heading"):
        nis = column(log, state, f"is_{key}_nis")[:count][late]
        nis = nis[np.isfinite(nis)]
        if len(nis):
            figures[f"{key}_innovations_within_95"] = float(np.mean(nis < WITHIN_95))
    return figures
