"""The two Kalman filters of a pose, one per degree of freedom, written out. Portable; floats.

`nis` is the last normalised innovation squared, (reading - expected)^2 / its variance: about 1 on average, and above
3.84 in one of twenty readings, if the noises given are the true ones. It is None in a tick without a reading.
"""

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Disturbance(Protocol):
        """Disturbance of one coordinate, as keys of estimate.filter."""

        @property
        def disturbance_s(self) -> float:
            """Time constant."""

        @property
        def disturbance_m_s2(self) -> float:
            """Standard deviation."""

        @property
        def acceleration_noise_m_s2(self) -> float:
            """Standard deviation from tick to tick."""


GATE = 25.0  # an innovation beyond five sigma is an outlier...
OUTLIERS = 10  # ...unless more than so many come in a row: then the filter starts again


class Axis:
    """Filter of one coordinate: its position, its velocity, and a disturbance that the model does not include.

    Each prediction takes the model's acceleration. The disturbance (a tether, a current that turns) is coloured noise
    of disturbance_m_s2 with time constant disturbance_s; drag_per_s is how the model's acceleration falls with the
    velocity.
    """

    def __init__(self, table: "Disturbance", noise_m: float, drag_per_s: float, dt: float) -> None:
        self._dt = dt
        self._noise2 = noise_m * noise_m
        self._keep = math.exp(-dt / table.disturbance_s)
        push2 = table.disturbance_m_s2 * table.disturbance_m_s2
        self._disturbance2 = push2
        self._walk = push2 * (1 - self._keep * self._keep)
        self._drag = 1 - drag_per_s * dt
        self._jerk = table.acceleration_noise_m_s2 * table.acceleration_noise_m_s2 * dt * dt
        self.nis: float | None = None
        self._outliers = 0
        self.known = False
        self.position_m = 0.0
        self.speed_m_s = 0.0
        self.disturbance_m_s2 = 0.0

    def start(self, position_m: float) -> None:
        """Starts at a first reading, at rest."""
        self.known = True
        self.position_m = position_m
        self.speed_m_s = 0.0
        self.disturbance_m_s2 = 0.0
        self._outliers = 0
        self._pp = self._noise2
        self._pv = 0.0
        self._pa = 0.0
        self._vv = 0.01
        self._va = 0.0
        self._aa = self._disturbance2

    def predict(self, acceleration_m_s2: float) -> None:
        """One step of time under the model's acceleration."""
        dt = self._dt
        total = acceleration_m_s2 + self.disturbance_m_s2
        self.position_m += (self.speed_m_s + 0.5 * total * dt) * dt
        self.speed_m_s += total * dt
        self.disturbance_m_s2 *= self._keep
        # P = F P F^T + Q, F = [1 dt dt2/2; 0 drag dt; 0 0 keep]
        half = 0.5 * dt * dt
        drag = self._drag
        keep = self._keep
        pp, pv, pa, vv, va, aa = self._pp, self._pv, self._pa, self._vv, self._va, self._aa
        fp = pp + dt * pv + half * pa  # first row of F P
        fv = pv + dt * vv + half * va
        fa = pa + dt * va + half * aa
        gv = drag * vv + dt * va  # second row, without the first
        ga = drag * va + dt * aa
        self._pp = fp + dt * fv + half * fa
        self._pv = drag * fv + dt * fa
        self._pa = keep * fa
        self._vv = drag * gv + dt * ga + self._jerk
        self._va = keep * ga
        self._aa = keep * keep * aa + self._walk
        self.nis = None

    def correct(self, position_m: float) -> None:
        """Corrects by a reading of the position, unless it is an outlier."""
        innovation = position_m - self.position_m
        variance = self._pp + self._noise2
        self.nis = innovation * innovation / variance
        if self.nis > GATE:
            self._outliers += 1
            if self._outliers > OUTLIERS:
                self.start(position_m)
            return
        self._outliers = 0
        kp = self._pp / variance
        kv = self._pv / variance
        ka = self._pa / variance
        self.position_m += kp * innovation
        self.speed_m_s += kv * innovation
        self.disturbance_m_s2 += ka * innovation
        pp, pv, pa = self._pp, self._pv, self._pa
        self._pp = (1 - kp) * pp
        self._pv = (1 - kp) * pv
        self._pa = (1 - kp) * pa
        self._vv -= kv * pv
        self._va -= kv * pa
        self._aa -= ka * pa


class Angle:
    """Filter of an angle, from its own sensor and a gyro whose bias drifts slowly."""

    def __init__(self, noise_rad: float, gyro_rad_s: float, walk_rad_s2: float, dt: float) -> None:
        self._dt = dt
        self._noise2 = noise_rad * noise_rad
        self._gyro2 = gyro_rad_s * gyro_rad_s * dt * dt
        self._walk = walk_rad_s2 * walk_rad_s2 * dt * dt
        self._first2 = 25 * gyro_rad_s * gyro_rad_s
        self.nis: float | None = None
        self.known = False
        self.angle_rad = 0.0
        self.rate_rad_s = 0.0
        self._bias = 0.0
        self._rr = 0.0
        self._rb = 0.0
        self._bb = 0.0

    def predict(self, rate_rad_s: "float | None") -> None:
        """One step of time at the gyro's rate; None: at the rate before."""
        if rate_rad_s is not None:
            self.rate_rad_s = rate_rad_s - self._bias
        dt = self._dt
        self.angle_rad += self.rate_rad_s * dt
        self._rr += dt * (dt * self._bb - 2 * self._rb) + self._gyro2
        self._rb -= dt * self._bb
        self._bb += self._walk
        self.nis = None

    def correct(self, angle_rad: float) -> None:
        """Corrects by a reading; whole turns do not count."""
        if not self.known:
            self.known = True
            self.angle_rad = angle_rad
            self._rr = self._noise2
            self._rb = 0.0
            self._bb = self._first2
            return
        innovation = (angle_rad - self.angle_rad + math.pi) % (2 * math.pi) - math.pi
        variance = self._rr + self._noise2
        self.nis = innovation * innovation / variance
        kr = self._rr / variance
        kb = self._rb / variance
        self.angle_rad = (self.angle_rad + kr * innovation + math.pi) % (2 * math.pi) - math.pi
        self._bias += kb * innovation
        rr, rb = self._rr, self._rb
        self._rr = (1 - kr) * rr
        self._rb = (1 - kr) * rb
        self._bb -= kb * rb
