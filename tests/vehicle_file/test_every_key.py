"""Every key of a shipped vehicle file is read: another value changes a loop, a plant, a view or a driver."""

import pytest

from caudal.onboard import vehicles
from tests.conftest import ROOT
from tests.vehicle_file.every_key import reason_for, representatives, unread


@pytest.mark.long
@pytest.mark.parametrize("name", vehicles.names())
def test_another_value_of_each_kind_of_key_changes_something(name):
    known = {}
    problems = {
        ".".join(map(str, path)): unread(name, path, known)
        for path in representatives(name)
        if not reason_for(path)
    }
    assert not {key: problem for key, problem in problems.items() if problem}


def test_key_that_nothing_reads_is_found(tmp_path):
    text = (ROOT / "onboard" / "vehicles" / "fish.toml").read_text(encoding="utf-8")
    path = tmp_path / "fish.toml"
    path.write_text(text.replace("[gait]\n", "[gait]\nfrequency_hz = 1.5\n", 1), encoding="utf-8")
    assert unread(str(path), ("gait", "frequency_hz"), {}) == "another value changes nothing"
    assert unread(str(path), ("gait", "wavelength_m"), {}) is None
