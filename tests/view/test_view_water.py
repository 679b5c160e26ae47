"""The water's forces that a view shows: the plant's own, within what differences of recorded rows can tell."""

import argparse
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from caudal.onboard.log.recorder import Recorder
from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.log.recorded_run import RecordedRun, Run
from caudal.tools.simulate.simulation import Simulation
from caudal.tools.vehicle_run.recording import about_run
from caudal.tools.view.page import Page, end, serve
from caudal.tools.view.water_forces import Water, rates, rounded_up

PARTS = 5  # of a tick, in which the plant is asked for its forces
RUNS = {"fish": "articulated", "snake": "shells", "ray": "cruise", "rov": "station", "hybrid": "mode3"}
ERROR = {
    "fish": 0.10,
    "snake": 0.02,
    "ray": 0.02,
    "rov": 0.02,
    "hybrid": 0.02,
}  # as tools/view/water_forces.py says


@pytest.fixture(scope="module")
def swum(tmp_path_factory):
    """A log of three seconds, and the first vehicle's true states, so many a tick."""
    folder, made = tmp_path_factory.mktemp("water"), {}

    def swim(name: str) -> SimpleNamespace:
        if name in made:
            return made[name]
        vehicle, scenario, _ = open_scenario(name, [], RUNS[name])
        path, states = folder / f"{name}.mcap", []
        about = about_run(argparse.Namespace(seed=0, realtime=False), vehicle, scenario, "sim")
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

    return swim


def loaded(source) -> Water:
    water = Water(Run(source))
    assert water
    water.load()
    return water


class Sparse:
    """What a live view gets of a log: a row every so many ticks, and none from ahead."""

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
def test_the_force_shown_is_the_mean_of_the_plants_own_over_the_two_ticks_round_it(swum, name):
    run = swum(name)
    water = loaded(run.recorded)
    plants = np.array([water._model.water_forces(state)[:, :3] for state in run.states])
    true, shown, live = [], [], []
    sparse = loaded(Sparse(run.recorded, round(1 / 30 / run.tick_s)))
    for tick in range(50, len(run.states) // PARTS - 1):
        true.append(plants[(tick - 1) * PARTS : (tick + 1) * PARTS].mean(axis=0))
        shown.append(water.forces_n((tick + 0.5) * run.tick_s, f"{name}_1"))
        live.append(sparse.forces_n((tick + 0.5) * run.tick_s, f"{name}_1"))
    true, shown, live = np.array(true), np.array(shown), np.array(live)
    assert size(true) > 1e-3, "there is something to show"
    assert size(shown - true) < ERROR[name] * size(true)
    assert size(live - true) < 0.5 * size(true)


def test_rates_are_those_of_the_parabola_through_three_rows():
    times_s = np.array([0.0, 0.01, 0.03])
    values = np.column_stack([2 + 3 * times_s - 40 * times_s**2, times_s])
    for k, time_s in enumerate(times_s):
        assert rates(times_s, values, k) == pytest.approx([3 - 80 * time_s, 1.0])
    assert rates(times_s[:2], values[:2], 1) == pytest.approx([3 - 0.4, 1.0])
    assert rates(times_s[:1], values[:1], 0) == pytest.approx([0.0, 0.0])


def test_a_body_towed_at_a_known_speed_shows_the_drag_of_the_vehicle_file(swum):
    recorded = swum("rov").recorded
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
        "nose along the world's y"
    )


@pytest.mark.parametrize("name", ["fish", "snake"])
def test_a_mirrored_run_shows_mirrored_forces(swum, name):
    run = swum(name)
    turned = {"y_m", "heading_rad", "roll_rad"}
    for body in Run(run.recorded).vehicle.plant.tree.body:
        if body.joint and body.joint.kind == "revolute" and body.joint.axis[1] == 0:
            turned.add(f"{body.joint.name}_rad")
    signs = np.array([-1.0 if f in turned else 1.0 for f in run.recorded.fields[f"/{name}_1/truth"]])

    class Mirrored(Sparse):
        def neighbours(self, topic, time_s):
            times_s, rows, k = run.recorded.neighbours(topic, time_s)
            return times_s, rows * signs, k

    water, mirrored = loaded(run.recorded), loaded(Mirrored(run.recorded, 1))
    for time_s in np.linspace(1.0, 2.8, 20):
        one, other = (w.forces_n(time_s, f"{name}_1") for w in (water, mirrored))
        assert np.abs(one).max() > 1e-3
        assert other == pytest.approx(one * [1, -1, 1], abs=1e-9 + 1e-6 * np.abs(one).max())


def test_rows_too_far_apart_show_no_force(swum):
    run = swum("snake")
    assert loaded(Sparse(run.recorded, 7)).forces_n(2.0, "snake_1") is None
    assert loaded(Sparse(run.recorded, 5)).forces_n(2.0, "snake_1") is not None
    assert loaded(run.recorded).forces_n(-1.0, "snake_1") is None


def test_arrows_stand_at_bodies_point_along_the_force_and_go_when_nobody_wants_them(swum):
    run = swum("snake")
    page = Page(Run(run.recorded), serve("127.0.0.1", 8440))
    try:
        cast, snapshot = page.stage.casts["snake_1"], run.recorded.at(2.0)
        page.stage.show(snapshot)
        assert cast.forces._handle is None
        page.choose(sonar=False, forces=True, light=False)
        assert page._water.value and cast.forces.visible and page.stage.water.scale_n > 0
        page.stage.show(snapshot)
        shown = np.asarray(cast.forces._handle.points)
        forces_n = page.stage.water.forces_n(2.0, "snake_1")
        drawn_m = np.linalg.norm(shown[:, 1] - shown[:, 0], axis=1)
        expected_m = cast.forces.long_m * np.linalg.norm(forces_n, axis=1) / page.stage.water.scale_n
        assert drawn_m == pytest.approx(expected_m[expected_m > 0.02 * cast.forces.long_m], rel=1e-3)
        page.keep_up(snapshot)
        assert " N" in page._water.hint and "inertia" in page._water.hint
        page._water.value = False
        page.stage.show(snapshot)
        assert not cast.forces._handle.visible
    finally:
        end(page.server)


def test_there_is_no_switch_where_the_forces_cannot_be_known(swum, tmp_path, monkeypatch):
    path = tmp_path / "cruise.mcap"
    assert main(["run", "fish", "--scenario", "cruise", "--for", "0.5", "--log", str(path), "--json"]) == 0
    assert not Water(Run(RecordedRun(path))), "the quick law has no forces of bodies"
    real = RecordedRun(swum("snake").path)
    assert Water(Run(real))
    with monkeypatch.context() as patched:
        patched.setattr("caudal.tools.view.water_forces.find_spec", lambda name: None)
        assert not Water(Run(real)), "no plant is installed"
    for kept in (real.fields, real._tables, real._times):
        del kept["/snake_1/truth"]
    assert not Water(Run(real)), "a real vehicle's log has no truth"
    page = Page(Run(real), serve("127.0.0.1", 8440))
    try:
        assert page._water is None
        page.choose(sonar=False, forces=True, light=False)
        page.stage.show(real.at(1.0))
    finally:
        end(page.server)


OPEN = """
import sys
from pathlib import Path
from caudal.tools.view.page import Page, end, serve
from caudal.tools.log.recorded_run import RecordedRun, Run
recorded = RecordedRun(Path(sys.argv[1]))
page = Page(Run(recorded), serve("127.0.0.1", 8450))
page.stage.show(recorded.at(1.0))
before = "numba" in sys.modules
page.choose(sonar=False, forces=True, light=False)
page.stage.show(recorded.at(1.0))
print(before, "numba" in sys.modules)
end(page.server)
"""


def test_opening_a_view_loads_no_kernels_until_somebody_asks_for_forces(swum):
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(swum("snake").path)], capture_output=True, text=True, timeout=600
    )
    assert done.stdout.split() == ["False", "True"], done.stderr


def test_a_scale_is_a_round_number_that_is_no_less():
    for value in np.geomspace(1e-4, 1e4, 200):
        assert value * (1 - 1e-9) <= rounded_up(value) <= 1.51 * value or rounded_up(value) <= 5 / 3 * value
    assert rounded_up(0.0) == 0.0
