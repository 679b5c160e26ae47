"""Forces of the water in a view: those of the plant, within the accuracy of velocities from recorded rows."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from caudal.onboard.log.recorder import Recorder
from caudal.onboard.run.recording import about_run
from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.log.recorded_run import RecordedRun, Run
from caudal.tools.simulate.simulation import Simulation
from caudal.tools.view.page import Page, serve, stop
from caudal.tools.view.water_forces import WaterForces, rounded_up, slopes_at

PARTS = 5  # steps per tick in which the forces of the plant are sampled
RUNS = {"fish": "articulated", "snake": "shells", "ray": "cruise", "rov": "station", "hybrid": "mode3"}
ERROR = {
    "fish": 0.10,
    "snake": 0.02,
    "ray": 0.02,
    "rov": 0.02,
    "hybrid": 0.02,
}  # as tools/view/water_forces.py says


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Returns a log of three seconds and the true states of its vehicle, PARTS per tick."""
    folder, made = tmp_path_factory.mktemp("water"), {}

    def simulate(name: str) -> SimpleNamespace:
        if name in made:
            return made[name]
        vehicle, scenario, _ = open_scenario(name, [], RUNS[name])
        path, states = folder / f"{name}.mcap", []
        about = about_run(vehicle, scenario, "sim")
        simulation = Simulation(vehicle, scenario, 0)
        with Recorder(path, about, lossless=True) as recorder:
            simulation.record(recorder)
            simulation.arm()
            for _ in range(3_000_000 // simulation.period_us):
                for instance in simulation.instances:
                    instance.tick(simulation.world.time_us * 1000, 0)
                for _ in range(PARTS):
                    states.append(simulation.instances[0].body.state())
                    simulation.world.step(simulation.period_us // PARTS)
            simulation.safe()
        recorded = RecordedRun(path)
        made[name] = SimpleNamespace(
            path=path, recorded=recorded, states=np.array(states), tick_s=simulation.period_us / 1e6
        )
        return made[name]

    return simulate


def loaded(source) -> WaterForces:
    water = WaterForces(Run(source))
    assert water
    water.load()
    return water


class Sparse:
    """A log as a stream sends it: a row every so many ticks, and none after the instant."""

    def __init__(self, recorded: RecordedRun, every: int) -> None:
        self.metadata, self.fields, self.events = recorded.metadata, recorded.fields, recorded.events
        self._recorded, self._every = recorded, every

    def neighbours(self, topic, time_s):
        times, rows = self._recorded._times[topic], self._recorded._tables[topic]
        k = int(np.searchsorted(times, round(time_s * 1e9), side="right")) - 1
        kept = [j for j in (k - 2 * self._every, k - self._every, k) if j >= 0]
        return times[kept] / 1e9, rows[kept], len(kept) - 1


def size(forces_n: np.ndarray) -> float:
    return float(np.sqrt((forces_n**2).sum(axis=-1).mean()))


@pytest.mark.parametrize("name", RUNS)
def test_force_is_the_plants_mean_over_the_two_ticks_around_it(simulated, name):
    run = simulated(name)
    water = loaded(run.recorded)
    plants = np.array([water._model.water_forces(state)[:, :3] for state in run.states])
    true, shown, live = [], [], []
    sparse = loaded(Sparse(run.recorded, round(1 / 30 / run.tick_s)))
    for tick in range(50, len(run.states) // PARTS - 1):
        true.append(plants[(tick - 1) * PARTS : (tick + 1) * PARTS].mean(axis=0))
        shown.append(water.forces_n((tick + 0.5) * run.tick_s, f"{name}_1"))
        live.append(sparse.forces_n((tick + 0.5) * run.tick_s, f"{name}_1"))
    true, shown, live = np.array(true), np.array(shown), np.array(live)
    assert size(true) > 1e-3, "there is no force to show"
    assert size(shown - true) < ERROR[name] * size(true)
    assert size(live - true) < 0.5 * size(true)


def test_slopes_are_those_of_the_parabola_through_three_rows():
    times_s = np.array([0.0, 0.01, 0.03])
    values = np.column_stack([2 + 3 * times_s - 40 * times_s**2, times_s])
    for k, time_s in enumerate(times_s):
        assert slopes_at(times_s, values, k) == pytest.approx([3 - 80 * time_s, 1.0])
    assert slopes_at(times_s[:2], values[:2], 1) == pytest.approx([3 - 0.4, 1.0])
    assert slopes_at(times_s[:1], values[:1], 0) == pytest.approx([0.0, 0.0])


def test_force_on_a_towed_body_is_the_drag_of_the_vehicle_file(simulated):
    recorded = simulated("rov").recorded
    fields = recorded.fields["/rov_1/truth"]

    class Towed(Sparse):
        def neighbours(self, topic, time_s):
            times_s = time_s + np.array([-0.02, 0.0, 0.02])
            rows = np.zeros((3, len(fields)))
            rows[:, fields.index("heading_rad")] = np.pi / 2
            rows[:, fields.index("depth_m")] = 2.0
            rows[:, fields.index("y_m")] = 0.3 * times_s
            return times_s, rows, 1

    water = loaded(Towed(recorded, 1))
    (body,) = water._plant.tree.body
    x_n, y_n, z_n = -0.3 * body.drag.matrix()[:3, 0] - [0.3**2 * body.drag.quadratic[0], 0.0, 0.0]
    assert x_n < -1.0
    assert water.forces_n(1.0, "rov_1")[0] == pytest.approx([-y_n, x_n, z_n], abs=1e-9), (
        "the nose is along the world's y"
    )


@pytest.mark.parametrize("name", ["fish", "snake"])
def test_mirrored_run_has_mirrored_forces(simulated, name):
    run = simulated(name)
    mirrored_fields = {"y_m", "heading_rad", "roll_rad"}
    for body in Run(run.recorded).vehicle.plant.tree.body:
        if body.joint and body.joint.kind == "revolute" and body.joint.axis[1] == 0:
            mirrored_fields.add(f"{body.joint.name}_rad")
    signs = np.array([-1.0 if f in mirrored_fields else 1.0 for f in run.recorded.fields[f"/{name}_1/truth"]])

    class Mirrored(Sparse):
        def neighbours(self, topic, time_s):
            times_s, rows, k = run.recorded.neighbours(topic, time_s)
            return times_s, rows * signs, k

    water, mirrored = loaded(run.recorded), loaded(Mirrored(run.recorded, 1))
    for time_s in np.linspace(1.0, 2.8, 20):
        one, other = (w.forces_n(time_s, f"{name}_1") for w in (water, mirrored))
        assert np.abs(one).max() > 1e-3
        assert other == pytest.approx(one * [1, -1, 1], abs=1e-9 + 1e-6 * np.abs(one).max())


def test_force_is_absent_when_rows_are_too_far_apart(simulated):
    run = simulated("snake")
    assert loaded(Sparse(run.recorded, 7)).forces_n(2.0, "snake_1") is None
    assert loaded(Sparse(run.recorded, 5)).forces_n(2.0, "snake_1") is not None
    assert loaded(run.recorded).forces_n(-1.0, "snake_1") is None


def test_water_arrows_follow_the_forces_and_disappear_when_switched_off(simulated):
    run = simulated("snake")
    page = Page(Run(run.recorded), serve("127.0.0.1", 8440))
    try:
        vehicle, snapshot = page.scene.vehicles["snake_1"], run.recorded.at(2.0)
        page.scene.show(snapshot)
        assert vehicle.water_arrows._arrows.handle is None
        page.set_options(sonar=False, forces=True, light=False)
        assert page._water.value and vehicle.water_arrows.visible and page.scene.water.scale_n > 0
        page.scene.show(snapshot)
        shown = np.asarray(vehicle.water_arrows._arrows.handle.points)
        forces_n = page.scene.water.forces_n(2.0, "snake_1")
        drawn_m = np.linalg.norm(shown[:, 1] - shown[:, 0], axis=1)
        expected_m = vehicle.water_arrows.long_m * np.linalg.norm(forces_n, axis=1) / page.scene.water.scale_n
        assert drawn_m == pytest.approx(expected_m[expected_m > 0.02 * vehicle.water_arrows.long_m], rel=1e-3)
        page.update(snapshot)
        assert " N" in page._water.hint and "inertia" in page._water.hint
        page._water.value = False
        page.scene.show(snapshot)
        assert not vehicle.water_arrows._arrows.handle.visible
    finally:
        stop(page.server)


def test_page_has_no_option_for_forces_that_cannot_be_computed(simulated, tmp_path, monkeypatch):
    path = tmp_path / "cruise.mcap"
    assert main(["run", "fish", "--scenario", "cruise", "--for", "0.5", "--log", str(path), "--json"]) == 0
    assert not WaterForces(Run(RecordedRun(path))), "the Strouhal model has no forces per body"
    real = RecordedRun(simulated("snake").path)
    assert WaterForces(Run(real))
    with monkeypatch.context() as patched:
        patched.setattr("caudal.tools.view.water_forces.find_spec", lambda name: None)
        assert not WaterForces(Run(real)), "numba is not installed"
    for kept in (real.fields, real._tables, real._times):
        del kept["/snake_1/truth"]
    assert not WaterForces(Run(real)), "an on-vehicle log has no truth"
    page = Page(Run(real), serve("127.0.0.1", 8440))
    try:
        assert page._water is None
        page.set_options(sonar=False, forces=True, light=False)
        page.scene.show(real.at(1.0))
    finally:
        stop(page.server)


OPEN = """
import sys
from pathlib import Path
from caudal.tools.view.page import Page, serve, stop
from caudal.tools.log.recorded_run import RecordedRun, Run
recorded = RecordedRun(Path(sys.argv[1]))
page = Page(Run(recorded), serve("127.0.0.1", 8450))
page.scene.show(recorded.at(1.0))
before = "numba" in sys.modules
page.set_options(sonar=False, forces=True, light=False)
page.scene.show(recorded.at(1.0))
print(before, "numba" in sys.modules)
stop(page.server)
"""


def test_view_loads_numba_only_when_forces_are_switched_on(simulated):
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(simulated("snake").path)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stdout.split() == ["False", "True"], done.stderr


def test_rounded_up_returns_a_round_number_that_is_not_smaller():
    for value in np.geomspace(1e-4, 1e4, 200):
        assert value * (1 - 1e-9) <= rounded_up(value) <= 1.51 * value or rounded_up(value) <= 5 / 3 * value
    assert rounded_up(0.0) == 0.0
