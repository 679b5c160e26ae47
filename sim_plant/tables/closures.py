"""Tables `plant.tree.closure`: what closes a chain of bodies, beside the joints of the tree.

A closure holds a point of one body at a point of another as a joint would, or holds a length: a rod between two
points, or a tendon along guides on several bodies, which pulls and never pushes. Recursions over a tree know
none; sim_plant/maximal/model.py keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from caudal.sim_plant.tables.types import Kind, Number, Positive, Table

if TYPE_CHECKING:
    from caudal.sim_plant.tables.tree import Body

Three = tuple[Number, Number, Number]
ORIGIN = (0.0, 0.0, 0.0)


class Closure(Kind, kw_only=True, frozen=True):
    name: str


class Pair(Closure, kw_only=True, frozen=True):
    """A joint without coordinates in a state: a frame on body a meets a frame on body b, as the kind allows.

    Each stands at_m, turned by rpy_deg (roll, pitch, yaw about the fixed axes), in its body's frame.
    """

    body_a: str
    body_b: str
    at_a_m: Three = ORIGIN
    at_b_m: Three = ORIGIN
    rpy_a_deg: Three = ORIGIN
    rpy_b_deg: Three = ORIGIN
    axis: Three = (0.0, 0.0, 1.0)  # of a revolute or prismatic one, in the frame on a; made a unit vector


class Revolute(Pair, tag="revolute", kw_only=True, frozen=True):
    pass


class Prismatic(Pair, tag="prismatic", kw_only=True, frozen=True):
    pass


class Spherical(Pair, tag="spherical", kw_only=True, frozen=True):
    pass


class Fixed(Pair, tag="fixed", kw_only=True, frozen=True):
    pass


class Guide(Table, kw_only=True, frozen=True):
    """A point that a tendon ends at or slides through."""

    body: str
    at_m: Three = ORIGIN


class Length(Closure, kw_only=True, frozen=True):
    """Held at length_m, or as long as it is with every joint at 0; driven: as long as it is told to be."""

    length_m: Positive | None = None
    mode: Literal["held", "driven"] = "held"


class Rod(Length, tag="rod", kw_only=True, frozen=True):
    body_a: str
    body_b: str
    at_a_m: Three = ORIGIN
    at_b_m: Three = ORIGIN


class Tendon(Length, tag="tendon", kw_only=True, frozen=True):
    """Straight from guide to guide, without friction; no longer than its length, slack when it would push."""

    guide: Annotated[list[Guide], Meta(min_length=2)]


AnyClosure = Revolute | Prismatic | Spherical | Fixed | Rod | Tendon


def guides_of(closure: Rod | Tendon) -> list[Guide]:
    if isinstance(closure, Tendon):
        return closure.guide
    return [
        Guide(body=closure.body_a, at_m=closure.at_a_m),
        Guide(body=closure.body_b, at_m=closure.at_b_m),
    ]


def closure_problems(closures: Sequence[AnyClosure], bodies: Sequence[Body]) -> Iterator[tuple[str, str]]:
    """Where closures do not fit the bodies or each other: (key below `plant.tree`, what to do)."""
    taken = [body.joint.name for body in bodies if body.joint] + [closure.name for closure in closures]
    mass_kg = {body.name: body.mass_kg for body in bodies}
    for i, closure in enumerate(closures):
        key = f"closure.{i}"
        if taken.count(closure.name) > 1:
            yield f"{key}.name", f"another closure or a joint has the name {closure.name}; name each once."
        held = (
            {f"guide.{k}.body": guide.body for k, guide in enumerate(closure.guide)}
            if isinstance(closure, Tendon)
            else {"body_a": closure.body_a, "body_b": closure.body_b}
        )
        for part, name in held.items():
            if name not in mass_kg:
                yield f"{key}.{part}", f"there is no body {name}; choose from {', '.join(mass_kg)}."
            elif mass_kg[name] == 0:
                yield (
                    f"{key}.{part}",
                    f"{name} has no mass to hold on to; choose a body with mass_kg above 0.",
                )
        if len(set(held.values())) < 2:
            yield key, f"{closure.name} begins and ends on one body; name two that move in each other."
        if isinstance(closure, Revolute | Prismatic) and math.hypot(*closure.axis) < 1e-9:
            yield f"{key}.axis", "an axis of no length has no direction; give one such as [0, 0, 1]."
