"""The motion of a run as smooth curves, with velocity and acceleration in the base frame at every node."""

from typing import NamedTuple

import numpy as np

from caudal.tools.identify.motion import LEVEL_READINGS, POSE, RATES, Motion, Readings, rotation
from caudal.tools.identify.smoothing_spline import Curve, Source, fit_curve

GYROS = {"roll": "roll_rate", "pitch": "pitch_rate", "heading": "turn_rate"}


class Track(NamedTuple):
    """The smoothed motion of a run."""

    motion: Motion  # without outliers
    pose: np.ndarray  # (node, 6)
    velocity: np.ndarray
    acceleration: np.ndarray
    held: np.ndarray  # (node, 6): roll, pitch, p, q and the accelerations of p and q
    curves: dict[str, Curve]
    dropped: int  # outliers

    @property
    def states(self) -> np.ndarray:
        """(node, 12): pose and velocity."""
        return np.hstack([self.pose, self.velocity])

    def at(self, name: str, time_s: np.ndarray) -> np.ndarray:
        """What a sensor without noise would read at these times."""
        if name in POSE:
            return self.curves[name].at(time_s)
        return _in_base_frame(*_derivatives(self.curves, time_s))[0][:, RATES[name] - 6]

    def error(self, freedom: int, derivative: int) -> float:
        """Standard deviation of a freedom's pose (derivative 0) or velocity (1)."""
        names = ("x", "y") if freedom < 2 else (POSE[freedom],)  # surge and sway mix x and y, by the heading
        return max(
            (self.curves[n].error[derivative] for n in names if n in self.curves), default=float("inf")
        )

    @property
    def width_s(self) -> float:
        """The widest smoothing of all curves."""
        return max(curve.width_s for name, curve in self.curves.items() if name in LEVEL_READINGS)


def track(motion: Motion) -> Track:
    """Smooths all readings of a run; without readings of roll and pitch, the vehicle is assumed level."""
    start_s, end_s = motion.start_s, motion.nodes_s[-1]
    curves = {name: fit_curve([Source(motion.readings[name], 0)], start_s, end_s) for name in ("x", "y", "z")}
    angles = {
        name: fit_curve([Source(motion.readings[name], 0)], start_s, end_s)
        for name in GYROS
        if name in motion.readings
    }
    alone = dict(angles)  # a gyro gives an angle's rate once the other angles are known
    for name, gyro in GYROS.items():
        if name in angles and gyro in motion.readings:
            sources = [Source(motion.readings[name], 0), Source(_angle_rate(motion, gyro, alone), 1)]
            angles[name] = fit_curve(sources, start_s, end_s)
    curves |= angles
    pose, rate, bend = _derivatives(curves, motion.nodes_s)
    velocity, acceleration = _in_base_frame(pose, rate, bend)
    held = np.column_stack([pose[:, 3:5], velocity[:, 3:5], acceleration[:, 3:5]])
    cleaned, dropped = _without_outliers(motion, curves)
    return Track(cleaned, pose, velocity, acceleration, held, curves, dropped)


def _derivatives(curves: dict[str, Curve], time_s: np.ndarray) -> list[np.ndarray]:
    """(sample, 6) of the pose and its first two derivatives."""

    def of(name: str, derivative: int) -> np.ndarray:
        return curves[name].at(time_s, derivative) if name in curves else np.zeros(len(time_s))

    return [np.column_stack([of(name, derivative) for name in POSE]) for derivative in range(3)]


def _angle_rate(motion: Motion, gyro: str, angles: dict[str, Curve]) -> Readings:
    """A gyro's readings converted to the rate of its angle, with the effect of the other angles."""
    time_s, value = motion.readings[gyro]

    def of(name: str, derivative: int = 0) -> np.ndarray:
        return angles[name].at(time_s, derivative) if name in angles else np.zeros(len(time_s))

    roll, pitch = of("roll"), of("pitch")
    if gyro == "roll_rate":  # p = roll' - heading' sin pitch
        return Readings(time_s, value + of("heading", 1) * np.sin(pitch))
    if gyro == "pitch_rate":  # q = pitch' cos roll + heading' sin roll cos pitch
        return Readings(time_s, (value - of("heading", 1) * np.sin(roll) * np.cos(pitch)) / np.cos(roll))
    # r = heading' cos roll cos pitch - pitch' sin roll
    return Readings(time_s, (value + of("pitch", 1) * np.sin(roll)) / (np.cos(roll) * np.cos(pitch)))


def _in_base_frame(pose: np.ndarray, rate: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocity and acceleration (node, 6) from a pose and its first two derivatives."""
    roll, pitch = pose[:, 3], pose[:, 4]
    cr, sr, cp, sp = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch)
    turn = rotation(roll, pitch, pose[:, 5])
    a, b, c = rate[:, 3], rate[:, 4], rate[:, 5]
    a2, b2, c2 = bend[:, 3], bend[:, 4], bend[:, 5]
    spin = np.column_stack([a - c * sp, b * cr + c * sr * cp, -b * sr + c * cr * cp])
    spun = np.column_stack(
        [
            a2 - c2 * sp - c * b * cp,
            b2 * cr - b * a * sr + c2 * sr * cp + c * (a * cr * cp - b * sr * sp),
            -b2 * sr - b * a * cr + c2 * cr * cp - c * (a * sr * cp + b * cr * sp),
        ]
    )
    v = np.einsum("nij,ni->nj", turn, rate[:, :3])
    a_m_s2 = np.einsum("nij,ni->nj", turn, bend[:, :3]) - np.cross(spin, v)
    return np.hstack([v, spin]), np.hstack([a_m_s2, spun])


def _without_outliers(motion: Motion, curves: dict[str, Curve]) -> tuple[Motion, int]:
    readings, dropped = {}, 0
    for name, (time_s, value) in motion.readings.items():
        owner = next((angle for angle, gyro in GYROS.items() if gyro == name), name)
        keep = np.ones(len(time_s), bool)
        if owner in curves and len(curves[owner].kept) > (name in RATES):
            keep = curves[owner].kept[int(name in RATES)]
        readings[name] = Readings(time_s[keep], value[keep])
        dropped += int((~keep).sum())
    return motion._replace(readings=readings), dropped
