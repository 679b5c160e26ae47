"""Actuators that do not follow are found from noisy feedback; those that follow are never marked."""

import pytest

from tests.failsafes.false_alarms import swim
from tests.failsafes.provoked import Simulated
from tests.failsafes.test_rows import ticks_until


@pytest.mark.parametrize(
    "vehicle, scenario, seconds",
    [
        ("fish", "cruise", 60),
        ("ray", "turn_fins", 20),
        ("snake", "turn", 20),
        ("rov", "joystick", 40),
        ("hybrid", "turn", 15),
    ],
)
def test_an_actuator_that_follows_is_never_marked(vehicle, scenario, seconds):
    marked, said = swim(vehicle, scenario, seconds, seed=2)
    print(said)
    assert not marked


@pytest.mark.parametrize(
    "fault",
    ["stuck_from_s=3.0", "leak_from_s=3.0, leak_share=0.9"],
    ids=["the spool is stuck", "the chamber leaks"],
)
def test_a_valve_that_is_stuck_and_a_chamber_that_leaks_are_found(fault):
    words = [f"plant.actuator.fore_b.{word}" for word in fault.split(", ")]
    bench = Simulated("hybrid", "mode1", [*words, "control.posture.ease_pa=80e3"], None)
    index = bench.loop.board.actuator("fore_b")
    bench.step(160)
    assert not any(bench.loop.state.not_following)
    if "stuck" in fault:
        bench.loop.disarm()  # it is to run empty, and does not
    took = ticks_until(bench, lambda: bench.row("valve_stuck").active, 2 * bench.rate_hz)
    print(f"{fault}: found after {took / bench.rate_hz:.2f} s")
    assert [i for i, off in enumerate(bench.loop.state.not_following) if off] == [index]


@pytest.mark.parametrize("joint", ["q0", "q5"])
def test_a_snakes_jammed_joint_is_found_and_it_swims_on(joint):
    bench = Simulated("snake", "shells", [], None)
    bench.step(300)
    bench.inject(f"jammed:{joint}")
    bench.step(200)
    index = bench.loop.board.actuator(joint)
    assert [i for i, off in enumerate(bench.loop.state.not_following) if off] == [index]
    assert bench.loop.fault is None and bench.loop.state.commands_applied
    bench.clear()
    bench.step(200)
    assert not any(bench.loop.state.not_following)
