"""A run whose vehicle cannot be armed fails with a message."""

import pytest

from tests.conftest import ROOT

ROV = (ROOT / "onboard" / "vehicles" / "rov.toml").read_text(encoding="utf-8")
WHY = "not armed: nothing in the vehicle could bring it to the surface; its file needs a [surface]"


@pytest.fixture
def unarmable(caudal):
    """A vehicle without [surface], which cannot be armed."""
    start = ROV.index("[surface]\n")
    path = caudal.folder / "sinker.toml"
    path.write_text(ROV[:start] + ROV[ROV.index("\n[", start + 1) :], encoding="utf-8")
    return path


@pytest.mark.parametrize("on", ["sim", "emulated"])
def test_run_fails_with_one_sentence_when_arming_is_rejected(caudal, unarmable, on):
    done = caudal("run", unarmable, "--scenario", "station", "--for", "0.2", "--on", on, "--log", "run.mcap")
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if "not armed" in line] == [f"rov_1 {WHY}"]


def test_run_gives_the_reason_in_json_when_arming_is_rejected(caudal, unarmable):
    words = ("run", unarmable, "--scenario", "station", "--for", "0.2", "--log", "run.mcap")
    assert caudal.json(*words, code=1)["not_armed"] == f"rov_1 {WHY}"
    assert "not_armed" not in caudal.json("run", "rov", "--for", "0.2", "--log", "sound.mcap")
