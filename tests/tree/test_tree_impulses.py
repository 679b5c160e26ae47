"""Bodies kept together by impulses move as the recursion computes."""

from __future__ import annotations

import numpy as np
import pytest
from impulses import ENOUGH_M, hinge, impulses_of
from numba.core.runtime import _nrt_python, rtsys
from trees import add_water, random_state, random_tables

from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.sim_plant.maximal.model import ImpulseModel
from caudal.sim_plant.tree.model import Model


def farthest_m(model: Model, x: np.ndarray, y: np.ndarray) -> float:
    """Largest distance between the same body in two states."""
    return max(float(np.linalg.norm(model.pose(x, b)[1] - model.pose(y, b)[1])) for b in model.bodies)


# Nine bodies and nine hinges: a disc, four planes on soft hinges, two fins and a tail of two links that beat.
def plate(name: str, mass_kg: float, sides_m: tuple, com_m: tuple, added: float, **more) -> dict:
    a, b, c = sides_m
    root = 0.15 * np.random.default_rng(sum(map(ord, name))).standard_normal((6, 6))
    root = (root + np.diag([0.5, 0.7, 1.2, 1.0, 1.0, 1.0])) * np.array([1, 1, 1, 0.1, 0.1, 0.1])
    moments = mass_kg / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    return {
        "name": name,
        "mass_kg": mass_kg,
        "com_m": list(com_m),
        "inertia_kg_m2": [*moments.tolist(), 0.0, 0.0, 0.0],
        "added_inertia": {
            "at_m": list(com_m),
            "full": (added * mass_kg * root.T @ root)[np.triu_indices(6)].tolist(),
        },
        "drag": {
            "at_m": list(com_m),
            "linear": [0.2, 0.3, 0.5, 0.01, 0.01, 0.01],
            "quadratic": [500 * b * c, 500 * a * c, 500 * a * b, 0.02, 0.02, 0.02],
        },
        "hull": {"kind": "ellipsoid", "at_m": list(com_m), "semi_axes_m": [a / 2, b / 2, c / 2]},
    } | more


def nine_hinges() -> dict:
    bodies = [plate("disc", 3.0, (0.4, 0.3, 0.06), (0.0, 0.0, 0.0), 1.0)]
    for side, left in (("left", 1.0), ("right", -1.0)):
        for end, x in (("front", 0.1), ("back", -0.1)):
            soft = hinge(
                "disc", f"{side}_{end}_flap", (1, 0, 0), (x, 0.15 * left, 0), stiffness=0.6, damping=0.01
            )
            bodies.append(
                plate(f"{side}_{end}", 0.3, (0.2, 0.12, 0.02), (0.0, 0.06 * left, 0.0), 2.0, **soft)
            )
        turn = hinge("disc", f"{side}_turn", (0, 1, 0), (-0.2, 0.08 * left, 0), mode="driven")
        bodies.append(plate(f"{side}_fin", 0.15, (0.1, 0.06, 0.02), (-0.05, 0.0, 0.0), 2.0, **turn))
    pitch = hinge("disc", "pitch", (0, 1, 0), (-0.2, 0, 0), mode="driven")
    bodies.append({"name": "carrier", "mass_kg": 0.0} | pitch)
    yaw = hinge("carrier", "yaw", (0, 0, 1), (0, 0, 0), mode="driven")
    bodies.append(plate("tail", 0.5, (0.2, 0.06, 0.06), (-0.1, 0.0, 0.0), 1.0, **yaw))
    bend = hinge("tail", "bend", (0, 0, 1), (-0.2, 0, 0), stiffness=0.8, damping=0.02)
    bodies.append(plate("caudal", 0.2, (0.12, 0.02, 0.12), (-0.05, 0.0, 0.0), 4.5, **bend))
    return {"body": bodies, "current_m_s": [0.1, -0.05, 0.0]}


def beat(model: Model, steps: int, dt_s: float) -> np.ndarray:
    t, w = 0.5 * dt_s * np.arange(2 * steps + 1), 2 * np.pi * 1.5
    motion = np.zeros((len(t), 3, len(model.driven)))
    motions = {"yaw": (0.5, 0.0), "pitch": (0.15, 1.0), "left_turn": (0.3, 2.0), "right_turn": (0.3, 2.7)}
    for k, name in enumerate(model.driven):
        a, phase = motions[name]
        motion[:, 0, k], motion[:, 1, k] = a * np.sin(w * t + phase), a * w * np.cos(w * t + phase)
        motion[:, 2, k] = -a * w * w * np.sin(w * t + phase)
    return motion


@pytest.fixture(scope="module")
def nine() -> ImpulseModel:
    return impulses_of(nine_hinges())


def swims(nine: ImpulseModel) -> np.ndarray:
    x = nine.tree.state()
    x[2], x[7], x[nine.q["left_front_flap"]] = -0.5, 0.2, 0.4
    return x


def test_impulses_match_the_recursion_for_nine_beating_hinges_over_four_seconds(nine):
    x, away_m = swims(nine), []
    truth = nine.tree.rollout(x, 8000, 0.0005, driven=beat(nine.tree, 8000, 0.0005), every=8000)[-1]
    for steps in (4000, 8000):
        states = nine.rollout(
            x, steps, 4 / steps, driven=beat(nine.tree, steps, 4 / steps), every=steps // 200
        )
        assert nine.gap_m(states) < ENOUGH_M and nine.gap_rad(states) < 1e-6
        away_m.append(farthest_m(nine.tree, nine.to_tree(states[-1]), truth))
    assert np.linalg.norm(truth[:3] - x[:3]) > 0.2  # it went somewhere
    assert away_m[0] < 1e-5 and away_m[1] < away_m[0] / 3.5  # second order


@pytest.mark.parametrize("seed", [3, 4])
def test_impulses_match_the_recursion_to_second_order_for_every_kind_of_joint(seed):
    model = impulses_of(add_water(random_tables(seed, 6), seed))
    rng = np.random.default_rng(seed)
    x, tau = random_state(model.tree, rng, 0.3), 0.1 * rng.standard_normal(model.freedoms)
    truth = model.tree.rollout(x, 1000, 0.0002, tau, every=1000)[-1]
    apart = []
    for steps in (200, 400):
        x_end = model.rollout(x, steps, 0.2 / steps, tau)[-1]
        apart.append(np.abs(model.to_tree(x_end) - truth).max())
    assert apart[0] < 1e-3 * np.abs(truth - x).max() and apart[1] < apart[0] / 3.5


def test_impulses_match_the_recursion_with_lagging_foils_and_waves():
    tables = nine_hinges()
    tables["body"][-1]["foil"] = [
        {"at_m": [-0.05, 0, 0], "normal": [0, 1, 0], "area_m2": 0.01, "chord_m": 0.1}
    ]
    tables["body"][-1]["foil"][0]["lag"] = True
    tables["wave"] = [{"amplitude_m": 0.05, "period_s": 1.0}]
    model, apart = impulses_of(tables), []
    x = swims(model)
    truth = model.tree.rollout(x, 2000, 0.0005, driven=beat(model.tree, 2000, 0.0005), time_s=0.3)[-1]
    for steps in (500, 1000):
        end = model.rollout(x, steps, 1 / steps, driven=beat(model.tree, steps, 1 / steps), time_s=0.3)[-1]
        apart.append(np.abs(model.to_tree(end) - truth).max())
    assert apart[1] < 1e-4 and apart[1] < apart[0] / 3
    still = model.rollout(x, 1000, 0.001, driven=beat(model.tree, 1000, 0.001), time_s=0.8)[-1]
    assert np.abs(model.to_tree(still) - truth).max() > 100 * apart[1]  # the waves' time matters


def test_rollout_equals_single_steps_bit_for_bit(nine):
    motion = beat(nine.tree, 5, 0.001)
    whole = nine.rollout(swims(nine), 5, 0.001, driven=motion)
    x = whole[0]
    for n in range(5):
        x = nine.step(x, None, 0.001, driven=motion[2 * n : 2 * n + 3])
        assert (x == whole[n + 1]).all()


def test_state_starts_with_the_trees_and_converts_both_ways(nine):
    x = random_state(nine.tree, np.random.default_rng(1))
    state = nine.from_tree(x)
    assert (nine.to_tree(state) == x).all() and nine.gap_m(state) < 1e-14
    assert nine.energy(state) == nine.tree.energy(x)
    assert (nine.to_tree(nine.state()) == nine.tree.state()).all()


def test_driven_joints_keep_their_rate_without_a_given_motion(nine):
    x = swims(nine)
    x[nine.qd["yaw"]] = 0.5
    end = nine.rollout(x, 100, 0.001)[-1]
    assert np.isclose(end[nine.q["yaw"]], 0.05, atol=1e-9) and np.isclose(end[nine.qd["yaw"]], 0.5)


def test_rollout_allocates_nothing_in_its_kernel(nine):
    nine.rollout(nine.state(), 1, 0.001)
    _nrt_python.memsys_enable_stats()
    counts = []
    for steps in (10, 500):
        before = rtsys.get_allocation_stats().alloc
        nine.rollout(nine.state(), steps, 0.001, every=steps)
        counts.append(rtsys.get_allocation_stats().alloc - before)
    assert counts[0] == counts[1]


def test_massless_body_is_refused_when_water_acts_on_it():
    tables = nine_hinges()
    tables["body"][7]["drag"] = {"linear": [1.0] * 6}
    with pytest.raises(VehicleFileError, match="the water acts on carrier, which has no mass; give it mass"):
        impulses_of(tables)
