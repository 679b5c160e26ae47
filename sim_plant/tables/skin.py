"""List `plant.skin`: the outside of a tree, for its clearance from the obstacles of the world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta

from caudal.hal.tables.types import Positive, Table
from caudal.sim_plant.tables.water import Three


class SkinPiece(Table, kw_only=True, frozen=True):
    """Balls of one radius along a line of a body, evenly spaced, one at either end.

    Between two balls the skin is thinner than a tube, by up to r - sqrt(r**2 - (L / (points - 1) / 2)**2) at length L
    and radius r.
    """

    body: str  # of plant.tree
    from_m: Three  # the line's ends, in the body's frame
    to_m: Three
    radius_m: Positive
    points: Annotated[int, Meta(ge=2, le=1000)]


def validate_skin(skin: Sequence[SkinPiece], bodies: Sequence[str], model: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a skin: (key below `plant`, what is wrong and what to do)."""
    if skin and model != "tree":
        yield "skin", f'the model "{model}" has no skin; remove it, or choose "tree".'
        return
    for k, piece in enumerate(skin):
        if piece.body not in bodies:
            yield f"skin.{k}.body", f"there is no body {piece.body}; choose from {', '.join(bodies)}."
