"""The equations of motion of a rigid vehicle in water, linear in the parameters to identify.

    M a + C(v) v + D v + Q |v| v + g = wrench        (Panetsos and Kyriakopoulos eq. 2, in six freedoms)

v = (u v w p q r) in the base frame: x forward, y to port, z up. C comes from M: with momentum M v = (P, H) it is
(omega x P, omega x H + u x P). g holds the net weight (weight minus buoyancy), the righting moment of a buoyancy above
the weight, and the moment of a buoyancy in front of it.

Every term is a constant times a feature of the motion (1, an acceleration, a velocity, a product of two...), so a set
of parameters is a constant array S: row r of the regressor is S[r] @ features. Sums of squares of the regressor then
need only the features' Gram matrix, which makes the optimization of excitation fast.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

FREEDOMS = ("surge", "sway", "heave", "roll", "pitch", "yaw")
LEVEL = (0, 1, 2, 5)  # the freedoms of a level vehicle: surge, sway, heave, yaw
ALL = (0, 1, 2, 3, 4, 5)

PRODUCTS = tuple(combinations_with_replacement(range(6), 2))
# Index of each kind of feature: 1, accelerations, velocities, |v| v, products, and the tilt's sines.
ONE, ACCELERATION, VELOCITY, SQUARE, PRODUCT = 0, 1, 7, 13, 19
ROLLED = PRODUCT + len(PRODUCTS)  # sin(roll) cos(pitch)
PITCHED = ROLLED + 1  # sin(pitch)
UPRIGHT = PITCHED + 1  # cos(roll) cos(pitch)
COUNT = UPRIGHT + 1

# Entries of M of a vehicle that is symmetric about its x-z plane; 1-based, as in the literature.
LEVEL_INERTIA = ("m11", "m22", "m33", "m66", "m13", "m26")
INERTIA = (*LEVEL_INERTIA, "m44", "m55", "m15", "m24", "m35", "m46")
LEVEL_DRAG = tuple(f"d{i + 1}{j + 1}" for i in LEVEL for j in LEVEL)
LEVEL_SETS = {
    "linear": (*LEVEL_INERTIA, *LEVEL_DRAG, "net_weight"),  # the paper's 23
    "quadratic": (*LEVEL_INERTIA, *LEVEL_DRAG, *(f"q{i + 1}{i + 1}" for i in LEVEL), "net_weight"),
}
ALL_SETS = {
    "linear": (*INERTIA, *(f"d{i}{i}" for i in range(1, 7)), "net_weight", "righting", "lead"),
    "quadratic": (
        *INERTIA, *(f"d{i}{i}" for i in range(1, 7)), *(f"q{i}{i}" for i in range(1, 7)),
        "net_weight", "righting", "lead",
    ),
}  # fmt: skip


class Matrices(NamedTuple):
    """A model's numbers as arrays: kg, kg m, kg m2; N s/m and so on; N; N m (at a tilt of 90 degrees)."""

    inertia: np.ndarray  # 6 x 6
    drag: np.ndarray  # 6 x 6
    quadratic: np.ndarray  # 6, of |v| v
    net_weight_n: float  # weight minus buoyancy
    righting_n_m: float
    lead_n_m: float  # of a buoyancy in front of the weight: lifts the nose


def unit(name: str) -> str:
    """The unit of a parameter."""
    if name in ("righting", "lead"):
        return "N m"
    if name == "net_weight":
        return "N"
    i, j = (int(digit) > 3 for digit in name[1:])
    if name[0] == "m":
        return ("kg", "kg m", "kg m2")[i + j]
    turned = "N m" if i else "N"
    per = {"d": ("s/m", "s/rad"), "q": ("s2/m2", "s2/rad2")}[name[0]][j]
    return f"{turned} {per}"


def _momentum_terms(i: int, j: int) -> dict[int, list[tuple[int, float]]]:
    """Rows of C(v) v for momentum i = velocity j: row -> [(feature, coefficient)]."""

    def product(a: int, b: int) -> int:
        return PRODUCT + PRODUCTS.index((min(a, b), max(a, b)))

    terms: dict[int, list[tuple[int, float]]] = {}
    first, second = (i + 1) % 3, (i + 2) % 3
    if i < 3:  # a linear momentum: omega x P, u x P
        for row, axis, sign in ((second, first, 1.0), (first, second, -1.0)):
            terms.setdefault(row, []).append((product(3 + axis, j), -sign))
            terms.setdefault(3 + row, []).append((product(axis, j), -sign))
    else:  # an angular one: omega x H
        for row, axis, sign in ((second, first, 1.0), (first, second, -1.0)):
            terms.setdefault(3 + row, []).append((product(3 + axis, j), -sign))
    return terms


def coefficients(names: Sequence[str], rows: Sequence[int] = ALL) -> np.ndarray:
    """S, (row, parameter, feature): the regressor's row r is S[r] @ features."""
    s = np.zeros((6, len(names), COUNT))
    for k, name in enumerate(names):
        if name == "net_weight":  # downwards, in the base frame
            s[2, k, UPRIGHT], s[1, k, ROLLED], s[0, k, PITCHED] = 1.0, 1.0, -1.0
        elif name == "righting":
            s[3, k, ROLLED], s[4, k, PITCHED] = 1.0, 1.0
        elif name == "lead":
            s[4, k, UPRIGHT], s[5, k, ROLLED] = 1.0, -1.0
        elif name[0] == "m":
            i, j = int(name[1]) - 1, int(name[2]) - 1
            for a, b in {(i, j), (j, i)}:
                s[a, k, ACCELERATION + b] += 1.0
                for row, terms in _momentum_terms(a, b).items():
                    for feature, value in terms:
                        s[row, k, feature] += value
        else:
            i, j = int(name[1]) - 1, int(name[2]) - 1
            s[i, k, (VELOCITY if name[0] == "d" else SQUARE) + j] = 1.0
    return s[list(rows)]


def features(
    velocity: np.ndarray, acceleration: np.ndarray, roll: np.ndarray | float = 0.0,
    pitch: np.ndarray | float = 0.0,
) -> np.ndarray:  # fmt: skip
    """The features (sample, feature) of a motion, whose arrays are (sample, 6)."""
    f = np.empty((len(velocity), COUNT))
    f[:, ONE] = 1.0
    f[:, ACCELERATION:VELOCITY] = acceleration
    f[:, VELOCITY:SQUARE] = velocity
    f[:, SQUARE:PRODUCT] = np.abs(velocity) * velocity
    for k, (i, j) in enumerate(PRODUCTS):
        f[:, PRODUCT + k] = velocity[:, i] * velocity[:, j]
    f[:, ROLLED] = np.sin(roll) * np.cos(pitch)
    f[:, PITCHED] = np.sin(pitch)
    f[:, UPRIGHT] = np.cos(roll) * np.cos(pitch)
    return f


def regressor(s: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Y, (sample x row, parameter), samples outermost: Y @ parameters is the wrench."""
    y: np.ndarray = np.einsum("rpf,nf->nrp", s, f)
    return y.reshape(-1, s.shape[1])


def matrices(values: Mapping[str, float], base: Matrices | None = None) -> Matrices:
    """A model with these parameters; the others are as in `base`, or 0."""
    base = base or Matrices(np.zeros((6, 6)), np.zeros((6, 6)), np.zeros(6), 0.0, 0.0, 0.0)
    inertia, drag, quadratic = base.inertia.copy(), base.drag.copy(), base.quadratic.copy()
    for name, value in values.items():
        if name[0] in "mdq" and name[1:].isdigit():
            i, j = int(name[1]) - 1, int(name[2]) - 1
            if name[0] == "m":
                inertia[i, j] = inertia[j, i] = value
            elif name[0] == "d":
                drag[i, j] = value
            else:
                quadratic[i] = value
    return Matrices(
        inertia, drag, quadratic,
        values.get("net_weight", base.net_weight_n),
        values.get("righting", base.righting_n_m),
        values.get("lead", base.lead_n_m),
    )  # fmt: skip
