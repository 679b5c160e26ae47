"""`import caudal` gives the documented names, imports nothing before they are used, and `simulate` is `caudal run`."""

import subprocess
import sys

import pytest

import caudal as library
from tests.conftest import ROOT


def test_import_brings_in_no_other_package():
    code = "import caudal, sys; print([m for m in ('numpy', 'numba', 'msgspec', 'mcap') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("name", library.__all__)
def test_public_name_resolves_is_documented_and_has_an_example(name):
    assert getattr(library, name).__doc__
    assert f"caudal.{name}" in (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'fish'"):
        library.fish  # noqa: B018


def test_simulate_records_what_the_command_records(caudal, tmp_path):
    done = caudal.json("run", "fish", "--scenario", "cruise", "--for", 2, "--seed", 7, "--log", "a.mcap")
    result = library.simulate("fish", "cruise", seconds=2, seed=7)
    other = library.Log(tmp_path / "a.mcap")
    assert result.summary["vehicles"] == done["vehicles"]
    assert result.log.topics["/fish_1/outputs"].packed == other.topics["/fish_1/outputs"].packed
    assert library.replay(result.log)["identical"]
