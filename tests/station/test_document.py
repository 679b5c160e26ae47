"""docs/mavlink.md says what the code does."""

from onboard.station.words import markdown
from tests.conftest import ROOT


def test_the_document_is_what_the_tables_say():
    kept = (ROOT / "docs" / "mavlink.md").read_text()
    assert kept == markdown(), "python -m onboard.station.words > docs/mavlink.md"
