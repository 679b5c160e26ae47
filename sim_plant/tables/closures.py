"""Tables `plant.tree.closure`: what closes a chain of bodies, in addition to the joints of the tree.

A closure holds a point of one body at a point of another as a joint would, or it holds a length: a rod between two
points, or a tendon along guides on several bodies, which pulls and never pushes. Recursions over a tree do not handle
closures; sim_plant/maximal/model.py does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from caudal.hal.tables.types import Kind, Number, Positive, Table

if TYPE_CHECKING:
    from caudal.sim_plant.tables.tree import Body

Three = tuple[Number, Number, Number]
ORIGIN = (0.0, 0.0, 0.0)


class Closure(Kind, kw_only=True, frozen=True):
    """One entry of plant.tree.closure."""

    name: str


class Pair(Closure, kw_only=True, frozen=True):
    """A joint without coordinates in a state: a frame on body a and a frame on body b move as the kind allows.

    Each frame is at at_m, rotated by rpy_deg (roll, pitch, yaw about the fixed axes), in its body's frame.
    """

    body_a: str
    body_b: str
    at_a_m: Three = ORIGIN
    at_b_m: Three = ORIGIN
    rpy_a_deg: Three = ORIGIN
    rpy_b_deg: Three = ORIGIN
    axis: Three = (0.0, 0.0, 1.0)  # of a revolute or prismatic one, in the frame on a; scaled to length 1


class Revolute(Pair, tag="revolute", kw_only=True, frozen=True):
    """Leaves the rotation about `axis` free."""


class Prismatic(Pair, tag="prismatic", kw_only=True, frozen=True):
    """Leaves the motion along `axis` free."""


class Spherical(Pair, tag="spherical", kw_only=True, frozen=True):
    """Leaves all rotations free."""


class Fixed(Pair, tag="fixed", kw_only=True, frozen=True):
    """Leaves no motion free."""


class Guide(Table, kw_only=True, frozen=True):
    """A point where a tendon ends, or through which it slides."""

    body: str
    at_m: Three = ORIGIN


class Length(Closure, kw_only=True, frozen=True):
    """Held at length_m, or at its length with every joint at 0; driven: at a length that is given in every step."""

    length_m: Positive | None = None
    mode: Literal["held", "driven"] = "held"


class Rod(Length, tag="rod", kw_only=True, frozen=True):
    """A rod between two points: their distance is its length."""

    body_a: str
    body_b: str
    at_a_m: Three = ORIGIN
    at_b_m: Three = ORIGIN


class Tendon(Length, tag="tendon", kw_only=True, frozen=True):
    """Straight from guide to guide, without friction; at most its length, and slack where it would push."""

    guide: Annotated[list[Guide], Meta(min_length=2)]


AnyClosure = Revolute | Prismatic | Spherical | Fixed | Rod | Tendon


def guides_of(closure: Rod | Tendon) -> list[Guide]:
    """The guides of a tendon, or the two ends of a rod."""
    if isinstance(closure, Tendon):
        return closure.guide
    return [
        Guide(body=closure.body_a, at_m=closure.at_a_m),
        Guide(body=closure.body_b, at_m=closure.at_b_m),
    ]


def validate_closures(closures: Sequence[AnyClosure], bodies: Sequence[Body]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with closures: (key below `plant.tree`, what is wrong and what to do)."""
    taken = [body.joint.name for body in bodies if body.joint] + [closure.name for closure in closures]
    mass_kg = {body.name: body.mass_kg for body in bodies}
    for i, closure in enumerate(closures):
        key = f"closure.{i}"
        if taken.count(closure.name) > 1:
            yield (
                f"{key}.name",
                f"another closure or a joint is also named {closure.name}; give each its own name.",
            )
        carriers = (
            {f"guide.{k}.body": guide.body for k, guide in enumerate(closure.guide)}
            if isinstance(closure, Tendon)
            else {"body_a": closure.body_a, "body_b": closure.body_b}
        )
        for part, name in carriers.items():
            if name not in mass_kg:
                yield f"{key}.{part}", f"there is no body {name}; choose from {', '.join(mass_kg)}."
            elif mass_kg[name] == 0:
                yield (
                    f"{key}.{part}",
                    f"{name} has no mass; choose a body with mass_kg above 0.",
                )
        if len(set(carriers.values())) < 2:
            yield (
                key,
                f"{closure.name} begins and ends on one body; name two that can move relative to each other.",
            )
        if isinstance(closure, Revolute | Prismatic) and math.hypot(*closure.axis) < 1e-9:
            yield f"{key}.axis", "the axis has no length; give one such as [0, 0, 1]."
