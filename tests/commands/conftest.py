"""Fixtures for calibrations."""

import pytest

from tests.commands.calibrating import LEAK, Person, Room


@pytest.fixture
def room(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    person = Person(tmp_path / "registers")
    monkeypatch.setattr("sys.stdin", person)
    return Room(tmp_path, capsys, person)


@pytest.fixture
def probe_room(room):
    text = room.file.read_text().replace("[pi.pulses]\n", f"{LEAK}[pi.pulses]\n")
    room.file.write_text(text.replace("[pi.sensor]\n", '[pi.sensor]\nbilge = "analog.a3"\n'))
    return room
