"""Clearance of a bent body from walls, floor, cylinders and spheres, with every step between two observations."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from swimmer import plant as tail_plant
from swimmer import truth, world_of

from caudal.sim_plant.tables.read import PlantSpec, validate_plant, validate_world
from caudal.sim_plant.world.world import Body, World

BODIES = ["m1", "m2", "m3"]
SKIN = [
    {"body": "m1", "from_m": [0.0, 0.02, 0.0], "to_m": [0.6, -0.01, 0.03], "radius_m": 0.11, "points": 7},
    {"body": "m2", "from_m": [-0.6, 0.0, 0.0], "to_m": [0.0, 0.0, 0.0], "radius_m": 0.09, "points": 4},
    {"body": "m3", "from_m": [-0.5, 0.0, 0.0], "to_m": [0.0, 0.0, 0.05], "radius_m": 0.07, "points": 5},
]


def module(name: str, parent: str | None, axis: list[int]) -> dict[str, Any]:
    body: dict[str, Any] = {"name": name, "mass_kg": 6.0, "inertia_kg_m2": [0.05, 0.2, 0.2, 0, 0, 0]}
    if parent:
        at_m = [0.0 if parent == "m1" else -0.7, 0.0, 0.0]
        joint = {"name": f"to_{name}", "axis": axis, "at_m": at_m, "stiffness": 2.0}
        body.update(parent=parent, joint=joint)
    return body


def table(**changes: Any) -> dict[str, Any]:
    """Three modules on two springy joints, in water that neither carries nor brakes them."""
    bodies = [module("m1", None, []), module("m2", "m1", [0, 0, 1]), module("m3", "m2", [0, 1, 1])]
    tree = {"gravity_m_s2": 0.0, "water": "none", "body": bodies}
    return {"model": "tree", "step_us": 2000, "depth_m": 1.5, "tree": tree, "skin": SKIN, **changes}


def plant(**changes: Any) -> PlantSpec:
    return msgspec.convert(table(**changes), PlantSpec)


def put(obstacles: dict[str, Any], at: tuple[float, float, float] = (3.0, 2.0, 0.0), **changes: Any):
    """A world with these obstacles and the vehicle at (x_m, y_m, heading_deg)."""
    start = [{"x_m": at[0], "y_m": at[1], "heading_deg": at[2]}]
    world = World(world_of(start=start, **obstacles))
    return world, world.add(plant(**changes), actuators=[], sensors=[], name="one")


def set_state(world: World, x: np.ndarray) -> None:
    assert world._forest is not None
    world._forest.states[:] = x


def brute(world: World, body: Body) -> tuple[float, int]:
    """Least clearance and its point, from the poses that the model gives, obstacle by obstacle."""
    x, model, spec = body.state(), world.models[0], world.spec
    gaps = []
    for piece in SKIN:
        turn, at = model.pose(x, piece["body"])
        for share in np.arange(piece["points"]) / (piece["points"] - 1):
            own = (1 - share) * np.array(piece["from_m"]) + share * np.array(piece["to_m"])
            p = at + turn @ own
            to = [math.inf]
            if spec.length_m is not None and spec.width_m is not None:
                to += [p[0], spec.length_m - p[0], p[1], spec.width_m - p[1]]
            if spec.depth_m is not None:
                to.append(spec.depth_m + p[2])
            to += [math.hypot(p[0] - c.x_m, p[1] - c.y_m) - c.radius_m for c in spec.cylinders]
            to += [np.linalg.norm(p - [s.x_m, s.y_m, -s.depth_m]) - s.radius_m for s in spec.spheres]
            gaps.append(min(to) - piece["radius_m"])
    return min(gaps), int(np.argmin(gaps))


def bent(rng: np.random.Generator, x: np.ndarray, spread_m: float = 0.3) -> np.ndarray:
    """The state moved, turned any way, bent, and at rest."""
    x = x.copy()
    x[:3] += rng.normal(0, spread_m, 3)
    x[3:7] = rng.normal(0, 1, 4)
    x[3:7] /= np.linalg.norm(x[3:7])
    x[13:15] = rng.uniform(-1.5, 1.5, 2)
    return x


POOL = {"length_m": 8.0, "width_m": 5.0, "depth_m": 3.0}
POSTS = [{"x_m": 5.0, "y_m": 2.0, "radius_m": 0.3}, {"x_m": 1.0, "y_m": 3.5, "radius_m": 0.2}]
BALLS = [
    {"x_m": 3.0, "y_m": 3.5, "depth_m": 1.0, "radius_m": 0.4},
    {"x_m": 4.0, "y_m": 0.5, "depth_m": 2.0, "radius_m": 0.5},
    {"x_m": 2.5, "y_m": 2.0, "depth_m": 2.6, "radius_m": 0.25},
]
OBSTACLES = {
    "walls": {"length_m": 8.0, "width_m": 5.0},
    "floor": {"depth_m": 3.0},
    "cylinders": {"cylinders": POSTS},
    "spheres": {"spheres": BALLS},
    "all": {**POOL, "cylinders": POSTS, "spheres": BALLS},
}


@pytest.mark.parametrize("kind", OBSTACLES)
def test_skin_clearance_is_that_of_the_nearest_point_of_any_bent_body(kind):
    world, body = put(OBSTACLES[kind])
    start, rng = body.state(), np.random.default_rng(7)
    seen_points, inside = set(), 0
    for _ in range(300):
        set_state(world, bent(rng, start))
        truth(body)  # forgets where it was before
        seen = truth(body)
        gap_m, point = brute(world, body)
        assert seen["skin_clearance_m"] == pytest.approx(gap_m, abs=1e-12)
        assert seen["skin_point"] == point
        seen_points.add(point)
        inside += gap_m < 0
    assert len(seen_points) >= 5  # a plane is nearest to one of the ends, of which m1 covers one
    assert inside or kind != "all"  # and it says by how much it is inside, rather than 0


def test_truth_ends_with_the_skins_two_fields_only_with_a_skin():
    _, body = put({"spheres": BALLS})
    assert body.truth_fields[-2:] == ["skin_clearance_m", "skin_point"]
    bare = put({"spheres": BALLS}, skin=[])[1]
    assert bare.truth_fields == body.truth_fields[:-2]
    assert bare.truth() == body.truth()[:-2]


def test_skin_clearance_is_infinite_in_open_water():
    _, body = put({})
    seen = truth(body)
    assert seen["skin_clearance_m"] == seen["clearance_m"] == math.inf
    assert seen["skin_point"] == -1


def passing(speed_m_s: float) -> tuple[World, Body]:
    """It bends and rises past a ball next to it, level with it after 0.1 s."""
    ball = {"x_m": 3.3, "y_m": 2.6, "depth_m": 1.5, "radius_m": 0.2}
    world, body = put({"spheres": [ball]}, depth_m=1.5 + 0.1 * speed_m_s)
    x = body.state()
    x[9], x[-2:] = speed_m_s, (1.0, -2.0)
    set_state(world, x)
    return world, body


def test_skin_clearance_includes_a_pass_between_two_observations():
    world, body = passing(10.0)
    before = truth(body)
    world.step(200_000)
    gaps = truth(body)
    after = truth(body)  # a second observation immediately: the present values
    assert before["skin_clearance_m"] > 0.5 and after["skin_clearance_m"] > 0.5
    fine_world, fine_body = passing(10.0)
    least = min(brute(fine_world, fine_body)[0] for _ in range(100) if not fine_world.step(2000))
    assert gaps["skin_clearance_m"] == pytest.approx(least, abs=1e-12)
    assert 0.2 < least < 0.3  # 0.6 m abeam, less both radii and what it bent


def test_skin_clearance_does_not_depend_on_the_pieces_of_time_between_observations():
    whole, parts = passing(6.0), passing(6.0)
    for _, body in (whole, parts):
        truth(body)
    whole[0].step(200_000)
    for _ in range(20):
        parts[0].step(10_000)
    assert truth(whole[1]) == truth(parts[1])


def test_skin_clearance_restarts_at_the_present_one_after_an_observation():
    world, body = passing(10.0)
    world.step(200_000)
    passed = truth(body)["skin_clearance_m"]
    world.step(10_000)
    seen, now = truth(body), brute(world, body)
    assert seen["skin_clearance_m"] < now[0]  # it was nearer at the last observation
    world.step(10_000)
    assert passed < now[0] == pytest.approx(truth(body)["skin_clearance_m"], abs=1e-12)


def test_skin_clearance_restarts_only_for_the_observed_vehicle():
    start = [{"x_m": 1.0, "y_m": 2.0}, {"x_m": 6.0, "y_m": 2.0}]
    world = World(world_of(start=start, vehicles=2, spheres=BALLS, **POOL))
    first = world.add(plant(skin=SKIN[:2]), actuators=[], sensors=[], name="first")
    second = world.add(plant(), actuators=[], sensors=[], name="second")
    for body, x_m in ((first, 1.0), (second, 6.0)):
        alone, same = put({**POOL, "spheres": BALLS}, at=(x_m, 2.0, 0.0), skin=SKIN[: 2 if x_m < 2 else 3])
        world.step(10_000)
        alone.step(10_000)
        assert truth(body)["skin_clearance_m"] == truth(same)["skin_clearance_m"]


@pytest.mark.parametrize(
    "obstacles, at, words",
    [
        ({"spheres": [*BALLS, {"x_m": 3.2, "y_m": 2.1, "depth_m": 1.5, "radius_m": 0.1}]}, (3.0, 2.0, 0.0),
         ["world.spheres.3", "point 2 of plant.skin.0, on m1"]),
        ({"cylinders": [{"x_m": 1.8, "y_m": 2.0, "radius_m": 0.1}]}, (3.0, 2.0, 0.0),
         ["world.cylinders.0", "plant.skin.2, on m3"]),
        ({"length_m": 8.0, "width_m": 5.0}, (1.1, 2.0, 0.0), ["the wall at x = 0", "point 0 of plant.skin.2"]),
        ({"length_m": 8.0, "width_m": 5.0}, (3.0, 4.92, 0.0), ["the wall at y = world.width_m", "on m1"]),
        ({"depth_m": 1.55}, (3.0, 2.0, 0.0), ["the floor", "point 0 of plant.skin.0"]),
    ],
)  # fmt: skip
def test_start_inside_an_obstacle_is_refused_with_the_point_and_the_obstacle(obstacles, at, words):
    with pytest.raises(ValueError) as refused:
        put(obstacles, at)
    message = str(refused.value)
    assert message.startswith("one: it starts ") and message.endswith("; move its start, or the obstacle.")
    assert all(word in message for word in words), message


def test_world_does_not_change_when_a_vehicle_is_refused():
    start = [{"x_m": 3.0, "y_m": 2.0}]
    world = World(world_of(start=start, spheres=BALLS))
    with pytest.raises(ValueError, match="it starts"):
        world.add(plant(depth_m=2.6), actuators=[], sensors=[], name="low")
    body = world.add(plant(), actuators=[], sensors=[], name="one")
    world.step(10_000)
    assert truth(body) == pytest.approx(truth(put({"spheres": BALLS})[1]))


def test_skin_clearance_ignores_the_surface():
    world, body = put({"depth_m": 3.0}, depth_m=0.0)
    world.step(2000)
    assert truth(body)["skin_clearance_m"] == pytest.approx(3.0 - 0.11, abs=1e-9)


def test_skin_is_refused_without_a_tree():
    problems = dict(validate_plant(plant(skin=[SKIN[0], {**SKIN[1], "body": "m9"}])))
    assert problems == {"skin.1.body": "there is no body m9; choose from m1, m2, m3."}
    flat = msgspec.structs.replace(tail_plant(), skin=plant().skin)
    assert dict(validate_plant(flat))["skin"].startswith('the model "strouhal" has no skin')


def test_sphere_outside_the_pool_is_refused_like_a_cylinder():
    ball = {"x_m": 9.0, "y_m": 1.0, "depth_m": 1.0, "radius_m": 0.2}
    assert dict(validate_world(world_of(length_m=8.0, width_m=5.0, spheres=[ball])))["spheres.0"]
    assert not list(validate_world(world_of(spheres=[ball])))
