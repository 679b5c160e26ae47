"""A chain's vehicle file: what does not fit is refused in a sentence that says where; a failing solver ends safe."""

from __future__ import annotations

import arm
import numpy as np
import pytest

from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.onboard.chain.hierarchy import SolverError
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.simulation import Simulation

WRONG = [
    (
        "scenario.mode1.aims.0.frame=elbow",
        "scenario.mode1.aims.0.frame",
        'no frame "elbow"; there are base, tail',
    ),
    ("scenario.mode1.aims.0.name=My Hand", "scenario.mode1.aims.0.name", "My Hand"),
    ("scenario.mode1.aims.1.name=hand", "scenario.mode1.aims.1.name", "two aims"),
    ("scenario.mode1.aims.0.rows.0.to=[1.0, 2.0]", "aims.0.rows.0.to", "has 2 numbers; this aim takes 6"),
    ("scenario.mode1.aims.0.rows.1.at_s=3.0", "aims.0.rows.1.at_s", "must grow"),
    ("scenario.mode1.aims.0.rows.0.within_s=99.0", "aims.0.rows.0.within_s", "longer than the 25 s"),
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


@pytest.mark.parametrize("line, where, what", WRONG, ids=[line.partition("=")[0] for line, _, _ in WRONG])
def test_what_does_not_fit_is_refused_in_a_sentence_that_says_where(line, where, what):
    lines = [
        line,
        *(
            [
                "actuator.aft_a.kp=0",
                "actuator.aft_a.ki=0",
                "actuator.aft_a.trim_ua=0",
                "actuator.aft_a.feedback=aft_a_pressure",
            ]
            if "pressure=" in line
            else []
        ),
    ]
    with pytest.raises(VehicleFileError) as refused:
        open_scenario("hybrid", lines, "mode1")
    said = str(refused.value)
    assert where in said and what in said and "\n" not in said


def test_an_obstacle_that_contains_the_vehicle_at_its_start_is_refused_in_a_sentence():
    vehicle, name, _ = open_scenario("hybrid", ["world.balls.spheres.0.x_m=1.0"], "obstacles")
    with pytest.raises(
        UsageError, match=r"it starts .* m inside .* move its start, or the obstacle"
    ) as refused:
        Simulation(vehicle, name, seed=0)
    assert "\n" not in str(refused.value)


def test_a_task_of_another_vehicle_is_refused():
    with pytest.raises(VehicleFileError, match=r'is not for a control\.kind of "chain"'):
        open_scenario("hybrid", ['scenario.mode1={task="hold", about="x", duration_s=1.0}'], "mode1")


def test_a_solver_that_fails_ends_in_the_safe_state_with_its_reason(monkeypatch):
    vehicle, name, _ = open_scenario("hybrid", [], "mode2")
    simulation = Simulation(vehicle, name, seed=0)
    loop = simulation.instances[0].loop
    simulation.arm()
    for _ in range(50):
        simulation.step()
    assert any(loop.board.outputs[9:])  # chambers fill

    def fails(*_):
        raise SolverError("a level of the hierarchy has no answer")

    monkeypatch.setattr(loop.stages[0].account.solver, "solve", fails)
    simulation.step()
    assert loop.fault == "aims: SolverError: a level of the hierarchy has no answer"
    assert loop.board.outputs == loop.board.safe_outputs and not loop.state.armed


def test_without_readings_it_asks_for_nothing():
    vehicle, settings = arm.vehicle("mode1")
    loop = vehicle.build_loop(settings, arm.NullDriver())
    loop.arm()
    for _ in range(5):
        loop.tick()
    assert loop.fault is None and not any(loop.state.commands)


NONE_LOST = [False] * 6


def test_a_stuck_chamber_is_taken_as_it_is_and_the_joint_rests_the_same():
    posture = arm.controller("mode1").posture
    wanted = [0.4, -0.2, 0.0, 0.3]
    free = posture.pressures(wanted, [0.0] * 6, [0.0] * 6, NONE_LOST)
    seen = list(free)
    seen[1] += 80e3  # more than it was told, for good
    for _ in range(100):
        around = posture.pressures(wanted, free, seen, NONE_LOST)
    assert posture.stuck(1) and not posture.stuck(0)
    chambers = arm.chain().chambers[0]
    rest, with_stuck = chambers.rest(free[:3]), chambers.rest([around[0], seen[1], around[2]])
    assert with_stuck[1:3] == pytest.approx(rest[1:3], abs=0.05) and around[3:] == pytest.approx(free[3:])


def test_chambers_found_not_to_follow_are_taken_as_they_are_at_once_and_with_two_the_third_comes_as_near_as_it_can():
    posture, chambers = arm.controller("mode1").posture, arm.chain().chambers[0]
    wanted = [0.4, -0.2, 0.0, 0.3]
    free = posture.pressures(wanted, [0.0] * 6, [0.0] * 6, NONE_LOST)
    for lost in ([0], [0, 1], [1, 2], [0, 2]):
        seen = [p + (30e3 if k in lost else 0.0) * (1 + k) for k, p in enumerate(free)]
        around = posture.pressures(wanted, free, seen, [k in lost for k in range(6)])
        assert around[3:] == pytest.approx(free[3:])
        left = next(k for k in range(3) if k not in lost)

        def off(third_pa, seen=seen, around=around, lost=lost, left=left):
            pressures = [seen[k] if k in lost else around[k] for k in range(3)]
            pressures[left] = third_pa
            rest = chambers.rest(pressures)[1:3]
            return float(np.hypot(*np.subtract(rest, chambers.rest(free[:3])[1:3])))

        nearest = min(off(p) for p in np.arange(0.0, 500e3, 2e3))
        assert off(around[left]) < nearest + 0.05


def test_leads_begin_where_the_chain_is_and_end_where_the_rows_say():
    from caudal.onboard.chain.lead import PlaceLead, euler_angles, euler_turn

    lead = PlaceLead([{"at_s": 4.0, "to": [1.0, 2.0, 3.0, 0.1, 0.2, 0.3], "within_s": 2.0}])
    lead.start(np.zeros(6))
    lead.step(2.0)
    assert not lead.place.any() and not lead.speed.any()
    lead.step(3.0)
    assert lead.place == pytest.approx([0.5, 1.0, -1.5]) and lead.speed[0] > 0.5
    lead.step(9.0)
    assert lead.place == pytest.approx([1.0, 2.0, -3.0]) and not lead.speed.any()
    assert euler_angles(lead.turn) == pytest.approx([0.1, 0.2, 0.3])
    assert np.abs(euler_turn(0.1, 0.2, 0.3) - lead.turn).max() < 1e-12
