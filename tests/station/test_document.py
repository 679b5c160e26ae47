"""docs/mavlink.md is up to date with the tables of the code."""

from caudal.onboard.station.document import markdown
from tests.conftest import ROOT


def test_document_is_up_to_date_with_the_tables():
    written = (ROOT / "docs" / "mavlink.md").read_text()
    assert written == markdown(), "python -m caudal.onboard.station.document > docs/mavlink.md"
