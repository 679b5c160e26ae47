"""What the tests of the bench share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hil.sides import Sides


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[Sides]:
    both = Sides(tmp_path)
    yield both
    both.close()
