"""Keys of every kind of `control` table. CPython only."""

from caudal.hal.tables.types import Table, tag_of


class ControlTable(Table, tag_field="kind", kw_only=True, frozen=True):
    """Its `kind` selects the stack that onboard/build.py builds."""

    @property
    def kind(self) -> str:
        """The word that selects the table."""
        return tag_of(self)
