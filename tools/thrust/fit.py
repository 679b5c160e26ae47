"""Fits a thruster's bench data: for each voltage a table of few points, and two polynomials.

The table comes first, because it finds the dead-band. It is the polygon with the least squared error among all that
start from zero force at an edge and bend at whole microseconds (dynamic programming over the measured pulses). Bayes'
information criterion sets its number of points, unless more points bring its error below a third of the polynomials'.
These start at the same edges. Neither map ever falls while the pulse grows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from caudal.hal.core.fixed_point import to_q14
from caudal.hal.core.maps import PolynomialCurve, TableCurve, ThrusterMap
from caudal.tools.thrust.bench_data import Bench

MOST_POINTS = 64  # of a table, so that it is a line or two in a vehicle file
WORTH = 1 / 3  # of the polynomial's error: a longer table has to be this much better
ORDER = 5
DIGITS = 5  # of coefficients
LEAST_RISE = 2e-6  # per microsecond, of the greatest force, so that rounded coefficients never fall
ASKED = 401  # forces at which the inverse map is tested

Polygon = tuple[np.ndarray, np.ndarray]  # distances from neutral in us, forces in N


@dataclass(frozen=True)
class Fit:
    """The two maps of one voltage, as keys of a vehicle file, and their errors."""

    bench: Bench
    polynomial: dict[str, Any]
    table: dict[str, Any]
    errors: dict[str, Any]


def fit(bench: Bench) -> Fit:
    """Fits both maps to the bench data of one voltage."""
    sides = [_Side(bench, direction) for direction in (-1, 1)]
    splits = _splits(sides)
    fewest = _as_many_as_differ(splits, bench)
    table, polynomial = short = _maps(bench, sides, splits[fewest][1])
    for lines in range(fewest, max(splits) + 1):
        table, polynomial = _maps(bench, sides, splits[lines][1])
        if table["rms_n"] < WORTH * polynomial["rms_n"]:
            break
    else:
        table, polynomial = short
    low_us, high_us = table["pulses_us"][0], table["pulses_us"][-1]
    errors = {
        "volts": bench.volts,
        "measured_points": len(bench.pulses_us),
        "dead_low_us": polynomial["dead_low_us"],
        "dead_high_us": polynomial["dead_high_us"],
        "max_forward_n": float(bench.forces_n.max()),
        "max_reverse_n": float(-bench.forces_n.min()),
        "rms_n": polynomial["rms_n"],
        "inverse_rms_n": inverse_rms_n(bench, "polynomial", polynomial, low_us, high_us),
        "table_points": len(table["pulses_us"]),
        "table_rms_n": table["rms_n"],
        "table_inverse_rms_n": inverse_rms_n(bench, "table", table, low_us, high_us),
    }
    return Fit(bench, polynomial, table, errors)


def inverse_rms_n(bench: Bench, kind: str, curve: dict[str, Any], low_us: int, high_us: int) -> float:
    """Error of the inverse map: force set-points minus the force measured at the HAL's pulses, N rms."""
    thruster = ThrusterMap(bench.neutral_us, low_us, high_us, [curve_of(kind, curve)], bench.volts)
    asked_n = np.linspace(bench.forces_n.min(), bench.forces_n.max(), ASKED)
    pulses_us = [thruster.to_device(to_q14(float(force_n))) for force_n in asked_n]
    return _rms(asked_n - bench.force_n(pulses_us))


def curve_of(kind: str, keys: dict[str, Any]) -> PolynomialCurve | TableCurve:
    """The HAL's curve of a fitted polynomial or table."""
    if kind == "table":
        return TableCurve(keys["battery_v"], keys["pulses_us"], keys["forces_n"])
    edges_us = keys["dead_low_us"], keys["dead_high_us"]
    return PolynomialCurve(keys["battery_v"], *edges_us, keys["forward"], keys["reverse"])


def rms_n(bench: Bench, kind: str, curve: dict[str, Any]) -> float:
    """Error of a map at all measured points, also in the dead-band, N rms."""
    force_n = curve_of(kind, curve).force_n
    return _rms(bench.forces_n - [force_n(float(pulse_us)) for pulse_us in bench.pulses_us])


class _Side:
    """One direction, as increasing distances from neutral and positive forces, and its best tables."""

    def __init__(self, bench: Bench, direction: int) -> None:
        away_us = direction * (bench.pulses_us - bench.neutral_us)
        mine = away_us >= 0
        order = np.argsort(away_us[mine])
        self.direction = direction
        self.x = away_us[mine][order]
        self.y = (direction * bench.forces_n)[mine][order]
        rising_n = np.maximum((direction * bench.rising_n)[mine][order], 0)
        # bends are whole microseconds; the one next to neutral is for a motor without a dead-band
        self.bends = np.unique(np.append(np.rint(self.x), 1))
        self.bends = self.bends[self.bends > 0]
        self.levels = np.interp(self.bends, self.x, rising_n)
        self._search()

    def _search(self) -> None:
        """least[k][j]: the least squared error up to bend j with k lines that end there."""
        bends, sums = self.bends, self._sums()
        beyond = sums[-1, 0] - sums[:, 0]  # an edge has to leave enough points for a polynomial
        dead = np.where(beyond > ORDER, sums[:, 5], np.inf)
        first, later = (_line_costs(bends, sums, start, self.levels) for start in (0 * bends, self.levels))
        self.least = [dead]
        self._before: list[np.ndarray] = []
        for k in range(min(MOST_POINTS, len(bends)) - 1):
            costs = self.least[-1][:, None] + (later if k else first)
            self._before.append(np.argmin(costs, axis=0))
            self.least.append(np.min(costs, axis=0))

    def _sums(self) -> np.ndarray:
        """Sums of 1, x, x2, y, xy, y2 over the points up to each bend."""
        x, y = self.x, self.y
        up_to = np.searchsorted(np.rint(x), self.bends, side="right")
        each = np.stack([np.ones_like(x), x, x * x, y, x * y, y * y])
        return np.concatenate([np.zeros((1, 6)), np.cumsum(each, axis=1).T])[up_to]

    def error(self, lines: int) -> float:
        """The least squared error with so many lines."""
        return float(self.least[lines][-1])

    @property
    def most_lines(self) -> int:
        """The largest number of lines that was tried."""
        return len(self.least) - 1

    def points(self, lines: int) -> Polygon:
        """Distances and forces from the dead-band's edge to the last pulse; forces by least squares."""
        from scipy.optimize import nnls

        chosen = [len(self.bends) - 1]
        for k in range(lines - 1, -1, -1):
            chosen.append(int(self._before[k][chosen[-1]]))
        bends = self.bends[chosen[::-1]]
        outside = self.x > bends[0]
        hats = np.stack([np.interp(self.x[outside], bends, row) for row in np.eye(len(bends))], axis=1)
        # forces as sums of non-negative rises, so that the table never falls
        rises_n = nnls(hats[:, 1:] @ np.tri(lines), self.y[outside])[0]
        return bends, np.concatenate([[0.0], np.cumsum(rises_n)])


def _line_costs(bends: np.ndarray, sums: np.ndarray, start_n: np.ndarray, end_n: np.ndarray) -> np.ndarray:
    """[a, b]: squared error of the line from (bend a, start) to (bend b, end) over the points in between."""
    n, x, xx, y, xy, yy = np.moveaxis(sums[None, :, :] - sums[:, None, :], 2, 0)
    run = bends[None, :] - bends[:, None]
    slope = (end_n[None, :] - start_n[:, None]) / np.where(run > 0, run, 1)
    offset = start_n[:, None] - slope * bends[:, None]
    cost = yy + offset**2 * n + slope**2 * xx - 2 * offset * y - 2 * slope * xy + 2 * offset * slope * x
    return np.where(run > 0, np.maximum(cost, 0), np.inf)


def _splits(sides: list[_Side]) -> dict[int, tuple[float, tuple[int, int]]]:
    """By number of lines of both directions: the least squared error, and the number of lines of each."""
    splits: dict[int, tuple[float, tuple[int, int]]] = {}
    for reverse in range(1, sides[0].most_lines + 1):
        for forward in range(1, min(sides[1].most_lines, MOST_POINTS - 2 - reverse) + 1):
            error = sides[0].error(reverse) + sides[1].error(forward)
            if error < splits.get(reverse + forward, (np.inf,))[0]:
                splits[reverse + forward] = (error, (reverse, forward))
    return splits


def _as_many_as_differ(splits: dict[int, tuple[float, tuple[int, int]]], bench: Bench) -> int:
    """The number of lines beyond which another one, with two parameters, fits noise."""
    count = len(bench.pulses_us)
    finest = 10.0 ** (-2 * bench.decimals)  # the rounding of forces, squared

    def score(lines: int) -> float:
        return float(count * np.log(max(splits[lines][0] / count, finest)) + 2 * lines * np.log(count))

    return min(splits, key=score)


def _maps(bench: Bench, sides: list[_Side], lines: tuple[int, int]) -> tuple[dict[str, Any], dict[str, Any]]:
    reverse, forward = (side.points(count) for side, count in zip(sides, lines, strict=True))
    polynomial = _polynomial(bench, sides, int(reverse[0][0]), int(forward[0][0]))
    return _table(bench, reverse, forward), polynomial


def _table(bench: Bench, reverse: Polygon, forward: Polygon) -> dict[str, Any]:
    away_us = np.concatenate([-reverse[0][::-1], forward[0]])
    forces_n = np.concatenate([-reverse[1][::-1], forward[1]])
    table = {
        "battery_v": bench.volts,
        "pulses_us": [bench.neutral_us + int(us) for us in away_us],
        "forces_n": [round(float(force_n), bench.decimals) + 0.0 for force_n in forces_n],  # no -0.0
    }
    return {**table, "rms_n": rms_n(bench, "table", table)}


def _polynomial(bench: Bench, sides: list[_Side], reverse_us: int, forward_us: int) -> dict[str, Any]:
    polynomial = {
        "battery_v": bench.volts,
        "dead_low_us": bench.neutral_us - reverse_us,
        "dead_high_us": bench.neutral_us + forward_us,
        "forward": _coefficients(sides[1], forward_us),
        "reverse": _coefficients(sides[0], reverse_us),
    }
    return {**polynomial, "rms_n": rms_n(bench, "polynomial", polynomial)}


def _coefficients(side: _Side, edge_us: int) -> list[float]:
    """c_k of N = sum c_k u^k, u in 100 us from the edge: least squares that never fall at whole microseconds."""
    outside = side.x > edge_us
    reach_us = np.ceil(side.x[-1]) - edge_us
    powers = np.arange(1, ORDER + 1)  # of the share of the reach, so that columns are of similar size
    columns = ((side.x[outside] - edge_us) / reach_us)[:, None] ** powers
    rises = np.diff((np.arange(reach_us + 1) / reach_us)[:, None] ** powers, axis=0)
    scaled = _least_squares_above(
        columns, side.y[outside], rises, np.full(len(rises), LEAST_RISE * side.y.max())
    )
    coefficients = scaled * (100 / reach_us) ** powers
    return [float(f"{c:.{DIGITS}g}") for c in coefficients]


def _least_squares_above(a: np.ndarray, b: np.ndarray, g: np.ndarray, h: np.ndarray) -> np.ndarray:
    """x of least |a x - b| with g x >= h (Lawson and Hanson, Solving Least Squares Problems, ch. 23)."""
    from scipy.optimize import nnls

    x: np.ndarray = np.linalg.lstsq(a, b, rcond=None)[0]
    if np.all(g @ x >= h):
        return x
    q, r = np.linalg.qr(a)
    bounds = np.linalg.solve(r.T, g.T).T  # on z = r x - q'b, whose length is the error
    limits = h - bounds @ (q.T @ b)
    stacked = np.vstack([bounds.T, limits])
    goal = np.zeros(len(stacked))
    goal[-1] = 1
    left = stacked @ nnls(stacked, goal)[0] - goal
    solved: np.ndarray = np.linalg.solve(r, -left[:-1] / left[-1] + q.T @ b)
    return solved


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
