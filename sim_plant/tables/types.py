"""Words that every table of the plant is written in: ranges of numbers, tables whose keys are all known."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Positive = Annotated[float, Meta(gt=0, le=1e6)]
Number = Annotated[float, Meta(ge=-1e6, le=1e6)]
AtLeastZero = Annotated[float, Meta(ge=0, le=1e6)]


class Table(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A table whose every key is known."""


class Kind(Table, tag_field="kind", kw_only=True, frozen=True):
    """A table that says by its `kind` which keys it has."""
