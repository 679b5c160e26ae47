"""Servos and thrusters: pulses in microseconds in, joint angles and a push out.

A pulse waits `delay` in the actuator's line before it takes effect. A servo then turns to its angle, at most
at its rate and with the lag of its position loop, in closed form, so the angle does not depend on the step.
In a tree of bodies a joint's rate cannot jump: there the servo is of second order (`follow`), or pushes with a
torque (tree.servo_torque). Pulse 0 is no pulse: the servo goes limp and stays where it is (the water's torque on
it is not modelled; a joint that yields trails), the thruster runs down.
"""

from __future__ import annotations

import math

import numpy as np

from sim_plant.compiled import compiled
from sim_plant.devices import Servo, Thruster
from sim_plant.layout import F, N

SERVO, THRUSTER = 0, 1
LINE = 256  # pulses that can wait: 0.25 s of delay at a pulse a millisecond

ACTUATOR = np.dtype(
    [("kind", N), ("joint", N), ("neutral_us", F), ("direction", F), ("us_per_rad", F), ("travel_rad", F)]
    + [("rate_rad_s", F), ("resolution_us", F), ("delay_us", N), ("dead_band_us", F), ("n_per_us", F)]
    + [("lag_s", F), ("live", N), ("goal", F), ("force_n", F), ("first", N), ("waiting", N)]
)


def pack_actuator(spec: Servo | Thruster, joint: int) -> np.ndarray:
    """One ACTUATOR record without a pulse; `joint` is the servo's place among all joints."""
    row = np.zeros(1, ACTUATOR)
    row["neutral_us"], row["direction"], row["joint"] = spec.neutral_us, spec.direction, joint
    if isinstance(spec, Servo):
        row["kind"], row["us_per_rad"], row["travel_rad"] = SERVO, spec.us_per_rad, spec.travel_rad
        row["rate_rad_s"], row["resolution_us"] = spec.rate_rad_s, spec.resolution_us
        row["delay_us"], row["lag_s"] = round(spec.delay_s * 1e6), spec.lag_s
    else:
        row["kind"], row["dead_band_us"] = THRUSTER, spec.dead_band_us
        row["n_per_us"], row["lag_s"] = spec.force_n_per_us, spec.lag_s
    return row


@compiled
def post(flat, i):
    """Put body i's commands at the end of its actuators' lines; False if a line is full."""
    body = flat.bodies[i]
    now_us = flat.world[0].time_us
    for a in range(body.first_actuator, body.first_actuator + body.actuators):
        line = flat.actuators[a]
        if line.waiting == LINE:
            return False
        place = (line.first + line.waiting) % LINE
        flat.due_us[a, place] = now_us + line.delay_us
        flat.pulses_us[a, place] = flat.commands_us[a]
        line.waiting += 1
    flat.written[i] = 0
    return True


@compiled
def take(actuator, pulse_us):
    """A pulse takes effect: the goal of the servo (rad) or of the thruster (N)."""
    actuator.live = 1 if pulse_us > 0 else 0
    offset_us = (pulse_us - actuator.neutral_us) * actuator.direction
    if actuator.kind == SERVO:
        if actuator.resolution_us > 0.0:
            steps = math.floor(abs(offset_us) / actuator.resolution_us + 0.5)
            offset_us = math.copysign(steps * actuator.resolution_us, offset_us)
        travel = actuator.travel_rad
        actuator.goal = min(max(offset_us / actuator.us_per_rad, -travel), travel)
    else:
        beyond_us = max(abs(offset_us) - actuator.dead_band_us, 0.0) if pulse_us > 0 else 0.0
        actuator.goal = math.copysign(beyond_us * actuator.n_per_us, offset_us)


@compiled
def move_force(actuator, duration_s):
    """Let a thruster run up or down to its goal for a while."""
    if actuator.lag_s > 0.0:
        actuator.force_n += (actuator.goal - actuator.force_n) * -math.expm1(-duration_s / actuator.lag_s)
    else:
        actuator.force_n = actuator.goal


@compiled
def move(actuator, joints, duration_s):
    """Let the actuator follow its goal for a while."""
    if actuator.kind != SERVO:
        move_force(actuator, duration_s)
    elif actuator.live:
        joint = joints[actuator.joint]
        gap = actuator.goal - joint.angle_rad
        # Full rate until the goal is near, then the position loop closes the rest.
        near = actuator.rate_rad_s * actuator.lag_s
        run_s = min(max((abs(gap) - near) / actuator.rate_rad_s, 0.0), duration_s)
        joint.angle_rad += math.copysign(actuator.rate_rad_s * run_s, gap)
        if run_s < duration_s:
            left = 0.0
            if actuator.lag_s > 0.0:
                left = math.copysign(min(abs(gap), near), gap)
                left *= math.exp((run_s - duration_s) / actuator.lag_s)
            joint.angle_rad = actuator.goal - left


@compiled
def follow(actuator, angle_rad, rate_rad_s, duration_s):
    """Rate at the end of a step of a servo whose joint has inertia to feel: it cannot jump.

    Critically damped, exact over the step, with the same lag behind a ramp as `move`. Limp, it runs down.
    """
    w = 0.7 / duration_s
    if actuator.lag_s > 0.0:
        w = min(w, 2.0 / actuator.lag_s)
    decay = math.exp(-w * duration_s)
    if not actuator.live:
        return rate_rad_s * decay
    pull = rate_rad_s + w * (angle_rad - actuator.goal)
    rate = (rate_rad_s - w * pull * duration_s) * decay
    return min(max(rate, -actuator.rate_rad_s), actuator.rate_rad_s)


@compiled
def pull_due(flat, a, now_us):
    """Pulses whose time has come take effect."""
    actuator = flat.actuators[a]
    while actuator.waiting > 0 and flat.due_us[a, actuator.first] <= now_us:
        take(actuator, flat.pulses_us[a, actuator.first])
        actuator.first = (actuator.first + 1) % LINE
        actuator.waiting -= 1


@compiled
def drive(flat, i, start_us, duration_us):
    """Move body i's actuators through one step; pulses take effect within it at their own time."""
    body = flat.bodies[i]
    body.force_n = 0.0
    for a in range(body.first_actuator, body.first_actuator + body.actuators):
        actuator = flat.actuators[a]
        at_us, end_us = start_us, start_us + duration_us
        while actuator.waiting > 0 and flat.due_us[a, actuator.first] < end_us:
            due_us = max(flat.due_us[a, actuator.first], at_us)
            move(actuator, flat.joints, (due_us - at_us) * 1e-6)
            at_us = due_us
            take(actuator, flat.pulses_us[a, actuator.first])
            actuator.first = (actuator.first + 1) % LINE
            actuator.waiting -= 1
        move(actuator, flat.joints, (end_us - at_us) * 1e-6)
        body.force_n += actuator.force_n
