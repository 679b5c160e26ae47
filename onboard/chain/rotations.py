"""Rotation matrices, Euler angles and cross products. Angles in rad; world axes have z up. Needs numpy.

Euler angles are roll (right side down), pitch (nose down) and heading, about x, y and z, applied heading first.
"""

import math
from collections.abc import Sequence

import numpy as np

from caudal.onboard.chain.arrays import Floats


def euler_rotation(roll: float, pitch: float, yaw: float) -> Floats:
    """Rotation matrix from base to world axes of roll, pitch and heading."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def euler_angles(rotation: Floats) -> Floats:
    """Roll, pitch and heading of a rotation to the world; the inverse of euler_rotation unless x points straight up or
    down."""
    pitch = math.asin(min(max(-rotation[2, 0], -1.0), 1.0))
    return np.array(
        [math.atan2(rotation[2, 1], rotation[2, 2]), pitch, math.atan2(rotation[1, 0], rotation[0, 0])]
    )


def euler_rates(
    angles: Floats | Sequence[float], angular_velocity: Floats | Sequence[float]
) -> tuple[float, float, float]:
    """Rates of roll, pitch and heading under an angular velocity in base axes."""
    roll, pitch, _ = angles
    about = angular_velocity[1] * math.sin(roll) + angular_velocity[2] * math.cos(roll)
    upright = max(math.cos(pitch), 0.05)
    return (
        angular_velocity[0] + about * math.sin(pitch) / upright,
        angular_velocity[1] * math.cos(roll) - angular_velocity[2] * math.sin(roll),
        about / upright,
    )


def euler_motion(angles: Floats | Sequence[float], rates: Floats | Sequence[float]) -> tuple[Floats, Floats]:
    """(rotation to the world, angular velocity in world axes) of Euler angles and their rates."""
    level, flat = euler_rotation(0.0, angles[1], angles[2]), euler_rotation(0.0, 0.0, angles[2])
    angular_velocity = rates[0] * level[:, 0] + rates[1] * flat[:, 1] + rates[2] * np.array([0.0, 0.0, 1.0])
    return euler_rotation(*angles), angular_velocity


def rotation_vector(rotation: Floats) -> Floats:
    """Axis times angle of a rotation."""
    c = min(max(0.5 * (rotation[0, 0] + rotation[1, 1] + rotation[2, 2] - 1.0), -1.0), 1.0)
    angle = math.acos(c)
    skew = np.array(
        [
            rotation[2, 1] - rotation[1, 2],
            rotation[0, 2] - rotation[2, 0],
            rotation[1, 0] - rotation[0, 1],
        ]
    )
    if angle < 1e-6:
        return 0.5 * skew
    if angle > math.pi - 1e-4:  # half a turn: the axis from the symmetric part
        square = 0.5 * (rotation + np.eye(3))
        k = int(np.argmax(square.diagonal()))
        return angle * square[:, k] / math.sqrt(max(square[k, k], 1e-12))
    return skew * (0.5 * angle / math.sin(angle))


def flip_z(numbers: Floats | Sequence[float]) -> Floats:
    """x, y, depth as a vector in world axes (z up), and back."""
    return np.array([numbers[0], numbers[1], -numbers[2]])


def cross_matrix(a: Floats) -> Floats:
    """[a]x of one vector, or of each row of many."""
    out = np.zeros(a.shape[:-1] + (3, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = a[..., 2], -a[..., 1], a[..., 0]
    return out


def cross(a: Floats, b: Floats) -> Floats:
    """Cross product row by row; ten times as fast as numpy's for small arrays."""
    out = np.empty(np.broadcast(a, b).shape)
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def wrapped(angles: Floats) -> Floats:
    """The same directions within -pi..pi."""
    return (angles + math.pi) % (2 * math.pi) - math.pi
