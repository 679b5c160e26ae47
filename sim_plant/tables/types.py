"""Types that the tables of the plant share: ranges of numbers, tables with fixed keys."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Positive = Annotated[float, Meta(gt=0, le=1e6)]
Number = Annotated[float, Meta(ge=-1e6, le=1e6)]
AtLeastZero = Annotated[float, Meta(ge=0, le=1e6)]


class Table(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A table with a fixed set of keys; others are refused."""


class Kind(Table, tag_field="kind", kw_only=True, frozen=True):
    """A table whose `kind` decides which keys it has."""
