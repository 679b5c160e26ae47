"""Maps between SI and device units: pure functions of one channel, no I/O.

    servo      rad  <-> pulse_us      integer, no allocation on a microcontroller
    thruster   N    <-> pulse_us      measured curves by battery voltage, dead-band skipped
    valve      Pa   <-> current_ua    crack current, then linear; with its pressure measured: hal/core/pressure_loop.py
    sensors    counts -> SI           linear or a monotone table

Actuator maps take fixed-point SI (hal/core/fixed_point.py) and give integers; `idle` is the device value that asks
nothing of the actuator (no pulse, a motor's neutral, no current), and `stays` says whether the actuator then
stays where it is. A map that goes by a sensor as well has `follow(sensor's map, count)`, which the board calls once a
tick; the count is None while the reading is absent. Portable: CPython and MicroPython.
"""

import math

from caudal.hal.core.fixed_point import BITS, ONE, Q20_BITS, to_q14, to_q20

_SCALE_BITS = 4  # pulse scale is kept in 1/16 us a radian, so that angle * scale stays a small integer
_CLOSE_US = 4  # how far from its last pulse a thruster's next one is looked for first


def clamp(value, low, high):
    return low if value < low else high if value > high else value


class ServoMap:
    """Angle to pulse: centre, scale, direction as mounted, trim, end stops."""

    idle = 0  # no pulse: the servo is limp
    stays = True  # where it is while it is off
    pushes = False

    def __init__(self, centre_us, us_per_rad, direction, trim_us, low_us, high_us):
        self.zero_us = centre_us + trim_us
        self.us_per_rad = us_per_rad * direction
        self._scale = int(us_per_rad * (1 << _SCALE_BITS) + 0.5) * direction
        self.low_us = low_us
        self.high_us = high_us

    def to_device(self, angle):
        pulse_us = self.zero_us + (
            (angle * self._scale + (1 << (BITS + _SCALE_BITS - 1))) >> (BITS + _SCALE_BITS)
        )
        return clamp(pulse_us, self.low_us, self.high_us)

    def to_si(self, pulse_us):
        return to_q14((pulse_us - self.zero_us) / self.us_per_rad)


class PolynomialCurve:
    """Thrust of one motor at one voltage: two polynomials anchored at the edges of the dead-band.

    N = sum c_k u**k for k = 1.., with u the pulse's distance from the dead-band's edge in units of 100 us
    (so that the coefficients are of like size); `reverse` is given as a positive force.
    """

    def __init__(self, volts, dead_low_us, dead_high_us, forward, reverse):
        self.volts = volts
        self.dead_low_us = dead_low_us
        self.dead_high_us = dead_high_us
        self._forward = forward
        self._reverse = reverse

    def force_n(self, pulse_us):
        if pulse_us > self.dead_high_us:
            return self._along(self._forward, (pulse_us - self.dead_high_us) / 100)
        if pulse_us < self.dead_low_us:
            return -self._along(self._reverse, (self.dead_low_us - pulse_us) / 100)
        return 0.0

    @staticmethod
    def _along(coefficients, u):
        force_n = 0.0
        k = len(coefficients)
        while k:
            k -= 1
            force_n = (force_n + coefficients[k]) * u
        return force_n


class TableCurve:
    """Thrust of one motor at one voltage: measured points, straight lines between them."""

    def __init__(self, volts, pulses_us, forces_n):
        self.volts = volts
        self._pulses_us = pulses_us
        self._forces_n = forces_n
        self._line = 0  # the last one met: a search looks at pulses close to each other

    def force_n(self, pulse_us):
        xs = self._pulses_us
        ys = self._forces_n
        k = self._line
        if not xs[k] <= pulse_us < xs[k + 1]:
            if pulse_us <= xs[0]:
                return ys[0]
            if pulse_us >= xs[-1]:
                return ys[-1]
            k = self._line = line_at(xs, pulse_us)
        return along_line(xs, ys, k, pulse_us)


def line_at(xs, x):
    """Which of the lines between points of growing xs holds an x that lies between the ends."""
    low = 0
    high = len(xs) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if xs[middle] <= x:
            low = middle
        else:
            high = middle
    return low


def along_line(xs, ys, k, x):
    return ys[k] + (ys[k + 1] - ys[k]) * (x - xs[k]) / (xs[k + 1] - xs[k])


def interpolate(xs, ys, x):
    """Straight lines between points of growing x; the end values hold beyond them."""
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    return along_line(xs, ys, line_at(xs, x), x)


class ThrusterMap:
    """Force to pulse by inverting the motor's measured curves at the battery's present voltage."""

    stays = False  # off is no force
    pushes = True

    def __init__(self, neutral_us, low_us, high_us, curves, nominal_v):
        self.idle = neutral_us
        self.low_us = low_us
        self.high_us = high_us
        self._curves = curves  # of growing voltage
        self._last_us = neutral_us
        self.use_volts(nominal_v)

    def follow(self, sensor, count):
        """The battery's voltage; the last one stays while there is none."""
        if count is not None:
            self.use_volts(sensor.to_si(count))

    def use_volts(self, volts):
        """Blend the two curves measured nearest to this voltage."""
        k = 0
        while k < len(self._curves) - 2 and self._curves[k + 1].volts < volts:
            k += 1
        self._low_curve = self._curves[k]
        self._high_curve = self._curves[min(k + 1, len(self._curves) - 1)]
        span_v = self._high_curve.volts - self._low_curve.volts
        self._blend = clamp((volts - self._low_curve.volts) / span_v, 0.0, 1.0) if span_v else 0.0

    def force_n(self, pulse_us):
        low_n = self._low_curve.force_n(pulse_us)
        if not self._blend:
            return low_n
        return low_n + (self._high_curve.force_n(pulse_us) - low_n) * self._blend

    def to_device(self, force):
        """The whole microsecond whose force is nearest; a force below half a step is none."""
        if not force:
            return self.idle
        want_n = abs(force) / ONE
        near = self.idle  # gives less than asked
        near_n = 0.0
        far = self.high_us if force > 0 else self.low_us  # gives at least as much, or it is the end stop
        far_n = None
        # A command seldom moves far in one tick: look close to the last pulse first, then halve what is left.
        look = self._last_us - _CLOSE_US
        while abs(far - near) > 1:
            if not min(near, far) < look < max(near, far):
                look = (near + far) // 2
            look_n = abs(self.force_n(look))
            if look_n < want_n:
                near = look
                near_n = look_n
            else:
                far = look
                far_n = look_n
            look = self._last_us + _CLOSE_US
        if far_n is None:
            far_n = abs(self.force_n(far))
        if far_n - want_n < want_n - near_n:
            near = far
            near_n = far_n
        if not near_n:
            return self.idle
        self._last_us = near
        return near

    def to_si(self, pulse_us):
        return to_q14(self.force_n(pulse_us))


class ValveMap:
    """Pressure to coil current: nothing below the crack current, then linear up to the coil's limit."""

    idle = 0
    stays = False
    pushes = False

    def __init__(self, crack_ua, ua_per_pa, high_ua):
        self._crack_ua = crack_ua
        self._ua_per_pa = ua_per_pa
        self._high_ua = high_ua
        # As an integer of 28 bits: its product with a command of 1e6 Pa is below 2**62, a small integer on 64 bits.
        scale = ua_per_pa / ONE
        self._shift = 0
        while scale < 1 << 27 and self._shift < 60:
            scale *= 2
            self._shift += 1
        self._scale = int(scale + 0.5)
        self._half = (1 << self._shift) >> 1

    def to_device(self, pressure):
        if pressure <= 0:
            return 0
        return min(self._crack_ua + ((pressure * self._scale + self._half) >> self._shift), self._high_ua)

    def to_si(self, current_ua):
        return to_q14(max(current_ua - self._crack_ua, 0) / self._ua_per_pa)


class LinearSensor:
    """Counts to SI by zero and slope; a count outside low..high is no reading."""

    def __init__(self, zero_count, per_count, low_count, high_count):
        self._zero_count = zero_count
        self._per_count = per_count
        self._low_count = low_count
        self._high_count = high_count
        # as many bits of the slope as leave the product of any valid count below 2**30
        largest = max(abs(low_count - zero_count), abs(high_count - zero_count), 1)
        slope = per_count * (1 << Q20_BITS)
        self._fine_shift = 0
        while self._fine_shift < 24 and abs(slope) * largest < 1 << 28:
            slope *= 2
            self._fine_shift += 1
        self._fine_slope = int(slope + 0.5) if slope >= 0 else -int(0.5 - slope)
        self._fine_half = (1 << self._fine_shift) >> 1

    def to_si(self, count):
        return (count - self._zero_count) * self._per_count

    def to_q20(self, count):
        """The same as an integer, in 2**-20 of the unit; allocates nothing."""
        return ((count - self._zero_count) * self._fine_slope + self._fine_half) >> self._fine_shift

    def valid(self, count):
        return self._low_count <= count <= self._high_count

    def to_count(self, value):
        return math.floor(self._zero_count + value / self._per_count + 0.5)


class TableSensor:
    """Counts to SI by a measured table with straight lines between its points."""

    def __init__(self, counts, values):
        self._counts = counts
        self._values = values

    def to_si(self, count):
        return interpolate(self._counts, self._values, count)

    def to_q20(self, count):
        return to_q20(self.to_si(count))

    def valid(self, count):
        return self._counts[0] <= count <= self._counts[-1]

    def to_count(self, value):
        if self._values[0] <= self._values[-1]:
            return math.floor(interpolate(self._values, self._counts, value) + 0.5)
        return math.floor(interpolate(self._values[::-1], self._counts[::-1], value) + 0.5)
