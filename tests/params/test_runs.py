"""Runs with parameters: sets are logged and replay bit for bit; a broken store does not stop the vehicle."""

import json
import os
import subprocess
import sys

import pytest
from msgspec.structs import replace

from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.params.store import ParamStore
from caudal.onboard.run.param_keeper import ParamKeeper
from caudal.onboard.run.recording import about_run
from caudal.onboard.run.replay import replay
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.simulation import Simulation
from tests.conftest import EEL, ROOT
from tests.params.tuned import settings_of

SETS = {
    "fish": (
        "track",
        [("GAIT_WAVE", 0.7), ("BEAT_MAX", 2.2), ("AVOID_PREFERRED", 0.4), ("DIVE_P", 5.0), ("EST_FIX", 0.9)],
    ),
    "snake": ("shells", [("GAIT_AMP", 0.15), ("SHELL_DAMP", 5.0), ("GAIT_FREQ", 1.7), ("GAIT_WAVES", 1.0)]),
    "rov": (
        "station",
        [("YAW_P", 5.0), ("HEAVE_I", 1.0), ("MODEL_WEIGHT", 5.0), ("EST_DIST", 0.05), ("FS_DEPTH", 50.0)],
    ),
    "hybrid": ("mode1", [("POSTURE_EASE", 30e3), ("FS_DEPTH", 50.0)]),
}


class Args:
    seed, realtime = 3, False


@pytest.mark.parametrize("vehicle", SETS)
def test_a_run_with_sets_replays_to_the_bit(tmp_path, vehicle):
    """In the plant, sensor noise on; some were stored before, some are refused, some come while armed."""
    scenario_name, sets = SETS[vehicle]
    opened, name, _ = open_scenario(vehicle, [], scenario_name)
    path, log = tmp_path / "kept.params", tmp_path / "run.mcap"
    params = opened.settings.params
    first = sets.pop(0)
    ParamStore(path, vehicle, params).save(dict([first]))
    simulation = Simulation(opened, name, Args.seed)
    with Recorder(log, about_run(opened, name, "sim", seed=Args.seed), lossless=True) as recorder:
        simulation.record(recorder)
        session = simulation.sessions[0]
        loop = session.loop
        session.params = ParamKeeper(ParamStore(path, vehicle, params), loop)
        simulation.arm()
        for param, value in [*sets, (first[0], -1e9), ("NONE", 1)]:
            for _ in range(30):
                simulation.step()
            loop.send("set", param, value, ticket=param)
        for _ in range(30):
            simulation.step()
        session.params.close()
    assert loop.handler.params.differing() == dict([first, *sets])
    assert ParamStore(path, vehicle, params).load() == dict([first, *sets])
    orders = [event.details for event in Log(log).events if event.kind == "command"]
    assert [order["kind"] for order in orders] == ["load", "arm", *["set"] * (len(sets) + 2)]
    assert [("refused" in order) for order in orders[-2:]] == [True, True]
    assert replay(Log(log), opened.settings)["identical"]


def test_replay_sees_a_set_that_is_not_in_the_log(tmp_path):
    """The same run against itself with one set left out: the comparison can fail."""
    opened, name, _ = open_scenario("rov", [], "station")
    log = tmp_path / "run.mcap"
    simulation = Simulation(opened, name, Args.seed)
    with Recorder(log, about_run(opened, name, "sim", seed=Args.seed), lossless=True) as recorder:
        simulation.record(recorder)
        simulation.arm()
        for k in range(60):
            if k == 30:  # behind the back of loop and log
                assert simulation.instances[0].loop.handler.params.set("YAW_P", 6.0, False) is None
            simulation.step()
    assert not replay(Log(log), opened.settings)["identical"]


def a_store(folder, content: str | dict | None):
    path = folder / "rov.params"
    if isinstance(content, dict):
        ParamStore(path, "rov", settings_of("rov").params).save(content)
    elif content is not None:
        path.write_text(content)
    return path


BAD = {
    "broken": ("{", "is broken"),
    "newer": (json.dumps({"caudal_params": 9, "vehicle": "rov", "groups": {}}), "newer caudal (version 9"),
    "out of range": ({"YAW_P": 99.0}, "YAW_P: 99.0 is out of range; allowed is 0.2 to 6 1/s2"),
    "gone": ({"WAS_HERE": 1.0}, "WAS_HERE is no parameter of this vehicle any more"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_vehicle_swims_whatever_its_store_is_like_and_says_so_once(caudal, kind):
    content, words = BAD[kind]
    path = a_store(caudal.folder, content)
    done = caudal("run", "rov", "--for", "0.5", "--params", path, "--log", "run.mcap")
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if str(path) in line]
    assert len(told) == 1 and words in told[0] and "default" in told[0]
    log = Log(caudal.folder / "run.mcap")
    assert [e.details["reason"] for e in log.events if e.kind == "params"] == told
    assert [e.details["row"] for e in log.events if e.kind == "failsafe"] == ["params_lost"]
    assert log.topics["/rov_1/loop"].column("armed")[-1] == 1
    assert caudal("replay", "run.mcap").returncode == 0


def test_full_disk_stops_parameter_saving_but_not_the_loop(caudal):
    """A parameter is set during the run; then there is room again."""
    program = f"""
import sys
from caudal.tools.cli import main as cli
from caudal.tools.simulate.simulation import SimSession
path = {str(caudal.folder / "rov.params")!r}
tick = SimSession.tick
def told(self, time_ns, late_us):
    if self.loop.ticks == 10:
        self.loop.send("set", "YAW_P", 5.0)
    tick(self, time_ns, late_us)
SimSession.tick = told
sys.exit(cli.main(["run", "rov", "--for", "1", "--params", path, "--log", "run.mcap", "--json"]))
"""
    path = a_store(caudal.folder, {"YAW_P": 3.0})
    before = path.read_bytes()
    os.symlink("/dev/full", path.with_name("rov.params.new"))
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=caudal.folder, capture_output=True, text=True, env=environ)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if "rov.params" in line]
    assert len(told) == 1 and "No space left on device" in told[0]
    assert path.read_bytes() == before
    assert json.loads(done.stdout)["fault"] is None
    done = subprocess.run(command, cwd=caudal.folder, capture_output=True, text=True, env=environ)
    assert done.returncode == 0 and "rov.params" not in done.stderr
    assert json.loads(path.read_text())["values"] == {"YAW_P": 5.0}


def test_run_continues_when_its_parameter_folder_is_read_only(caudal):
    done = caudal("run", "rov", "--for", "0.2", "--params", "/sys/rov.params", "--log", "run.mcap")
    assert done.returncode == 0
    refused = caudal("params", "rov", "YAW_P=3", "--params", "/sys/rov.params")
    assert (
        refused.returncode == 2
        and "parameters are not stored" in refused.stderr
        and refused.stderr.count("\n") == 1
    )


def test_run_continues_without_saving_when_the_parameter_path_is_no_file(caudal):
    pipe, folder = caudal.folder / "pipe", caudal.folder / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (pipe, folder):
        for words in (["YAW_P=3"], ["--reset"], []):
            done = caudal("params", "rov", *words, "--params", path)
            assert done.returncode == 2 and done.stderr.count("\n") == 1 and "regular file" in done.stderr
        done = caudal("run", "rov", "--for", "0.2", "--params", path, "--log", "run.mcap")
        told = [line for line in done.stderr.splitlines() if str(path) in line]
        assert done.returncode == 0 and len(told) == 1 and "defaults are used" in told[0]
    assert pipe.is_fifo() and folder.is_dir() and not list(folder.iterdir())


def test_a_plain_simulation_depends_on_nothing_in_a_home_folder(caudal):
    home = caudal.folder / "state" / "caudal"
    home.mkdir(parents=True)
    a_store(home, {"YAW_P": 3.0})
    assert caudal("run", "rov", "--for", "0.2", "--log", "plain.mcap").returncode == 0
    assert not [e for e in Log(caudal.folder / "plain.mcap").events if e.details.get("kind") == "load"]


def test_the_vehicles_own_run_takes_stored_values(caudal):
    home = caudal.folder / "state" / "caudal"
    home.mkdir(parents=True)
    ParamStore(home / "fish.params", "fish", settings_of("fish").params).save({"BEAT_MAX": 2.5})
    done = caudal("run", "fish", "--on", "pi", "--for", "0.2", "--log", "pi.mcap")
    assert done.returncode == 0, done.stderr
    first = next(e.details for e in Log(caudal.folder / "pi.mcap").events if e.kind == "command")
    assert (first["kind"], first["values"], first["tick"]) == ("load", [[["BEAT_MAX", 2.5]]], 0)
    assert caudal("replay", "pi.mcap").returncode == 0


def test_the_command_shows_sets_and_resets(caudal):
    shown = caudal.json("params", "rov")
    assert len(shown["params"]) >= 10 and shown["notes"] == []
    for row in shown["params"]:
        assert row["low"] <= row["value"] == row["default"] <= row["high"] and row["description"]
    assert "YAW_P" in caudal("params", "rov").stdout

    def kept():
        return {r["name"]: r["value"] for r in caudal.json("params", "rov", "--params", "p")["params"]}

    assert caudal("params", "rov", "YAW_P=3", "SURGE_I=1", "--params", "p").returncode == 0
    assert (kept()["YAW_P"], kept()["SURGE_I"]) == (3.0, 1.0)
    before = (caudal.folder / "p").read_bytes()
    for words in (
        ["YAW_P=7"],
        ["YAW_P=4", "SURGE_I=nan"],
        ["YAW_P=x"],
        ["NO=1"],
        ["YAW_P"],
        ["--reset", "NO"],
    ):
        done = caudal("params", "rov", *words, "--params", "p")
        assert done.returncode == 2 and done.stderr.count("\n") == 1, words
        assert (caudal.folder / "p").read_bytes() == before
    assert caudal("params", "rov", "--params", "p", "--reset", "YAW_P").returncode == 0
    assert (kept()["YAW_P"], kept()["SURGE_I"]) == (2.0, 1.0)
    assert caudal("params", "rov", "--params", "p", "--reset").returncode == 0
    assert kept()["SURGE_I"] == 0.3
    done = caudal("params", "rov", "YAW_P=3")
    assert done.returncode == 2 and "--params FILE" in done.stderr


def test_what_todays_vehicle_file_does_not_take_can_be_reset_by_name_or_with_all(caudal):
    path, params = caudal.folder / "p", settings_of("rov").params
    wider = [replace(param, high=100.0) for param in params if param.name == "YAW_P"]
    another_days = [replace(wider[0], name=name) for name in ("OLD", "OLDER")] + wider
    store = ParamStore(path, "rov", another_days)
    store.save({"OLD": 3.0, "OLDER": 4.0, "YAW_P": 50.0})
    assert caudal("params", "rov", "--params", "p", "--reset", "OLD").returncode == 0
    assert store.load() == {"OLDER": 4.0, "YAW_P": 50.0}
    assert caudal("params", "rov", "YAW_P=2", "--params", "p").returncode == 0  # its default
    assert store.load() == {"OLDER": 4.0}
    assert caudal("params", "rov", "--params", "p", "--reset").returncode == 0
    assert store.load() == {}


def test_a_vehicle_without_parameters_says_so(caudal):
    assert caudal.json("params", EEL)["params"] == []
    done = caudal("run", EEL, "--for", "0.1", "--params", "p")
    assert done.returncode == 2 and "[param.NAME]" in done.stderr
