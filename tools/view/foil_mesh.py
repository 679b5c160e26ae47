"""Meshes of foils: fins with their true area and a typical outline.

The plant holds the area of a foil, the direction of its chord and its normal. Its position on the body decides the
outline: a wing to the side of the joint, a tail fin behind it, a pair on both sides.
"""

from __future__ import annotations

import numpy as np

from caudal.sim_plant.tables.tree import Body, Ellipsoid
from caudal.sim_plant.tables.water import Foil
from caudal.tools.view.mesh import Mesh, plate

Outline = tuple[tuple[float, float], ...]

THIN = 0.15  # thickness by length of a hull, below which its foil is drawn instead
ASIDE = 0.25  # distance from the joint, by the size of the foil, beyond which the foil is on one side
# corners: share of the chord from the front, share of the span from the joint (pairs and tails: from the centre)
WING: Outline = (
    (0.02, -0.2),
    (0.0, 0.12),
    (0.2, 0.75),
    (0.42, 1.0),
    (0.92, 1.0),
    (1.0, 0.8),
    (1.02, 0.1),
    (1.0, -0.2),
)
TAIL: Outline = ((0.0, 0.12), (0.45, 0.3), (1.0, 0.5), (0.82, 0.0), (1.0, -0.5), (0.45, -0.3), (0.0, -0.12))
PAIR: Outline = (
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
    """Makes a fin for every foil that is not part of a thick hull, in the body's frame."""
    return [_fin(body, foil) for foil in body.foil if _visible(body, foil)]


def replaces_hull(body: Body) -> bool:
    """Returns whether a foil is drawn instead of the hull, because the hull is thin."""
    return isinstance(body.hull, Ellipsoid) and any(_visible(body, foil) for foil in body.foil)


def _axes(foil: Foil) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns unit vectors towards the leading edge, along the span, and normal to the plane."""
    chord = np.array(foil.chord, dtype=float)
    chord /= np.linalg.norm(chord)
    normal = np.array(foil.normal, dtype=float)
    normal -= chord * (normal @ chord)
    normal /= np.linalg.norm(normal)
    return chord, np.cross(normal, chord), normal


def _visible(body: Body, foil: Foil) -> bool:
    if not isinstance(body.hull, Ellipsoid):
        return True
    half = np.array(body.hull.semi_axes_m)
    return float(np.linalg.norm(half * _axes(foil)[2])) < THIN * float(half.max())


def _fin(body: Body, foil: Foil) -> Mesh:
    chord, span, normal = _axes(foil)
    if isinstance(body.hull, Ellipsoid):
        half, centre = np.array(body.hull.semi_axes_m), np.array(body.hull.at_m)
        chord_m = 2 * float(np.linalg.norm(half * chord))
        thick_m = 2 * float(np.linalg.norm(half * normal))
    else:  # the centre of pressure is a quarter of the chord behind the leading edge
        chord_m = foil.chord_m or float(np.sqrt(foil.area_m2))
        centre, thick_m = np.array(foil.at_m) - 0.25 * chord_m * chord, 0.06 * chord_m
    span_m = foil.area_m2 / chord_m
    front = centre + 0.5 * chord_m * chord
    aside, behind = float(centre @ span), -float(centre @ chord)
    if abs(aside) > ASIDE * span_m:
        outline, span = WING, span * np.sign(aside)
        front = front - span * (front @ span)  # starts at the hinge
    else:
        outline = TAIL if behind > ASIDE * chord_m else PAIR
    share = np.array(outline)
    reach_m = foil.area_m2 / (chord_m * _area(share))
    corners = front - chord_m * share[:, :1] * chord + reach_m * share[:, 1:] * span
    if normal @ np.cross(corners[1] - corners[0], corners[2] - corners[1]) < 0:
        corners = corners[::-1]
    return plate(corners, thick_m)


def _area(corners: np.ndarray) -> float:
    """Returns the area of a plane outline outside the body that it is hinged on."""
    kept = corners.copy()
    if kept[:, 1].min() > -0.3:
        kept[:, 1] = np.maximum(kept[:, 1], 0.0)
    after = np.roll(kept, -1, axis=0)
    return 0.5 * abs(float(np.sum(kept[:, 0] * after[:, 1] - kept[:, 1] * after[:, 0])))
