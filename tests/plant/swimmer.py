"""A vehicle of four joints for tests of the plant, and the travelling wave that drives its servos."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from caudal.sim_plant.tables.read import PlantSpec, WorldSpec
from caudal.sim_plant.world.world import Body, World

LINKS_M = [0.07, 0.07, 0.06, 0.06]
JOINTS = ["tail_1", "tail_2", "tail_3", "tail_4"]
TICK_US = 10_000
NEUTRAL_US, US_PER_RAD = 1500, 636.6
MODEL_BEAT_M = 2 * (0.05 * 0.26 + 0.25 * 0.26**2)  # the model's A at the tail's full length


def curve_m(x_m: float, phase_rad: float) -> float:
    return (0.05 * x_m + 0.25 * x_m**2) * math.sin(2 * math.pi / 0.45 * x_m - phase_rad)


def joints_on_curve(phase_rad: float) -> list[float]:
    """Joint angles that put every joint on the wave, link by link (circle meets curve)."""
    x, y, before, angles = 0.0, 0.0, 0.0, []
    for length in LINKS_M:
        low, high = x, x + length
        for _ in range(50):
            middle = 0.5 * (low + high)
            inside = math.hypot(middle - x, curve_m(middle, phase_rad) - y) < length
            low, high = (middle, high) if inside else (low, middle)
        direction = math.atan2(curve_m(low, phase_rad) - y, low - x)
        angles.append(direction - before)
        x, y, before = low, curve_m(low, phase_rad), direction
    return angles


BEAT_RAD = np.array([joints_on_curve(2 * math.pi * k / 720) for k in range(720)])


def gait(t_s: float, f_hz: float, deflection_rad: float = 0.0, mirror: float = 1.0) -> list[float]:
    """Joint angles of the wave, half of the deflection on each of the first two joints."""
    place = (f_hz * t_s) % 1.0 * 720
    k, part = int(place) % 720, place - math.floor(place)
    angles = (1 - part) * BEAT_RAD[k] + part * BEAT_RAD[(k + 1) % 720]
    angles = angles + np.array([deflection_rad / 2, deflection_rad / 2, 0, 0])
    return [mirror * float(a) for a in angles]


def pulses(angles_rad: list[float]) -> list[int]:
    # Away from neutral in both directions alike, so that mirrored angles give mirrored pulses.
    return [NEUTRAL_US + int(math.copysign(math.floor(abs(a) * US_PER_RAD + 0.5), a)) for a in angles_rad]


def table(**changes) -> dict:
    """The `plant` table as a vehicle file would give it."""
    servo = {
        "kind": "servo", "neutral_us": NEUTRAL_US, "us_per_rad": US_PER_RAD, "direction": 1,
        "travel_rad": 1.2, "rate_rad_s": 10.5, "delay_s": 0.008, "resolution_us": 1.0,
    }  # fmt: skip
    tail = {
        "mass_kg": 0.60, "wetted_area_m2": 0.055, "number": 0.3, "turn_rad_per_beat": 1.2,
        "viscosity_m2_s": 1.12e-6, "density_kg_m3": 1000.0, "deflection_joints": ["tail_1", "tail_2"],
        "reynolds_length_m": 0.26, "tail_beat_scale": 1.032,
        "link": [{"joint": j, "length_m": m} for j, m in zip(JOINTS, LINKS_M, strict=True)],
    }  # fmt: skip
    plant = {
        "model": "strouhal", "step_us": 2000, "depth_m": 0.5, "strouhal": tail,
        "hull": {"head_length_m": 0.19, "head_width_m": 0.08, "tail_width_m": 0.06},
        "actuator": {j: dict(servo) for j in JOINTS},
        "sensor": {},
    }  # fmt: skip
    for key, value in changes.items():
        (tail if key in tail else plant)[key] = value
    return plant


def plant(**changes) -> PlantSpec:
    return msgspec.convert(table(**changes), PlantSpec)


# An additional thruster: a dead-band of 25 us, then 2 mN per microsecond.
JET = {
    "actuator": {**table()["actuator"], "jet": {"kind": "thruster", "motor": "jet", "lag_s": 0.1}},
    "motor": {"jet": {"curve": [{
        "battery_v": 12.0, "pulses_us": [1000, 1475, 1525, 2000], "forces_n": [-0.95, 0.0, 0.0, 0.95],
        "currents_a": [2.0, 0.0, 0.0, 2.0],
    }]}},
    "battery": {"volts": 12.0},
}  # fmt: skip


def world_of(**keys) -> WorldSpec:
    return msgspec.convert(keys, WorldSpec)


def open_water(*poses: tuple[float, float, float]) -> WorldSpec:
    """Open water with vehicles at (x_m, y_m, heading_deg)."""
    start = [{"x_m": x, "y_m": y, "heading_deg": h} for x, y, h in poses or [(0, 0, 0)]]
    return world_of(start=start, vehicles=len(start))


def sonar(bearing_deg: float = 0.0, **changes) -> dict:
    keys = {
        "kind": "sonar", "x_m": 0.15, "y_m": 0.0, "bearing_deg": bearing_deg, "half_angle_deg": 15.0,
        "beams": 9, "range_m": 3.0, "metres_per_count": 0.001, "noise_m": 0.01, "rate_hz": 10.0,
        "dropout_share": 0.01,
    }  # fmt: skip
    keys.update(changes)
    return keys


def truth(body: Body) -> dict[str, float]:
    return dict(zip(body.truth_fields, body.truth(), strict=True))


def swim(world: World, body: Body, seconds: float, f_hz: float, deflection_rad: float = 0.0) -> list[dict]:
    """Drive one body with the wave at 100 Hz; the truth after each tick."""
    out = []
    for _ in range(round(seconds * 100)):
        body.write(pulses(gait(world.time_us * 1e-6, f_hz, deflection_rad)))
        world.step(TICK_US)
        out.append(truth(body))
    return out
