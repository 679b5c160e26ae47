"""What every kind of `control` table has. CPython only."""

from caudal.hal.tables.types import Table, tag_of


class ControlTable(Table, tag_field="kind", kw_only=True, frozen=True):
    """Chooses by its `kind` the stack that onboard/build.py builds."""

    @property
    def kind(self) -> str:
        return tag_of(self)
