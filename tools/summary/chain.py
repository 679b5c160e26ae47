"""How well a chain of modules and soft joints kept to its aims: against the truth, and with what left of its limits."""

from typing import Any

import numpy as np

from caudal.onboard.chain.rotations import euler_rotation
from caudal.onboard.chain.soft_joint import Rigid, Series, Universal
from caudal.onboard.log.reader import Log
from caudal.tools.log.columns import column

COORDINATES = ("m", "rad", "rad", "m")  # of a soft joint
PATH = ("x_m", "y_m", "depth_m")
SETTLE_S = 3.0  # after a speed's last row


def chain_figures(log: Log, name: str, settings: dict[str, Any], scenario: dict[str, Any]) -> dict[str, Any]:
    """Where the aims' frames were off the path asked for, the widest bend, the least clearance, and how often limits
    became active or were left."""
    truth, account = log.topics[f"/{name}/truth"], log.topics.get(f"/{name}/aims")
    figures: dict[str, Any] = {}
    bends = bends_deg(log, name, settings["control"]["soft"])
    figures["max_joint_deg"] = float(bends.max())
    if "skin_clearance_m" in truth.fields:
        least = column(log, f"/{name}/truth", "skin_clearance_m").min()
        figures["min_hull_clearance_m"] = float(least) if np.isfinite(least) else None
    if account is None:  # at the far end of a wire nobody wrote down what it wanted
        return figures
    flags = active(log, name, settings, scenario)
    figures["switches"] = int(sum(np.abs(np.diff(flag)).sum() for flag in flags.values()))
    swept_m = swept_radius_m(log, name, settings, scenario)
    if swept_m is not None:
        figures["swept_radius_m"] = swept_m
    figures |= motion_figures(log, name, settings["control"], scenario)
    for aim in scenario["aims"]:
        off_mm = aim_error_mm(log, name, settings["control"], aim)
        if off_mm is None:
            continue
        known = off_mm[np.isfinite(off_mm)]
        if len(known):
            key = "ee" if aim["frame"] == settings["control"]["module"][-1]["name"] else aim["frame"]
            figures[f"{key}_mean_error_mm"] = float(known.mean())
            figures[f"{key}_max_error_mm"] = float(known.max())
            figures |= _at_rows(log, name, key, aim, off_mm)
    return figures


def _at_rows(log: Log, name: str, key: str, aim: dict[str, Any], off_mm: np.ndarray) -> dict[str, Any]:
    """The least error between each row's time and the next one's: was it reached before the next was due?"""
    if not aim["rows"]:
        return {}
    time_s = np.array(log.topics[f"/{name}/truth"].time_ns[: len(off_mm)]) / 1e9
    ends = [row["at_s"] for row in aim["rows"][1:]] + [np.inf]
    reached = []
    for row, end_s in zip(aim["rows"], ends, strict=True):
        there = (time_s >= row["at_s"]) & (time_s < max(end_s, row["at_s"] + 1.0))
        if there.any():
            reached.append(float(np.nanmin(off_mm[there])))
    return {f"{key}_reached_mm": reached}


def bends_deg(log: Log, name: str, softs: list[dict[str, Any]]) -> np.ndarray:
    """(ticks, joints): the whole bend of each soft joint, in truth."""
    out = []
    for soft in softs:
        _, th1, th2, _ = soft["coordinates"]
        cosines = np.cos(_joint(log, name, th1, "rad")) * np.cos(_joint(log, name, th2, "rad"))
        out.append(np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0))))
    return np.array(out).T


def active(log: Log, name: str, settings: dict[str, Any], scenario: dict[str, Any]) -> dict[str, np.ndarray]:
    """Tick by tick, which limits held something back."""
    fields = [f"{soft['name']}_limit" for soft in settings["control"]["soft"]]
    fields += [f"obstacle_{k + 1}" for k in range(len(scenario["obstacles"]))]
    return {field: np.nan_to_num(column(log, f"/{name}/aims", field)) for field in fields}


def aim_error_mm(log: Log, name: str, control: dict[str, Any], aim: dict[str, Any]) -> np.ndarray | None:
    """How far an aim's frame was from the path asked for; None of an aim that asks for no place."""
    if aim["kind"] not in ("pose", "position"):
        return None
    wanted = np.array([column(log, f"/{name}/aims", f"{aim['name']}_path_{key}") for key in PATH]).T
    was = frame_places(log, name, control, aim["frame"], aim["at_m"])
    count = min(len(wanted), len(was))
    return 1e3 * np.linalg.norm(wanted[:count] - was[:count], axis=1)


def frame_places(
    log: Log, name: str, control: dict[str, Any], frame: str, at_m: list[float] | None = None
) -> np.ndarray:
    """(ticks, 3): x, y, depth in truth of a module's front end, of the base, or of a place on either."""
    truth = f"/{name}/truth"
    base = np.array([column(log, truth, key) for key in PATH]).T
    if frame == "base" and at_m is None:
        return base
    parts: list[Any] = []
    coordinates = []
    for module, soft in zip(control["module"], [*control["soft"], None], strict=True):
        if frame in (module["name"], "base") or soft is None:
            end = [module["length_m"], 0.0, 0.0] if at_m is None else at_m
            break
        parts += [Rigid(module["length_m"]), Universal(soft["length_m"])]
        names = zip(soft["coordinates"], COORDINATES, strict=True)
        coordinates += [_joint(log, name, joint, unit) for joint, unit in names]
    chain, q = Series(parts), np.array(coordinates).T.reshape(len(base), -1)
    angles = [column(log, truth, key) for key in ("roll_rad", "pitch_rad", "heading_rad")]
    out = np.empty_like(base)
    for k, turn in enumerate(zip(*angles, strict=True)):
        x, y, z = euler_rotation(*turn) @ (chain.transform(q[k]) @ [*end, 1.0])[:3]
        out[k] = base[k] + (x, y, -z)
    return out


def swept_radius_m(log: Log, name: str, settings: dict[str, Any], scenario: dict[str, Any]) -> float | None:
    """Of a turn on the spot: how far any end of a module's hull comes from the point it turns about, from above."""
    spots = [aim for aim in scenario["aims"] if aim["kind"] == "position" and aim["at_m"]]
    turns = [aim for aim in scenario["aims"] if aim["kind"] == "turn" and aim["rows"]]
    if not spots or not turns:
        return None
    radius_m = settings["control"]["clearance"]["hull_radius_m"]
    centre = np.array(
        [column(log, f"/{name}/aims", f"{spots[0]['name']}_path_{key}") for key in ("x_m", "y_m")]
    ).T
    begin_s = turns[0]["rows"][0]["at_s"] - turns[0]["rows"][0]["within_s"]
    far = 0.0
    for module in settings["control"]["module"]:
        for x_m in (0.0, module["length_m"]):
            for y_m in (-radius_m, radius_m):
                was = frame_places(log, name, settings["control"], module["name"], [x_m, y_m, 0.0])[:, :2]
                turning = _times_s(log, name)[: len(was)] > begin_s
                gone = np.linalg.norm(was - centre[: len(was)], axis=1)[turning]
                far = max(far, float(gone.max(initial=0.0)))
    return far


def motion_figures(log: Log, name: str, control: dict[str, Any], scenario: dict[str, Any]) -> dict[str, Any]:
    """Of aims that ask for speeds, once all of them have been led to their last: how fast it goes and which way."""
    speeds = [aim for aim in scenario["aims"] if aim["kind"] in ("run", "speed") and aim["rows"]]
    time_s = _times_s(log, name)
    settled = time_s >= max((aim["rows"][-1]["at_s"] for aim in speeds), default=np.inf) + SETTLE_S
    if settled.sum() < 2:
        return {}
    truth = f"/{name}/truth"
    figures: dict[str, Any] = {}
    if speeds[0]["kind"] == "run":
        figures["run_speed_m_s"] = float(column(log, truth, "surge_m_s")[settled].mean())
        ahead = [
            t["name"]
            for t in control["thruster"]
            if abs(t["axis"][0]) > abs(t["axis"][1]) + abs(t["axis"][2])
        ]
        figures["run_thrust_n"] = float(sum(column(log, truth, f"{one}_n")[settled].mean() for one in ahead))
        figures["run_off_m"] = off_line_m(log, name)
        return figures
    place = frame_places(log, name, control, speeds[0]["frame"], speeds[0]["at_m"])[settled]
    took_s = time_s[settled][-1] - time_s[settled][0]
    steps = np.diff(place, axis=0)
    figures["rise_m_s"] = float((place[0, 2] - place[-1, 2]) / took_s)
    figures["drift_m"] = float(np.linalg.norm(place[-1, :2] - place[0, :2]))
    figures["slope_deg"] = float(
        np.degrees(np.arctan2(place[0, 2] - place[-1, 2], np.linalg.norm(steps[:, :2], axis=1).sum()))
    )
    heading = np.unwrap(column(log, truth, "heading_rad")[time_s >= 1.0])
    figures["turns"] = float((heading[-1] - heading[0]) / (2 * np.pi))
    return figures


def off_line_m(log: Log, name: str) -> float:
    """How far the base came from the line ahead of where it started."""
    truth = f"/{name}/truth"
    place = np.array([column(log, truth, key) for key in PATH]).T
    heading = column(log, truth, "heading_rad")[0]
    gone = place - place[0]
    side = gone[:, 1] * np.cos(heading) - gone[:, 0] * np.sin(heading)
    return float(np.hypot(side, gone[:, 2]).max())


def _times_s(log: Log, name: str) -> np.ndarray:
    return np.array(log.topics[f"/{name}/truth"].time_ns) / 1e9


def _joint(log: Log, name: str, joint: str, unit: str) -> np.ndarray:
    return column(log, f"/{name}/truth", f"{joint}_{unit}")
