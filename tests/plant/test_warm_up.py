"""The first start: the second process compiles what a world needs, and nothing depends on it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from swimmer import open_water

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.sim_plant.tables.read import read
from caudal.sim_plant.world import warm_up
from caudal.sim_plant.world.world import World

ASKED = """
from caudal.sim_plant.tree import integrate, recursion
from caudal.sim_plant.world import forest, step_kernel, warm_up
from caudal.sim_plant.scene.contact import resolve_contacts
from caudal.sim_plant.parts.sensors import sample_due
warm_up.compile_second()
warm_up.compile_first()
from test_warm_up import swum
swum()
for each in (step_kernel.place_at, sample_due, recursion.forward_dynamics, resolve_contacts,
             forest.step_tree_actuators, forest.observe_tree, recursion.inverse_dynamics, integrate.step,
             forest.advance_trees):
    assert len(each.signatures) == 1, each.__name__
"""


def swum() -> np.ndarray:
    """State of a tree that was put into the water, read, observed and stepped."""
    world = World(open_water((0.3, -0.2, 40.0)))
    body = world.add(
        read(VehicleFile.open(vehicles.find("snake"))), actuators=["q5"], sensors=["roll"], name="one"
    )
    body.read([None])
    body.truth()
    body.write([1600])
    world.step(50_000)
    return body.state()


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """As if nothing had been compiled here, on a machine with two cores."""
    swum()
    monkeypatch.setattr(warm_up, "cache_is_empty", lambda: True)
    monkeypatch.setattr(warm_up, "_cores", lambda: 2)
    return monkeypatch


def test_warm_up_compiles_all_kernels_that_a_world_of_trees_needs(request: pytest.FixtureRequest) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASKED], cwd=request.path.parent, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("program", [["-c", "raise SystemExit(3)"], ["-c", "import time; time.sleep(0.5)"]])
def test_world_does_not_change_when_the_second_process_does_nothing(
    cold: pytest.MonkeyPatch, program: list[str]
) -> None:
    alone = swum()
    run = subprocess.Popen
    cold.setattr(warm_up.subprocess, "Popen", lambda _, **more: run([sys.executable, *program], **more))
    assert np.array_equal(swum(), alone)


def test_world_does_not_change_when_no_second_process_can_start(cold: pytest.MonkeyPatch) -> None:
    alone = swum()
    cold.setattr(sys, "executable", "/nowhere/python")
    assert np.array_equal(swum(), alone)


def test_second_process_ends_at_an_interrupt(cold: pytest.MonkeyPatch) -> None:
    run, started = subprocess.Popen, []

    def sleeper(_, **more):
        started.append(run([sys.executable, "-c", "import time; time.sleep(600)"], **more))
        return started[-1]

    cold.setattr(warm_up.subprocess, "Popen", sleeper)
    with pytest.raises(KeyboardInterrupt), warm_up.two_processes():
        raise KeyboardInterrupt
    assert started[0].returncode is not None


def test_second_process_does_not_start_with_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    swum()
    monkeypatch.setattr(warm_up.subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    swum()
