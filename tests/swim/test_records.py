"""Every run is recorded; a recording replays to the bit, whole or torn by a kill."""

import random
import signal
import subprocess
import sys
import time

import pytest
from mcap.reader import make_reader

from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.run.replay import replay
from caudal.tools.cli.main import main
from caudal.tools.config.from_log import recorded_settings
from caudal.tools.report.command import write_report
from tests.command_line import start
from tests.conftest import EEL, ROOT
from tests.record.logs import without
from tests.waiting import wait_for


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


def test_unknown_key_in_another_vehicle_file_is_refused(caudal):
    make_log(caudal)
    file = ROOT / "onboard" / "vehicles" / "fish.toml"
    (caudal.folder / "odd.toml").write_text(file.read_text(encoding="utf-8") + "\n[unknown]\nkey = 1\n")
    done = caudal("replay", "a.mcap", "--vehicle", "odd.toml")
    assert done.returncode == 2 and "unknown" in done.stderr and done.stderr.count("\n") == 1
    assert caudal("replay", "a.mcap", "--vehicle", file).returncode == 0


LOST_NS = range(300_000_000, 400_000_000)  # ten ticks


def test_logs_of_which_one_lost_messages_are_compared_by_time(caudal):
    whole = make_log(caudal)
    without(whole, caudal.folder / "torn.mcap", lambda _, time_ns: time_ns in LOST_NS)
    result = caudal.json("compare", "a.mcap", "torn.mcap", code=1)
    assert result["ticks"] == 3 * 90 and result["ticks_unmatched"] == 3 * 10
    assert result["equal"] == result["commands"] == 3 * 90 * 5 and "first_difference" not in result
    assert caudal.json("compare", "torn.mcap", "torn.mcap")["ticks_unmatched"] == 0


def test_logs_without_a_common_tick_are_not_compared(caudal):
    whole = make_log(caudal)
    without(whole, caudal.folder / "start.mcap", lambda _, time_ns: time_ns >= LOST_NS.start)
    without(whole, caudal.folder / "end.mcap", lambda _, time_ns: time_ns < LOST_NS.start)
    done = caudal("compare", "start.mcap", "end.mcap")
    assert done.returncode == 2 and "nothing to compare" in done.stderr and done.stderr.count("\n") == 1


def test_pulses_that_differ_are_a_difference_though_no_command_does(tmp_path):
    for name, pulse_us in (("a", 1500.0), ("b", 1510.0)):
        with Recorder(tmp_path / f"{name}.mcap", {}, lossless=True) as recorder:
            recorder.topic("/pike/outputs", [("int32", "tail")]).write(0, [1500])
            recorder.topic("/pike/pulses", [("float64", "tail")]).write(0, [pulse_us])
    a, b = str(tmp_path / "a.mcap"), str(tmp_path / "b.mcap")
    assert main(["compare", a, a]) == 0
    assert main(["compare", a, b]) == 1


@pytest.mark.parametrize("topic", ["/fish_2/counts", "/fish_1/commands", "/"])
def test_a_log_that_lost_messages_replays_up_to_the_first_of_them(caudal, topic):
    """Of one topic or of all."""
    whole = make_log(caudal)
    without(whole, caudal.folder / "torn.mcap", lambda name, time_ns: topic in name and time_ns in LOST_NS)
    result = caudal.json("replay", "torn.mcap", code=1)
    short = 3 if topic == "/" else 1
    assert result["identical"] and result["missing_from_tick"] == 30
    assert result["ticks"] == short * 30 + (3 - short) * 100
    done = caudal("replay", "torn.mcap")
    assert done.returncode == 1 and "Not compared: ticks from 30 on" in done.stdout


@pytest.mark.parametrize(
    "gone, sentence",
    [
        (lambda _, time_ns: time_ns < LOST_NS.start, "does not contain the start of fish_1's run"),
        (lambda topic, _: topic.endswith("/outputs"), "holds nothing in /fish_1/outputs"),
        (lambda topic, _: topic.endswith("/loop"), "holds nothing in /fish_1/loop"),
        (lambda topic, _: topic.endswith("/counts"), "holds no vehicle's readings"),
    ],
)
def test_a_log_that_lacks_its_beginning_or_a_topic_is_not_replayed(caudal, gone, sentence):
    without(make_log(caudal), caudal.folder / "torn.mcap", gone)
    done = caudal("replay", "torn.mcap")
    assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1


def test_a_log_holds_all_that_crossed_the_board(caudal):
    assert (
        caudal(
            "run", "fish", "--for", 2, "--seed", 5, "--log", "a.mcap", "--set", "gait.table_size=20"
        ).returncode
        == 0
    )
    log = Log(caudal.folder / "a.mcap")
    assert log.complete and log.run["seed"] == "5" and log.run["overrides"] == "gait.table_size=20"
    assert 'name = "fish"' in log.run["vehicle_file"] and log.run["version"]
    for topic in ("counts", "commands", "outputs", "state", "loop", "truth"):
        assert len(log.topics[f"/fish_2/{topic}"]) == 200
    assert [event.kind for event in log.events[:2]] == ["command", "armed"]


@pytest.mark.parametrize("_", range(4))
def test_a_run_killed_at_any_instant_leaves_a_log_that_opens_and_replays(tmp_path, _):
    kill_and_check(tmp_path)


def kill_and_check(folder) -> float:
    """Kill a paced run after a random while; gives the seconds missing from its log."""
    log = folder / "killed.mcap"
    process = start("run", "fish", "--realtime", "--for", 3600, "--log", log, stderr=subprocess.DEVNULL)
    head = (ROOT / "onboard" / "vehicles" / "fish.toml").stat().st_size  # a log begins with its vehicle file
    wait_for(lambda: log.exists() and log.stat().st_size > head + 30_000, "ticks in the log")
    time.sleep(random.uniform(0.0, 2.0))
    process.send_signal(signal.SIGKILL)
    killed = time.clock_gettime(time.CLOCK_REALTIME)
    process.wait()
    with log.open("rb") as file:
        newest = max(message.log_time for _, _, message in make_reader(file).iter_messages())
    missing_s = killed - log.stat().st_mtime
    assert newest > 0
    result = replay(Log(log), recorded_settings(Log(log)))
    assert result["identical"] and result["ticks"] > 0
    assert write_report(log).exists()
    return missing_s


def test_a_log_without_a_single_tick_is_refused_in_a_sentence(caudal):
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
