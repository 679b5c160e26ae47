"""Plots of a vehicle with a beating tail: Strouhal number per beat, and speed against tail-beat frequency."""

from typing import Any, NamedTuple

import numpy as np

from caudal.onboard.tables.scenario import Schedule
from caudal.onboard.tables.stack import AnyGait, TailGait
from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tables.read import read as read_plant
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.log.recorded_run import BASE
from caudal.tools.report.plot import Plot, ReportData
from caudal.tools.report.tail_tip import lateral_m, tip_in_base, tip_in_world
from caudal.tools.summary.summarize import aligned

BAND = (0.2, 0.4)  # where fish and whales swim (Taylor, Nudds and Thomas 2003)
AT_REST_PER_S = 0.1  # tail lengths per second, below which a Strouhal number has no meaning
LEAST_BEAT = 0.01  # smallest excursion of a beat, in tail lengths
IN_WORLD = "in the world, recoil of the head included"
ON_BODY = "against the body, as commanded"
LEAST_S = 3.0
LEAST_BEATS = 3
SETTLED = 0.05  # largest relative change of a steady speed


class Beats(NamedTuple):
    """One entry per beat, from one extreme of the tip to the next on the same side."""

    time_s: np.ndarray  # middle of the beat
    frequency_hz: np.ndarray
    excursion_m: np.ndarray  # peak to peak
    speed_m_s: np.ndarray

    def strouhal(self, rest_m_s: float) -> np.ndarray:
        """Returns f A / U per beat, NaN below the speed of rest."""
        speed = np.where(np.abs(self.speed_m_s) > rest_m_s, np.abs(self.speed_m_s), np.nan)
        number: np.ndarray = self.frequency_hz * self.excursion_m / speed
        return number


class Steady(NamedTuple):
    """A period with constant set-points of the beat."""

    frequency_hz: float
    speed_m_s: float
    spread_m_s: float
    settled: bool


def figures(data: ReportData) -> list[Plot]:
    """Returns the plots; none for a vehicle without a beating tail."""
    return [plot for plot in (_strouhal(data), _by_frequency(data)) if plot] if _has_tail(data) else []


def metrics(data: ReportData) -> dict[str, Any]:
    """Returns the median Strouhal number; nothing for a vehicle without a beating tail."""
    beats = beats_of(data) if _has_tail(data) else None
    strouhal = beats.strouhal(rest_m_s(data)) if beats else np.array([])
    known = strouhal[np.isfinite(strouhal)]
    return {"strouhal_median": float(np.median(known))} if len(known) else {}


def _has_tail(data: ReportData) -> bool:
    return bool(data.settings.gait) and data.settings.control.kind == "tail"


def _gait(data: ReportData) -> AnyGait:
    assert data.settings.gait
    return data.settings.gait


def links_m(gait: AnyGait) -> list[float]:
    """Returns the lengths from each joint of the gait to the next, and from the last to the tip."""
    if isinstance(gait, TailGait):
        return list(gait.links_m)
    return [float(length_m) for length_m in np.diff([*gait.joint_positions_m, gait.length_m])]


def rest_m_s(data: ReportData) -> float:
    """Returns the speed below which the vehicle counts as at rest."""
    return AT_REST_PER_S * sum(links_m(_gait(data)))


def tip_m(joints_rad: np.ndarray, lengths_m: list[float]) -> np.ndarray:
    """Returns the distance of the tip from the body's axis per tick, for joint angles (tick, joint)."""
    distance_m: np.ndarray = np.sin(np.cumsum(joints_rad, axis=1)) @ np.array(lengths_m)
    return distance_m


def beats_of(data: ReportData) -> Beats | None:
    """Returns the beats by the truth, or by set-points and estimates without one; None without joints or speed."""
    gait = _gait(data)
    true = all(data.has("truth", f"{joint}_rad") for joint in gait.joints)
    kind, ending = ("truth", "_rad") if true else ("commands", "")
    speed = ("truth", "speed_m_s") if data.has("truth", "speed_m_s") else ("state", "is_speed_m_s")
    if not data.has(*speed) or not all(data.has(kind, joint + ending) for joint in gait.joints):
        return None
    columns = [data.column(kind, joint + ending) for joint in gait.joints]
    time_s, speed_m_s, *joints = aligned(data.time_s(kind), data.column(*speed), *columns)
    lengths_m, angles_rad = links_m(gait), np.array(joints).T
    least_m = LEAST_BEAT * sum(lengths_m)
    found = beats(time_s, tip_m(angles_rad, lengths_m), speed_m_s, least_m)
    if not in_world(data) or not len(found.time_s):
        return found
    plant = read_plant(vehicle_file(data.log))
    lateral = _lateral_m(data, plant, time_s, angles_rad, lengths_m, found)
    return beats(time_s, lateral, speed_m_s, least_m)


def in_world(data: ReportData) -> bool:
    """Returns whether the log holds the true motion of head and tail, so that the head's recoil counts."""
    fields = [*BASE[:4], *(f"{joint}_rad" for joint in _gait(data).joints)]
    return all(data.has("truth", field) for field in fields)


def _lateral_m(
    data: ReportData,
    plant: PlantSpec,
    time_s: np.ndarray,
    angles_rad: np.ndarray,
    lengths_m: list[float],
    found: Beats,
) -> np.ndarray:
    """Returns the tip's distance to port of the mean path per tick; `found` gives the durations of beats."""
    still = np.zeros(len(time_s))  # the Strouhal model neither rolls nor pitches
    base = np.column_stack(
        [data.column("truth", f)[: len(time_s)] if data.has("truth", f) else still for f in BASE]
    )
    base[:, 3] = np.unwrap(base[:, 3])
    tip = tip_in_base(plant, _gait(data).joints, angles_rad, lengths_m[-1])
    beat_s = np.interp(time_s, found.time_s, 1 / found.frequency_hz)
    return lateral_m(time_s, base, tip_in_world(base, tip), beat_s, sum(lengths_m))


def beats(time_s: np.ndarray, tip: np.ndarray, speed_m_s: np.ndarray, least_m: float) -> Beats:
    """Returns the beats between extremes of the tip; zero crossings fail while the tail steers with an offset."""
    known = np.isfinite(tip) & np.isfinite(speed_m_s)
    time_s, tip, speed_m_s = time_s[known], tip[known], speed_m_s[known]
    extremes = turning_points(tip, least_m)
    rows = []
    for a, b, c in zip(extremes, extremes[1:], extremes[2:], strict=False):
        took_s = time_s[c] - time_s[a]
        swing_m = abs((tip[a] + tip[c]) / 2 - tip[b])
        rows.append(((time_s[a] + time_s[c]) / 2, 1 / took_s, swing_m, speed_m_s[a:c].mean()))
    return Beats(*np.array(rows).reshape(-1, 4).T)


def turning_points(values: np.ndarray, least: float) -> list[int]:
    """Returns the indices of alternating maxima and minima; one counts after a return by more than `least`."""
    turns: list[int] = []
    high = low = 0
    rising = None
    for k, value in enumerate(values.tolist()):
        if value > values[high]:
            high = k
        if value < values[low]:
            low = k
        if rising is not False and value < values[high] - least:
            if rising:
                turns.append(high)
            rising, low = False, k
        elif rising is not True and value > values[low] + least:
            if rising is False:
                turns.append(low)
            rising, high = True, k
    return turns


def _strouhal(data: ReportData) -> Plot | None:
    beats = beats_of(data)
    if beats is None:
        return None
    figure, (above, below) = data.panels(2, 5.0)
    true = data.has("truth", "speed_m_s")
    above.plot(*data.series("truth", "speed_m_s") if true else data.series("state", "is_speed_m_s"), linewidth=0.8,
               color="0.6", label="speed" if true else "speed, estimate")  # fmt: skip
    above.plot(beats.time_s, beats.speed_m_s, linewidth=1.4, label="mean of a beat")
    above.set_ylabel("speed, m/s")
    numbers = beats.strouhal(rest_m_s(data))
    below.axhspan(*BAND, color="#2ca02c", alpha=0.15, label="0.2 to 0.4")
    below.plot(beats.time_s, numbers, ".-", markersize=3, linewidth=0.7, color="k", label="Strouhal number")
    known = numbers[np.isfinite(numbers)]
    below.set_ylim(0, max(0.6, 1.1 * float(np.percentile(known, 95))) if len(known) else 0.6)
    below.set(xlabel="time, s", ylabel="St = f A / U, 1")
    return data.plot(
        "Speed and Strouhal number",
        figure,
        f"Steady beats should lie in the green band of swimming animals; A is the excursion of the tip from side to "
        f"side {IN_WORLD if in_world(data) else ON_BODY}, and beats at rest are left out.",
    )


def steady(data: ReportData) -> list[Steady]:
    """Returns the last third of each period with one frequency, straight ahead and at full amplitude."""
    wanted = ("setpoint_frequency_hz", "setpoint_amplitude", "setpoint_deflection_rad")
    if not data.has("state", wanted[0]) or not data.has("truth", "speed_m_s"):
        return []
    columns = [data.column("state", field) for field in wanted]
    time_s, speed_m_s, frequency_hz, amplitude, deflection = aligned(
        data.time_s("truth"), data.column("truth", "speed_m_s"), *columns
    )
    changed = np.flatnonzero(np.diff(np.array([frequency_hz, amplitude, deflection])).any(axis=0))
    out = []
    for a, b in zip([0, *(changed + 1)], [*(changed + 1), len(time_s)], strict=True):
        f_hz, took_s = float(frequency_hz[a]), time_s[b - 1] - time_s[a]
        straight = amplitude[a] == 1 and deflection[a] == 0
        if not straight or not f_hz or took_s < max(LEAST_S, LEAST_BEATS / abs(f_hz)):
            continue
        whole_beats = max(1, int(took_s / 3 * abs(f_hz))) / abs(f_hz)
        last = (time_s >= time_s[b - 1] - whole_beats) & (np.arange(len(time_s)) < b)
        before = (time_s >= time_s[b - 1] - 2 * whole_beats) & (time_s < time_s[b - 1] - whole_beats)
        speed = float(speed_m_s[last].mean())
        gained = abs(speed - float(speed_m_s[before].mean())) if before.any() else np.inf
        out.append(
            Steady(f_hz, speed, float(speed_m_s[last].std()), gained < SETTLED * max(abs(speed), 1e-3))
        )
    return out


def _by_frequency(data: ReportData) -> Plot | None:
    points = steady(data)
    if not points:
        return None
    figure, axes = data.axes(3.6)
    for settled, fill in ((True, "C0"), (False, "white")):
        some = [point for point in points if point.settled is settled]
        if some:
            x, y, spread, _ = zip(*some, strict=True)
            label = "steady" if settled else "speed still changes"
            axes.errorbar(
                x,
                y,
                spread,
                fmt="o",
                capsize=3,
                elinewidth=0.8,
                label=label,
                color="C0",
                markerfacecolor=fill,
            )
    rows = data.scenario.rows if isinstance(data.scenario, Schedule) else []
    expected = [
        (row.frequency_hz, row.expected_speed_m_s) for row in rows if row.expected_speed_m_s is not None
    ]
    if expected:
        axes.plot(*np.array(expected).T, "k_", markersize=14, label="expected")
    axes.set(xlabel="tail-beat frequency, Hz", ylabel="speed, m/s")
    axes.margins(0.15)
    axes.grid(alpha=0.3)
    return data.plot(
        "Speed against tail-beat frequency",
        figure,
        "Speed should rise with frequency; a dot is the last third of a straight period at one frequency, its bar one "
        "standard deviation.",
    )
