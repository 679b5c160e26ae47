"""Thrusters on a battery: thrust and current of a pulse at the present voltage, and the voltage's sag.

Thrust and current run up and down together with the thruster's lag, in closed form. The battery's voltage in a step
follows from the currents at the end of the last step.
"""

from __future__ import annotations

import math

import numpy as np

from caudal.sim_plant.base.arrays import Flat
from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.types import Floats, Record, Records, floats, ints
from caudal.sim_plant.tables.devices import Thruster
from caudal.sim_plant.tables.motors import Motor
from caudal.sim_plant.tables.read import PlantSpec

CURVE = np.dtype(floats("battery_v") + ints("first points"))


def pack_motor(motor: Motor, first_point: int) -> tuple[Records, Floats]:
    """CURVE records, and (point, 3) of all of them: pulse (us), force (N), current (A)."""
    curves, points = np.zeros(len(motor.curve), CURVE), []
    for row, curve in zip(curves, motor.curve, strict=True):
        row["battery_v"], row["first"], row["points"] = curve.battery_v, first_point, len(curve.pulses_us)
        points.append(np.column_stack([curve.pulses_us, curve.forces_n, curve.currents_a]))
        first_point += len(curve.pulses_us)
    return curves, np.concatenate(points)


def add_motors(flat: Flat, spec: PlantSpec) -> tuple[Records, Floats, dict[str, tuple[int, int]]]:
    """The world's curves and points with those of a vehicle's motors; (first curve, number) of each thruster."""
    curves, points, places = flat.curves, flat.curve_points, {}
    for name, motor in spec.motor.items():
        places[name] = (len(curves), len(motor.curve))
        more, more_points = pack_motor(motor, len(points))
        curves, points = np.concatenate([curves, more]), np.concatenate([points, more_points])
    thrusters = {n: places[a.motor] for n, a in spec.actuator.items() if isinstance(a, Thruster)}
    return curves, points, thrusters


@inner
def interpolate_curve(curve: Record, points: Floats, pulse_us: float) -> tuple[float, float]:
    """(thrust in N, current in A) at a pulse, on one curve."""
    low, high = curve.first, curve.first + curve.points - 1
    if pulse_us <= points[low, 0]:
        return points[low, 1], points[low, 2]
    if pulse_us >= points[high, 0]:
        return points[high, 1], points[high, 2]
    while high - low > 1:
        middle = (low + high) // 2
        if points[middle, 0] <= pulse_us:
            low = middle
        else:
            high = middle
    share = (pulse_us - points[low, 0]) / (points[high, 0] - points[low, 0])
    return (
        points[low, 1] + share * (points[high, 1] - points[low, 1]),
        points[low, 2] + share * (points[high, 2] - points[low, 2]),
    )


@inner
def steady_state(flat: Flat, thruster: Record, volts: float) -> tuple[float, float]:
    """(thrust in N, current in A) at which a thruster settles at its pulse and this battery voltage."""
    k, last = thruster.first_curve, thruster.first_curve + thruster.curves - 1
    while k < last - 1 and flat.curves[k + 1].battery_v < volts:
        k += 1
    force_n, current_a = interpolate_curve(flat.curves[k], flat.curve_points, thruster.pulse_us)
    if k == last:
        return force_n, current_a
    high_n, high_a = interpolate_curve(flat.curves[k + 1], flat.curve_points, thruster.pulse_us)
    share = (volts - flat.curves[k].battery_v) / (flat.curves[k + 1].battery_v - flat.curves[k].battery_v)
    share = min(max(share, 0.0), 1.0)
    return force_n + share * (high_n - force_n), current_a + share * (high_a - current_a)


@inner
def run_thruster(flat: Flat, thruster: Record, volts: float, now_us: int, duration_s: float) -> float:
    """Run a thruster up or down for duration_s > 0; returns its mean thrust (N), so that the impulse is exact."""
    goal_n, goal_a = 0.0, 0.0
    if thruster.powered and now_us < thruster.dead_us:
        goal_n, goal_a = steady_state(flat, thruster, volts)
    mean_n, left = goal_n, 0.0
    if thruster.lag_s > 0.0:
        left = math.exp(-duration_s / thruster.lag_s)
        mean_n += (thruster.force_n - goal_n) * (1.0 - left) * thruster.lag_s / duration_s
    thruster.force_n = goal_n + left * (thruster.force_n - goal_n)
    thruster.current_a = goal_a + left * (thruster.current_a - goal_a)
    return mean_n


@inner
def discharge_battery(body: Record, thrusters_a: float, duration_s: float) -> None:
    """Draw a step's charge from the body's battery, and set the voltage for the next step."""
    drawn_a = body.hotel_a + thrusters_a
    open_v = body.full_v
    if body.capacity_c > 0.0:
        body.drawn_c = min(body.drawn_c + drawn_a * duration_s, body.capacity_c)
        open_v += (body.empty_v - body.full_v) * body.drawn_c / body.capacity_c
    body.battery_v = max(open_v - body.resistance_ohm * drawn_a, 0.0)
