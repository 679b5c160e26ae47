"""A tethered vehicle in a tank: pull, drag and twist of the tether, current, walls, floor, camera outage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from swimmer import open_water, truth, world_of
from thrusted import AHEAD, YAW, adrift, each, plant, push

from caudal.sim_plant.tree.arrays import rotation_matrix
from caudal.sim_plant.tree.equilibrium import rotated
from caudal.sim_plant.tree.model import Model
from caudal.sim_plant.world.world import Body

TIE_M = np.array([-0.35, 0.05, 0.1])
END_M = np.array([0.5, -0.4, -0.2])
TETHER = {
    "at_m": TIE_M.tolist(), "x_m": 0.5, "y_m": -0.4, "depth_m": 0.2, "slack_m": 1.2,
    "stiffness_n_per_m": 30.0,
}  # fmt: skip
TANK = {"length_m": 6.3, "width_m": 3.7, "depth_m": 1.8, "start": [{"x_m": 3.15, "y_m": 1.85}]}
DOWN, ASIDE = [0, 0, 0, 0, -1, -1, -1], [-1, 1, 1, -1, 0, 0, 0]


def states(count: int, seed: int) -> list[np.ndarray]:
    """Anywhere within two metres, tilted, turned within half a turn, moving."""
    rng, made = np.random.default_rng(seed), []
    for _ in range(count):
        x = np.zeros(13)
        x[3] = 1.0
        x = rotated(rotated(x, *rng.uniform(-0.5, 0.5, 2)), 0.0, 0.0, rng.uniform(-1.5, 1.5))
        x[:3] = rng.uniform(-2, 2, 3) - [0, 0, 4]
        x[7:13] = rng.normal(0, 0.4, 6)
        made.append(x)
    return made


def tied(**changes) -> Model:
    return adrift(plant(tether={**TETHER, **changes}))[0].models[0]


def felt(model: Model, state: np.ndarray) -> np.ndarray:
    """What the tether puts on the base: the force without it less the force with it, at no acceleration."""
    return Model(model.spec).bias(state) - model.bias(state)


def distance_m(state: np.ndarray) -> np.ndarray:
    return END_M - (state[:3] + rotation_matrix(state[3:7]) @ TIE_M)


def test_tether_pulls_towards_its_end_only_when_taut():
    model, taut = tied(slack_m=3.0), 0
    for state in states(60, seed=1):
        way = distance_m(state)
        over = max(float(np.linalg.norm(way)) - 3.0, 0.0)
        pull = rotation_matrix(state[3:7]).T @ (30.0 * over * way / np.linalg.norm(way))
        expected = np.concatenate([pull, np.cross(TIE_M, pull)])
        assert felt(model, state) == pytest.approx(expected, abs=1e-9)
        taut += over > 0
    assert 10 < taut < 60


def test_tether_drag_opposes_the_motion_of_its_knot_through_the_water():
    model = tied(slack_m=100.0, drag_n_s_per_m=3.0)
    for state in states(20, seed=2):
        drag = -3.0 * (state[7:10] + np.cross(state[10:13], TIE_M))
        assert felt(model, state) == pytest.approx(np.concatenate([drag, np.cross(TIE_M, drag)]), abs=1e-9)


def heading(state: np.ndarray) -> float:
    ahead = rotation_matrix(state[3:7])[:, 0]
    return math.atan2(ahead[1], ahead[0])


def test_tether_twist_is_a_spring_of_the_heading_at_any_tilt():
    model = tied(slack_m=100.0, twist_n_m_per_rad=0.7)
    for state in states(30, seed=3):
        torque, power = felt(model, state)[3:], 0.0
        spin = rotation_matrix(state[3:7]) @ state[10:13]
        later, before = (rotated(state, *(1e-6 * way * spin)) for way in (1, -1))
        power = -0.7 * heading(state) * (heading(later) - heading(before)) / 2e-6
        assert torque @ state[10:13] == pytest.approx(power, abs=1e-7)
        assert np.abs(felt(model, state)[:3]).max() < 1e-9
        level = state.copy()
        level[4:6] = 0.0
        assert felt(model, level)[3:] == pytest.approx([0, 0, -0.7 * heading(level)], abs=1e-9)


def turned_rad(body: Body, seconds: float, step) -> float:
    """How far it turns, whole turns counted."""
    total, last = 0.0, truth(body)["heading_rad"]
    for _ in range(round(seconds * 20)):
        step(50_000)
        now = truth(body)["heading_rad"]
        total, last = total + math.remainder(now - last, 2 * math.pi), now
    return total


def test_twisted_tether_turns_a_vehicle_back_by_all_its_turns():
    tether = {**TETHER, "slack_m": 100.0, "twist_n_m_per_rad": 0.3}
    start = world_of(start=[{"x_m": 0.0, "y_m": 0.0, "heading_deg": 100.0}])
    world, body = adrift(plant(tether=tether, depth_m=20.0), start)
    push(body, YAW, 150)
    wound = turned_rad(body, 15, world.step)
    assert wound > 3 * math.pi
    body.write([0] * 7)
    assert turned_rad(body, 120, world.step) == pytest.approx(-wound, abs=1e-3)


@pytest.mark.parametrize("current", [[0.0, 0.0, 0.0], [0.1, -0.05, 0.02]])
def test_vehicle_never_gains_energy_when_left_alone(current):
    calm = current == [0.0, 0.0, 0.0]
    tether = {**TETHER, "drag_n_s_per_m": 3.0, "twist_n_m_per_rad": 0.4, "slack_m": 1.2 if calm else 100.0}
    model = adrift(plant(tether=tether, tree__current_m_s=current))[0].models[0]

    def energy(state: np.ndarray) -> float:
        over = max(float(np.linalg.norm(distance_m(state))) - tether["slack_m"], 0.0)
        return model.energy(state) + 15.0 * over**2 + 0.2 * heading(state) ** 2

    for start in states(6, seed=4):
        run = np.array([energy(x) for x in model.rollout(start, 1000, 0.005, every=5)])
        assert (np.diff(run) < 1e-9).all() and run[-1] < run[0] - 1.0


def test_tether_without_drag_gives_back_all_its_energy():
    tether = {**TETHER, "twist_n_m_per_rad": 0.4, "stiffness_n_per_m": 6.0}
    model = adrift(plant(tether=tether, tree__water="buoyant"))[0].models[0]
    start = states(1, seed=6)[0]
    start[:3], start[7:13] = END_M + [1.2, 0.8, -0.6], 0.3 * start[7:13]
    run = model.rollout(start, 2000, 0.005)
    over = np.maximum([np.linalg.norm(distance_m(x)) - 1.2 for x in run], 0.0)
    turned = np.unwrap([heading(x) for x in run])
    kept = np.array([model.energy(x) for x in run]) + 3.0 * over**2 + 0.2 * turned**2
    assert (
        np.ptp(3.0 * over**2) > 0.2
        and np.ptp(turned) > 0.3
        and over.min() == 0.0
        and np.abs(turned).max() < 3
    )
    assert np.ptp(kept) < 1e-6


def test_current_carries_a_vehicle_at_its_own_speed():
    current = [0.1, -0.05, 0.02]
    world, body = adrift(plant(tree__current_m_s=current, tree__gravity_m_s2=0.0))
    world.step(120_000_000)
    state = body.state()
    assert rotation_matrix(state[3:7]) @ state[7:10] == pytest.approx(current, abs=1e-4)
    assert np.abs(state[10:13]).max() < 1e-4


def test_floor_stops_a_vehicle_and_a_touch_counts_once():
    world, body = adrift(plant(actuator=each(lag_s=0.1)), world_of(**TANK))
    push(body, DOWN, 150)
    for _ in range(100):
        world.step(100_000)
        assert truth(body)["depth_m"] <= 1.8 - 0.15 + 1e-12
    now = truth(body)
    assert now["depth_m"] == pytest.approx(1.65, abs=1e-6) and abs(now["climb_m_s"]) < 1e-3
    assert world.collisions == body.collisions == 1
    body.write([0] * 7)
    world.step(5_000_000)
    assert truth(body)["depth_m"] < 1.6  # lighter than water
    push(body, DOWN, 150)
    world.step(5_000_000)
    assert body.collisions == 2


@pytest.mark.parametrize(("ways", "offset_us"), [(AHEAD, 120), (AHEAD, -120), (ASIDE, 120), (ASIDE, -120)])
def test_walls_stop_a_vehicle_at_bow_stern_and_sides(ways, offset_us):
    world, body = adrift(plant(), world_of(**TANK))
    push(body, ways, offset_us)
    nearest_m = math.inf
    for _ in range(150):
        world.step(100_000)
        corners = body.hull_m.reshape(-1, 2)
        assert (corners >= 0).all() and (corners <= [6.3, 3.7]).all()
        nearest_m = min(nearest_m, body.clearance_m)
    assert body.collisions >= 1 and nearest_m < 1e-3
    box = np.concatenate(body.hull_m)
    assert np.ptp(box, axis=0).min() >= 0.4 - 1e-9 and np.ptp(box, axis=0).max() >= 0.75 - 1e-9


def test_start_below_the_floor_is_refused_with_a_message():
    with pytest.raises(
        ValueError, match=r"^one: plant.depth_m puts its keel at 2.15 m, .* 1.8 m; start higher.$"
    ):
        adrift(plant(depth_m=2.0), world_of(**TANK))


def test_tether_is_refused_with_the_strouhal_model():
    from swimmer import plant as swimmer

    with pytest.raises(
        ValueError, match=r'^one: plant.tether: the model "strouhal" has no tether; .* "tree".$'
    ):
        adrift(swimmer(tether=TETHER), open_water())


def test_camera_has_no_reading_during_its_outage_only():
    eye = {
        "x": {
            "kind": "position_x",
            "metres_per_count": 0.001,
            "rate_hz": 20.0,
            "drop_from_s": 2.0,
            "drop_for_s": 5.0,
        }
    }
    world, body = adrift(plant(sensor=eye), sensors=["x"])
    seen, counts = [], [None]
    for _ in range(200):
        world.step(50_000)
        body.read(counts)
        seen.append(counts[0] is not None)
    assert seen == [not 2.0 <= 0.05 * (k + 1) < 7.0 for k in range(200)]
