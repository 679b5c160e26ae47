"""Hulls never overlap, contacts count at their onset, clearance is exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from swimmer import JET, JOINTS, TICK_US, gait, open_water, plant, pulses, swim, truth, world_of

from caudal.sim_plant.base import geometry
from caudal.sim_plant.world.world import Body, World


def overlap_m(world: World) -> float:
    """The deepest overlap of anything with anything, from the hulls alone."""
    worst = -math.inf
    hulls = [body.hull_m for body in world.bodies]
    for i, hull in enumerate(hulls):
        if world.spec.length_m is not None and world.spec.width_m is not None:
            corners = hull.reshape(-1, 2)
            worst = max(worst, -corners.min(), *(corners.max(0) - (world.spec.length_m, world.spec.width_m)))
        for quad in hull:
            for c in world.spec.cylinders:
                worst = max(worst, geometry.circle_overlap(quad, c.x_m, c.y_m, c.radius_m)[0])
            for other in hulls[:i]:
                for second in other:
                    worst = max(worst, geometry.quad_overlap(quad, second)[0])
    return worst


@pytest.mark.parametrize("seed", range(3))
def test_hulls_never_overlap_in_thousands_of_random_steps_in_a_crowded_pool(seed):
    cylinders = [{"x_m": 0.75, "y_m": 0.7, "radius_m": 0.15}, {"x_m": 1.6, "y_m": 0.75, "radius_m": 0.1}]
    start = [
        {"x_m": 0.3, "y_m": 0.25, "heading_deg": 0.0}, {"x_m": 1.2, "y_m": 0.3, "heading_deg": 90.0},
        {"x_m": 1.6, "y_m": 1.25, "heading_deg": 180.0}, {"x_m": 0.6, "y_m": 1.2, "heading_deg": 30.0},
    ]  # fmt: skip
    world = World(world_of(length_m=2.2, width_m=1.5, vehicles=4, cylinders=cylinders, start=start))
    spec = plant(**JET)
    bodies = [world.add(spec, actuators=[*JOINTS, "jet"], sensors=[], name=f"v{i}") for i in range(4)]
    rng = np.random.default_rng(seed)
    for tick in range(2500):
        for body in bodies:
            if tick % 50 == 0 or rng.random() < 0.02:
                wild = rng.integers(1000, 2000, 4).tolist()  # a tail that is flung about
                push = int(rng.integers(1300, 1800))
            else:
                wild = pulses(gait(world.time_us * 1e-6, 2.5, float(rng.normal(0, 0.4))))
                push = 1600
            body.write([*wild, push])
        world.step(TICK_US)
        assert overlap_m(world) <= 0.0
    assert world.collisions > 20
    assert sum(body.collisions for body in bodies) >= world.collisions


def facing_wall(distance_m: float, **pool) -> tuple[World, Body]:
    spec = plant(sensor={"nose": {"kind": "bumper", "rate_hz": 100.0}})
    start = [{"x_m": 3.0 - 0.19 - distance_m, "y_m": 1.0, "heading_deg": 0.0}]
    world = World(world_of(length_m=3.0, width_m=2.0, start=start, **pool))
    return world, world.add(spec, actuators=JOINTS, sensors=["nose"], name="one")


def test_vehicle_stops_at_a_wall_and_counts_one_contact():
    world, body = facing_wall(0.3)
    touched = []
    for _ in range(800):
        body.write(pulses(gait(world.time_us * 1e-6, 2.0)))
        world.step(TICK_US)
        counts: list[int | None] = [None]
        body.read(counts)
        touched.append(counts[0])
    assert world.collisions == body.collisions == 1
    assert truth(body)["clearance_m"] < 1e-3 and abs(truth(body)["speed_m_s"]) < 0.01
    first = touched.index(1)
    assert first > 100 and set(touched[:first]) == {0} and set(touched[first:]) == {1}


def test_contact_counts_again_after_a_millimetre_of_distance():
    world, body = facing_wall(0.05)
    for way in (1, -1, 1):
        for _ in range(400 if way == 1 else 150):
            body.write(pulses(gait(way * world.time_us * 1e-6, 2.0)))
            world.step(TICK_US)
    assert world.collisions == 2


def test_contact_of_two_vehicles_counts_once_in_the_world_and_once_for_each():
    world = World(open_water((0.0, 0.0, 0.0), (0.8, 0.0, 180.0)))
    left = world.add(plant(), actuators=JOINTS, sensors=[], name="left")
    right = world.add(plant(), actuators=JOINTS, sensors=[], name="right")
    for _ in range(600):
        for body in (left, right):
            body.write(pulses(gait(world.time_us * 1e-6, 2.0)))
        world.step(TICK_US)
    assert world.collisions == 1 and left.collisions == right.collisions == 1
    assert overlap_m(world) <= 0.0
    assert abs(truth(left)["speed_m_s"]) < 0.02 and abs(truth(right)["speed_m_s"]) < 0.02


def test_vehicles_share_the_displacement_when_they_are_pushed_apart():
    world = World(open_water((0.0, 0.0, 0.0), (0.6, 0.0, 180.0)))
    bodies = [world.add(plant(), actuators=JOINTS, sensors=[], name=f"v{i}") for i in range(2)]
    for _ in range(500):
        for body in bodies:
            body.write(pulses(gait(world.time_us * 1e-6, 2.0)))
        world.step(TICK_US)
    a, b = truth(bodies[0]), truth(bodies[1])
    assert world.collisions == 1
    assert a["x_m"] + b["x_m"] == pytest.approx(0.6, abs=0.01)


def test_clearance_is_the_distance_to_the_nearest_wall_cylinder_or_hull():
    cylinder = {"x_m": 3.0, "y_m": 2.0, "radius_m": 0.2}
    start = [{"x_m": 2.0, "y_m": 2.0, "heading_deg": 0.0}, {"x_m": 2.0, "y_m": 3.0, "heading_deg": 90.0}]
    world = World(world_of(length_m=8.0, width_m=8.0, cylinders=[cylinder], start=start, vehicles=2))
    one = world.add(plant(), actuators=JOINTS, sensors=[], name="one")
    assert one.clearance_m == pytest.approx(1.0 - 0.2 - 0.19)
    two = world.add(plant(), actuators=JOINTS, sensors=[], name="two")
    # Its tail hangs down 0.26 m from y = 3, 0.06 m wide; the head below reaches half its width up.
    assert two.clearance_m == pytest.approx(1.0 - 0.26 - 0.04)
    assert one.clearance_m == pytest.approx(0.61)
    assert truth(one)["clearance_m"] == one.clearance_m


def test_clearance_is_infinite_when_alone_in_open_water():
    world = World(open_water())
    body = world.add(plant(), actuators=JOINTS, sensors=[], name="one")
    swim(world, body, 3.0, 2.0, 1.0)
    assert body.clearance_m == math.inf and world.collisions == 0


@pytest.mark.parametrize("seed", range(5))
def test_vehicles_start_clear_of_everything_without_a_start_pose(seed):
    cylinders = [{"x_m": 1.3, "y_m": 1.5, "radius_m": 0.15}, {"x_m": 2.7, "y_m": 1.5, "radius_m": 0.15}]
    world = World(world_of(length_m=4.0, width_m=3.0, cylinders=cylinders, vehicles=3), seed=seed)
    bodies = [world.add(plant(), actuators=JOINTS, sensors=[], name=f"v{i}") for i in range(3)]
    assert all(body.clearance_m >= 0.35 for body in bodies)
