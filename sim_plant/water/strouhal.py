"""The Strouhal model of swimming: speed from the Strouhal number, turning from the deflected tail.

    U_max  = f A / St                                  speed that the tail-beat can hold (Liu and Hu eq. 6)
    thrust = 0.5 Cf(U_max) S rho U_max^2               (Liu and Hu eq. 7)
    m dU/dt = thrust cos(theta_d) - drag(U) + pushes   along the heading (Liu and Hu eq. 8)
    turn rate = turn_rad_per_beat f sin(theta_d)       (Liu and Hu eq. 9), about the base point, also at rest
    Cf = 1.328 Re^-0.5 + 0.074 Re^-0.2,  Re = U L / nu

Joint angles: a positive angle turns the part behind the joint so that the tail's tip moves to the left (+y). Link k
points along heading + pi - (angle_1 + ... + angle_k). A positive deflection turns the vehicle to the left
(counter-clockwise).

f, A and theta_d are not inputs: the model measures them on the moving joints. An observer, tuned to the last measured
beat, splits each joint's angle into mean + wave:
    mean' = a w e,   wave' = -w quarter + 2 z w e,   quarter' = w wave - 2 z a w e,   e = angle - mean - wave
Its poles are at -a w and at w with damping z. The mean lags by a fifth of a beat and has no ripple, so theta_d is the
sum of the means. A straight tail bent by the waves alone gives the tip's offset from the deflected axis: A is twice the
length of (tip, tip a quarter of a beat later). The same pair of each joint gives the wave's direction of travel.
f is timed on the moving tail itself, not on the observer that it tunes (see time_beats).

The model's A is 2 (c1 L + c2 L^2) at the tail's full length L. The tip of a bent tail is nearer than L, and the
measured A is that of the beat's fundamental. `tail_beat_scale` is the ratio of the two; `measured_tail_beat_m` computes
the measured A of a given swimming wave. A tail whose wave runs forward pushes backward by the same model; the turn rate
then also takes f without sign. A sudden flick of the tail measures as a large beat for half a beat.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.types import Floats, Record, Records

# a and z above. For a joint that deflects, less of a sudden bend counts as wave, and the observer adapts more slowly.
MEAN_POLE, WAVE_DAMPING, DEFLECTED_DAMPING = 2.0, 0.7, 0.4
SLOWEST_HZ, FASTEST_HZ = 0.3, 12.0  # the observer's range, not the model's
LEAST_BEAT = 0.004  # of the tail's length, peak to peak: anything smaller is not a beat
LEAST_PATH = 0.4  # of A, between two crossings; the tip of a beating tail moves by A
STILL_S, STILL_BEATS = 0.1, 0.15  # a tail that has not moved for the longer of the two has stopped
STILL_LENGTHS_PER_S = 0.004  # tail lengths per second: slower counts as not moving
SMOOTH_S, MIDDLE_S = 0.008, 0.25  # time constants of the filters for the beat's timing
# A wave counts as fully travelling from this share of swirl. Four joints on a wave of the body's length reach 0.93;
# a standing wave has 0.
TRAVELLING_SWIRL = 0.8


@compiled
def drag_n(body: Record, speed_m_s: float) -> float:
    """Friction drag (N) at a speed >= 0 (Liu and Hu eq. 4)."""
    reynolds = speed_m_s * body.reynolds_m / body.viscosity_m2_s
    if reynolds < 1e-6:
        return 0.0
    friction: float = 1.328 / math.sqrt(reynolds) + 0.074 * reynolds**-0.2
    drag: float = 0.5 * friction * body.area_m2 * body.density_kg_m3 * speed_m_s * speed_m_s
    return drag


@inner
def observe_tail(body: Record, joints: Records, now_s: float, dt_s: float) -> float:
    """Step the observer of each joint's mean and wave; sets theta_d, A and the travel of the wave.

    Returns the position of the tip along its arc (m): the angle of each link times its length. Joints that deflect are
    left out (unless all do): their means move far and fast in a turn and would hide the beat.
    """
    w = body.observer_rad_s
    c, s = math.cos(w * dt_s), math.sin(w * dt_s)
    mean_gain = MEAN_POLE * w * dt_s
    deflection = bend = quarter_bend = tip = quarter_tip = 0.0
    swirl = pairs = square = quarter_square = product = 0.0
    last_wave = last_quarter = turned = path = turn = arc = 0.0
    for k in range(body.first_joint, body.first_joint + body.joints):
        joint = joints[k]
        error = joint.angle_rad - joint.mean_rad - joint.wave_rad
        damping = DEFLECTED_DAMPING if joint.deflects else WAVE_DAMPING
        wave_gain = 2.0 * damping * w * dt_s
        wave = joint.wave_rad * c - joint.quarter_rad * s + wave_gain * error
        quarter = joint.wave_rad * s + joint.quarter_rad * c - wave_gain * MEAN_POLE * error
        joint.mean_rad += mean_gain * error
        joint.wave_rad, joint.quarter_rad = wave, quarter
        turned += joint.angle_rad - joint.old_rad
        path += joint.length_m * turned
        if body.deflected_joints == body.joints or not joint.deflects:
            turn += joint.angle_rad
        arc += joint.length_m * turn
        if joint.deflects:
            deflection += joint.mean_rad
        bend += wave
        quarter_bend += quarter
        tip += joint.length_m * math.sin(bend)
        quarter_tip += joint.length_m * math.sin(quarter_bend)
        # Positive swirl: the rear joint of two neighbours is late, so the wave runs from head to tail.
        swirl += wave * last_quarter - quarter * last_wave
        pairs += math.sqrt((wave * wave + quarter * quarter) * (last_wave**2 + last_quarter**2))
        square += wave * wave
        quarter_square += quarter * quarter
        product += wave * quarter
        last_wave, last_quarter = wave, quarter
    body.path_m += abs(path)
    if abs(path) > STILL_LENGTHS_PER_S * body.tail_m * dt_s:
        body.moved_s = now_s
    body.deflection_rad = deflection
    body.beat_m = 2.0 * math.hypot(tip, quarter_tip)
    if body.joints == 1:
        body.travel = 1.0  # one joint carries no wave: a flapping foil pushes forward
    elif square + quarter_square == 0.0 or pairs == 0.0:
        body.travel = 0.0
    else:
        # The (wave, quarter) of all joints as two vectors: parallel in a standing wave, orthogonal in a travelling one.
        area = math.sqrt(max(square * quarter_square - product * product, 0.0))
        share = 2.0 * area / (square + quarter_square)
        direction = min(max(4.0 * swirl / pairs, -1.0), 1.0)
        body.travel = min(share / TRAVELLING_SWIRL, 1.0) * direction
    return arc


@inner
def time_beats(body: Record, tip_m: float, now_s: float, dt_s: float) -> None:
    """Time the beat's frequency: half a beat passes between two crossings of the mid-line by the tip."""
    # A servo moves in small steps from pulse to pulse: smooth them, then subtract the mid-line. Both filters are fixed,
    # so a steady beat is timed exactly and a wrong first guess cannot sustain itself.
    share = -math.expm1(-dt_s / SMOOTH_S)
    body.smooth_m += (tip_m - body.smooth_m) * share
    body.tip_m += (body.smooth_m - body.tip_m) * share
    body.middle_m += (body.tip_m - body.middle_m) * -math.expm1(-dt_s / MIDDLE_S)
    before, after = body.tip_offset_m, body.tip_m - body.middle_m
    body.tip_offset_m = after
    still_s = now_s - body.moved_s
    if (before < 0.0 and after >= 0.0) or (before > 0.0 and after <= 0.0):
        at_s = now_s - dt_s * after / (after - before)
        half_s = at_s - body.crossing_s
        # When the tail stops, the mid-line reaches it: a crossing counts only if the tip has moved far enough.
        beating = body.path_m > LEAST_BEAT * body.tail_m and body.path_m > LEAST_PATH * body.beat_m
        if body.crossings >= 1 and beating and half_s > 0.5 / FASTEST_HZ:
            # Two half beats if there are two: an offset of the mid-line makes one longer, the next one shorter.
            whole_s = half_s + body.half_beat_s if body.half_beat_s > 0.0 else 2.0 * half_s
            body.timed_hz, body.timed_s, body.half_beat_s = 1.0 / whole_s, at_s, half_s
            body.observer_rad_s = 2.0 * math.pi * min(max(body.timed_hz, SLOWEST_HZ), FASTEST_HZ)
        else:
            body.half_beat_s = 0.0
        body.crossing_s, body.path_m = at_s, 0.0
        body.crossings += 1
    if still_s > max(STILL_S, STILL_BEATS / max(body.timed_hz, SLOWEST_HZ)):
        body.timed_hz, body.half_beat_s, body.crossings = 0.0, 0.0, 0
    # Half a beat or more without a crossing limits the frequency.
    body.beat_hz = body.timed_hz / max(2.0 * (now_s - body.timed_s) * body.timed_hz, 1.0)


@inner
def step_swimmer(body: Record, joints: Records, now_s: float, dt_s: float) -> None:
    """Measure the tail's motion at the end of a step, then move the body through the step of dt_s."""
    time_beats(body, observe_tail(body, joints, now_s, dt_s), now_s, dt_s)
    top_m_s = body.beat_hz * body.beat_m * body.beat_scale / body.strouhal
    body.thrust_n = drag_n(body, top_m_s) * body.travel
    push_n = body.thrust_n * math.cos(body.deflection_rad) + body.force_n
    u = body.speed_m_s
    first = (push_n - math.copysign(drag_n(body, abs(u)), u)) / body.mass_kg
    guess = u + dt_s * first
    second = (push_n - math.copysign(drag_n(body, abs(guess)), guess)) / body.mass_kg
    body.speed_m_s = u + 0.5 * dt_s * (first + second)
    body.yaw_rate_rad_s = body.turn_rad * body.beat_hz * math.sin(body.deflection_rad)
    middle = body.heading_rad + 0.5 * dt_s * body.yaw_rate_rad_s
    along = 0.5 * dt_s * (u + body.speed_m_s)
    body.x_m += along * math.cos(middle)
    body.y_m += along * math.sin(middle)
    body.heading_rad += dt_s * body.yaw_rate_rad_s


def measured_tail_beat_m(lengths_m: Sequence[float], beat_rad: Floats) -> float:
    """Tail-beat (peak to peak, m) that this model measures for one beat of joint angles (rows evenly spaced)."""
    turns = np.exp(2j * np.pi * np.arange(len(beat_rad)) / len(beat_rad))
    phasors = 2.0 * (beat_rad * turns[:, None]).mean(axis=0)
    swing = phasors[None, :] * turns.conj()[:, None]
    links = np.asarray(lengths_m)
    tip = np.sin(np.cumsum(swing.real, axis=1)) @ links
    quarter = np.sin(np.cumsum(swing.imag, axis=1)) @ links
    return float(2.0 * np.hypot(tip, quarter).mean())
