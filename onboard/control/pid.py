"""PID with anti-windup: returns its output and keeps a record of how it got there. Portable.

`Pid` is for floats, `Q20Pid` for integers in 2**-20 of their units.
"""

from caudal.hal.core.fixed_point import Gain, to_q20

_EXTRA = 6  # bits that a Q20Pid's integral keeps below its unit, or it would stall short of a small error


class Pid:
    def __init__(self, kp, ki, kd, limit, rate_hz):
        self.kp = kp
        self.ki = ki
        self.kd = kd
        self.limit = limit
        self.dt = 1 / rate_hz
        self.reset()

    def reset(self):
        self.p = 0.0
        self.i = 0.0
        self.d = 0.0
        self.saturated = False

    def step(self, error, rate=0.0, feed_forward=0.0):
        """Output for an error; `rate` is the measured rate of the controlled value (derivative on it)."""
        self.p = self.kp * error
        self.d = -self.kd * rate
        integral = self.i + self.ki * error * self.dt
        if self._may_move(feed_forward + self.p + integral + self.d, integral > self.i):
            self.i = integral
        return min(max(feed_forward + self.p + self.i + self.d, -self.limit), self.limit)

    def _may_move(self, output, grows):
        """The integral only moves where it does not push further into the limit."""
        self.saturated = not -self.limit <= output <= self.limit
        return not self.saturated or (output > 0) != grows


class Q20Pid(Pid):
    """The same law; a step allocates nothing on a microcontroller."""

    def __init__(self, kp, ki, kd, limit, rate_hz):
        super().__init__(kp, ki, kd, to_q20(limit), rate_hz)
        self._kp = Gain(kp)
        self._ki = Gain(ki / rate_hz * (1 << _EXTRA))
        self._kd = Gain(kd)

    def reset(self):
        self.p = 0
        self.i = 0
        self.d = 0
        self.saturated = False
        self._integral = 0  # with its extra bits

    def step(self, error, rate=0, feed_forward=0):
        self.p = self._kp.apply(error)
        self.d = -self._kd.apply(rate)
        integral = self._integral + self._ki.apply(error)
        output = feed_forward + self.p + (integral >> _EXTRA) + self.d
        if self._may_move(output, integral > self._integral):
            self._integral = integral
            self.i = integral >> _EXTRA
        return min(max(feed_forward + self.p + self.i + self.d, -self.limit), self.limit)
