"""Where a vehicle that swims in a plane is: heading from the compass and the gyro between its readings, speed
from the swim law, position from fixes with dead reckoning between them, depth from the pressure sensor.

The speed of a tail-swimmer has no cheap sensor: the law predicts it, and fixes correct it where there are
any. A reading that is absent is not used; a channel the vehicle lacks is not asked for. Portable; floats.
"""

import math

from caudal.onboard.core.angles import wrap


class PlanarEstimator:
    def __init__(self, settings, board, law, rate_hz):
        self._board = board
        self._law = law
        self._dt = 1 / rate_hz
        self._turn_share = 1 / (1 + settings["turn_smooth_s"] * rate_hz)
        self._turning_rad_s = 0.0
        self._fix_gain = settings["fix_gain"]
        self._speed_gain_per_s = settings["speed_gain_per_s"]
        self._heading = channel(board, settings["heading"])
        self._turn_rate = channel(board, settings["turn_rate"])
        self._x = channel(board, settings["x"])
        self._y = channel(board, settings["y"])
        self._depth = channel(board, settings["depth"])

    def step(self, state):
        estimate = state.estimate
        self._step_heading(estimate)
        self._step_speed(estimate, state)
        self._step_position(estimate)
        estimate.depth_m = self._reading(self._depth)

    def _step_heading(self, estimate):
        rate_rad_s = self._reading(self._turn_rate)
        if self._fresh(self._heading):
            estimate.heading_rad = self._reading(self._heading)
        elif estimate.heading_rad is not None and rate_rad_s is not None:
            estimate.heading_rad = wrap(estimate.heading_rad + rate_rad_s * self._dt)
        estimate.turn_rate_rad_s = None
        if rate_rad_s is not None:
            self._turning_rad_s += (rate_rad_s - self._turning_rad_s) * self._turn_share
            estimate.turn_rate_rad_s = self._turning_rad_s

    def _step_speed(self, estimate, state):
        speed_m_s = estimate.speed_m_s or 0.0
        if state.commands_applied:
            gain_m_s2 = self._law.acceleration_m_s2(state.setpoint, speed_m_s)
        else:
            gain_m_s2 = -self._law.drag_n(speed_m_s) / self._law.mass_kg
        estimate.speed_m_s = speed_m_s + gain_m_s2 * self._dt

    def _step_position(self, estimate):
        fix = self._fresh(self._x) and self._fresh(self._y)
        if estimate.x_m is None:
            if fix:
                estimate.x_m = self._reading(self._x)
                estimate.y_m = self._reading(self._y)
            return
        if estimate.heading_rad is None:
            return
        ahead_x = math.cos(estimate.heading_rad)
        ahead_y = math.sin(estimate.heading_rad)
        estimate.x_m += estimate.speed_m_s * ahead_x * self._dt
        estimate.y_m += estimate.speed_m_s * ahead_y * self._dt
        if fix:
            off_x = self._reading(self._x) - estimate.x_m
            off_y = self._reading(self._y) - estimate.y_m
            estimate.x_m += self._fix_gain * off_x
            estimate.y_m += self._fix_gain * off_y
            estimate.speed_m_s += self._speed_gain_per_s * (off_x * ahead_x + off_y * ahead_y)

    def _fresh(self, index):
        return index is not None and self._board.age[index] == 0

    def _reading(self, index):
        return None if index is None else self._board.reading(index)


def channel(board, name):
    return board.sensor(name) if name else None
