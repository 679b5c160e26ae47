"""The quick law of swimming: speed from the Strouhal number, turning from the deflected tail.

    U_max  = f A / St                                  speed that the tail-beat can hold (Liu and Hu eq. 6)
    thrust = 0.5 Cf(U_max) S rho U_max^2               (Liu and Hu eq. 7)
    m dU/dt = thrust cos(theta_d) - drag(U) + pushes   along the heading (Liu and Hu eq. 8)
    turn rate = turn_rad_per_beat f sin(theta_d)       (Liu and Hu eq. 9), about the base point, also at rest
    Cf = 1.328 Re^-0.5 + 0.074 Re^-0.2,  Re = U L / nu

Joint angles: the part behind a joint is turned so that a positive angle moves the tail's tip to the left
(+y): link k points along heading + pi - (angle_1 + ... + angle_k). A positive deflection turns the vehicle
to the left (counter-clockwise).

f, A and theta_d are not given: they are read off the joints as they move, as with stopwatch and ruler. Each
joint's angle is taken apart into mean + wave by an observer tuned to the last measured beat:
    mean' = a w e,   wave' = -w quarter + 2 z w e,   quarter' = w wave - 2 z a w e,   e = angle - mean - wave
which has its poles at -a w and at w with damping z. The mean lags by a fifth of a beat and has no ripple, so
theta_d is the sum of the means. A straight tail bent by the waves alone shows the tip beside the deflected
axis: A is twice the length of (tip, tip a quarter beat on). The same pair of each joint says which way the
wave travels. f is timed on the moving tail itself, not on the observer that it tunes (see count_beats).

The law's A is 2 (c1 L + c2 L^2) at the tail's full length L, but the tip of a bent tail stands nearer than L
and the ruler reads the beat's fundamental. `tail_beat_scale` is the one over the other; `ruler_m` computes
the reading for a given swimming wave. A tail that runs its wave forward pushes back with the same law; the
turn rate takes f without sign then too. A sudden flick of the tail reads as a large beat for half a beat.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.types import Floats, Record, Records

# a and z above. The joints that deflect take less of a sudden bend for a wave, and learn theirs more slowly.
MEAN_POLE, WAVE_DAMPING, DEFLECTED_DAMPING = 2.0, 0.7, 0.4
SLOWEST_HZ, FASTEST_HZ = 0.3, 12.0  # the observer's range, not the law's
LEAST_BEAT = 0.004  # of the tail's length, peak to peak: less is not a beat
LEAST_PATH = 0.4  # of A, between two crossings; a beating tip goes A
STILL_S, STILL_BEATS = 0.1, 0.15  # a tail that has not moved for either, the longer, has stopped
STILL_PER_S = 0.004  # tail lengths a second: slower is not moving
SMOOTH_S, MIDDLE_S = 0.008, 0.25  # time constants of the stopwatch's filters
# The share of a beat's swirl from which a wave counts as wholly travelling. Four joints on a wave of the
# body's length reach 0.93; a standing wave has 0.
TRAVELLING = 0.8


@compiled
def drag_n(body: Record, speed_m_s: float) -> float:
    """Friction drag at a speed >= 0 (Liu and Hu eq. 4)."""
    reynolds = speed_m_s * body.reynolds_m / body.viscosity_m2_s
    if reynolds < 1e-6:
        return 0.0
    friction: float = 1.328 / math.sqrt(reynolds) + 0.074 * reynolds**-0.2
    drag: float = 0.5 * friction * body.area_m2 * body.density_kg_m3 * speed_m_s * speed_m_s
    return drag


@inner
def take_apart(body: Record, joints: Records, now_s: float, dt_s: float) -> float:
    """Step each joint's mean and wave; set theta_d, A and the travel of the wave.

    Returns the tip's place along its arc (m), each link's turn times its length, without the joints that
    deflect (unless all do): their means move far and fast in a turn and would hide the beat.
    """
    w = body.watch_rad_s
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
        # Neighbours: positive swirl when the rear one is late, which is a wave from head to tail.
        swirl += wave * last_quarter - quarter * last_wave
        pairs += math.sqrt((wave * wave + quarter * quarter) * (last_wave**2 + last_quarter**2))
        square += wave * wave
        quarter_square += quarter * quarter
        product += wave * quarter
        last_wave, last_quarter = wave, quarter
    body.path_m += abs(path)
    if abs(path) > STILL_PER_S * body.tail_m * dt_s:
        body.moved_s = now_s
    body.deflection_rad = deflection
    body.beat_m = 2.0 * math.hypot(tip, quarter_tip)
    if body.joints == 1:
        body.travel = 1.0  # one joint has no wave to run: a flapping foil pushes forward
    elif square + quarter_square == 0.0 or pairs == 0.0:
        body.travel = 0.0
    else:
        # All joints' (wave, quarter) as two vectors: parallel in a standing wave, square in a travelling.
        area = math.sqrt(max(square * quarter_square - product * product, 0.0))
        share = 2.0 * area / (square + quarter_square)
        way = min(max(4.0 * swirl / pairs, -1.0), 1.0)
        body.travel = min(share / TRAVELLING, 1.0) * way
    return arc


@inner
def count_beats(body: Record, tip_m: float, now_s: float, dt_s: float) -> None:
    """Frequency by stopwatch: half beats between the tip's crossings of its mid-line."""
    # A servo moves in small runs from pulse to pulse: smooth them, then take off the mid-line. Both filters
    # are fixed, so a steady beat is timed exactly and a wrong first guess cannot feed on itself.
    share = -math.expm1(-dt_s / SMOOTH_S)
    body.smooth_m += (tip_m - body.smooth_m) * share
    body.tip_m += (body.smooth_m - body.tip_m) * share
    body.middle_m += (body.tip_m - body.middle_m) * -math.expm1(-dt_s / MIDDLE_S)
    before, after = body.beside_m, body.tip_m - body.middle_m
    body.beside_m = after
    still_s = now_s - body.moved_s
    if (before < 0.0 and after >= 0.0) or (before > 0.0 and after <= 0.0):
        at_s = now_s - dt_s * after / (after - before)
        half_s = at_s - body.seen_s
        # When the tail stops the mid-line comes to it: only a tip that really went its way counts.
        beating = body.path_m > LEAST_BEAT * body.tail_m and body.path_m > LEAST_PATH * body.beat_m
        if body.crossings >= 1 and beating and half_s > 0.5 / FASTEST_HZ:
            # Two half beats where there are two: an offset of the mid-line makes one long, the next short.
            whole_s = half_s + body.half_s if body.half_s > 0.0 else 2.0 * half_s
            body.counted_hz, body.counted_s, body.half_s = 1.0 / whole_s, at_s, half_s
            body.watch_rad_s = 2.0 * math.pi * min(max(body.counted_hz, SLOWEST_HZ), FASTEST_HZ)
        else:
            body.half_s = 0.0
        body.seen_s, body.path_m = at_s, 0.0
        body.crossings += 1
    if still_s > max(STILL_S, STILL_BEATS / max(body.counted_hz, SLOWEST_HZ)):
        body.counted_hz, body.half_s, body.crossings = 0.0, 0.0, 0
    # No crossing for longer than half a beat bounds the frequency.
    body.beat_hz = body.counted_hz / max(2.0 * (now_s - body.counted_s) * body.counted_hz, 1.0)


@inner
def swim(body: Record, joints: Records, now_s: float, dt_s: float) -> None:
    """Read the tail at the step's end, then move the body through the step of dt_s."""
    count_beats(body, take_apart(body, joints, now_s, dt_s), now_s, dt_s)
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


def ruler_m(lengths_m: Sequence[float], beat_rad: Floats) -> float:
    """The tail-beat this plant reads (peak to peak, m) for one beat of joint angles, rows even in time."""
    turns = np.exp(2j * np.pi * np.arange(len(beat_rad)) / len(beat_rad))
    phasors = 2.0 * (beat_rad * turns[:, None]).mean(axis=0)
    swing = phasors[None, :] * turns.conj()[:, None]
    links = np.asarray(lengths_m)
    tip = np.sin(np.cumsum(swing.real, axis=1)) @ links
    quarter = np.sin(np.cumsum(swing.imag, axis=1)) @ links
    return float(2.0 * np.hypot(tip, quarter).mean())
