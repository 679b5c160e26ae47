"""Tables of `plant.tree` for moving water: foils, slender links and edges of a body, and waves.

Vectors are along the body's axes, points in its frame. Without gravity there is no surface: water is everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from caudal.hal.tables.types import Kind, NotNegative, Number, Positive, Table

Three = tuple[Number, Number, Number]
ORIGIN = (0.0, 0.0, 0.0)
PARALLEL = 1e-6  # sine of the angle below which two directions count as parallel


class Foil(Table, kw_only=True, frozen=True):
    """A lifting surface with its centre of pressure at at_m; water/foils.py has the model.

    cn and ct are the normal and tangential coefficients at stall. suction is the share of the leading edge's suction
    that a foil with a round nose keeps. With lag, lift follows the wake with a delay; this needs chord_m.
    """

    at_m: Three = ORIGIN
    chord: Three = (1.0, 0.0, 0.0)  # towards the leading edge; scaled to length 1
    normal: Three = (0.0, 0.0, 1.0)  # made orthogonal to the chord, of length 1
    area_m2: Positive
    chord_m: Positive | None = None
    cn: Positive = 1.2
    ct: NotNegative = 0.1
    stall_deg: Annotated[float, Meta(gt=0, le=40)] = 30.0
    suction: Annotated[float, Meta(ge=0, le=1)] = 0.0
    lag: bool = False


class Edge(Table, kw_only=True, frozen=True):
    """A trailing edge that sheds water (water/slender.py). A round end has two, one per direction across."""

    at_m: Three = ORIGIN
    out: Three = (-1.0, 0.0, 0.0)  # direction in which the water is shed; scaled to length 1
    across: Three = (0.0, 0.0, 1.0)  # along the span; made orthogonal to `out`, of length 1
    span_m: Positive


class Slender(Table, kw_only=True, frozen=True):
    """A slender link with resistance along and across it, at Gauss points (Taylor 1952)."""

    from_m: Three
    to_m: Three
    diameter_m: Positive
    cn: NotNegative = 1.0  # for the area diameter x length
    ct: NotNegative = 0.01  # for the area pi x diameter x length
    points: Annotated[int, Meta(ge=1, le=16)] = 3


class Wave(Table, kw_only=True, frozen=True):
    """A long-crested wave on deep water; heading is its direction of travel, from world x towards y."""

    amplitude_m: NotNegative
    period_s: Annotated[float, Meta(ge=0.05, le=1000)]
    heading_deg: Number = 0.0
    phase_deg: Number = 0.0  # 0: a crest at the world's origin at time 0


class Jonswap(Kind, tag="jonswap", kw_only=True, frozen=True):
    """A wind sea of this significant height, made of `components` waves that the seed draws."""

    significant_m: Positive
    peak_s: Annotated[float, Meta(ge=0.05, le=1000)]
    gamma: Annotated[float, Meta(ge=1, le=20)] = 3.3
    heading_deg: Number = 0.0
    components: Annotated[int, Meta(ge=1, le=400)] = 30
    seed: Annotated[int, Meta(ge=0)] = 0


def unit(a: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """A vector, scaled to length 1."""
    direction: NDArray[np.float64] = np.array(a) / np.linalg.norm(a)
    return direction


def unit_across(a: Sequence[float], along: NDArray[np.float64]) -> NDArray[np.float64]:
    """The part of a that is orthogonal to the unit vector `along`, scaled to length 1."""
    return unit(np.array(a) - along * np.dot(a, along))


def _is_parallel(a: Sequence[float], b: Sequence[float]) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) <= PARALLEL * np.linalg.norm(a) * np.linalg.norm(b))


def validate_water(
    foils: Sequence[Foil], edges: Sequence[Edge], links: Sequence[Slender]
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a body's foils, edges and links: (key below the body, what is wrong and what to do)."""
    for i, foil in enumerate(foils):
        if np.linalg.norm(foil.chord) < PARALLEL:
            yield f".foil.{i}.chord", "the chord has no length; point it at the leading edge."
        elif _is_parallel(foil.chord, foil.normal):
            yield (
                f".foil.{i}.normal",
                "it has no length or is parallel to the chord; point it out of the foil's plane.",
            )
        if foil.lag and foil.chord_m is None:
            yield f".foil.{i}.lag", "the lag needs the chord's length; give chord_m too."
    for i, edge in enumerate(edges):
        if np.linalg.norm(edge.out) < PARALLEL:
            yield f".edge.{i}.out", "it has no length; point it in the direction in which the water is shed."
        elif _is_parallel(edge.out, edge.across):
            yield f".edge.{i}.across", "it has no length or is parallel to `out`; point it along the span."
    for i, link in enumerate(links):
        if np.linalg.norm(np.subtract(link.to_m, link.from_m)) < 1e-9:
            yield f".slender.{i}.to_m", "the link has no length; from_m and to_m must differ."
