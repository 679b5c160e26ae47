"""Servos, thrusters, valves, latches: pulses in microseconds in (a valve: microamperes), angles, pushes, pressures out.

A pulse or current waits `delay` in the actuator's line before it takes effect. A servo then turns to its angle, at
most at its rate and with the lag of its position loop, in closed form, so the angle does not depend on the step. In a
tree of bodies a joint's rate cannot jump: there the servo is of second order (`follow`), or pushes with a torque
(tree.servo_torque). Thrusters push as parts/motors.py says, on the body of the tree that carries them. Valves fill
chambers as parts/valves.py says, and what these do to joints stands in world/soft_joints.py. Pulse 0 is no pulse: the
servo goes limp and stays where it is (the water's torque on it is not modelled; a joint that yields trails), the
thruster and the chamber run down.
"""

from __future__ import annotations

import math

import numpy as np

from caudal.sim_plant.base.arrays import NEVER_US, Flat
from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.types import F, Floats, N, Record, Records
from caudal.sim_plant.parts.motors import run, sag
from caudal.sim_plant.parts.valves import pack_valve, shift
from caudal.sim_plant.tables.devices import Release, Servo, Thruster, Valve
from caudal.sim_plant.tables.water import unit

SERVO, THRUSTER, VALVE, RELEASE = 0, 1, 2, 3
LINE = 256  # pulses that can wait: 0.25 s of delay at a pulse a millisecond

ACTUATOR = np.dtype(
    [("kind", N), ("joint", N), ("neutral_us", F), ("direction", F), ("us_per_rad", F), ("travel_rad", F)]
    + [("rate_rad_s", F), ("resolution_us", F), ("delay_us", N)]
    + [("lag_s", F), ("live", N), ("goal", F), ("first", N), ("waiting", N)]
    # a thruster: its motor's curves, its body in a tree, push and moment on that for one newton
    + [("first_curve", N), ("curves", N), ("body", N), ("push", F, 3), ("moment", F, 3), ("dead_us", N)]
    + [("ahead_n_s2", F), ("back_n_s2", F)]
    + [("pulse_us", F), ("force_n", F), ("current_a", F)]
    # a valve and its chamber: play_ua to either side; pressure now, and its mean over the last step
    + [("crack_ua", F), ("pa_per_ua", F), ("play_ua", F), ("supply_pa", F), ("leak_share", F)]
    + [("stuck_us", N), ("leak_us", N), ("spool_ua", F), ("pressure_pa", F), ("mean_pa", F)]
)


def pack_actuator(
    spec: Servo | Thruster | Valve | Release, joint: int, curves: tuple[int, int] = (0, 0), body: int = 0
) -> Records:
    """One ACTUATOR record without a pulse; `joint` is the servo's place among all joints, `curves` are the first
    of the thruster's and their number, `body` is the one of its tree that it pushes."""
    row = np.zeros(1, ACTUATOR)
    row["joint"], row["delay_us"], row["lag_s"] = joint, round(spec.delay_s * 1e6), spec.lag_s
    if isinstance(spec, Valve):
        row["kind"] = VALVE
        pack_valve(row, spec)
        return row
    row["neutral_us"], row["direction"] = spec.neutral_us, spec.direction
    if isinstance(spec, Release):
        row["kind"], row["us_per_rad"], row["travel_rad"] = RELEASE, spec.us_per_rad, spec.opens_rad
        row["force_n"] = spec.weight_n
    elif isinstance(spec, Servo):
        row["kind"], row["us_per_rad"], row["travel_rad"] = SERVO, spec.us_per_rad, spec.travel_rad
        row["rate_rad_s"], row["resolution_us"] = spec.rate_rad_s, spec.resolution_us
    else:
        row["kind"], row["body"], (row["first_curve"], row["curves"]) = THRUSTER, body, curves
        row["push"] = push = unit(spec.axis)
        row["moment"] = np.cross(spec.at_m, push)
        row["ahead_n_s2"], row["back_n_s2"] = spec.turn_n_s2
        row["dead_us"] = NEVER_US if spec.dead_from_s is None else round(spec.dead_from_s * 1e6)
    return row


@inner
def post(flat: Flat, i: int) -> bool:
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


@inner
def take(actuator: Record, pulse_us: float, now_us: int) -> None:
    """A pulse takes effect: the goal of the servo (rad), what a thruster's motor runs by, or a valve's current (uA)."""
    actuator.live = 1 if pulse_us > 0 else 0
    if actuator.kind == VALVE:
        shift(actuator, pulse_us, now_us)
        return
    offset_us = (pulse_us - actuator.neutral_us) * actuator.direction
    if actuator.kind == SERVO:
        if actuator.resolution_us > 0.0:
            steps = math.floor(abs(offset_us) / actuator.resolution_us + 0.5)
            offset_us = math.copysign(steps * actuator.resolution_us, offset_us)
        travel = actuator.travel_rad
        actuator.goal = min(max(offset_us / actuator.us_per_rad, -travel), travel)
    elif actuator.kind == RELEASE:
        if actuator.live and offset_us >= actuator.travel_rad * actuator.us_per_rad:
            actuator.goal = 1.0  # open, for good
    else:
        actuator.pulse_us = actuator.neutral_us + offset_us


@inner
def move(actuator: Record, joints: Records, duration_s: float) -> None:
    """Let a servo follow its goal for a while."""
    if actuator.live:
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


@inner
def follow(actuator: Record, angle_rad: float, rate_rad_s: float, duration_s: float) -> float:
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
    rate: float = (rate_rad_s - w * pull * duration_s) * decay
    most: float = actuator.rate_rad_s
    return min(max(rate, -most), most)


@inner
def pull_due(flat: Flat, a: int, now_us: int) -> None:
    """Pulses whose time has come take effect."""
    actuator = flat.actuators[a]
    while actuator.waiting > 0 and flat.due_us[a, actuator.first] <= now_us:
        take(actuator, flat.pulses_us[a, actuator.first], now_us)
        actuator.first = (actuator.first + 1) % LINE
        actuator.waiting -= 1


@inner
def act(flat: Flat, i: int, a: int, now_us: int, duration_us: int) -> float:
    """Let actuator a of body i act for a part of a step; returns the impulse of its push (N s)."""
    actuator, duration_s = flat.actuators[a], duration_us * 1e-6
    if duration_us <= 0:
        return 0.0
    if actuator.kind == SERVO:
        move(actuator, flat.joints, duration_s)
    if actuator.kind == SERVO or actuator.kind == RELEASE:
        return 0.0
    return duration_s * run(flat, actuator, flat.bodies[i].battery_v, now_us, duration_s)


@inner
def drive(flat: Flat, i: int, start_us: int, duration_us: int) -> None:
    """Move body i's actuators through one step; pulses take effect within it at their own time."""
    body = flat.bodies[i]
    body.force_n, thrusters_a = 0.0, 0.0
    for a in range(body.first_actuator, body.first_actuator + body.actuators):
        actuator = flat.actuators[a]
        at_us, end_us, impulse_n_s = start_us, start_us + duration_us, 0.0
        while actuator.waiting > 0 and flat.due_us[a, actuator.first] < end_us:
            due_us = max(flat.due_us[a, actuator.first], at_us)
            impulse_n_s += act(flat, i, a, at_us, due_us - at_us)
            at_us = due_us
            take(actuator, flat.pulses_us[a, actuator.first], at_us)
            actuator.first = (actuator.first + 1) % LINE
            actuator.waiting -= 1
        impulse_n_s += act(flat, i, a, at_us, end_us - at_us)
        body.force_n += actuator.push[0] * impulse_n_s / (duration_us * 1e-6)
        thrusters_a += actuator.current_a
    sag(body, thrusters_a, duration_us * 1e-6)


@inner
def tell(flat: Flat, i: int, out: Floats, k: int) -> None:
    """Put body i's thrusters' pushes, its chambers' pressures and its battery's voltage into out, from place k on."""
    body = flat.bodies[i]
    for a in range(body.first_actuator, body.first_actuator + body.actuators):
        if flat.actuators[a].kind == THRUSTER:
            out[k] = flat.actuators[a].force_n
            k += 1
    for a in range(body.first_actuator, body.first_actuator + body.actuators):
        if flat.actuators[a].kind == VALVE:
            out[k] = flat.actuators[a].pressure_pa
            k += 1
    if body.full_v > 0.0:
        out[k] = body.battery_v
