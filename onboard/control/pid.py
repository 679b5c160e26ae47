"""PID controllers with anti-windup, which keep their three terms for diagnostics. Portable.

The derivative acts on the measured rate, not on the error. The integral does not grow further into saturation.
"""

from caudal.hal.core.fixed_point import Gain, to_q20

_EXTRA = 6  # bits that a Q20Pid's integral keeps below its unit, or it would stall short of a small error


class Pid:
    """PID of floats."""

    def __init__(self, kp: float, ki: float, kd: float, limit: float, rate_hz: int) -> None:
        self.kp = kp
        self.ki = ki
        self.kd = kd
        self.limit = limit
        self.dt = 1 / rate_hz
        self.reset()

    def reset(self) -> None:
        """Sets the terms to zero."""
        self.p = 0.0
        self.i = 0.0
        self.d = 0.0
        self.saturated = False

    def step(self, error: float, rate: float = 0.0, feed_forward: float = 0.0) -> float:
        """The output for an error; `rate` is the measured rate of the controlled value."""
        self.p = self.kp * error
        self.d = -self.kd * rate
        integral = self.i + self.ki * error * self.dt
        output = feed_forward + self.p + integral + self.d
        self.saturated = not -self.limit <= output <= self.limit
        if not self.saturated or (output > 0) != (integral > self.i):
            self.i = integral
        return min(max(feed_forward + self.p + self.i + self.d, -self.limit), self.limit)


class Q20Pid:
    """PID of integers in 2**-20 of their units; a step allocates nothing on a microcontroller."""

    def __init__(self, kp: float, ki: float, kd: float, limit: float, rate_hz: int) -> None:
        self.limit = to_q20(limit)
        self._kp = Gain(kp)
        self._ki = Gain(ki / rate_hz * (1 << _EXTRA))
        self._kd = Gain(kd)
        self.reset()

    def reset(self) -> None:
        """Sets the terms to zero."""
        self.p = 0
        self.i = 0
        self.d = 0
        self.saturated = False
        self._integral = 0  # with its extra bits

    def step(self, error: int, rate: int = 0, feed_forward: int = 0) -> int:
        """The output for an error; `rate` is the measured rate of the controlled value."""
        self.p = self._kp.apply(error)
        self.d = -self._kd.apply(rate)
        integral = self._integral + self._ki.apply(error)
        output = feed_forward + self.p + (integral >> _EXTRA) + self.d
        self.saturated = not -self.limit <= output <= self.limit
        if not self.saturated or (output > 0) != (integral > self._integral):
            self._integral = integral
            self.i = integral >> _EXTRA
        return min(max(feed_forward + self.p + self.i + self.d, -self.limit), self.limit)
