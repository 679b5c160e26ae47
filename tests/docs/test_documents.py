"""Every command and program of the documentation is executed, in the order in which a reader meets them."""

import re

import pytest

from tests.conftest import ROOT
from tests.docs.blocks import KINDS, blocks_of

DOCUMENTS = sorted((ROOT / "docs").glob("*.md"))
BY_NAME = {path.name: path for path in DOCUMENTS}
PLAIN = [name for name, path in BY_NAME.items() if not any(block.runs for block in blocks_of(path))]


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in PLAIN])
def test_every_block_of_a_document_runs(name, tmp_path):
    blocks = blocks_of(BY_NAME[name])
    for block in blocks:
        if block.runs:
            block.run(tmp_path)
    print(f"{name}: {sum(block.runs for block in blocks)} of {len(blocks)} blocks executed")


@pytest.mark.parametrize("name", BY_NAME)
def test_every_block_says_what_it_is(name):
    assert all(block.kind in KINDS for block in blocks_of(BY_NAME[name]))
    prose = re.sub(r"(?ms)^```.*?^```$", "", BY_NAME[name].read_text(encoding="utf-8"))
    assert not re.search(r"(?m)^ {4}(caudal|make|python) ", prose), (
        "a command outside a block is not executed"
    )


@pytest.mark.parametrize("name", BY_NAME)
def test_what_a_document_refers_to_is_there(name):
    for target in re.findall(r"\]\(([^)#]+)", BY_NAME[name].read_text(encoding="utf-8")):
        if "://" not in target:
            assert (BY_NAME[name].parent / target).exists(), target
