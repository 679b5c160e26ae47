"""Types that tables of a vehicle file are declared with: ranges of numbers, tables, named tables. CPython only."""

from collections.abc import Mapping
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from caudal.hal.vehicle_file.schema import filled_in

Positive = Annotated[float, Meta(gt=0, le=1e6)]
Number = Annotated[float, Meta(ge=-1e6, le=1e6)]
NotNegative = Annotated[float, Meta(ge=0, le=1e6)]
Length = Annotated[float, Meta(ge=1e-4, le=1e4)]
Physical = Annotated[float, Meta(ge=1e-9, le=1e6)]
Share = Annotated[float, Meta(ge=0, le=1)]
Wide = Annotated[float, Meta(ge=-1e9, le=1e9)]


class Table(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A table of a vehicle file; a key that it does not declare is an error."""


class Kind(Table, tag_field="kind", kw_only=True, frozen=True):
    """A table whose `kind` decides which keys it has."""


class Named(Table, kw_only=True, frozen=True):
    """A table with a name, as [actuator.NAME]; the reader fills the name in."""

    name: str = filled_in("name", "")


NamedTable = TypeVar("NamedTable", bound=Named)


def named(tables: Mapping[str, NamedTable]) -> list[NamedTable]:
    """Tables in file order, each with its name; dictionaries of MicroPython are unsorted."""
    return [msgspec.structs.replace(table, name=name) for name, table in tables.items()]


def tag_of(table: Table) -> str:
    """The word that chose this kind of table, such as its `task` or `kind`."""
    return str(table.__struct_config__.tag)
