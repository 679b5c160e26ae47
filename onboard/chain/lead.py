"""Where an aim of a chain is to be at every instant: smooth moves from row to row, kept out of obstacles. Needs numpy.

A row says when to be where; a move takes `within_s` before that (or all the time since the row before) and has no
speed and no acceleration at its ends (the polynomial of least jerk). A place that lies within an obstacle's clearance
is led around it: the governor adds the way out, smoothed, and takes it away again; elsewhere the lead is the path
itself. World axes, z up.
"""

import math

import numpy as np


def euler_turn(roll, pitch, yaw):
    """Base to world: turned by heading, then pitch (nose down), then roll (right side down)."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def euler_angles(turn):
    """roll, pitch, heading of a turn to the world; its own inverse with euler_turn short of straight up or down."""
    pitch = math.asin(min(max(-turn[2, 0], -1.0), 1.0))
    return np.array([math.atan2(turn[2, 1], turn[2, 2]), pitch, math.atan2(turn[1, 0], turn[0, 0])])


def least_jerk(share):
    """(way, its first, its second rate) of a move at a share of its time."""
    s = min(max(share, 0.0), 1.0)
    return (
        s * s * s * (10 + s * (6 * s - 15)),
        30 * s * s * (1 - s) * (1 - s),
        60 * s * (1 - s) * (1 - 2 * s),
    )


class Rows:
    """Numbers that move from row to row, from where they start."""

    def __init__(self, rows):
        self._times = [0.0] + [row["at_s"] for row in rows]
        self._values = [np.array(row["to"], dtype=float) for row in rows]
        self._within = [row["within_s"] for row in rows]
        self.start(self._values[0] if rows else np.zeros(0))

    def start(self, value):
        self._from = np.array(value, dtype=float)
        self.step(0.0)

    def step(self, time_s):
        """Leaves `value`, `rate` and `push`, its acceleration."""
        k = 0
        while k < len(self._values) and time_s >= self._times[k + 1]:
            k += 1
        before = self._values[k - 1] if k else self._from
        if k == len(self._values):
            self.value, self.rate, self.push = before, np.zeros(len(before)), np.zeros(len(before))
            return
        end_s = self._times[k + 1]
        span = max(self._within[k] or end_s - self._times[k], 1e-6)
        way, rate, push = least_jerk((time_s - end_s + span) / span)
        gap = self._values[k] - before
        self.value, self.rate, self.push = before + way * gap, rate / span * gap, push / (span * span) * gap

    def slow(self, push, dt):
        """Bring the numbers to nothing, each by no more than push a second, whatever the rows say."""
        step = np.clip(-self.value, -push * dt, push * dt)
        self.value, self.rate = self.value + step, step / dt
        self.push = np.zeros(len(step))


class Governor:
    """The way out of obstacles, as a smooth addition to a path; `radii` with all that is to stay clear."""

    def __init__(self, centres, radii, upright, pole_per_s, dt):
        self._obstacles = list(zip(centres, radii, upright, strict=True))
        self._pole, self._dt = pole_per_s, dt
        self.offset, self.speed, self.push = np.zeros(3), np.zeros(3), np.zeros(3)

    def lead(self, place):
        pole = self._pole
        self.push = pole * pole * (self._outside(place) - place - self.offset) - 2 * pole * self.speed
        self.speed = self.speed + self.push * self._dt
        self.offset = self.offset + self.speed * self._dt

    def _outside(self, place):
        out = np.array(place)
        for _ in range(3):  # out of one may be into the next
            for centre, radius, upright in self._obstacles:
                way = out - centre
                if upright:
                    way[2] = 0.0
                far = math.sqrt(float(way @ way))
                if far < radius:
                    out = out + way * ((radius - far) / max(far, 1e-6))
        return out


class PlaceLead:
    """x, y, depth and, for a pose, roll, pitch, heading, as vectors of the world."""

    def __init__(self, rows, governor=None):
        self._rows = Rows(rows)
        self._governor = governor

    def start(self, value):
        self._rows.start(value)
        self.step(0.0)

    def step(self, time_s):
        self._rows.step(time_s)
        value, rate, push = self._rows.value, self._rows.rate, self._rows.push
        self.path = self.place = down(value[:3])
        self.speed, self.push = down(rate[:3]), down(push[:3])
        if self._governor:
            self._governor.lead(self.path)
            self.place = self.path + self._governor.offset
            self.speed = self.speed + self._governor.speed
            self.push = self.push + self._governor.push
        if len(value) == 6:
            self.turn, self.spin = turning(value[3:], rate[3:])


class TurnLead:
    """roll, pitch, heading."""

    def __init__(self, rows):
        self._rows = Rows(rows)

    def start(self, value):
        self._rows.start(value)
        self.step(0.0)

    def step(self, time_s):
        self._rows.step(time_s)
        self.turn, self.spin = turning(self._rows.value, self._rows.rate)


def turning(angles, rates):
    """(turn to the world, angular velocity in world axes) of roll, pitch and heading."""
    level, flat = euler_turn(0.0, angles[1], angles[2]), euler_turn(0.0, 0.0, angles[2])
    spin = rates[0] * level[:, 0] + rates[1] * flat[:, 1] + rates[2] * np.array([0.0, 0.0, 1.0])
    return euler_turn(*angles), spin


def down(numbers):
    """x, y, depth as a vector of the world, z up; its own inverse."""
    return np.array([numbers[0], numbers[1], -numbers[2]])
