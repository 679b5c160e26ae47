"""References of a chain's tasks: smooth moves from row to row, kept out of obstacles. Needs numpy.

A row gives a value and the time to be there. A move takes `within_s` before that time (or all the time since the row
before) and follows the minimum-jerk polynomial: speed and acceleration are 0 at both ends. A position that lies within
an obstacle's clearance is led around it: the governor adds a smoothed offset, and removes it afterwards. World axes,
z up.
"""

import math
from collections.abc import Sequence

import numpy as np

from caudal.onboard.chain.arrays import Flags, Floats
from caudal.onboard.chain.rotations import euler_motion, flip_z
from caudal.onboard.tables.chain import TaskRow


def minimum_jerk(share: float) -> tuple[float, float, float]:
    """(position, its first, its second derivative) of a move from 0 to 1 at a share of its time."""
    s = min(max(share, 0.0), 1.0)
    return (
        s * s * s * (10 + s * (6 * s - 15)),
        30 * s * s * (1 - s) * (1 - s),
        60 * s * (1 - s) * (1 - 2 * s),
    )


class RowReference:
    """Numbers that move from row to row. `step` leaves `value`, `rate` and `acceleration`."""

    def __init__(self, rows: Sequence[TaskRow]) -> None:
        self._times = [0.0] + [row.at_s for row in rows]
        self._values = [np.array(row.to, dtype=float) for row in rows]
        self._within = [row.within_s for row in rows]
        self.start(self._values[0] if rows else np.zeros(0))

    def start(self, value: Floats | Sequence[float]) -> None:
        """Begin at time 0 with these values."""
        self._from: Floats = np.array(value, dtype=float)
        self.step(0.0)

    def step(self, time_s: float) -> None:
        """Go to a time since the start."""
        k = 0
        while k < len(self._values) and time_s >= self._times[k + 1]:
            k += 1
        before = self._values[k - 1] if k else self._from
        if k == len(self._values):
            self.value, self.rate, self.acceleration = before, np.zeros(len(before)), np.zeros(len(before))
            return
        end_s = self._times[k + 1]
        span = max(self._within[k] or end_s - self._times[k], 1e-6)
        share, rate, acceleration = minimum_jerk((time_s - end_s + span) / span)
        gap = self._values[k] - before
        self.value, self.rate = before + share * gap, rate / span * gap
        self.acceleration = acceleration / (span * span) * gap

    def slow(self, deceleration: float, dt: float) -> None:
        """Bring the numbers to 0, each by at most `deceleration` a second, whatever the rows say."""
        step = np.clip(-self.value, -deceleration * dt, deceleration * dt)
        self.value, self.rate = self.value + step, step / dt
        self.acceleration = np.zeros(len(step))


class ObstacleGovernor:
    """A smooth offset to a path that keeps it out of obstacles.

    `radii` include the clearance; an obstacle that is `upright` is a vertical pipe without ends.
    """

    def __init__(self, centres: Floats, radii: Floats, upright: Flags, pole_per_s: float, dt: float) -> None:
        self._obstacles = list(zip(centres, radii, upright, strict=True))
        self._pole, self._dt = pole_per_s, dt
        self.offset, self.velocity, self.acceleration = np.zeros(3), np.zeros(3), np.zeros(3)

    def step(self, position: Floats) -> None:
        """One tick, with the path at this position."""
        pole = self._pole
        gap = self._outside(position) - position - self.offset
        self.acceleration = pole * pole * gap - 2 * pole * self.velocity
        self.velocity = self.velocity + self.acceleration * self._dt
        self.offset = self.offset + self.velocity * self._dt

    def _outside(self, position: Floats) -> Floats:
        out = np.array(position)
        for _ in range(3):  # out of one may be into the next
            for centre, radius, upright in self._obstacles:
                arm = out - centre
                if upright:
                    arm[2] = 0.0
                distance = math.sqrt(float(arm @ arm))
                if distance < radius:
                    out = out + arm * ((radius - distance) / max(distance, 1e-6))
        return out


class PositionReference:
    """x, y, depth and, for a pose, roll, pitch, heading, as vectors in world axes.

    `path` is where the rows put it, `position` the same led around obstacles.
    """

    def __init__(self, rows: Sequence[TaskRow], governor: ObstacleGovernor | None = None) -> None:
        self._rows = RowReference(rows)
        self._governor = governor

    def start(self, value: Floats | Sequence[float]) -> None:
        """Begin at time 0 with these numbers."""
        self._rows.start(value)
        self.step(0.0)

    def step(self, time_s: float) -> None:
        """Go to a time since the start; leaves position, velocity, acceleration and, for a pose, the attitude."""
        self._rows.step(time_s)
        value, rate, acceleration = self._rows.value, self._rows.rate, self._rows.acceleration
        self.path = self.position = flip_z(value[:3])
        self.velocity, self.acceleration = flip_z(rate[:3]), flip_z(acceleration[:3])
        if self._governor:
            self._governor.step(self.path)
            self.position = self.path + self._governor.offset
            self.velocity = self.velocity + self._governor.velocity
            self.acceleration = self.acceleration + self._governor.acceleration
        if len(value) == 6:
            self.rotation, self.angular_velocity = euler_motion(value[3:], rate[3:])


class AttitudeReference:
    """Roll, pitch, heading, as a rotation to the world and its angular velocity in world axes."""

    def __init__(self, rows: Sequence[TaskRow]) -> None:
        self._rows = RowReference(rows)

    def start(self, value: Floats | Sequence[float]) -> None:
        """Begin at time 0 with these angles."""
        self._rows.start(value)
        self.step(0.0)

    def step(self, time_s: float) -> None:
        """Go to a time since the start; leaves `rotation` and `angular_velocity`."""
        self._rows.step(time_s)
        self.rotation, self.angular_velocity = euler_motion(self._rows.value, self._rows.rate)
