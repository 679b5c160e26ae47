"""Curves of the simulated motor: the measurements, thinned to straight lines within a tolerance.

The plant represents the motor itself, so it follows the bench data and not a fit: where a vehicle's map is wrong, the
simulated motor still gives the measured thrust.
"""

from typing import Any

import numpy as np

from caudal.tools.thrust.bench_data import Bench

FORCE_SHARE = 0.002  # of the greatest force: tolerance of thinning
CURRENT_SHARE = 0.01
AMPERE_DECIMALS = 3


def curve(bench: Bench) -> dict[str, Any]:
    """The curve at one voltage, with currents. Forces never fall; a negative current is a sensor's offset."""
    assert bench.currents_a is not None
    forces_n, currents_a = bench.rising_n, np.maximum(bench.currents_a, 0)
    scaled = np.stack(
        [
            forces_n / (np.abs(forces_n).max() * FORCE_SHARE),
            currents_a / (currents_a.max() * CURRENT_SHARE or 1),
        ]
    )
    kept = _thinned(bench.pulses_us, scaled)
    return {
        "battery_v": bench.volts,
        "pulses_us": [int(us) if us == int(us) else float(us) for us in bench.pulses_us[kept]],
        "forces_n": [round(float(n), bench.decimals) + 0.0 for n in forces_n[kept]],
        "currents_a": [round(float(a), AMPERE_DECIMALS) for a in currents_a[kept]],
    }


def _thinned(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The points to keep so that straight lines between them are within 1 of every row (Douglas and Peucker)."""
    keep = np.zeros(len(x), bool)
    keep[[0, -1]] = True
    spans = [(0, len(x) - 1)]
    while spans:
        low, high = spans.pop()
        inside = slice(low + 1, high)
        if high - low < 2:
            continue
        ends = x[[low, high]]
        off = np.max(
            [np.abs(np.interp(x[inside], ends, row[[low, high]]) - row[inside]) for row in rows], axis=0
        )
        if off.max() > 1:
            worst = low + 1 + int(np.argmax(off))
            keep[worst] = True
            spans += [(low, worst), (worst, high)]
    return np.flatnonzero(keep)
