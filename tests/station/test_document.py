"""docs/mavlink.md says what the code does."""

from caudal.onboard.station.document import markdown
from tests.conftest import ROOT


def test_the_document_is_what_the_tables_say():
    kept = (ROOT / "docs" / "mavlink.md").read_text()
    assert kept == markdown(), "python -m caudal.onboard.station.document > docs/mavlink.md"
