"""Every run is recorded; a recording replays to the bit, whole or torn by a kill."""

import random
import signal
import subprocess
import sys
import time

import pytest
from mcap.reader import make_reader

from onboard.log import Log
from tests.conftest import EEL, ROOT
from tools.replay import replay
from tools.report import write_report


def test_the_same_seed_gives_the_same_commands_bit_for_bit(caudal):
    for name in ("a", "b"):
        assert caudal("run", "fish", "--for", 20, "--seed", 3, "--log", f"{name}.mcap").returncode == 0
    assert caudal("run", "fish", "--for", 20, "--seed", 4, "--log", "c.mcap").returncode == 0
    same = caudal.json("compare", "a.mcap", "b.mcap")
    assert same["ticks"] == 3 * 2000 and same["equal"] == same["commands"] == 3 * 2000 * 5
    assert same["off_by_one"] == same["worse"] == 0
    other = caudal.json("compare", "a.mcap", "c.mcap", code=1)
    assert other["worse"] > 0 and other["first_difference"]


def test_a_replay_is_identical_until_a_gain_changes(caudal):
    assert caudal("run", "fish", "--scenario", "track", "--for", 15, "--log", "a.mcap").returncode == 0
    done = caudal("replay", "a.mcap")
    assert done.returncode == 0 and "identical" in done.stdout
    done = caudal("replay", "a.mcap", "--set", "scenario.track.steering.kp=1.7")
    assert done.returncode == 1 and "tick" in done.stdout and "fish_1 tail_" in done.stdout
    result = caudal.json("replay", "a.mcap", "--set", "scenario.track.steering.kp=1.7", code=1)
    assert result["tick"] > 0 and result["identical"] is False


def test_a_replay_with_other_channels_is_refused(caudal):
    assert caudal("run", "fish", "--for", 1, "--log", "a.mcap").returncode == 0
    done = caudal("replay", "a.mcap", "--vehicle", EEL)
    assert done.returncode == 2 and "actuators" in done.stderr


def test_a_log_holds_all_that_crossed_the_board(caudal):
    assert (
        caudal("run", "fish", "--for", 2, "--seed", 5, "--log", "a.mcap", "--set", "gait.rows=20").returncode
        == 0
    )
    log = Log(caudal.folder / "a.mcap")
    assert log.complete and log.run["seed"] == "5" and log.run["overrides"] == "gait.rows=20"
    assert 'name = "fish"' in log.run["vehicle_file"] and log.run["version"]
    for topic in ("counts", "commands", "outputs", "state", "loop", "truth"):
        assert len(log.topics[f"/fish_2/{topic}"]) == 200
    assert [event.kind for event in log.events[:2]] == ["order", "armed"]


@pytest.mark.parametrize("_", range(4))
def test_a_run_killed_at_any_instant_leaves_a_log_that_opens_and_replays(tmp_path, _):
    kill_and_check(tmp_path)


def kill_and_check(folder) -> float:
    """Kill a paced run after a random while; gives the seconds missing from its log."""
    log = folder / "killed.mcap"
    command = [
        sys.executable,
        "-m",
        "tools.cli",
        "run",
        "fish",
        "--realtime",
        "--for",
        "60",
        "--log",
        str(log),
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    give_up = time.monotonic() + 60
    head = (ROOT / "onboard" / "vehicles" / "fish.toml").stat().st_size  # a log begins with its vehicle file
    while not (log.exists() and log.stat().st_size > head + 30_000) and time.monotonic() < give_up:
        time.sleep(0.05)
    time.sleep(random.uniform(0.0, 2.0))
    process.send_signal(signal.SIGKILL)
    killed = time.clock_gettime(time.CLOCK_REALTIME)
    process.wait()
    with log.open("rb") as file:
        newest = max(message.log_time for _, _, message in make_reader(file).iter_messages())
    missing_s = killed - log.stat().st_mtime
    assert newest > 0
    result = replay(Log(log))
    assert result["identical"] and result["ticks"] > 0
    assert write_report(log).exists()
    return missing_s


def test_a_log_without_a_single_tick_is_refused_in_a_sentence(caudal):
    from onboard.record import Recorder

    source = Log(make_log(caudal))
    with Recorder(caudal.folder / "bare.mcap", source.run, lossless=True) as recorder:
        for name in ("outputs", "loop", "truth"):
            recorder.topic(f"/fish_1/{name}", [("int32", "tail_1")])
    done = caudal("report", "bare.mcap")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "first tick" in done.stderr


def make_log(caudal):
    assert caudal("run", "fish", "--for", 1, "--log", "a.mcap").returncode == 0
    return caudal.folder / "a.mcap"


if __name__ == "__main__":  # python -m tests.swim.test_records 50
    from pathlib import Path
    from tempfile import TemporaryDirectory

    worst = 0.0
    runs = int(sys.argv[1])
    for _ in range(runs):
        with TemporaryDirectory() as folder:
            worst = max(worst, kill_and_check(Path(folder)))
    assert worst <= 1.0, f"{worst:.2f} s are missing from the end of a log"
    print(f"{runs} of {runs} killed runs open in the mcap reader and replay; at most {worst:.2f} s missing")
