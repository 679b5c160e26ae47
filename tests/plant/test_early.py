"""The first start: what a second process compiles is what a world asks for, and nothing depends on it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from swimmer import open_water

import onboard.vehicle
from hal.vehicle_file import VehicleFile
from sim_plant import early
from sim_plant.spec import read
from sim_plant.world import World

ASKED = """
from sim_plant import early, forest, kernel, tree, tree_step
from sim_plant.contact import settle
from sim_plant.sensors import sample_due
early.second()
early.first()
from test_early import swum
swum()
for each in (kernel.put, sample_due, tree.forward, settle, forest.actuate, forest.observe_tree, tree.inverse_forces,
             tree_step.step, forest.advance_trees):
    assert len(each.signatures) == 1, each.__name__
"""


def swum() -> np.ndarray:
    """State of a tree that was put into the water, read, looked at and stepped."""
    world = World(open_water((0.3, -0.2, 40.0)))
    body = world.add(
        read(VehicleFile.open(onboard.vehicle.find("snake"))), actuators=["q5"], sensors=["roll"], name="one"
    )
    body.read([None])
    body.truth()
    body.write([1600])
    world.step(50_000)
    return body.state()


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """As if nothing was ever compiled here, on a machine with two cores."""
    swum()
    monkeypatch.setattr(early, "nothing_kept", lambda: True)
    monkeypatch.setattr(early, "_cores", lambda: 2)
    return monkeypatch


def test_what_is_compiled_early_is_all_that_a_world_of_trees_asks_for(request: pytest.FixtureRequest) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASKED], cwd=request.path.parent, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("program", [["-c", "raise SystemExit(3)"], ["-c", "import time; time.sleep(0.5)"]])
def test_a_second_process_that_does_nothing_changes_nothing(
    cold: pytest.MonkeyPatch, program: list[str]
) -> None:
    alone = swum()
    run = subprocess.Popen
    cold.setattr(early.subprocess, "Popen", lambda _, **more: run([sys.executable, *program], **more))
    assert np.array_equal(swum(), alone)


def test_an_interpreter_that_cannot_be_started_again_changes_nothing(cold: pytest.MonkeyPatch) -> None:
    alone = swum()
    cold.setattr(sys, "executable", "/nowhere/python")
    assert np.array_equal(swum(), alone)


def test_an_interrupt_ends_the_second_process(cold: pytest.MonkeyPatch) -> None:
    run, started = subprocess.Popen, []

    def sleeper(_, **more):
        started.append(run([sys.executable, "-c", "import time; time.sleep(600)"], **more))
        return started[-1]

    cold.setattr(early.subprocess, "Popen", sleeper)
    with pytest.raises(KeyboardInterrupt), early.two_at_once():
        raise KeyboardInterrupt
    assert started[0].returncode is not None


def test_kept_kernels_start_no_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    swum()
    monkeypatch.setattr(early.subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    swum()
