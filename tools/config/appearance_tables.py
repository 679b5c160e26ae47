"""Table `look` of a vehicle file: what `caudal view` draws in addition to the plant's hulls. It has no effect on runs.

Parts are attached to bodies of the plant, in their frames. A vehicle without the table is drawn as its hulls alone.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from caudal.hal.tables.types import Kind, Positive, Table
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tables.tree import Ellipsoid
from caudal.sim_plant.tables.water import ORIGIN, Three

Colour = Annotated[str, Meta(pattern="^#[0-9a-f]{6}$")]
STEEL = "#5b6b78"


class OnBody(Kind, kw_only=True, frozen=True):
    """A part that is attached to a body."""

    body: str | None = None  # without it the base
    colour: Colour = STEEL
    both_sides: bool = False  # a second one at -y


class Ball(OnBody, tag="ball", kw_only=True, frozen=True):
    """An ellipsoid."""

    at_m: Three = ORIGIN
    semi_axes_m: tuple[Positive, Positive, Positive]


class Rod(OnBody, tag="rod", kw_only=True, frozen=True):
    """A cylinder or truncated cone."""

    from_m: Three
    to_m: Three
    radius_m: Positive
    end_m: Positive | None = None  # its radius at to_m, if it differs


class Box(OnBody, tag="box", kw_only=True, frozen=True):
    """A box with rounded edges."""

    at_m: Three = ORIGIN
    sides_m: tuple[Positive, Positive, Positive]
    soft: Annotated[float, Meta(ge=0.05, le=1)] = 0.2  # 1 is an ellipsoid


class Fin(OnBody, tag="fin", kw_only=True, frozen=True):
    """A plate whose outline is a curve through these corners, which are in a plane."""

    corners_m: Annotated[list[Three], Meta(min_length=3, max_length=40)]
    thick_m: Positive


class Appearance(Table, kw_only=True, frozen=True):
    """Colours of hulls, and parts."""

    colour: Colour = "#e8a33d"  # of hulls
    belly: Colour | None = None  # of a skin's lower half
    skin: list[str] = field(default_factory=list)  # bodies with ellipsoid hulls under one skin, front to back
    bare: list[str] = field(default_factory=list)  # bodies whose hull is not drawn
    colours: dict[str, Colour] = field(default_factory=dict)  # of single hulls, by body
    part: list[Ball | Rod | Box | Fin] = field(default_factory=list)


def read(file: VehicleFile, plant: PlantSpec) -> Appearance:
    """The table, with its bodies checked against the plant's."""
    appearance = file.read("appearance", Appearance)
    hulls = {body.name: body.hull for body in plant.tree.body} if plant.tree else {}
    known = list(hulls) or ["head", *(f"link_{k + 1}" for k in range(len(plant.joints)))]
    named = [(f"skin.{k}", name) for k, name in enumerate(appearance.skin)]
    named += [(f"bare.{k}", name) for k, name in enumerate(appearance.bare)]
    named += [(f"colours.{name}", name) for name in appearance.colours]
    named += [(f"part.{k}.body", part.body) for k, part in enumerate(appearance.part) if part.body]
    for key, name in named:
        if name not in known:
            raise file.error(f"appearance.{key}", f"there is no body {name}; choose from {', '.join(known)}")
    for k, name in enumerate(appearance.skin):
        if not isinstance(hulls.get(name), Ellipsoid):
            raise file.error(f"appearance.skin.{k}", f"{name} has no ellipsoid hull for a skin; leave it out")
    return appearance
