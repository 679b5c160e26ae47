"""Foils as fins: of their true area, on their bodies, in the outline that such a fin usually has.

The plant knows a foil's area, the way of its chord and its normal. Where it hangs on its body says what it is: beside
its joint a wing, behind it a tail fin, on both sides of it a pair.
"""

from __future__ import annotations

import numpy as np

from caudal.sim_plant.tables.tree import Body, Ellipsoid
from caudal.sim_plant.tables.water import Foil
from caudal.tools.view.mesh import Mesh, plate

THIN = 0.15  # a hull's thickness by its length below which its foil is all there is to see
ASIDE = 0.25  # of its size: so far from its joint a foil hangs on one side
# corners: share of the chord from the front, share of the span from the joint's side (of pairs and tails: either way)
WING = (
    (0.02, -0.2),
    (0.0, 0.12),
    (0.2, 0.75),
    (0.42, 1.0),
    (0.92, 1.0),
    (1.0, 0.8),
    (1.02, 0.1),
    (1.0, -0.2),
)
TAIL = ((0.0, 0.12), (0.45, 0.3), (1.0, 0.5), (0.82, 0.0), (1.0, -0.5), (0.45, -0.3), (0.0, -0.12))
PAIR = (
    (0.0, 0.1),
    (0.5, 0.45),
    (0.95, 0.5),
    (0.9, 0.1),
    (0.9, -0.1),
    (0.95, -0.5),
    (0.5, -0.45),
    (0.0, -0.1),
)


def fins(body: Body) -> list[Mesh]:
    """Of every foil that is more than its hull's own lift, in the body's frame."""
    return [_fin(body, foil) for foil in body.foil if _seen(body, foil)]


def covered(body: Body) -> bool:
    """Its hull is as thin as a foil of it, which is drawn instead."""
    return isinstance(body.hull, Ellipsoid) and any(_seen(body, foil) for foil in body.foil)


def _axes(foil: Foil) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """To the leading edge, along the span, off the plane."""
    chord = np.array(foil.chord, dtype=float)
    chord /= np.linalg.norm(chord)
    normal = np.array(foil.normal, dtype=float)
    normal -= chord * (normal @ chord)
    normal /= np.linalg.norm(normal)
    return chord, np.cross(normal, chord), normal


def _seen(body: Body, foil: Foil) -> bool:
    if not isinstance(body.hull, Ellipsoid):
        return True
    half = np.array(body.hull.semi_axes_m)
    return float(np.linalg.norm(half * _axes(foil)[2])) < THIN * float(half.max())


def _fin(body: Body, foil: Foil) -> Mesh:
    chord, span, normal = _axes(foil)
    if isinstance(body.hull, Ellipsoid):
        half, middle = np.array(body.hull.semi_axes_m), np.array(body.hull.at_m)
        chord_m = 2 * float(np.linalg.norm(half * chord))
        thick_m = 2 * float(np.linalg.norm(half * normal))
    else:  # the centre of pressure is a quarter of the chord behind the leading edge
        chord_m = foil.chord_m or float(np.sqrt(foil.area_m2))
        middle, thick_m = np.array(foil.at_m) - 0.25 * chord_m * chord, 0.06 * chord_m
    span_m = foil.area_m2 / chord_m
    front = middle + 0.5 * chord_m * chord
    aside, behind = float(middle @ span), -float(middle @ chord)
    if abs(aside) > ASIDE * span_m:
        outline, span = WING, span * np.sign(aside)
        front = front - span * (front @ span)  # it begins where it is hinged
    else:
        outline = TAIL if behind > ASIDE * chord_m else PAIR
    share = np.array(outline)
    reach_m = foil.area_m2 / (chord_m * _area(share))
    corners = front - chord_m * share[:, :1] * chord + reach_m * share[:, 1:] * span
    if normal @ np.cross(corners[1] - corners[0], corners[2] - corners[1]) < 0:
        corners = corners[::-1]
    return plate(corners, thick_m)


def _area(corners: np.ndarray) -> float:
    """Of a plane outline, but for what lies inside the body that it is hinged on."""
    kept = corners.copy()
    if kept[:, 1].min() > -0.3:
        kept[:, 1] = np.maximum(kept[:, 1], 0.0)
    after = np.roll(kept, -1, axis=0)
    return 0.5 * abs(float(np.sum(kept[:, 0] * after[:, 1] - kept[:, 1] * after[:, 0])))
