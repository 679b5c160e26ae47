"""List `plant.skin`: where a tree's outside is, so that its distance from what stands in the world is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta

from caudal.sim_plant.tables.types import Positive, Table
from caudal.sim_plant.tables.water import Three


class Piece(Table, kw_only=True, frozen=True):
    """Balls of one radius along a line of a body, spread evenly, one at either end.

    Between two balls the skin is only as far out as they are: a piece of length L and radius r is up to
    r - sqrt(r**2 - (L / (points - 1) / 2)**2) thinner there than a tube.
    """

    body: str  # of plant.tree
    from_m: Three  # the line's ends, in the body's frame
    to_m: Three
    radius_m: Positive
    points: Annotated[int, Meta(ge=2, le=1000)]


def skin_problems(skin: Sequence[Piece], bodies: Sequence[str], model: str) -> Iterator[tuple[str, str]]:
    """(key below `plant`, what to do)."""
    if skin and model != "tree":
        yield "skin", f'the model "{model}" knows no skin; take it out, or choose "tree".'
        return
    for k, piece in enumerate(skin):
        if piece.body not in bodies:
            yield f"skin.{k}.body", f"there is no body {piece.body}; choose from {', '.join(bodies)}."
