"""Faults as text: read or rejected, injected, recorded, and replayed."""

import json
import re

import pytest

from caudal.onboard.log.reader import Log
from caudal.tools.cli.main import main
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.faults.kinds import FAMILIES, KINDS, possible_faults, read_fault
from caudal.tools.simulate.simulation import Simulation
from tests.conftest import ROOT

VEHICLES = ("fish", "ray", "snake", "rov", "hybrid")


@pytest.fixture(scope="module")
def fish():
    return open_scenario("fish", ["world.pool.vehicles=1"], "pool")


@pytest.fixture(scope="module")
def rov():
    return open_scenario("rov", [], "station")


@pytest.mark.parametrize("name", VEHICLES)
def test_every_vehicle_has_faults_of_every_family_that_read_as_written(name):
    vehicle, _, _ = open_scenario(name, [], None)
    known = possible_faults(vehicle)
    assert {kind.family for kind in known.values()} == set(FAMILIES)
    for kind, target in known:
        fault = read_fault(f"{kind}:{target}@1.25+0.5/0.1", vehicle)
        assert read_fault(str(fault), vehicle) == fault


def test_document_lists_every_kind_with_its_description():
    text = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    for kind in KINDS:
        if kind.family != "chip":
            size = f"; SIZE: {kind.size}" if kind.size else ""
            row = rf"(?m)^\| {kind.family} \| `{kind.name}` \| [^|]+ \| {re.escape(kind.description + size)} \|$"
            assert re.search(row, text), kind


@pytest.mark.parametrize(
    "text, words",
    [
        ("nack", "write KIND:TARGET@AT"),
        ("stuck:depth@x", "write KIND:TARGET@AT"),
        ("stuck:depth@1.2.3", "write KIND:TARGET@AT"),
        ("bent:depth@1", "there is no kind bent; there are silent, stuck"),
        ("stuck:nose@1", "nose cannot have stuck; only sonar_000"),
        ("leaking:tail_1@1", "there is no kind leaking"),
        ("silent:depth@1*3", "silent takes no size"),
        ("weak:tail_1@1*3", "takes a size .share. from 0 to 1"),
        ("silent:depth@1+0", "must be more than 0 s"),
    ],
)
def test_read_fault_rejects_a_fault_that_the_vehicle_cannot_have(fish, text, words):
    with pytest.raises(UsageError, match=words):
        read_fault(text, fish[0])


def test_intermittent_fault_is_on_and_off(fish):
    fault = read_fault("silent:depth@1+1/0.25", fish[0])
    assert [fault.on(k / 8) for k in range(6, 18)] == [False] * 2 + [True, True, False, False] * 2 + [
        False
    ] * 2


def readings(simulation, sensor: str, ticks: int) -> list[float]:
    board = simulation.instances[0].loop.board
    index, found = board.sensor(sensor), []
    for _ in range(ticks):
        simulation.step()
        if board.counts[index] is not None:
            found.append(board.sensors[index].map.to_si(board.counts[index]))
    return found


@pytest.mark.parametrize(
    "text, holds",
    [
        ("silent:depth", lambda was, now: not now),
        ("stuck:depth", lambda was, now: set(now) == {was[-1]}),
        ("reads:depth*3", lambda was, now: set(now) == {3.0}),
        ("shifted:depth*2", lambda was, now: all(1.5 < b - was[-1] < 2.5 for b in now)),
        ("scaled:depth*10", lambda was, now: all(b > 5 * was[-1] for b in now)),
        ("drifting:depth*1", lambda was, now: 2.5 < now[-1] - now[0] < 3.3),
        ("noisy:depth*1", lambda was, now: max(now) - min(now) > 1.0),
        ("spikes:depth*4", lambda was, now: 1 <= sum(abs(b - was[-1]) > 3 for b in now) < len(now) / 2),
        ("delayed:depth*0.5", lambda was, now: 2 * len(was) < len(now) < 3 * len(was)),
    ],
)  # fmt: skip
def test_sensor_fault_changes_its_readings_until_it_is_cleared(rov, text, holds):
    """The vehicle is disarmed, so that it does not react to the sensor."""
    simulation = Simulation(rov[0], rov[1], 1)
    was = readings(simulation, "depth", 50)
    simulation.inject("rov_1", text)
    now = readings(simulation, "depth", 150)
    assert holds(was, now), (was[-3:], now[:5])
    simulation.clear("rov_1")
    again = readings(simulation, "depth", 50)
    assert len(again) == len(was) and all(abs(b - was[-1]) < 0.5 for b in again)


def test_jammed_joint_stays_and_dead_thruster_gives_no_thrust(fish, rov):
    simulation = Simulation(fish[0], fish[1], 1)
    simulation.arm()
    body = simulation.instances[0].body
    joint = body.truth_fields.index("tail_2_rad")
    for _ in range(130):
        simulation.step()
    simulation.inject("fish_1", "jammed:tail_2")
    simulation.step()
    held, seen = body.truth()[joint], set()
    for _ in range(100):
        simulation.step()
        seen.add(simulation.instances[0].loop.board.outputs[1])
        assert abs(body.truth()[joint] - held) < 0.02
    assert len(seen) > 20  # its set-point changes
    simulation = Simulation(rov[0], rov[1], 1)
    simulation.inject("rov_1", "dead:lift_fore")
    simulation.arm()
    push = simulation.instances[0].body.truth_fields.index("lift_fore_n")
    for _ in range(50):
        simulation.step()
        assert simulation.instances[0].body.truth()[push] == 0.0


def test_chamber_leaks_and_battery_sags_in_the_plant(rov):
    hybrid, name, _ = open_scenario("hybrid", [], "mode1")
    pressures = {}
    for fault in (None, "leaking:aft_a*0.6"):
        simulation = Simulation(hybrid, name, 1)
        if fault:
            simulation.inject("hybrid_1", fault)
        simulation.arm()
        for _ in range(60):
            simulation.step()
        pressures[fault] = simulation.instances[0].body.truth()[
            simulation.instances[0].body.truth_fields.index("aft_a_pa")
        ]
    assert pressures["leaking:aft_a*0.6"] < 0.8 * pressures[None]
    simulation = Simulation(rov[0], rov[1], 1)
    volts = simulation.instances[0].body.truth_fields.index("battery_v")
    before = simulation.instances[0].body.truth()[volts]
    simulation.inject("rov_1", "sags:battery*3")
    for _ in range(5):
        simulation.step()
    assert simulation.instances[0].body.truth()[volts] == pytest.approx(before - 3, abs=0.3)


def test_inject_rejects_faults_that_this_run_cannot_have(fish):
    simulation = Simulation(fish[0], fish[1], 1)
    for name, text, words in (
        ("other", "stuck:depth", "there is no vehicle other here; there are fish_1"),
        ("fish_1", "cut:wire", "needs a controller on a HIL link"),
        ("fish_1", "nack:imu", "give --on emulated"),
    ):
        with pytest.raises(UsageError, match=words):
            simulation.inject(name, text)
    simulation.step()
    with pytest.raises(UsageError, match="has passed"):
        simulation.inject("fish_1", "stuck:depth@0+0.001")


def test_faults_of_run_and_scenario_are_logged_and_replayed(tmp_path, capsys):
    log = tmp_path / "log.mcap"
    case = tmp_path / "case.toml"
    case.write_text(
        'scenario.station.faults = ["silent:heading@0.5+0.6"]\nscenario.station.duration_s = 2.0\n'
    )
    words = [
        "run",
        "rov",
        "--with",
        str(case),
        "--fault",
        "hot:computer@0.2+0.1",
        "--log",
        str(log),
        "--json",
    ]
    assert main(words) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["broken"] == [] and result["failsafes"] == ["rov_1 attitude_lost"]
    told = [(e.kind, e.details["fault"]) for e in Log(log).events if e.kind.startswith("fault")]
    assert told == [
        ("fault set", "hot:computer"), ("fault cleared", "hot:computer"),
        ("fault set", "silent:heading"), ("fault cleared", "silent:heading"),
    ]  # fmt: skip
    assert main(["replay", str(log)]) == 0


def test_run_rejects_a_scenario_with_an_impossible_fault(capsys):
    assert main(["run", "rov", "--set", 'scenario.station.faults=["stuck:nose@1"]']) == 2
    assert "scenario.station.faults.0" in capsys.readouterr().err
    assert main(["run", "rov", "--on", "hil:pty", "--fault", "stuck:depth@1"]) == 2
    assert "for simulated vehicles" in capsys.readouterr().err
