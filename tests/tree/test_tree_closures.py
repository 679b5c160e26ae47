"""Closed chains: impulses hold four-bars, loose bodies, tendons and rods together."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from impulses import ENOUGH_M, hinge, impulses_of
from trees import random_state, random_tables

from caudal import sim_plant
from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.sim_plant.maximal.model import ImpulseModel
from caudal.sim_plant.tables.tree import TreeSpec
from caudal.sim_plant.tree.model import Model


def bar(name: str, length_m: float, mass_kg: float, **more) -> dict:
    across = mass_kg * length_m**2 / 12
    inertia = [1e-4 * mass_kg, across, across, 0.0, 0.0, 0.0]
    return {
        "name": name,
        "mass_kg": mass_kg,
        "com_m": [length_m / 2, 0.0, 0.0],
        "inertia_kg_m2": inertia,
    } | more


def four_bar(kind: str = "revolute") -> dict:
    return {
        "body": [
            bar("ground", 0.4, 2.0),
            bar("crank", 0.15, 0.3, **hinge("ground", "turn", (0, 0, 1), (0, 0, 0))),
            bar("coupler", 0.45, 0.5, **hinge("crank", "fold", (0, 0, 1), (0.15, 0, 0))),
            bar("rocker", 0.3, 0.4, **hinge("ground", "rock", (0, 0, 1), (0.4, 0, 0))),
        ],
        "closure": [
            {"kind": kind, "name": "pin", "body_a": "coupler", "body_b": "rocker", "at_a_m": [0.45, 0, 0],
             "at_b_m": [0.3, 0, 0]},
        ],
    }  # fmt: skip


def turning(model: ImpulseModel, rate_rad_s: float) -> np.ndarray:
    """A four-bar whose crank turns, near where its pin meets, then shut."""
    x = model.tree.state()
    x[model.q["turn"]], x[model.q["fold"]], x[model.q["rock"]] = 1.0, -0.8, 1.7
    x = model.to_tree(model.shut(model.from_tree(x)))
    x[model.qd["turn"]] = rate_rad_s
    return model.shut(model.from_tree(x))


def four_bar_acceleration(model: Model, x: np.ndarray) -> np.ndarray:
    """Of base and joints: the open tree's mass matrix and bias, and Lagrange's multipliers for the pin's two gaps."""
    q, rate = x[13:16], x[16:19]
    arms = [(0.15, np.array([1, 0, 0])), (0.45, np.array([1, 1, 0])), (-0.3, np.array([0, 0, 1]))]
    rows, bend = np.zeros((2, 9)), np.zeros(2)
    for length, turns in arms:
        c, s = length * np.cos(turns @ q), length * np.sin(turns @ q)
        rows[:, 6:] += np.outer([-s, c], turns)
        bend -= np.array([c, s]) * (turns @ rate) ** 2
    mass = np.block([[model.mass_matrix(x), rows.T], [rows, np.zeros((2, 2))]])
    return np.linalg.solve(mass, np.concatenate([-model.bias(x), -bend]))[:9]


@pytest.fixture(scope="module")
def loop() -> ImpulseModel:
    return impulses_of(four_bar(), gravity=False, fluid=False)


@pytest.mark.long
def test_closed_four_bar_moves_as_lagrange_multipliers_predict(loop):
    def rate(y: np.ndarray) -> np.ndarray:
        x[7:] = y  # afloat in nothing, it does not matter where the base is
        acceleration = four_bar_acceleration(loop.tree, x)
        return np.concatenate([acceleration[:6], y[9:], acceleration[6:]])

    start, apart = turning(loop, 6.0), []
    x = loop.to_tree(start)
    y, dt_s = x[7:].copy(), 0.002
    for _ in range(250):
        k1 = rate(y)
        k2 = rate(y + dt_s / 2 * k1)
        k3 = rate(y + dt_s / 2 * k2)
        y = y + dt_s / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + dt_s * k3))
    for steps in (500, 1000):
        end = loop.to_tree(loop.rollout(start, steps, 0.5 / steps)[-1])
        apart.append(np.abs(end[7:] - y).max())
    assert np.abs(y[6] - start[13]) > 2  # radians
    assert apart[0] < 5e-4 and apart[1] < apart[0] / 3.5


def test_closed_four_bar_conserves_energy_and_momentum_to_second_order(loop):
    start, strays = turning(loop, 6.0), []
    for steps in (2000, 4000):
        states = loop.rollout(start, steps, 4 / steps, every=steps // 400)
        assert loop.gap_m(states) < ENOUGH_M
        energy = np.array([loop.energy(x) for x in states])
        momentum = np.array([loop.tree.momentum(loop.to_tree(x)) for x in states])
        strays.append([np.abs(energy / energy[0] - 1).max(), np.abs(momentum - momentum[0]).max()])
    assert states[-1, loop.q["turn"]] > 5 * 2 * np.pi  # turn after turn
    (energy_coarse, momentum_coarse), (energy_fine, momentum_fine) = strays
    assert energy_coarse < 5e-4 and energy_fine < energy_coarse / 3.5
    assert momentum_coarse < 5e-4 and momentum_fine < momentum_coarse / 3.5


def test_four_bar_moves_alike_with_three_redundant_constraints(loop):
    ball = impulses_of(four_bar("spherical"), gravity=False, fluid=False)
    ends = [model.to_tree(model.rollout(turning(model, 6.0), 500, 0.001)[-1]) for model in (loop, ball)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-8


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "spherical", "fixed"])
def test_closure_holds_a_free_body_as_the_same_joint_of_a_tree(kind):
    joint = {"axis": [1.0, 2.0, 0.5], "at_m": [0.2, 0.1, -0.1], "rpy_deg": [20.0, -40.0, 70.0]}
    tables = random_tables(5, 2)
    base, held = tables["body"]
    held |= {"parent": "body_0", "joint": {"name": "hold", "kind": kind} | joint}
    model = Model(msgspec.convert(tables, TreeSpec), gravity=False)
    # The same body over six freedoms without mass between them: as good as loose.
    slides = [("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))]
    carriers, parent = [], "body_0"
    for name, axis in slides:
        carriers.append(
            {"name": name, "mass_kg": 0.0} | hinge(parent, f"slide_{name}", axis, (0, 0, 0), kind="prismatic")
        )
        parent = name
    ball = hinge(parent, "ball", (0, 0, 1), (0, 0, 0), kind="spherical")
    closure = {"kind": kind, "name": "hold", "body_a": "body_0", "body_b": "body_1", "axis": joint["axis"],
               "at_a_m": joint["at_m"], "rpy_a_deg": joint["rpy_deg"]}  # fmt: skip
    loose = impulses_of({"body": [base, *carriers, held | ball], "closure": [closure]}, gravity=False)
    rng = np.random.default_rng(2)
    x = random_state(model, rng)
    start = loose.tree.state()
    start[:13] = x[:13]
    turn, at = model.pose(x, "body_1")
    first, base_at = model.pose(x, "body_0")
    state = loose.from_tree(start)
    # Put the loose body where the tree has its own: by its slides and its ball.
    start[loose.q["slide_x"].start : loose.q["slide_z"].stop] = first.T @ (at - base_at)
    start[loose.q["ball"]] = quaternion(first.T @ turn)
    nudge = model.rollout(x, 1, 1e-7)[-1]
    turn_on, at_on = model.pose(nudge, "body_1")
    first_on, base_on = model.pose(nudge, "body_0")
    slid = (first_on.T @ (at_on - base_on) - first.T @ (at - base_at)) / 1e-7
    start[loose.qd["slide_x"].start : loose.qd["slide_z"].stop] = slid
    spin = (turn.T @ first @ first_on.T @ turn_on - np.eye(3)) / 1e-7
    start[loose.qd["ball"]] = [spin[2, 1], spin[0, 2], spin[1, 0]]
    state = loose.shut(loose.from_tree(start))
    assert np.abs(state[7:13] - x[7:13]).max() < 1e-5
    end, truth = loose.rollout(state, 500, 0.001), model.rollout(x, 500, 0.001)[-1]
    assert loose.gap_m(end) < ENOUGH_M
    for body in model.bodies:
        there, here = model.pose(truth, body), loose.tree.pose(loose.to_tree(end[-1]), body)
        assert np.abs(there[0] - here[0]).max() < 1e-4 and np.abs(there[1] - here[1]).max() < 1e-4


def quaternion(turn: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eig(turn)
    axis = vectors[:, np.argmin(np.abs(values - 1))].real
    half = 0.5 * np.arctan2(
        axis @ [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]], np.trace(turn) - 1
    )
    return np.array([np.cos(half), *(np.sin(half) * axis)])


# Tendons.
TENDONS = {"left": 1.0, "right": -1.0}


def segment(name: str, parent: str, at_x_m: float) -> dict:
    return bar(
        name, -0.1, 0.2, **hinge(parent, f"{name}_bend", (0, 0, 1), (at_x_m, 0, 0), stiffness=0.3, damping=0.005),
        added_inertia={"at_m": [-0.05, 0, 0], "diagonal": [0.02, 0.2, 0.1, 1e-5, 1e-4, 2e-4]},
        drag={"at_m": [-0.05, 0, 0], "linear": [0.1, 0.5, 0.5, 0.001, 0.001, 0.002],
              "quadratic": [1.0, 20.0, 20.0, 0.001, 0.001, 0.002]},
    )  # fmt: skip


def tendon_tail(**tendon) -> dict:
    """Three hinges, and a tendon along each side through two guides a segment."""
    head = {"name": "head", "mass_kg": 2.0, "inertia_kg_m2": [0.005, 0.02, 0.02, 0, 0, 0]}
    head["drag"] = {"linear": [1.0, 1.0, 1.0, 0.05, 0.05, 0.05]}
    segments = [segment("one", "head", -0.15), segment("two", "one", -0.1), segment("three", "two", -0.1)]
    closures = []
    for name, side in TENDONS.items():
        guides = [{"body": "head", "at_m": [-0.1, 0.03 * side, 0]}]
        for body in ("one", "two", "three"):
            guides += [{"body": body, "at_m": [x, 0.02 * side, 0]} for x in (-0.02, -0.08)]
        closures.append({"kind": "tendon", "name": name, "guide": guides, "mode": "driven"} | tendon)
    return {"body": [head, *segments], "closure": closures}


@pytest.fixture(scope="module")
def tail() -> ImpulseModel:
    return impulses_of(tendon_tail(), gravity=False)


def spooled(tail: ImpulseModel, pull_m: np.ndarray, rate_m_s: np.ndarray, pay: float) -> np.ndarray:
    """The left tendon pulled in, the right one paid out `pay` times as far."""
    motion, start = np.zeros((len(pull_m), 3, 2)), tail.state()
    motion[:, 0, 0], motion[:, 1, 0] = start[tail.length["left"]] - pull_m, -rate_m_s
    motion[:, 0, 1], motion[:, 1, 1] = start[tail.length["right"]] + pay * pull_m, pay * rate_m_s
    return motion


def path_m(tail: ImpulseModel, x: np.ndarray, name: str) -> float:
    guides = next(c for c in tail.spec.closure if c.name == name).guide
    points = [turn @ g.at_m + at for g in guides for turn, at in [tail.tree.pose(x, g.body)]]
    return sum(float(np.linalg.norm(b - a)) for a, b in zip(points, points[1:], strict=False))


def test_antagonist_tendons_bend_a_tail_without_gaps(tail):
    steps, dt_s = 2000, 0.001
    t, w = 0.5 * dt_s * np.arange(2 * steps + 1), 2 * np.pi
    motion = spooled(tail, 0.015 * (1 - np.cos(w * t)), 0.015 * w * np.sin(w * t), 1.1)
    states = tail.rollout(tail.state(), steps, dt_s, driven=motion)
    assert tail.gap_m(states) < ENOUGH_M
    bent = states[:, tail.q["one_bend"].start : tail.q["three_bend"].stop].sum(axis=1)
    assert bent.min() < -1.0 and abs(bent).max() == -bent.min()
    left, right = states[:, tail.tension["left"]], states[:, tail.tension["right"]]
    assert left.min() >= 0 and right.min() >= 0 and left.max() > 5
    for n in (100, 400, 1400):
        x = tail.to_tree(states[n])
        for k, name in enumerate(TENDONS):
            over_m = path_m(tail, x, name) - motion[2 * n, 0, k]
            assert over_m < ENOUGH_M
            if states[n, tail.tension[name]] > 0:
                assert over_m > -ENOUGH_M  # it pulls only where it is taut


def test_tendon_tension_times_lever_balances_every_spring_at_rest(tail):
    steps, dt_s = 6000, 0.001
    t = 0.5 * dt_s * np.arange(2 * steps + 1)
    ramp = np.minimum(t, 1.0)
    motion = spooled(tail, 0.015 * (1 - np.cos(np.pi * ramp)), 0.015 * np.pi * np.sin(np.pi * ramp), 2.0)
    state = tail.rollout(tail.state(), steps, dt_s, driven=motion, every=steps)[-1]
    tension_n, x = state[tail.tension["left"]], tail.to_tree(state)
    assert tension_n > 5 and state[tail.tension["right"]] == 0
    for name in tail.joints:
        ahead, behind = x.copy(), x.copy()
        ahead[tail.q[name]] += 1e-6
        behind[tail.q[name]] -= 1e-6
        lever_m = (path_m(tail, ahead, "left") - path_m(tail, behind, "left")) / 2e-6
        assert float(x[tail.q[name]][0]) == pytest.approx(-tension_n * lever_m / 0.3, rel=1e-3)


def test_slack_tendon_changes_nothing(tail):
    slack = impulses_of(tendon_tail(mode="held", length_m=0.4), gravity=False)
    none = impulses_of(tendon_tail() | {"closure": []}, gravity=False)
    x = none.tree.state()
    x[none.qd["one_bend"]], x[none.q["three_bend"]] = 2.0, 0.3
    with_slack, without = (m.to_tree(m.rollout(x, 300, 0.001)) for m in (slack, none))
    assert (with_slack == without).all()
    held = impulses_of(tendon_tail(mode="held"), gravity=False)
    assert (
        np.abs(held.to_tree(held.rollout(held.state(), 300, 0.001)[-1])[:3]).max() < 1e-9
    )  # taut, and at rest
    moved = held.shut(x)
    assert held.gap_m(held.rollout(moved, 300, 0.001)) < ENOUGH_M


def test_driven_rod_has_the_given_length(loop):
    tables = four_bar()
    del tables["body"][2]
    rod = {"kind": "rod", "name": "ram", "body_a": "crank", "body_b": "rocker", "at_a_m": [0.15, 0, 0]}
    tables["closure"] = [rod | {"at_b_m": [0.3, 0, 0], "length_m": 0.45, "mode": "driven"}]
    model = impulses_of(tables, gravity=False, fluid=False)
    x = model.tree.state()
    x[model.q["turn"]], x[model.q["rock"]] = 1.0, 1.7
    start, t = model.shut(x), 0.0005 * np.arange(1001)
    motion = np.zeros((1001, 3, 1))
    motion[:, 0, 0], motion[:, 1, 0] = 0.45 - 0.02 * (1 - np.cos(6 * t)), -0.12 * np.sin(6 * t)
    states = model.rollout(start, 500, 0.001, driven=motion)
    assert model.gap_m(states) < ENOUGH_M and states[:, model.tension["ram"]].min() < 0  # a rod pushes too
    for n in (0, 250, 500):
        x = model.to_tree(states[n])
        (turn_a, at_a), (turn_b, at_b) = model.tree.pose(x, "crank"), model.tree.pose(x, "rocker")
        length_m = np.linalg.norm(turn_a @ [0.15, 0, 0] + at_a - turn_b @ [0.3, 0, 0] - at_b)
        assert abs(length_m - motion[2 * n, 0, 0]) < ENOUGH_M


# The public interface.
LOOP = """
[[plant.tree.body]]
name = "head"
mass_kg = 1.0
inertia_kg_m2 = [0.01, 0.01, 0.01, 0.0, 0.0, 0.0]
[[plant.tree.body]]
name = "tail"
parent = "head"
mass_kg = 0.5
inertia_kg_m2 = [0.01, 0.01, 0.01, 0.0, 0.0, 0.0]
joint = { name = "bend", at_m = [-0.1, 0.0, 0.0] }
[[plant.tree.closure]]
kind = "tendon"
name = "string"
guide = [{ body = "head", at_m = [0.0, 0.1, 0.0] }, { body = "tail", at_m = [-0.1, 0.1, 0.0] }]
[[plant.tree.closure]]
kind = "revolute"
name = "pin"
body_a = "head"
body_b = "tail"
at_a_m = [-0.1, 0.0, 0.0]
"""
BROKEN = [
    ('name = "pin"', 'name = "bend"', "another closure or a joint is also named bend"),
    ('body_b = "tail"', 'body_b = "tale"', "there is no body tale; choose from head, tail"),
    ('body_b = "tail"', 'body_b = "head"', "pin begins and ends on one body"),
    ('{ body = "tail",', '{ body = "tale",', "there is no body tale"),
    ('body_a = "head"', 'body_a = "head"\naxis = [0, 0, 0]', "the axis has no length"),
    ('kind = "revolute"', 'kind = "glue"', "glue"),
]


@pytest.mark.parametrize("old, new, words", BROKEN)
def test_wrong_closure_is_refused_with_one_sentence(old, new, words):
    assert old in LOOP
    file = VehicleFile.parse(LOOP.replace(old, new, 1), "swimmer.toml")
    with pytest.raises(VehicleFileError, match=f"^swimmer.toml: plant.tree.closure.*{words}.*[.]$"):
        sim_plant.load(file, impulses=True)


def test_recursion_refuses_closures_and_names_impulses():
    file = VehicleFile.parse(LOOP, "swimmer.toml")
    model = sim_plant.load(file, impulses=True)
    assert model.gap_m(model.rollout(model.state(), 10, 0.001)) < ENOUGH_M
    with pytest.raises(VehicleFileError, match=r"a tree cannot hold string; load it with impulses=True[.]$"):
        sim_plant.load(file)
    assert Model(model.spec, closures=False).joints == ["bend"]


def test_state_with_open_closures_is_refused(loop):
    x = loop.tree.state()
    with pytest.raises(ValueError, match=r"are open by 0\.\d+ m; start from shut"):
        loop.rollout(x, 10, 0.001)
    with pytest.raises(ValueError, match="finite numbers, or 19 of the tree"):
        loop.step(np.zeros(5), None, 0.001)
    with pytest.raises(ValueError, match=r"driven is \(3, 3, 2\); give finite numbers of shape \(3, 3, 0\)"):
        loop.step(turning(loop, 1.0), None, 0.001, driven=np.zeros((3, 3, 2)))
    with pytest.raises(ValueError, match="closures stay open by"):
        impulses_of(
            four_bar() | {"closure": [four_bar()["closure"][0] | {"at_a_m": [5.0, 0, 0]}]}, fluid=False
        ).shut(x)
