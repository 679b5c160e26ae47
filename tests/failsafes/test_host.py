"""The host monitor: temperature, voltage, storage and clock, from files as Linux has them."""

import os
import time

from caudal.onboard.host.host_monitor import JUMP_S, THERMAL, THROTTLED, Host


def heard(tmp_path, **files: str):
    """A host monitor that reads the test's files, and its reports so far."""
    told: list[tuple[str, bool]] = []
    host = Host(lambda word, value: told.append((word, value)), tmp_path / "run.mcap", tmp_path)
    put(tmp_path, **files)
    return host, told


def put(root, hot: str | None = None, throttled: str | None = None) -> None:
    for name, text in ((THERMAL, hot), (THROTTLED, throttled)):
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)


def test_nothing_is_reported_while_all_is_well_or_unknown(tmp_path):
    host, told = heard(tmp_path)
    host.check()
    put(tmp_path, hot="45000\n", throttled="0\n")
    host.check()
    put(tmp_path, hot="warm", throttled="?")
    host.check()
    assert told == []


def test_heat_and_a_low_supply_are_reported_once_and_cleared(tmp_path):
    host, told = heard(tmp_path, hot="85000\n", throttled="50005\n")
    host.check()
    host.check()
    assert told == [("computer_hot", True), ("under_voltage", True)]
    put(tmp_path, hot="60000", throttled="50000")  # it was low once: that is history
    host.check()
    assert told[2:] == [("computer_hot", False), ("under_voltage", False)]


def test_full_disk_is_reported(tmp_path, monkeypatch):
    host, told = heard(tmp_path)
    here = os.statvfs(tmp_path)

    class Full:
        f_bavail, f_frsize = 100, here.f_frsize

    monkeypatch.setattr(os, "statvfs", lambda path: Full)
    host.check()
    assert told == [("storage_full", True)]


def test_jump_of_the_wall_clock_is_reported_for_one_check(tmp_path, monkeypatch):
    host, told = heard(tmp_path)
    calendar = time.clock_gettime
    monkeypatch.setattr(time, "clock_gettime", lambda clock: calendar(clock) + 2 * JUMP_S)
    host.check()
    host.check()
    assert told == [("clock_jumped", True), ("clock_jumped", False)]


def test_thread_ends_when_it_is_stopped(tmp_path):
    host, _ = heard(tmp_path)
    host.start()
    host.stop()
    assert not host._thread.is_alive()
