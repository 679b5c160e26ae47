"""Rigid-body model of the vehicle as identified: the accelerations that a wrench causes. Portable; floats.

    M a + C(v) v + D v + Q |v| v + g = wrench      v = (u v w p q r), base frame: x ahead, y to port, z up

C follows from M: with momentum M v = (P, H) it is (omega x P, omega x H + u x P). g: the weight beyond buoyancy, the
righting moment of a buoyancy above the weight, and that of a buoyancy ahead of it.
"""

import math

from caudal.onboard.control.matrix import inverse, times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.tables.thrusters import ModelTable


class RigidBodyModel:
    """The equation above, solved for the wrench or for the acceleration."""

    def __init__(self, table: "ModelTable") -> None:
        self.inertia = table.inertia
        self._inverse = inverse(self.inertia)
        self._drag = table.drag
        self._quadratic = table.quadratic
        self._net_weight_n = table.net_weight_n
        self._righting_n_m = table.righting_n_m
        self._lead_n_m = table.lead_n_m
        self._momentum = [0.0] * 6
        self._surplus = [0.0] * 6

    def load(self, v: list[float], roll_rad: float, pitch_rad: float, out: list[float]) -> None:
        """Sets `out` to the wrench that keeps v constant: C(v) v + D v + Q |v| v + g."""
        times(self._drag, v, out)
        for i in range(6):
            out[i] += self._quadratic[i] * abs(v[i]) * v[i]
        m = self._momentum
        times(self.inertia, v, m)
        u, s, w, p, q, r = v
        out[0] += q * m[2] - r * m[1]
        out[1] += r * m[0] - p * m[2]
        out[2] += p * m[1] - q * m[0]
        out[3] += q * m[5] - r * m[4] + s * m[2] - w * m[1]
        out[4] += r * m[3] - p * m[5] + w * m[0] - u * m[2]
        out[5] += p * m[4] - q * m[3] + u * m[1] - s * m[0]
        rolled = math.sin(roll_rad) * math.cos(pitch_rad)
        pitched = math.sin(pitch_rad)
        upright = math.cos(roll_rad) * math.cos(pitch_rad)
        out[0] -= self._net_weight_n * pitched
        out[1] += self._net_weight_n * rolled
        out[2] += self._net_weight_n * upright
        out[3] += self._righting_n_m * rolled
        out[4] += self._righting_n_m * pitched + self._lead_n_m * upright
        out[5] -= self._lead_n_m * rolled

    def accelerations(
        self, wrench: list[float], v: list[float], roll_rad: float, pitch_rad: float, out: list[float]
    ) -> None:
        """Sets `out` to the accelerations that a wrench causes at v."""
        self.load(v, roll_rad, pitch_rad, self._surplus)
        for i in range(6):
            self._surplus[i] = wrench[i] - self._surplus[i]
        times(self._inverse, self._surplus, out)
