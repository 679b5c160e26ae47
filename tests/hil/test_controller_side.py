"""`caudal run --on hil:PORT` has what other runs have: log, report, JSON, parameters, ground stations, duration."""

import json
import socket
import subprocess

import pytest

from caudal.onboard.log.reader import Log
from caudal.onboard.params.store import ParamStore
from caudal.tools.config.vehicle import open_vehicle
from tests.hil.sides import said
from tests.waiting import LIMIT_S


def result_of(process: subprocess.Popen, code: int = 0) -> dict:
    """What it printed as JSON."""
    out, error = process.communicate(timeout=LIMIT_S)
    assert process.returncode == code, error
    return json.loads(out)


@pytest.fixture
def linked(sides):
    """Runs the plant side and the controller side with these options; their results."""

    def run(plant_words: tuple, controller_words: tuple, code: int = 0) -> tuple[dict, dict]:
        plant = sides.plant("pty", *plant_words)
        line = said(plant, r"other end of this line is (\S+)")
        controller = sides.controller(line, "--log", "controller.mcap", "--json", *controller_words)
        ended = result_of(controller, code)  # first: a plant waits for a controller that has failed
        return result_of(plant), ended

    return run


def test_controller_side_writes_log_report_and_json(linked, tmp_path, caudal):
    plant, controller = linked(("--for", 2), ("--report",))
    assert controller["ticks"] == 200 and controller["fault"] is None and controller["scenario"] == "cruise"
    assert controller["log"] == "controller.mcap" and controller["report"] == "controller.html"
    page = (tmp_path / "controller.html").read_text()
    assert "Actuator set-points" in page and "Loop timing" in page
    assert caudal.json("report", "controller.mcap")["duration_s"] == 2.0
    for log in ("controller.mcap", "hil.mcap"):
        assert caudal.json("replay", log)["identical"], log
    assert plant["simulated_s"] == 2.0
    same = caudal.json("compare", "controller.mcap", "hil.mcap")
    assert same["equal"] == same["commands"] > 0


def test_logs_of_simulation_and_controller_side_have_the_same_topics(linked, tmp_path, caudal):
    linked(("--for", 1), ())
    caudal.json("run", "fish", "--scenario", "cruise", "--for", 1, "--log", "sim.mcap")
    simulated = [topic for topic in Log(tmp_path / "sim.mcap").topics if not topic.endswith("/truth")]
    assert list(Log(tmp_path / "controller.mcap").topics) == simulated
    caudal("run", "fish", "--scenario", "cruise", "--for", 0.2, "--on", "pi", "--log", "pi.mcap")
    assert list(Log(tmp_path / "pi.mcap").topics) == simulated


def test_parameters_of_the_controller_side_are_loaded_and_replayed(linked, tmp_path, caudal):
    params = open_vehicle("fish").settings.params
    ParamStore(tmp_path / "fish.params", "fish", params).save({"BEAT_MAX": 2.2})
    linked(("--for", 1), ("--params", "fish.params"))
    commands = [
        event.details for event in Log(tmp_path / "controller.mcap").events if event.kind == "command"
    ]
    assert [(one["kind"], one["values"]) for one in commands] == [
        ("load", [[["BEAT_MAX", 2.2]]]),
        ("arm", []),
    ]
    assert caudal.json("replay", "controller.mcap")["identical"]


def test_ground_station_of_the_controller_side_receives_frames_and_the_timer_arms(linked, tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as station:
        station.bind(("127.0.0.1", 0))
        station.settimeout(LIMIT_S)
        words = ("--mavlink", f"udpout:127.0.0.1:{station.getsockname()[1]}", "--arm-after", 0.5)
        _, controller = linked(("--for", 3, "--realtime"), (*words, "--realtime"))
        assert station.recv(2048)[:1] == b"\xfd"  # MAVLink 2
    assert controller["fault"] is None and "not_armed" not in controller
    armed = Log(tmp_path / "controller.mcap").topics["/fish_1/loop"].column("armed")
    assert not any(armed[:50]) and armed[60] == 1


def test_controller_side_ends_after_its_duration(linked):
    plant, controller = linked(("--for", 3), ("--for", 1))
    assert controller["ticks"] == 100 and plant["gone_ticks"] > 0


def test_controller_side_logs_a_second_plant_under_a_name_of_its_own(sides, tmp_path, caudal):
    controller = sides.controller("pty", "--log", "controller.mcap", "--json")
    line = said(controller, r"other end of this line is (\S+)")
    first = sides.plant(line, "--for", 100_000)
    said(first, "running: [1-9]")
    first.kill()
    first.wait()
    assert result_of(sides.plant(line, "--for", 1))["gone_ticks"] == 0
    assert result_of(controller)["ticks"] == 100
    topics = Log(tmp_path / "controller.mcap").topics
    assert len(topics["/fish_1_again_1/counts"]) == 100 and len(topics["/fish_1/counts"]) > 0
    assert caudal.json("replay", "controller.mcap")["identical"]


def test_hil_run_gives_parameters_to_its_controller(caudal):
    params = open_vehicle("fish").settings.params
    ParamStore(caudal.folder / "fish.params", "fish", params).save({"BEAT_MAX": 2.2})
    words = ("hil", "run", "fish", "--scenario", "cruise", "--for", 1, "--log", "hil.mcap")
    assert caudal.json(*words, "--params", "fish.params")["gone_ticks"] == 0
    events = Log(caudal.folder / "hil-controller.mcap").events
    assert "load" in [event.details["kind"] for event in events if event.kind == "command"]
    done = caudal(*words, "--params", "fish.params", "--controller", "micropython")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "no parameter store" in done.stderr
