"""PID with anti-windup: returns its output and keeps a record of how it got there. Portable."""


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
        output = feed_forward + self.p + integral + self.d
        self.saturated = not -self.limit <= output <= self.limit
        # the integral only moves where it does not push further into the limit
        if not self.saturated or (output > 0) != (error * self.ki > 0):
            self.i = integral
        return min(max(feed_forward + self.p + self.i + self.d, -self.limit), self.limit)
