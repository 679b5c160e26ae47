"""Maps between SI and device units: pure functions of one channel, no I/O.

    servo      rad  <-> pulse_us      integer, no allocation on a microcontroller
    thruster   N    <-> pulse_us      measured curves by battery voltage, dead-band skipped
    valve      Pa   <-> current_ua    crack current, then linear; with its pressure measured: hal/core/pressure_loop.py
    sensors    counts -> SI           linear or a monotone table

An actuator's map takes fixed-point SI (hal/core/fixed_point.py) and gives integers. Portable: CPython and MicroPython.
"""

import math

from caudal.hal.core.fixed_point import BITS, ONE, Q20_BITS, to_q14, to_q20

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol, TypeVar

    Scalar = TypeVar("Scalar", int, float)

    class SensorMap(Protocol):
        """Device units of a sensor to SI."""

        def to_si(self, count: int) -> float:
            """SI value of a count."""

        def to_q20(self, count: int) -> int:
            """The same as an integer, in 2**-20 of the unit."""

        def valid(self, count: int) -> bool:
            """Whether a count is a reading."""

        def to_count(self, value: float) -> int:
            """The nearest count of an SI value."""

    class ActuatorMap(Protocol):
        """Commands of an actuator to device units."""

        idle: int  # device value without a command: no pulse, a motor's neutral, no current
        stays: bool  # whether the actuator keeps its position while it is off
        pushes: bool  # whether its command is a force

        def to_device(self, command: int) -> int:
            """Device value of a fixed-point command."""

        def to_si(self, value: int) -> int:
            """Fixed-point command of a device value."""

        def follow(self, sensor: SensorMap, count: int | None) -> None:
            """Takes the reading that the map depends on, once per tick; None while it is absent."""

    class Curve(Protocol):
        """Thrust of a motor at one voltage."""

        volts: float

        def force_n(self, pulse_us: float) -> float:
            """Force at a pulse."""


_SCALE_BITS = 4  # pulse scale in 1/16 us per radian: angle * scale is a small integer
_CLOSE_US = 4  # a thruster's pulse is searched first this close to its last one


def clamp(value: "Scalar", low: "Scalar", high: "Scalar") -> "Scalar":
    """The value, limited to low..high."""
    return low if value < low else high if value > high else value


class ServoMap:
    """Angle to pulse: centre, scale, direction as mounted, trim, end stops."""

    idle = 0  # no pulse: the servo is limp
    stays = True
    pushes = False

    def __init__(
        self, centre_us: int, us_per_rad: float, direction: int, trim_us: int, low_us: int, high_us: int
    ) -> None:
        self.zero_us = centre_us + trim_us
        self.us_per_rad = us_per_rad * direction
        self._scale = int(us_per_rad * (1 << _SCALE_BITS) + 0.5) * direction
        self.low_us = low_us
        self.high_us = high_us

    def to_device(self, angle: int) -> int:
        """Pulse of an angle, within the end stops."""
        pulse_us = self.zero_us + (
            (angle * self._scale + (1 << (BITS + _SCALE_BITS - 1))) >> (BITS + _SCALE_BITS)
        )
        return clamp(pulse_us, self.low_us, self.high_us)

    def to_si(self, pulse_us: int) -> int:
        """Angle of a pulse."""
        return to_q14((pulse_us - self.zero_us) / self.us_per_rad)

    def follow(self, sensor: "SensorMap", count: "int | None") -> None:
        """The map depends on no reading."""


class PolynomialCurve:
    """Thrust of one motor at one voltage: two polynomials from the edges of the dead-band.

    N = sum c_k u**k for k = 1.., with u the pulse's distance from the dead-band's edge in units of 100 us
    (so that the coefficients are of like size); `reverse` is given as a positive force.
    """

    def __init__(
        self,
        volts: float,
        dead_low_us: int,
        dead_high_us: int,
        forward: "Sequence[float]",
        reverse: "Sequence[float]",
    ) -> None:
        self.volts = volts
        self.dead_low_us = dead_low_us
        self.dead_high_us = dead_high_us
        self._forward = forward
        self._reverse = reverse

    def force_n(self, pulse_us: float) -> float:
        """Force at a pulse."""
        if pulse_us > self.dead_high_us:
            return self._along(self._forward, (pulse_us - self.dead_high_us) / 100)
        if pulse_us < self.dead_low_us:
            return -self._along(self._reverse, (self.dead_low_us - pulse_us) / 100)
        return 0.0

    @staticmethod
    def _along(coefficients: "Sequence[float]", u: float) -> float:
        force_n = 0.0
        k = len(coefficients)
        while k:
            k -= 1
            force_n = (force_n + coefficients[k]) * u
        return force_n


class TableCurve:
    """Thrust of one motor at one voltage: measured points, straight lines between them."""

    def __init__(self, volts: float, pulses_us: "Sequence[int]", forces_n: "Sequence[float]") -> None:
        self.volts = volts
        self._pulses_us = pulses_us
        self._forces_n = forces_n
        self._line = 0  # the last one used: a search tries pulses close to each other

    def force_n(self, pulse_us: float) -> float:
        """Force at a pulse."""
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


def line_at(xs: "Sequence[float]", x: float) -> int:
    """Index of the line between points of growing xs that contains an x between the ends."""
    low = 0
    high = len(xs) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if xs[middle] <= x:
            low = middle
        else:
            high = middle
    return low


def along_line(xs: "Sequence[float]", ys: "Sequence[float]", k: int, x: float) -> float:
    """Value at x on line k."""
    return ys[k] + (ys[k + 1] - ys[k]) * (x - xs[k]) / (xs[k + 1] - xs[k])


def interpolate(xs: "Sequence[float]", ys: "Sequence[float]", x: float) -> float:
    """Straight lines between points of growing x; the end values hold beyond them."""
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    return along_line(xs, ys, line_at(xs, x), x)


class ThrusterMap:
    """Force to pulse by inverting the motor's measured curves at the battery's voltage."""

    stays = False
    pushes = True

    def __init__(
        self, neutral_us: int, low_us: int, high_us: int, curves: "Sequence[Curve]", nominal_v: float
    ) -> None:
        self.idle = neutral_us
        self.low_us = low_us
        self.high_us = high_us
        self._curves = curves  # of growing voltage
        self._last_us = neutral_us
        self.use_volts(nominal_v)

    def follow(self, sensor: "SensorMap", count: "int | None") -> None:
        """Takes the battery's voltage; keeps the last one while there is none."""
        if count is not None:
            self.use_volts(sensor.to_si(count))

    def use_volts(self, volts: float) -> None:
        """Interpolates between the two curves measured nearest to this voltage."""
        k = 0
        while k < len(self._curves) - 2 and self._curves[k + 1].volts < volts:
            k += 1
        self._low_curve = self._curves[k]
        self._high_curve = self._curves[min(k + 1, len(self._curves) - 1)]
        span_v = self._high_curve.volts - self._low_curve.volts
        self._blend = clamp((volts - self._low_curve.volts) / span_v, 0.0, 1.0) if span_v else 0.0

    def force_n(self, pulse_us: float) -> float:
        """Force at a pulse and the present voltage."""
        low_n = self._low_curve.force_n(pulse_us)
        if not self._blend:
            return low_n
        return low_n + (self._high_curve.force_n(pulse_us) - low_n) * self._blend

    def to_device(self, force: int) -> int:
        """The whole microsecond whose force is nearest; idle below half a step."""
        if not force:
            return self.idle
        want_n = abs(force) / ONE
        near = self.idle  # gives less than the command
        near_n = 0.0
        far = self.high_us if force > 0 else self.low_us  # gives at least as much, or is the end stop
        far_n = None
        # A command seldom changes much in one tick: try close to the last pulse first, then bisect the rest.
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

    def to_si(self, pulse_us: int) -> int:
        """Force of a pulse."""
        return to_q14(self.force_n(pulse_us))


class ValveMap:
    """Pressure to coil current: the crack current, then linear up to the coil's limit; no current without pressure."""

    idle = 0
    stays = False
    pushes = False

    def __init__(self, cracking_current_ua: int, ua_per_pa: float, high_ua: int) -> None:
        self._crack_ua = cracking_current_ua
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

    def to_device(self, pressure: int) -> int:
        """Current of a pressure."""
        if pressure <= 0:
            return 0
        return min(self._crack_ua + ((pressure * self._scale + self._half) >> self._shift), self._high_ua)

    def to_si(self, current_ua: int) -> int:
        """Pressure of a current."""
        return to_q14(max(current_ua - self._crack_ua, 0) / self._ua_per_pa)

    def follow(self, sensor: "SensorMap", count: "int | None") -> None:
        """The map depends on no reading."""


class LinearSensor:
    """Counts to SI by zero and slope; a count outside low..high is no reading."""

    def __init__(self, zero_count: int, si_per_count: float, low_count: int, high_count: int) -> None:
        self._zero_count = zero_count
        self._per_count = si_per_count
        self._low_count = low_count
        self._high_count = high_count
        # as many bits of the slope as leave the product of any valid count below 2**30
        largest = max(abs(low_count - zero_count), abs(high_count - zero_count), 1)
        slope = si_per_count * (1 << Q20_BITS)
        self._fine_shift = 0
        while self._fine_shift < 24 and abs(slope) * largest < 1 << 28:
            slope *= 2
            self._fine_shift += 1
        self._fine_slope = int(slope + 0.5) if slope >= 0 else -int(0.5 - slope)
        self._fine_half = (1 << self._fine_shift) >> 1

    def to_si(self, count: int) -> float:
        """SI value of a count."""
        return (count - self._zero_count) * self._per_count

    def to_q20(self, count: int) -> int:
        """The same as an integer, in 2**-20 of the unit; allocates nothing."""
        return ((count - self._zero_count) * self._fine_slope + self._fine_half) >> self._fine_shift

    def valid(self, count: int) -> bool:
        """Whether a count is within the range."""
        return self._low_count <= count <= self._high_count

    def to_count(self, value: float) -> int:
        """The nearest count of an SI value."""
        return math.floor(self._zero_count + value / self._per_count + 0.5)


class TableSensor:
    """Counts to SI by a measured table with straight lines between its points."""

    def __init__(self, counts: "Sequence[int]", values: "Sequence[float]") -> None:
        self._counts = counts
        self._values = values

    def to_si(self, count: int) -> float:
        """SI value of a count."""
        return interpolate(self._counts, self._values, count)

    def to_q20(self, count: int) -> int:
        """The same as an integer, in 2**-20 of the unit."""
        return to_q20(self.to_si(count))

    def valid(self, count: int) -> bool:
        """Whether a count is within the range."""
        return self._counts[0] <= count <= self._counts[-1]

    def to_count(self, value: float) -> int:
        """The nearest count of an SI value."""
        if self._values[0] <= self._values[-1]:
            return math.floor(interpolate(self._values, self._counts, value) + 0.5)
        return math.floor(interpolate(self._values[::-1], self._counts[::-1], value) + 0.5)
