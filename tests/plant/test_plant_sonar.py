"""Sonar through the public interface: counts compared with an independent brute-force wedge."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from swimmer import JOINTS, plant, sonar, world_of

from caudal.sim_plant.world.world import Body, World

FINE = {"noise_m": 0.0, "dropout_share": 0.0, "metres_per_count": 1e-6}


def count(body: Body) -> int | None:
    counts: list[int | None] = [None]
    body.read(counts)
    return counts[0]


def look(world_keys: dict, pose: tuple[float, float, float], **changes) -> float:
    """Range (m) that a fine sonar at the base point reads from a pose (x_m, y_m, heading_deg)."""
    x, y, heading = pose
    start = [{"x_m": x, "y_m": y, "heading_deg": heading}] + world_keys.pop("others", [])
    world = World(world_of(start=start, vehicles=len(start), **world_keys))
    spec = plant(sensor={"front": sonar(**{"x_m": 0.0, **FINE, **changes})})
    bodies = [world.add(spec, actuators=JOINTS, sensors=["front"], name=f"v{i}") for i in range(len(start))]
    found = count(bodies[0])
    assert found is not None
    return found * 1e-6


def walked_m(x, y, heading_deg, half_deg, beams, solids, limit_m=3.0, stride=2e-3) -> float:
    """Brute force: walk along each beam until a solid is met."""
    reach = np.arange(0.0, limit_m, stride)
    nearest = limit_m
    for bearing in np.linspace(-half_deg, half_deg, beams):
        turn = math.radians(heading_deg + bearing)
        px, py = x + reach * math.cos(turn), y + reach * math.sin(turn)
        met = np.zeros(len(reach), bool)
        for solid in solids:
            met |= solid(px, py)
        if met.any():
            nearest = min(nearest, reach[np.argmax(met)])
    return nearest


def pool(px, py):
    return (px < 0) | (px > 4) | (py < 0) | (py > 3)


def circle(cx, cy, radius):
    return lambda px, py: np.hypot(px - cx, py - cy) <= radius


@settings(max_examples=60, deadline=None)
@given(x=st.floats(0.5, 3.5), y=st.floats(0.5, 1.0), heading=st.floats(-180, 180))
def test_sonar_reads_the_nearest_echo_of_its_beams(x, y, heading):
    cylinders = [{"x_m": 1.2, "y_m": 2.0, "radius_m": 0.15}, {"x_m": 2.8, "y_m": 2.2, "radius_m": 0.3}]
    found = look({"length_m": 4.0, "width_m": 3.0, "cylinders": cylinders}, (x, y, heading))
    solids = [pool, circle(1.2, 2.0, 0.15), circle(2.8, 2.2, 0.3)]
    assert found == pytest.approx(walked_m(x, y, heading, 15, 9, solids), abs=2.5e-3)


def test_sonar_with_nine_beams_overestimates_a_cylinder_by_less_than_18_mm():
    worst = 0.0
    for distance in (0.8, 1.2, 1.6, 2.0):
        for bearing in np.linspace(-14, 14, 57):
            angle = math.radians(bearing)
            cylinder = {
                "x_m": distance * math.cos(angle),
                "y_m": distance * math.sin(angle),
                "radius_m": 0.15,
            }
            found = look({"cylinders": [cylinder]}, (0.0, 0.0, 0.0))
            worst = max(worst, found - (distance - 0.15))
    assert 0.001 < worst < 0.018


def test_sonar_reads_the_full_range_without_echo_even_with_noise():
    assert look({}, (0.0, 0.0, 0.0), noise_m=0.5) == pytest.approx(3.0)


def test_sonar_range_starts_at_the_sensor_along_its_bearing():
    walls = {"length_m": 4.0, "width_m": 3.0}
    one = {"beams": 1, "half_angle_deg": 0.0}
    assert look(dict(walls), (2.0, 1.0, 0.0), x_m=0.15, **one) == pytest.approx(1.85, abs=2e-6)
    assert look(dict(walls), (2.0, 1.0, 0.0), x_m=0.1, y_m=0.04, bearing_deg=90.0, **one) == pytest.approx(
        1.96, abs=2e-6
    )
    assert look(dict(walls), (2.0, 1.0, 90.0), bearing_deg=180.0, **one) == pytest.approx(1.0, abs=2e-6)


def test_sonar_sees_other_hulls_but_not_its_own():
    ahead = [{"x_m": 1.5, "y_m": -0.1, "heading_deg": 90.0}]  # broadside: half a head's width nearer
    one = {"beams": 1, "half_angle_deg": 0.0}
    assert look({"others": ahead}, (0.0, 0.0, 0.0), **one) == pytest.approx(1.5 - 0.04, abs=2e-6)
    facing = [{"x_m": 1.5, "y_m": 0.0, "heading_deg": 180.0}]
    assert look({"others": facing}, (0.0, 0.0, 0.0), **one) == pytest.approx(1.5 - 0.19, abs=2e-6)
    assert look({}, (0.0, 0.0, 0.0), bearing_deg=180.0) == pytest.approx(3.0)
