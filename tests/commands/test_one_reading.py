"""A run parses its vehicle file once and reads its settings once."""

import tomllib

import pytest

from caudal.onboard import vehicles
from caudal.tools.cli.main import main


@pytest.fixture
def readings(monkeypatch):
    """How often a whole vehicle file was parsed, and how often its settings were read."""
    counts = {"parsed": 0, "read": 0}
    loads, read = tomllib.loads, vehicles.read

    def counted_loads(text):
        counts["parsed"] += len(text) > 1000  # a --set is a short text
        return loads(text)

    def counted_read(file):
        counts["read"] += 1
        return read(file)

    monkeypatch.setattr(tomllib, "loads", counted_loads)
    monkeypatch.setattr(vehicles, "read", counted_read)
    return counts


@pytest.mark.parametrize(
    "words",
    [
        ("fish", "--scenario", "cruise"),
        ("hybrid", "--scenario", "turn"),
        ("fish", "--scenario", "cruise", "--fault", "silent:depth@0.1"),
        ("fish", "--scenario", "cruise", "--on", "emulated"),
    ],
)
def test_run_reads_its_vehicle_file_once(words, readings, tmp_path, capsys):
    words = [str(word) for word in words]
    assert main(["run", *words, "--for", "0.2", "--log", str(tmp_path / "run.mcap"), "--json"]) == 0
    assert readings == {"parsed": 1, "read": 1}
