"""Servos, thrusters, valves and latches: pulses in microseconds go in (a valve: microamperes), their effects come out.

A pulse or current waits `delay` in the actuator's queue before it takes effect. A servo then turns to its angle, at
most at its rate and with the lag of its position loop. This is in closed form: the angle does not depend on the step.
In a tree of bodies a joint's rate cannot jump: there the servo is of second order (`servo_rate`), or it applies a
torque (tree.recursion.servo_torque). Thrusters push the body of the tree that carries them (parts/motors.py). Valves
fill chambers (parts/valves.py), which set the springs of soft joints (world/soft_joints.py). Pulse 0 means no pulse:
the thruster and the chamber run down, the servo goes limp and stays where it is. The torque of the water on it is not
modelled; a joint with mode "torque" trails.
"""

from __future__ import annotations

import math

import numpy as np

from caudal.sim_plant.base.arrays import NEVER_US, Flat
from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.types import Floats, Record, Records, floats, ints
from caudal.sim_plant.parts.motors import discharge_battery, run_thruster
from caudal.sim_plant.parts.valves import move_spool, pack_valve
from caudal.sim_plant.tables.devices import Release, Servo, Thruster, Valve
from caudal.sim_plant.tables.water import unit

SERVO, THRUSTER, VALVE, RELEASE = 0, 1, 2, 3
QUEUE_LENGTH = 256  # pulses that can wait: 0.25 s of delay at one pulse per millisecond

ACTUATOR = np.dtype(
    # powered: it has a pulse or a current; first, queued: the oldest one that waits in its queue, and their number
    ints("kind joint delay_us powered first queued")
    + floats("neutral_us direction us_per_rad travel_rad rate_rad_s resolution_us lag_s goal")
    # a thruster: its motor's curves, its body in a tree, thrust and moment on that body for one newton
    + ints("first_curve curves body dead_us")
    + floats("push moment", 3)
    + floats("ahead_n_s2 back_n_s2 pulse_us force_n current_a")
    # a valve and its chamber: play_ua to either side; pressure now, and its mean over the last step
    + floats("cracking_current_ua pa_per_ua play_ua supply_pa leak_share spool_ua pressure_pa mean_pa")
    + ints("stuck_us leak_us")
)


def pack_actuator(
    spec: Servo | Thruster | Valve | Release, joint: int, curves: tuple[int, int] = (0, 0), body: int = 0
) -> Records:
    """One ACTUATOR record without a pulse.

    joint: the servo's index among all joints. curves: the first of the thruster's motor curves, and their number.
    body: the index of the tree's body that it pushes.
    """
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
def queue_commands(flat: Flat, i: int) -> bool:
    """Append body i's commands to its actuators' queues; False if a queue is full."""
    body = flat.bodies[i]
    now_us = flat.world[0].time_us
    for a in range(body.first_actuator, body.first_actuator + body.actuators):
        actuator = flat.actuators[a]
        if actuator.queued == QUEUE_LENGTH:
            return False
        place = (actuator.first + actuator.queued) % QUEUE_LENGTH
        flat.due_us[a, place] = now_us + actuator.delay_us
        flat.pulses_us[a, place] = flat.commands_us[a]
        actuator.queued += 1
    flat.written[i] = 0
    return True


@inner
def apply_pulse(actuator: Record, pulse_us: float, now_us: int) -> None:
    """Let a pulse take effect: sets a servo's goal (rad), a thruster's pulse (us) or a valve's spool (uA)."""
    actuator.powered = 1 if pulse_us > 0 else 0
    if actuator.kind == VALVE:
        move_spool(actuator, pulse_us, now_us)
        return
    offset_us = (pulse_us - actuator.neutral_us) * actuator.direction
    if actuator.kind == SERVO:
        if actuator.resolution_us > 0.0:
            steps = math.floor(abs(offset_us) / actuator.resolution_us + 0.5)
            offset_us = math.copysign(steps * actuator.resolution_us, offset_us)
        travel = actuator.travel_rad
        actuator.goal = min(max(offset_us / actuator.us_per_rad, -travel), travel)
    elif actuator.kind == RELEASE:
        if actuator.powered and offset_us >= actuator.travel_rad * actuator.us_per_rad:
            actuator.goal = 1.0  # open, and it stays open
    else:
        actuator.pulse_us = actuator.neutral_us + offset_us


@inner
def move_servo(actuator: Record, joints: Records, duration_s: float) -> None:
    """Move a servo towards its goal for duration_s."""
    if actuator.powered:
        joint = joints[actuator.joint]
        gap = actuator.goal - joint.angle_rad
        # Full rate until the goal is near; then the position loop's lag.
        near = actuator.rate_rad_s * actuator.lag_s
        full_rate_s = min(max((abs(gap) - near) / actuator.rate_rad_s, 0.0), duration_s)
        joint.angle_rad += math.copysign(actuator.rate_rad_s * full_rate_s, gap)
        if full_rate_s < duration_s:
            left = 0.0
            if actuator.lag_s > 0.0:
                left = math.copysign(min(abs(gap), near), gap)
                left *= math.exp((full_rate_s - duration_s) / actuator.lag_s)
            joint.angle_rad = actuator.goal - left


@inner
def servo_rate(actuator: Record, angle_rad: float, rate_rad_s: float, duration_s: float) -> float:
    """Rate (rad/s) at the end of a step of a servo on a joint with inertia, whose rate cannot jump.

    Second order, critically damped, exact over the step, with the same lag behind a ramp as `move_servo`. Without a
    pulse the rate decays.
    """
    w = 0.7 / duration_s
    if actuator.lag_s > 0.0:
        w = min(w, 2.0 / actuator.lag_s)
    decay = math.exp(-w * duration_s)
    if not actuator.powered:
        return rate_rad_s * decay
    pull = rate_rad_s + w * (angle_rad - actuator.goal)
    rate: float = (rate_rad_s - w * pull * duration_s) * decay
    most: float = actuator.rate_rad_s
    return min(max(rate, -most), most)


@inner
def apply_next_pulse(flat: Flat, a: int, now_us: int) -> None:
    """Take the oldest pulse out of actuator a's queue and let it take effect."""
    actuator = flat.actuators[a]
    apply_pulse(actuator, flat.pulses_us[a, actuator.first], now_us)
    actuator.first = (actuator.first + 1) % QUEUE_LENGTH
    actuator.queued -= 1


@inner
def apply_due_pulses(flat: Flat, a: int, now_us: int) -> None:
    """Let the pulses in actuator a's queue that are due take effect."""
    actuator = flat.actuators[a]
    while actuator.queued > 0 and flat.due_us[a, actuator.first] <= now_us:
        apply_next_pulse(flat, a, now_us)


@inner
def run_actuator(flat: Flat, i: int, a: int, now_us: int, duration_us: int) -> float:
    """Run actuator a of body i for a part of a step; returns its thrust's impulse (N s)."""
    actuator, duration_s = flat.actuators[a], duration_us * 1e-6
    if duration_us <= 0:
        return 0.0
    if actuator.kind == SERVO:
        move_servo(actuator, flat.joints, duration_s)
    if actuator.kind == SERVO or actuator.kind == RELEASE:
        return 0.0
    return duration_s * run_thruster(flat, actuator, flat.bodies[i].battery_v, now_us, duration_s)


@inner
def step_actuators(flat: Flat, i: int, start_us: int, duration_us: int) -> None:
    """Move the actuators of body i through one step; each pulse takes effect at its own time within it."""
    body = flat.bodies[i]
    body.force_n, thrusters_a = 0.0, 0.0
    for a in range(body.first_actuator, body.first_actuator + body.actuators):
        actuator = flat.actuators[a]
        at_us, end_us, impulse_n_s = start_us, start_us + duration_us, 0.0
        while actuator.queued > 0 and flat.due_us[a, actuator.first] < end_us:
            due_us = max(flat.due_us[a, actuator.first], at_us)
            impulse_n_s += run_actuator(flat, i, a, at_us, due_us - at_us)
            at_us = due_us
            apply_next_pulse(flat, a, at_us)
        impulse_n_s += run_actuator(flat, i, a, at_us, end_us - at_us)
        body.force_n += actuator.push[0] * impulse_n_s / (duration_us * 1e-6)
        thrusters_a += actuator.current_a
    discharge_battery(body, thrusters_a, duration_us * 1e-6)


@inner
def observe_actuators(flat: Flat, i: int, out: Floats, k: int) -> None:
    """Write body i's thrusts (N), chamber pressures (Pa) and battery voltage (V) to `out`, from index k."""
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
