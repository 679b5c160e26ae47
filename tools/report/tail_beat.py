"""Figures of a vehicle whose tail beats: Strouhal number beat by beat, and speed against the beat's frequency."""

from typing import Any, NamedTuple

import numpy as np

from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tables.read import read as read_plant
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.log.recorded_run import BASE
from caudal.tools.report.plot import Plot, Reported
from caudal.tools.report.tail_tip import beside_way_m, tip_in_base, tip_in_world
from caudal.tools.summary.summarize import aligned

BAND = (0.2, 0.4)  # where fish and whales swim (Taylor, Nudds and Thomas 2003)
AT_REST_PER_S = 0.1  # lengths of the tail a second: below, a Strouhal number says nothing
LEAST_BEAT = 0.01  # of the tail's length: less is no beat
IN_WORLD = "in the world, across the mean way that is swum, so that the head's recoil counts"
ON_BODY = "against the body, as told: without the truth nobody knows how the head recoils"
LEAST_S = 3.0
LEAST_BEATS = 3
SETTLED = 0.05  # change of speed within the part that is judged


class Beats(NamedTuple):
    """One entry a beat, from one extreme of the tip to starboard or port to the next on that side."""

    time_s: np.ndarray  # of its middle
    frequency_hz: np.ndarray
    excursion_m: np.ndarray  # peak to peak
    speed_m_s: np.ndarray

    def strouhal(self, rest_m_s: float) -> np.ndarray:
        """f A / U; not a number where it is nearly at rest."""
        speed = np.where(np.abs(self.speed_m_s) > rest_m_s, np.abs(self.speed_m_s), np.nan)
        return self.frequency_hz * self.excursion_m / speed


class Steady(NamedTuple):
    """A stretch in which one beat was asked for."""

    frequency_hz: float
    speed_m_s: float
    spread_m_s: float
    settled: bool


def figures(told: Reported) -> list[Plot]:
    """None of a vehicle without a tail that beats."""
    if not told.settings["gait"] or told.settings["control"]["kind"] != "tail":
        return []
    return [plot for plot in (_strouhal(told), _by_frequency(told)) if plot]


def facts(told: Reported) -> dict[str, Any]:
    if not told.settings["gait"] or told.settings["control"]["kind"] != "tail":
        return {}
    beats = beats_of(told)
    strouhal = beats.strouhal(rest_m_s(told)) if beats else np.array([])
    known = strouhal[np.isfinite(strouhal)]
    return {"strouhal_median": float(np.median(known))} if len(known) else {}


def links_m(gait: dict[str, Any]) -> list[float]:
    """From each joint of the gait to the next, and from the last to the tip."""
    if gait["kind"] == "tail":
        return list(gait["links_m"])
    return np.diff([*gait["places_m"], gait["length_m"]]).tolist()


def rest_m_s(told: Reported) -> float:
    return AT_REST_PER_S * sum(links_m(told.settings["gait"]))


def tip_m(joints_rad: np.ndarray, lengths_m: list[float]) -> np.ndarray:
    """(ticks): how far the tip is off the body's axis, of joints (ticks, joint), each turned against the one before."""
    return np.sin(np.cumsum(joints_rad, axis=1)) @ np.array(lengths_m)


def beats_of(told: Reported) -> Beats | None:
    """By the truth; of a vehicle's own run by what was commanded and believed. None without joints or speed."""
    gait = told.settings["gait"]
    true = all(told.has("truth", f"{joint}_rad") for joint in gait["joints"])
    kind, ending = ("truth", "_rad") if true else ("commands", "")
    speed = ("truth", "speed_m_s") if told.has("truth", "speed_m_s") else ("state", "is_speed_m_s")
    if not told.has(*speed) or not all(told.has(kind, joint + ending) for joint in gait["joints"]):
        return None
    columns = [told.column(kind, joint + ending) for joint in gait["joints"]]
    time_s, speed_m_s, *joints = aligned(told.time_s(kind), told.column(*speed), *columns)
    lengths_m, angles_rad = links_m(gait), np.array(joints).T
    least_m = LEAST_BEAT * sum(lengths_m)
    found = beats(time_s, tip_m(angles_rad, lengths_m), speed_m_s, least_m)
    if not in_world(told) or not len(found.time_s):
        return found
    plant = read_plant(vehicle_file(told.log))
    beside_m = _beside_m(told, plant, time_s, angles_rad, lengths_m, found)
    return beats(time_s, beside_m, speed_m_s, least_m)


def in_world(told: Reported) -> bool:
    """Whether the log says where tail and head truly were, so that the head's recoil counts."""
    fields = [*BASE[:4], *(f"{joint}_rad" for joint in told.settings["gait"]["joints"])]
    return all(told.has("truth", field) for field in fields)


def _beside_m(
    told: Reported,
    plant: PlantSpec,
    time_s: np.ndarray,
    angles_rad: np.ndarray,
    lengths_m: list[float],
    found: Beats,
) -> np.ndarray:
    """(tick): the tip's way to the sides of the mean way; `found` says how long beats are."""
    still = np.zeros(len(time_s))  # the quick law neither rolls nor pitches
    base = np.column_stack(
        [told.column("truth", f)[: len(time_s)] if told.has("truth", f) else still for f in BASE]
    )
    base[:, 3] = np.unwrap(base[:, 3])
    tip = tip_in_base(plant, told.settings["gait"]["joints"], angles_rad, lengths_m[-1])
    beat_s = np.interp(time_s, found.time_s, 1 / found.frequency_hz)
    return beside_way_m(time_s, base, tip_in_world(base, tip), beat_s, sum(lengths_m))


def beats(time_s: np.ndarray, tip: np.ndarray, speed_m_s: np.ndarray, least_m: float) -> Beats:
    """Extremes bound the beats, not crossings of zero: a tail that steers beats about a middle of its own."""
    known = np.isfinite(tip) & np.isfinite(speed_m_s)
    time_s, tip, speed_m_s = time_s[known], tip[known], speed_m_s[known]
    turns = turning_points(tip, least_m)
    rows = []
    for a, b, c in zip(turns, turns[1:], turns[2:], strict=False):
        took_s = time_s[c] - time_s[a]
        swing_m = abs((tip[a] + tip[c]) / 2 - tip[b])
        rows.append(((time_s[a] + time_s[c]) / 2, 1 / took_s, swing_m, speed_m_s[a:c].mean()))
    return Beats(*np.array(rows).reshape(-1, 4).T)


def turning_points(values: np.ndarray, least: float) -> list[int]:
    """Where it turns, high and low by turns; a turn counts once it has gone back by `least`."""
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


def _strouhal(told: Reported) -> Plot | None:
    beats = beats_of(told)
    if beats is None:
        return None
    figure, (above, below) = told.axes(5.0, rows=2)
    true = told.has("truth", "speed_m_s")
    above.plot(*told.series("truth", "speed_m_s") if true else told.series("state", "is_speed_m_s"), linewidth=0.8,
               color="0.6", label="speed" if true else "speed, believed")  # fmt: skip
    above.plot(beats.time_s, beats.speed_m_s, linewidth=1.4, label="mean of a beat")
    above.set_ylabel("speed, m/s")
    numbers = beats.strouhal(rest_m_s(told))
    below.axhspan(*BAND, color="#2ca02c", alpha=0.15, label="0.2 to 0.4")
    below.plot(beats.time_s, numbers, ".-", markersize=3, linewidth=0.7, color="k", label="Strouhal number")
    known = numbers[np.isfinite(numbers)]
    below.set_ylim(0, max(0.6, 1.1 * float(np.percentile(known, 95))) if len(known) else 0.6)
    below.set(xlabel="time, s", ylabel="St = f A / U, 1")
    told.legend(figure)
    return Plot(
        "Speed and Strouhal number",
        figure,
        f"Once at speed its beats should lie in the green band, where animals swim: A is the tip's way from side to "
        f"side {IN_WORLD if in_world(told) else ON_BODY}, and nearly at rest (a tenth of a tail's length a second) "
        f"there is no dot.",
    )


def steady(told: Reported) -> list[Steady]:
    """Stretches with one beat, straight ahead and at full amplitude; of each the last third."""
    wanted = ("want_frequency_hz", "want_amplitude", "want_deflection_rad")
    if not told.has("state", wanted[0]) or not told.has("truth", "speed_m_s"):
        return []
    columns = [told.column("state", field) for field in wanted]
    time_s, speed_m_s, frequency_hz, amplitude, deflection = aligned(
        told.time_s("truth"), told.column("truth", "speed_m_s"), *columns
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


def _by_frequency(told: Reported) -> Plot | None:
    points = steady(told)
    if not points:
        return None
    figure, axes = told.axes(3.6)
    for settled, style in ((True, {"color": "C0"}), (False, {"color": "C0", "markerfacecolor": "white"})):
        some = [point for point in points if point.settled is settled]
        if some:
            x, y, spread, _ = zip(*some, strict=True)
            label = "last third of a stretch" if settled else "still gaining or losing speed"
            axes.errorbar(x, y, spread, fmt="o", capsize=3, elinewidth=0.8, label=label, **style)
    expected = [row for row in told.scenario.get("rows", []) if row.get("expect_speed_m_s") is not None]
    if expected:
        axes.plot(*zip(*[(row["frequency_hz"], row["expect_speed_m_s"]) for row in expected], strict=True), "k_",
                  markersize=14, label="expected")  # fmt: skip
    axes.set(xlabel="tail-beat frequency, Hz", ylabel="speed, m/s")
    axes.margins(0.15)
    axes.grid(alpha=0.3)
    told.legend(figure)
    return Plot(
        "Speed against tail-beat frequency",
        figure,
        "Look whether speed grows with the beat all the way: each dot is a stretch swum straight at one frequency, its "
        "bar the surge within it (one standard deviation).",
    )
