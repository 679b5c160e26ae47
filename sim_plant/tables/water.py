"""Tables of `plant.tree` for moving water: foils, slender links and edges of a body, and waves.

Vectors are along the body's axes, points in its frame. Without gravity there is no surface: water is all round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from caudal.sim_plant.tables.types import AtLeastZero, Kind, Number, Positive, Table

Three = tuple[Number, Number, Number]
ORIGIN = (0.0, 0.0, 0.0)
ALIKE = 1e-6  # sine of the angle below which two directions are one


class Foil(Table, kw_only=True, frozen=True):
    """A lifting surface with its centre of pressure at_m; water/foils.py has the law.

    cn and ct are the normal and tangential coefficients at stall; suction is the share of the leading edge's
    suction that a foil with a round nose keeps; lag lets lift grow with the wake, and needs chord_m.
    """

    at_m: Three = ORIGIN
    chord: Three = (1.0, 0.0, 0.0)  # towards the leading edge; made a unit vector
    normal: Three = (0.0, 0.0, 1.0)  # made a unit vector across the chord
    area_m2: Positive
    chord_m: Positive | None = None
    cn: Positive = 1.2
    ct: AtLeastZero = 0.1
    stall_deg: Annotated[float, Meta(gt=0, le=40)] = 30.0
    suction: Annotated[float, Meta(ge=0, le=1)] = 0.0
    lag: bool = False


class Edge(Table, kw_only=True, frozen=True):
    """Where water leaves a slender body; water/slender.py has the law. A round end has two, one each way across."""

    at_m: Three = ORIGIN
    out: Three = (-1.0, 0.0, 0.0)  # the way the water leaves; made a unit vector
    across: Three = (0.0, 0.0, 1.0)  # along the span; made a unit vector across `out`
    span_m: Positive


class Slender(Table, kw_only=True, frozen=True):
    """A slender link that the water resists, along it and across it, at Gauss points (Taylor 1952)."""

    from_m: Three
    to_m: Three
    diameter_m: Positive
    cn: AtLeastZero = 1.0  # of the side it shows, diameter x length
    ct: AtLeastZero = 0.01  # of its skin, pi x diameter x length
    points: Annotated[int, Meta(ge=1, le=16)] = 3


class Wave(Table, kw_only=True, frozen=True):
    """A long-crested wave on deep water; heading is where it goes, from world x towards y."""

    amplitude_m: AtLeastZero
    period_s: Annotated[float, Meta(ge=0.05, le=1000)]
    heading_deg: Number = 0.0
    phase_deg: Number = 0.0  # 0: a crest at the world's origin at time 0


class Jonswap(Kind, tag="jonswap", kw_only=True, frozen=True):
    """A wind sea of that significant height, made of as many waves as `components`; the seed draws them."""

    significant_m: Positive
    peak_s: Annotated[float, Meta(ge=0.05, le=1000)]
    gamma: Annotated[float, Meta(ge=1, le=20)] = 3.3
    heading_deg: Number = 0.0
    components: Annotated[int, Meta(ge=1, le=400)] = 30
    seed: Annotated[int, Meta(ge=0)] = 0


def unit(a: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    along: NDArray[np.float64] = np.array(a) / np.linalg.norm(a)
    return along


def unit_across(a: Sequence[float], along: NDArray[np.float64]) -> NDArray[np.float64]:
    """The part of a that stands across the unit vector `along`, at length 1."""
    return unit(np.array(a) - along * np.dot(a, along))


def _alike(a: Sequence[float], b: Sequence[float]) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) <= ALIKE * np.linalg.norm(a) * np.linalg.norm(b))


def water_problems(
    foils: Sequence[Foil], edges: Sequence[Edge], links: Sequence[Slender]
) -> Iterator[tuple[str, str]]:
    """What is wrong with a body's foils, edges and slender links: (key below the body, what to do)."""
    for i, foil in enumerate(foils):
        if np.linalg.norm(foil.chord) < ALIKE:
            yield f".foil.{i}.chord", "a chord of no length has no direction; point it at the leading edge."
        elif _alike(foil.chord, foil.normal):
            yield (
                f".foil.{i}.normal",
                "it points along the chord or nowhere; point it out of the foil's plane.",
            )
        if foil.lag and foil.chord_m is None:
            yield f".foil.{i}.lag", "the wake's lag counts in chords; give chord_m too."
    for i, edge in enumerate(edges):
        if np.linalg.norm(edge.out) < ALIKE:
            yield f".edge.{i}.out", "it has no length; point it the way the water leaves."
        elif _alike(edge.out, edge.across):
            yield f".edge.{i}.across", "it points along `out` or nowhere; point it along the span."
    for i, link in enumerate(links):
        if np.linalg.norm(np.subtract(link.to_m, link.from_m)) < 1e-9:
            yield f".slender.{i}.to_m", "the link has no length; from_m and to_m must differ."
