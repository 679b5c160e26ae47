"""Quasi-steady model of tail-beat swimming: speed, thrust, drag and turn rate, and its inverse.

At tail-beat frequency f the vehicle settles where friction drag meets thrust, U = f * metres_per_beat (the Strouhal
number is constant). A deflection d of the tail turns it at turn_rad_per_beat * f * sin(d), whatever its speed. A tail
that steers as a rudder gives a path of curvature curvature_per_rad * d, whatever its frequency; a vehicle with this
number above 0 is steered by it. Portable; floats.
"""

import math

from caudal.hal.core.maps import clamp, interpolate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.core.state import Setpoint
    from caudal.onboard.tables.stack import TailControl

CREEP_M_S = 0.05  # below this speed a rudder is taken to steer as at this speed


class SwimModel:
    """The model of one vehicle; a negative frequency is a wave from tail to head."""

    POINTS = 48

    def __init__(self, table: "TailControl") -> None:
        assert table.mass_kg and table.metres_per_beat and table.turn_rad_per_beat
        assert table.wetted_area_m2 and table.reynolds_length_m
        self.mass_kg = table.mass_kg
        self.metres_per_beat = table.metres_per_beat
        self.turn_rad_per_beat = table.turn_rad_per_beat
        self.curvature_per_rad = table.curvature_per_rad  # 0: it turns by beats
        self.frequency_min_hz = table.frequency_min_hz
        self.frequency_max_hz = table.frequency_max_hz
        self.amplitude_min = table.amplitude_min
        self.deflection_max_rad = table.deflection_max_rad
        self._half_rho_s = 0.5 * table.density_kg_m3 * table.wetted_area_m2
        self._reynolds_per_m_s = table.reynolds_length_m / table.viscosity_m2_s
        # thrust by frequency; inverted by interpolation
        top_hz = self.frequency_max_hz
        self._hz = [top_hz * k / self.POINTS for k in range(self.POINTS + 1)]
        self._n = [self._friction_n(hz * self.metres_per_beat) for hz in self._hz]

    def _friction_n(self, speed_m_s: float) -> float:
        """Friction drag of the wetted hull: laminar and turbulent boundary layer."""
        if speed_m_s <= 1e-6:
            return 0.0
        reynolds = speed_m_s * self._reynolds_per_m_s
        friction: float = 1.328 * reynolds**-0.5 + 0.074 * reynolds**-0.2
        return self._half_rho_s * friction * speed_m_s * speed_m_s

    def thrust_n(self, frequency_hz: float) -> float:
        """Thrust along the tail at a frequency; below 0 astern."""
        force_n = interpolate(self._hz, self._n, abs(frequency_hz))
        return force_n if frequency_hz >= 0 else -force_n

    def drag_n(self, speed_m_s: float) -> float:
        """Drag at a speed: the thrust of the frequency that keeps it."""
        return self.thrust_n(speed_m_s / self.metres_per_beat)

    def frequency_hz(self, thrust_n: float) -> float:
        """The frequency that gives a thrust, within the tail's limits."""
        frequency_hz = interpolate(self._n, self._hz, abs(thrust_n))
        return frequency_hz if thrust_n >= 0 else -frequency_hz

    def acceleration_m_s2(self, setpoint: "Setpoint", speed_m_s: float) -> float:
        """The acceleration that frequency, amplitude and deflection cause at a speed."""
        thrust_n = self.thrust_n(setpoint.frequency_hz * setpoint.amplitude) * math.cos(
            setpoint.deflection_rad
        )
        return (thrust_n - self.drag_n(speed_m_s)) / self.mass_kg

    def turn_rate_rad_s(self, frequency_hz: float, deflection_rad: float) -> float:
        """The turn rate of a vehicle that turns by beats."""
        return self.turn_rad_per_beat * abs(frequency_hz) * math.sin(deflection_rad)

    def turn_rate_max_rad_s(self, speed_m_s: float) -> float:
        """The largest turn rate at a speed."""
        if self.curvature_per_rad:
            return self.curvature_per_rad * self.deflection_max_rad * max(speed_m_s, CREEP_M_S)
        return self.turn_rad_per_beat * self.frequency_max_hz * math.sin(self.deflection_max_rad)

    def deflection_sine(self, turn_rate_rad_s: float, speed_m_s: float) -> float:
        """Sine of the tail's deflection in a turn, at a tail-beat of 2 Hz."""
        if self.curvature_per_rad:
            return math.sin(self._rudder_rad(turn_rate_rad_s, speed_m_s))
        return clamp(turn_rate_rad_s / (2 * self.turn_rad_per_beat), -0.8, 0.8)

    def _rudder_rad(self, turn_rate_rad_s: float, speed_m_s: float) -> float:
        deflection_rad = turn_rate_rad_s / (self.curvature_per_rad * max(speed_m_s, CREEP_M_S))
        return clamp(deflection_rad, -self.deflection_max_rad, self.deflection_max_rad)

    def invert(self, setpoint: "Setpoint", speed_m_s: float) -> None:
        """Sets the setpoint's frequency, amplitude and deflection for its acceleration and turn rate.

        Thrust depends on frequency times amplitude, a turn on frequency and deflection. So the tail beats at
        frequency_min_hz at least, ready to turn, and faster if the turn or the thrust needs it. The amplitude then
        gives the thrust: a hard turn does not speed the vehicle up. The wave runs from tail to head only if
        `setpoint.reverse` allows it, because reversing takes beats that a turn needs.
        """
        need_n = self.mass_kg * setpoint.acceleration_m_s2 + self.drag_n(speed_m_s)
        if not setpoint.reverse:
            need_n = max(need_n, 0.0)
        if self.curvature_per_rad:
            setpoint.deflection_rad = self._rudder_rad(setpoint.turn_rate_rad_s, speed_m_s)
            thrust_hz = self.frequency_hz(need_n / math.cos(setpoint.deflection_rad))
            frequency_hz = max(abs(thrust_hz), self.frequency_min_hz)
            self._set_beat(setpoint, thrust_hz, frequency_hz)
            return
        largest = math.sin(self.deflection_max_rad)
        least_hz = abs(setpoint.turn_rate_rad_s) / (self.turn_rad_per_beat * largest)
        least_hz = clamp(least_hz, self.frequency_min_hz, self.frequency_max_hz)
        sine = clamp(math.sin(setpoint.deflection_rad), -largest, largest)
        thrust_hz = frequency_hz = 0.0
        for _ in range(
            3
        ):  # a deflected tail gives less thrust, and needs less deflection the faster it beats
            thrust_hz = self.frequency_hz(need_n / math.sqrt(1 - sine * sine))
            frequency_hz = max(abs(thrust_hz), least_hz)
            if frequency_hz > 0:
                sine = setpoint.turn_rate_rad_s / (self.turn_rad_per_beat * frequency_hz)
                sine = clamp(sine, -largest, largest)
        setpoint.deflection_rad = math.asin(sine) if frequency_hz else 0.0
        self._set_beat(setpoint, thrust_hz, frequency_hz)

    def _set_beat(self, setpoint: "Setpoint", thrust_hz: float, frequency_hz: float) -> None:
        """Thrust of frequency thrust_hz at full amplitude, made at another frequency by the amplitude."""
        setpoint.frequency_hz = frequency_hz if thrust_hz >= 0 else -frequency_hz
        setpoint.amplitude = max(abs(thrust_hz) / frequency_hz, self.amplitude_min) if frequency_hz else 0.0
