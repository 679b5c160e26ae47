"""Sensors: the true values of the world as raw integer counts, each at its own rate, with noise and drop-outs.

Every sample uses one normal and one uniform number of the sensor's own stream, whatever becomes of it, so that sensors
do not affect each other's noise. A sample that drops out leaves the last unread count as it was.
"""

from __future__ import annotations

import math

import numpy as np

from caudal.sim_plant.base.arrays import Flat
from caudal.sim_plant.base.geometry import (
    beam_to_circle_m,
    beam_to_quad_m,
    beam_to_walls_m,
    circle_overlap,
    contains,
    point_segment_m,
)
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.types import Record, Records, floats, ints
from caudal.sim_plant.scene.arrays import CIRCLE, LINE, NO_TARGET
from caudal.sim_plant.tables import devices as tables

NO_READING = np.iinfo(np.int64).min
TOUCH_M = 1e-3  # nearer than this counts as touching

(SONAR, BUMPER, HEADING, YAW_RATE, SURGE, DEPTH, POSITION_X, POSITION_Y, TARGET_X, TARGET_Y, JOINT_ANGLE,
 BATTERY, ROLL, PITCH, ROLL_RATE, PITCH_RATE, STROKE, PRESSURE, STEADY, TURNS) = range(20)  # fmt: skip
KINDS = {
    tables.Sonar: SONAR, tables.Bumper: BUMPER, tables.Heading: HEADING, tables.YawRate: YAW_RATE,
    tables.SurgeAcceleration: SURGE, tables.Depth: DEPTH, tables.PositionX: POSITION_X,
    tables.PositionY: POSITION_Y, tables.TargetX: TARGET_X, tables.TargetY: TARGET_Y,
    tables.JointAngle: JOINT_ANGLE, tables.Battery: BATTERY, tables.Roll: ROLL, tables.Pitch: PITCH,
    tables.RollRate: ROLL_RATE, tables.PitchRate: PITCH_RATE, tables.Stroke: STROKE,
    tables.Pressure: PRESSURE, tables.Steady: STEADY, tables.Turns: TURNS,
}  # fmt: skip

SENSOR = np.dtype(
    # born_us: when it was added; draw: the next random number; lost_us, found_us: its outage
    ints("kind due_us born_us draw zero_counts joint actuator beams lost_us found_us")
    + floats("period_us dropout_share si_per_count noise bias x_m y_m bearing_rad half_rad range_m")
    + floats("wave_m wave_length_m wave_hz")
)


def pack_sensor(
    spec: tables.AnySensor, joints: dict[str, int], actuators: dict[str, int], born_us: int, draw: float
) -> Records:
    """One SENSOR record; `draw` is a normal random number for its constant bias.

    `joints` and `actuators` give indices among all joints and actuators. An actuator that is not in `actuators` never
    has a pulse or a current.
    """
    row = np.zeros(1, SENSOR)
    row["kind"], row["born_us"], row["due_us"] = KINDS[type(spec)], born_us, born_us
    row["period_us"], row["dropout_share"] = 1e6 / spec.rate_hz, spec.dropout_share
    row["lost_us"] = round(spec.drop_from_s * 1e6)
    row["found_us"] = round((spec.drop_from_s + spec.drop_for_s) * 1e6)
    row["si_per_count"] = 1.0
    match spec:
        case tables.Sonar():
            row["x_m"], row["y_m"], row["range_m"] = spec.x_m, spec.y_m, spec.range_m
            row["bearing_rad"], row["half_rad"] = np.radians([spec.bearing_deg, spec.half_angle_deg])
            row["beams"], row["si_per_count"], row["noise"] = spec.beams, spec.metres_per_count, spec.noise_m
        case tables.Angle():
            row["si_per_count"], row["noise"] = spec.rad_per_count, spec.noise_rad
        case tables.JointAngle():
            row["si_per_count"], row["noise"] = spec.rad_per_count, spec.noise_rad
            row["zero_counts"], row["joint"] = spec.zero_counts, joints[spec.joint]
        case tables.Stroke():
            row["si_per_count"], row["noise"] = spec.metres_per_count, spec.noise_m
            row["joint"] = joints[spec.joint]
        case tables.Pressure():
            row["si_per_count"], row["noise"] = spec.pascals_per_count, spec.noise_pa
            row["zero_counts"], row["actuator"] = spec.zero_counts, actuators.get(spec.chamber, -1)
        case tables.Turns():
            row["si_per_count"], row["noise"] = spec.turns_s_per_count, spec.noise_turns_s
            row["actuator"] = actuators.get(spec.thruster, -1)
        case tables.Rate():
            row["si_per_count"], row["noise"] = spec.rad_s_per_count, spec.noise_rad_s
            row["bias"] = spec.bias_rad_s * draw
        case tables.SurgeAcceleration():
            row["si_per_count"], row["noise"] = spec.m_s2_per_count, spec.noise_m_s2
            row["bias"] = spec.bias_m_s2 * draw
        case tables.Depth():
            row["si_per_count"], row["noise"] = spec.metres_per_count, spec.noise_m
            row["zero_counts"] = spec.zero_counts
        case tables.Steady():
            row["si_per_count"], row["noise"], row["bias"] = spec.si_per_count, spec.noise, spec.value
            row["zero_counts"] = spec.zero_counts
        case tables.Battery():
            row["si_per_count"], row["noise"] = spec.volts_per_count, spec.noise_v
        case tables.Position():
            row["si_per_count"], row["noise"] = spec.metres_per_count, spec.noise_m
            row["wave_m"], row["wave_length_m"] = spec.wave_amplitude_m, spec.wave_length_m
            row["wave_hz"] = spec.wave_hz
    return row


@compiled
def target_position(world: Record) -> tuple[float, float]:
    """Position (x, y) of the moving target now, in metres."""
    x, y = world.target_x_m, world.target_y_m
    travelled_m = world.target_speed_m_s * world.time_us * 1e-6
    if world.target == CIRCLE:
        angle = world.target_heading_rad + travelled_m / world.target_radius_m
        return x + world.target_radius_m * math.cos(angle), y + world.target_radius_m * math.sin(angle)
    if world.target == LINE:
        out_m = travelled_m % (2.0 * world.target_length_m)
        out_m = min(out_m, 2.0 * world.target_length_m - out_m)
        return x + out_m * math.cos(world.target_heading_rad), y + out_m * math.sin(world.target_heading_rad)
    return x, y


@inner
def in_wedge(dx: float, dy: float, radius: float, middle_rad: float, half_rad: float, limit_m: float) -> bool:
    """Broad phase: True if a circle at (dx, dy) from the sonar can be in its wedge and nearer than limit_m."""
    distance = math.hypot(dx, dy)
    if distance - radius >= limit_m:
        return False
    if distance <= radius:
        return True
    c, s = math.cos(middle_rad), math.sin(middle_rad)
    bearing = abs(math.atan2(dy * c - dx * s, dx * c + dy * s))
    return bearing <= half_rad + math.asin(radius / distance) + 1e-9


@inner
def sonar_range_m(flat: Flat, i: int, sensor: Record) -> float:
    """Smallest range (m) over the beams of body i's sonar, spread evenly over its wedge.

    Goes object by object and skips those that cannot be nearer than the nearest so far. A body does not see itself.
    """
    world, body = flat.world[0], flat.bodies[i]
    c, s = math.cos(body.heading_rad), math.sin(body.heading_rad)
    px = body.x_m + sensor.x_m * c - sensor.y_m * s
    py = body.y_m + sensor.x_m * s + sensor.y_m * c
    middle = body.heading_rad + sensor.bearing_rad
    nearest: float = sensor.range_m
    first = middle - sensor.half_rad
    pitch = 2.0 * sensor.half_rad / (sensor.beams - 1) if sensor.beams > 1 else 0.0
    if sensor.beams == 1:
        first = middle
    if world.pool:
        to_wall = min(min(px, world.length_m - px), min(py, world.width_m - py))
        if to_wall < nearest:
            for b in range(sensor.beams):
                ux, uy = math.cos(first + b * pitch), math.sin(first + b * pitch)
                nearest = min(nearest, beam_to_walls_m(px, py, ux, uy, world.length_m, world.width_m))
    for k in range(len(flat.cylinders)):
        x, y, radius = flat.cylinders[k, 0], flat.cylinders[k, 1], flat.cylinders[k, 2]
        if in_wedge(x - px, y - py, radius, middle, sensor.half_rad, nearest):
            for b in range(sensor.beams):
                ux, uy = math.cos(first + b * pitch), math.sin(first + b * pitch)
                nearest = min(nearest, beam_to_circle_m(px, py, ux, uy, x, y, radius))
    for j in range(len(flat.bodies)):
        other = flat.bodies[j]
        if (
            j != i
            and other.has_hull
            and in_wedge(other.x_m - px, other.y_m - py, other.reach_m, middle, sensor.half_rad, nearest)
        ):
            for b in range(sensor.beams):
                ux, uy = math.cos(first + b * pitch), math.sin(first + b * pitch)
                nearest = min(nearest, beam_to_quad_m(px, py, ux, uy, flat.hulls[j, 0]))
                nearest = min(nearest, beam_to_quad_m(px, py, ux, uy, flat.hulls[j, 1]))
    return nearest


@inner
def bumper_touches(flat: Flat, i: int) -> bool:
    """True if the front end of body i's head touches a wall, a cylinder or another hull."""
    world = flat.world[0]
    head = flat.hulls[i, 0]
    ax, ay, bx, by = head[1, 0], head[1, 1], head[2, 0], head[2, 1]  # the box starts at the base point
    if world.pool and (
        min(ax, bx) < TOUCH_M
        or min(ay, by) < TOUCH_M
        or max(ax, bx) > world.length_m - TOUCH_M
        or max(ay, by) > world.width_m - TOUCH_M
    ):
        return True
    for c in range(len(flat.cylinders)):
        x, y, radius = flat.cylinders[c, 0], flat.cylinders[c, 1], flat.cylinders[c, 2]
        if point_segment_m(x, y, ax, ay, bx, by) < radius + TOUCH_M:
            return True
    body = flat.bodies[i]
    for j in range(len(flat.bodies)):
        other = flat.bodies[j]
        gap = math.hypot(other.x_m - body.x_m, other.y_m - body.y_m) - other.reach_m - body.reach_m
        if j == i or not other.has_hull or gap > TOUCH_M:
            continue
        for part in range(2):
            quad = flat.hulls[j, part]
            # The ends of the front against the quad, then the quad's corners against the front.
            if contains(quad, ax, ay) or contains(quad, bx, by):
                return True
            if circle_overlap(quad, ax, ay, TOUCH_M)[0] > 0 or circle_overlap(quad, bx, by, TOUCH_M)[0] > 0:
                return True
            for k in range(4):
                if point_segment_m(quad[k, 0], quad[k, 1], ax, ay, bx, by) < TOUCH_M:
                    return True
    return False


@inner
def camera_position_m(sensor: Record, at_m: float, now_s: float) -> float:
    """A coordinate as a camera measures it through the waves (Liu and Hu eq. 1 with its argument restored)."""
    if sensor.wave_m == 0.0:
        return at_m
    phase = 2.0 * math.pi * (at_m / sensor.wave_length_m + sensor.wave_hz * now_s)
    measured_m: float = at_m + sensor.wave_m * math.sin(phase)
    return measured_m


@inner
def revolutions_per_s(thruster: Record) -> float:
    """A thruster's revolutions per second, from its present thrust."""
    return math.sqrt(
        thruster.force_n / thruster.ahead_n_s2
        if thruster.force_n >= 0.0
        else -thruster.force_n / thruster.back_n_s2
    )


@inner
def true_value(flat: Flat, i: int, sensor: Record) -> float:
    """What an ideal sensor would measure, in SI units."""
    body = flat.bodies[i]
    kind = sensor.kind
    now_s = flat.world[0].time_us * 1e-6
    value = 0.0  # of STEADY: its value is its bias
    if kind == SONAR:
        value = sonar_range_m(flat, i, sensor)
    elif kind == BUMPER:
        value = 1.0 if bumper_touches(flat, i) else 0.0
    elif kind == HEADING:
        value = body.heading_rad
    elif kind == YAW_RATE:
        value = body.yaw_rate_rad_s
    elif kind == ROLL:
        value = body.roll_rad
    elif kind == PITCH:
        value = body.pitch_rad
    elif kind == ROLL_RATE:
        value = body.roll_rate_rad_s
    elif kind == PITCH_RATE:
        value = body.pitch_rate_rad_s
    elif kind == SURGE:
        value = body.surge_m_s2
    elif kind == DEPTH:
        value = body.depth_m
    elif kind == POSITION_X:
        value = camera_position_m(sensor, body.x_m, now_s)
    elif kind == POSITION_Y:
        value = camera_position_m(sensor, body.y_m, now_s)
    elif kind == TARGET_X:
        value = camera_position_m(sensor, target_position(flat.world[0])[0], now_s)
    elif kind == TARGET_Y:
        value = camera_position_m(sensor, target_position(flat.world[0])[1], now_s)
    elif kind == BATTERY:
        value = body.battery_v
    elif kind == PRESSURE and sensor.actuator >= 0:
        value = flat.actuators[sensor.actuator].pressure_pa
    elif kind == TURNS and sensor.actuator >= 0:
        value = revolutions_per_s(flat.actuators[sensor.actuator])
    elif kind in (JOINT_ANGLE, STROKE):
        value = flat.joints[sensor.joint].angle_rad
    return value


@inner
def sample(flat: Flat, i: int, k: int) -> None:
    """Take one sample of sensor k on body i, and store its count to be read."""
    sensor = flat.sensors[k]
    noise = sensor.noise * flat.normals[k, sensor.draw]
    dropped = flat.uniforms[k, sensor.draw] < sensor.dropout_share
    dropped = dropped or sensor.lost_us <= flat.world[0].time_us < sensor.found_us
    sensor.draw += 1
    absent = flat.world[0].target == NO_TARGET and (sensor.kind == TARGET_X or sensor.kind == TARGET_Y)
    if dropped or absent:
        return
    value = true_value(flat, i, sensor)
    if sensor.kind == SONAR:
        if value < sensor.range_m:  # without an echo: the full range, without noise
            value = min(max(value + noise, 0.0), sensor.range_m)
    else:
        value += noise + sensor.bias
    if sensor.kind == TURNS:
        value = max(value, 0.0)
    turns = sensor.kind == HEADING or sensor.kind == ROLL
    if turns:
        value -= 2.0 * math.pi * math.floor(value / (2.0 * math.pi) + 0.5)
    count = math.floor(value / sensor.si_per_count + 0.5)
    if turns:  # +pi and -pi have the same count
        whole = math.floor(2.0 * math.pi / sensor.si_per_count + 0.5)
        count -= whole if 2 * count >= whole else 0
    flat.counts[k] = sensor.zero_counts + count


@compiled
def sample_due(flat: Flat, i: int) -> None:
    """Take the samples of body i that are due. A sensor's first sample is when its body is added."""
    body = flat.bodies[i]
    now_us = flat.world[0].time_us
    if now_us < body.next_sample_us:
        return
    body.next_sample_us = np.iinfo(np.int64).max
    for k in range(body.first_sensor, body.first_sensor + body.sensors):
        sensor = flat.sensors[k]
        if now_us >= sensor.due_us:
            # A sensor faster than the step samples once per step and does not catch up.
            taken = math.floor((now_us - sensor.born_us + 0.5) / sensor.period_us) + 1
            sensor.due_us = sensor.born_us + math.ceil(taken * sensor.period_us - 0.5)
            sample(flat, i, k)
        body.next_sample_us = min(body.next_sample_us, sensor.due_us)
