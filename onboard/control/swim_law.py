"""What a tail-beat does to the vehicle, as the controller knows it: speed, thrust, drag and turn rate.

The quick law of the tail-swimming literature: at tail-beat frequency f the vehicle settles where friction
drag meets thrust, U = f * metres_per_beat (the Strouhal number is constant), and a deflection d of the tail
turns it at turn_rad_per_beat * f * sin(d), whatever its speed. A tail that steers as a rudder does gives a
curvature instead, curvature_per_rad * d, whatever it beats; a vehicle that has this number is steered by it.
Portable; floats.
"""

import math

from caudal.hal.core.maps import clamp, interpolate

CREEP_M_S = 0.05  # slower than this a rudder is taken to steer as at this speed


class SwimLaw:
    POINTS = 48

    def __init__(self, settings):
        self.mass_kg = settings["mass_kg"]
        self.metres_per_beat = settings["metres_per_beat"]
        self.turn_rad_per_beat = settings["turn_rad_per_beat"]
        self.curvature_per_rad = settings["curvature_per_rad"]  # 0: it turns by beats
        self.frequency_min_hz = settings["frequency_min_hz"]
        self.frequency_max_hz = settings["frequency_max_hz"]
        self.amplitude_min = settings["amplitude_min"]
        self.deflection_max_rad = settings["deflection_max_rad"]
        self._half_rho_s = 0.5 * settings["density_kg_m3"] * settings["wetted_area_m2"]
        self._reynolds_per_m_s = settings["reynolds_length_m"] / settings["viscosity_m2_s"]
        # thrust by frequency, squared spacing because force grows so; inverted by interpolation
        top_hz = self.frequency_max_hz
        self._hz = [top_hz * k / self.POINTS for k in range(self.POINTS + 1)]
        self._n = [self._drag_n(hz * self.metres_per_beat) for hz in self._hz]

    def _drag_n(self, speed_m_s):
        if speed_m_s <= 1e-6:
            return 0.0
        reynolds = speed_m_s * self._reynolds_per_m_s
        friction = 1.328 * reynolds**-0.5 + 0.074 * reynolds**-0.2
        return self._half_rho_s * friction * speed_m_s * speed_m_s

    def thrust_n(self, frequency_hz):
        """Thrust along the tail; a negative frequency (wave from tail to head) pushes backward."""
        force_n = interpolate(self._hz, self._n, abs(frequency_hz))
        return force_n if frequency_hz >= 0 else -force_n

    def drag_n(self, speed_m_s):
        return self.thrust_n(speed_m_s / self.metres_per_beat)

    def frequency_hz(self, thrust_n):
        """The frequency that gives a thrust, within the tail's limits."""
        frequency_hz = interpolate(self._n, self._hz, abs(thrust_n))
        return frequency_hz if thrust_n >= 0 else -frequency_hz

    def acceleration_m_s2(self, want, speed_m_s):
        """What the tail settings do at a speed."""
        push_n = self.thrust_n(want.frequency_hz * want.amplitude) * math.cos(want.deflection_rad)
        return (push_n - self.drag_n(speed_m_s)) / self.mass_kg

    def turn_rate_rad_s(self, frequency_hz, deflection_rad):
        return self.turn_rad_per_beat * abs(frequency_hz) * math.sin(deflection_rad)

    def turn_most_rad_s(self, speed_m_s):
        """The fastest it can turn at a speed."""
        if self.curvature_per_rad:
            return self.curvature_per_rad * self.deflection_max_rad * max(speed_m_s, CREEP_M_S)
        return self.turn_rad_per_beat * self.frequency_max_hz * math.sin(self.deflection_max_rad)

    def bend(self, turn_rad_s, speed_m_s):
        """Sine of the tail's deflection in a turn, at a middling tail-beat."""
        if self.curvature_per_rad:
            return math.sin(self._rudder_rad(turn_rad_s, speed_m_s))
        return clamp(turn_rad_s / (2 * self.turn_rad_per_beat), -0.8, 0.8)

    def _rudder_rad(self, turn_rad_s, speed_m_s):
        deflection_rad = turn_rad_s / (self.curvature_per_rad * max(speed_m_s, CREEP_M_S))
        return clamp(deflection_rad, -self.deflection_max_rad, self.deflection_max_rad)

    def invert(self, want, speed_m_s):
        """Fill in the tail settings for the wanted acceleration and turn rate.

        Thrust takes frequency times amplitude, a turn takes frequency and deflection. So the tail beats at
        least at frequency_min_hz, ready to turn, faster if the turn or the thrust needs it, and the amplitude
        makes the thrust right: turning hard does not speed it up. The wave is turned round only if
        `want.reverse` allows it, because that costs the beats a turn would need.
        """
        need_n = self.mass_kg * want.acceleration_m_s2 + self.drag_n(speed_m_s)
        if not want.reverse:
            need_n = max(need_n, 0.0)
        if self.curvature_per_rad:
            want.deflection_rad = self._rudder_rad(want.turn_rate_rad_s, speed_m_s)
            thrust_hz = self.frequency_hz(need_n / math.cos(want.deflection_rad))
            frequency_hz = max(abs(thrust_hz), self.frequency_min_hz)
            self._beat(want, thrust_hz, frequency_hz)
            return
        largest = math.sin(self.deflection_max_rad)
        least_hz = abs(want.turn_rate_rad_s) / (self.turn_rad_per_beat * largest)
        least_hz = clamp(least_hz, self.frequency_min_hz, self.frequency_max_hz)
        sine = clamp(math.sin(want.deflection_rad), -largest, largest)
        thrust_hz = frequency_hz = 0.0
        for _ in range(3):  # a deflected tail pushes less, and deflects less the faster it beats
            thrust_hz = self.frequency_hz(need_n / math.sqrt(1 - sine * sine))
            frequency_hz = max(abs(thrust_hz), least_hz)
            if frequency_hz > 0:
                sine = want.turn_rate_rad_s / (self.turn_rad_per_beat * frequency_hz)
                sine = clamp(sine, -largest, largest)
        want.deflection_rad = math.asin(sine) if frequency_hz else 0.0
        self._beat(want, thrust_hz, frequency_hz)

    def _beat(self, want, thrust_hz, frequency_hz):
        want.frequency_hz = frequency_hz if thrust_hz >= 0 else -frequency_hz
        want.amplitude = max(abs(thrust_hz) / frequency_hz, self.amplitude_min) if frequency_hz else 0.0
