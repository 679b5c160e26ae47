"""Errors in a chain's vehicle file are refused in one sentence that names the key; a failing solver goes safe."""

from __future__ import annotations

import arm
import pytest

from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.onboard.chain.hierarchy import SolverError
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.simulation import Simulation

WRONG = [
    (
        "scenario.mode1.tasks.0.frame=elbow",
        "scenario.mode1.tasks.0.frame",
        'no frame "elbow"; there are base, tail',
    ),
    ("scenario.mode1.tasks.0.name=My Hand", "scenario.mode1.tasks.0.name", "My Hand"),
    ("scenario.mode1.tasks.1.name=hand", "scenario.mode1.tasks.1.name", "two tasks"),
    ("scenario.mode1.tasks.0.rows.0.to=[1.0, 2.0]", "tasks.0.rows.0.to", "has 2 numbers; this task takes 6"),
    ("scenario.mode1.tasks.0.rows.1.at_s=3.0", "tasks.0.rows.1.at_s", "must grow"),
    ("scenario.mode1.tasks.0.rows.0.within_s=99.0", "tasks.0.rows.0.within_s", "longer than the 25 s"),
    ("control.limits.bend_max_deg=95.0", "control.limits.bend_max_deg", "89"),
    ("control.posture.ease_pa=600e3", "control.posture.ease_pa", "aft_a"),
    ("control.soft.0.stiff_pa=1e4", "control.soft.0.stiff_pa", "not above soft_pa"),
    ('control.soft.1.chambers=["aft_a", "aft_b", "tail_x"]', "control.soft.1.chambers", "tail_x"),
    ('control.soft.0.coordinates=["a", "b", "c", "d"]', "control.soft.0.coordinates", 'no sensor "a"'),
    ("control.thruster.tail_x.module=fin", "control.thruster.tail_x.module", "there are tail, mid, head"),
    ("control.thruster.tail_x.axis=[0, 0, 0]", "control.thruster.tail_x.axis", "no length"),
    ('control.dead=["fin"]', "control.dead", "no thruster"),
    ("actuator.aft_a.pressure=", "control.soft.0.chambers", "no pressure loop"),
    ("estimate.roll=", "estimate.roll", 'a control.kind of "chain" needs it'),
]
NO_PRESSURE_LOOP = [
    "actuator.aft_a.kp=0",
    "actuator.aft_a.ki=0",
    "actuator.aft_a.trim_ua=0",
    "actuator.aft_a.feedback=aft_a_pressure",
]


@pytest.mark.parametrize("line, where, what", WRONG, ids=[line.partition("=")[0] for line, _, _ in WRONG])
def test_wrong_key_is_refused_in_one_sentence_that_names_it(line, where, what):
    lines = [line, *(NO_PRESSURE_LOOP if "pressure=" in line else [])]
    with pytest.raises(VehicleFileError) as refused:
        open_scenario("hybrid", lines, "mode1")
    message = str(refused.value)
    assert where in message and what in message and "\n" not in message


def test_obstacle_around_the_start_is_refused_in_one_sentence():
    vehicle, name, _ = open_scenario("hybrid", ["world.balls.spheres.0.x_m=1.0"], "obstacles")
    with pytest.raises(
        UsageError, match=r"it starts .* m inside .* move its start, or the obstacle"
    ) as refused:
        Simulation(vehicle, name, seed=0)
    assert "\n" not in str(refused.value)


def test_task_of_another_kind_of_control_is_refused():
    with pytest.raises(VehicleFileError, match=r'is not for a control\.kind of "chain"'):
        open_scenario("hybrid", ['scenario.mode1={task="hold", description="x", duration_s=1.0}'], "mode1")


def test_loop_goes_safe_with_the_reason_when_the_solver_fails(monkeypatch):
    vehicle, name, _ = open_scenario("hybrid", [], "mode2")
    simulation = Simulation(vehicle, name, seed=0)
    loop = simulation.instances[0].loop
    simulation.arm()
    for _ in range(50):
        simulation.step()
    assert any(loop.board.outputs[9:])  # chambers fill

    def fails(*_):
        raise SolverError("a level of the hierarchy has no answer")

    monkeypatch.setattr(loop.stages[0].diagnostics.solver, "solve", fails)
    simulation.step()
    assert loop.fault == "tasks: SolverError: a level of the hierarchy has no answer"
    assert loop.board.outputs == loop.board.safe_outputs and not loop.state.armed


def test_controller_commands_nothing_without_readings():
    vehicle, settings = arm.vehicle("mode1")
    loop = vehicle.build_loop(settings, arm.NullDriver())
    loop.arm()
    for _ in range(5):
        loop.tick()
    assert loop.fault is None and not any(loop.state.commands)
