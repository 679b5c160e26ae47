"""The two Kalman filters a pose is made of, each small enough to be written out. Portable; floats.

`nis` is the last normalised innovation squared, (reading - expected)^2 / its variance: about 1 on average, and above
3.84 in one of twenty readings, if the noises told are the true ones. It is None when no reading was taken this tick.
"""

import math

GATE = 25.0  # an innovation beyond five sigma is an outlier...
PATIENCE = 10  # ...unless so many come in a row: then the filter is the one that is wrong


class Axis:
    """A place along one world axis: position, velocity, and a push that the model does not know.

    The model's acceleration is given at every step; the push is a noise of size push_m_s2 that remembers push_s
    (a tether, a current that turns), and drag_per_s is how the model's acceleration falls with the velocity.
    """

    def __init__(self, settings, noise_m, drag_per_s, dt):
        self._dt = dt
        self._noise2 = noise_m * noise_m
        self._keep = math.exp(-dt / settings["push_s"])
        push2 = settings["push_m_s2"] * settings["push_m_s2"]
        self._push2 = push2
        self._walk = push2 * (1 - self._keep * self._keep)
        self._drag = 1 - drag_per_s * dt
        self._jerk = settings["gust_m_s2"] * settings["gust_m_s2"] * dt * dt
        self.nis = None
        self._refused = 0
        self.known = False
        self.place_m = 0.0
        self.speed_m_s = 0.0
        self.push_m_s2 = 0.0

    def start(self, place_m):
        """The first fix: at rest, as far as one knows."""
        self.known = True
        self.place_m = place_m
        self.speed_m_s = 0.0
        self.push_m_s2 = 0.0
        self._refused = 0
        self._pp = self._noise2
        self._pv = 0.0
        self._pa = 0.0
        self._vv = 0.01
        self._va = 0.0
        self._aa = self._push2

    def predict(self, acceleration_m_s2):
        dt = self._dt
        total = acceleration_m_s2 + self.push_m_s2
        self.place_m += (self.speed_m_s + 0.5 * total * dt) * dt
        self.speed_m_s += total * dt
        self.push_m_s2 *= self._keep
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

    def correct(self, place_m):
        off = place_m - self.place_m
        spread = self._pp + self._noise2
        self.nis = off * off / spread
        if self.nis > GATE:
            self._refused += 1
            if self._refused > PATIENCE:
                self.start(place_m)
            return
        self._refused = 0
        kp = self._pp / spread
        kv = self._pv / spread
        ka = self._pa / spread
        self.place_m += kp * off
        self.speed_m_s += kv * off
        self.push_m_s2 += ka * off
        pp, pv, pa = self._pp, self._pv, self._pa
        self._pp = (1 - kp) * pp
        self._pv = (1 - kp) * pv
        self._pa = (1 - kp) * pa
        self._vv -= kv * pv
        self._va -= kv * pa
        self._aa -= ka * pa


class Angle:
    """An angle from its own sensor and a gyro with a slowly wandering bias."""

    def __init__(self, noise_rad, gyro_rad_s, walk_rad_s2, dt):
        self._dt = dt
        self._noise2 = noise_rad * noise_rad
        self._gyro2 = gyro_rad_s * gyro_rad_s * dt * dt
        self._walk = walk_rad_s2 * walk_rad_s2 * dt * dt
        self._first2 = 25 * gyro_rad_s * gyro_rad_s
        self.nis = None
        self.known = False
        self.angle_rad = 0.0
        self.rate_rad_s = 0.0
        self._bias = 0.0
        self._rr = 0.0
        self._rb = 0.0
        self._bb = 0.0

    def predict(self, rate_rad_s):
        """A turn by what the gyro says; None: it goes on as before."""
        if rate_rad_s is not None:
            self.rate_rad_s = rate_rad_s - self._bias
        dt = self._dt
        self.angle_rad += self.rate_rad_s * dt
        self._rr += dt * (dt * self._bb - 2 * self._rb) + self._gyro2
        self._rb -= dt * self._bb
        self._bb += self._walk
        self.nis = None

    def correct(self, angle_rad):
        """Takes a reading; turns by whole circles are its own affair."""
        if not self.known:
            self.known = True
            self.angle_rad = angle_rad
            self._rr = self._noise2
            self._rb = 0.0
            self._bb = self._first2
            return
        off = (angle_rad - self.angle_rad + math.pi) % (2 * math.pi) - math.pi
        spread = self._rr + self._noise2
        self.nis = off * off / spread
        kr = self._rr / spread
        kb = self._rb / spread
        self.angle_rad = (self.angle_rad + kr * off + math.pi) % (2 * math.pi) - math.pi
        self._bias += kb * off
        rr, rb = self._rr, self._rb
        self._rr = (1 - kr) * rr
        self._rb = (1 - kr) * rb
        self._bb -= kb * rb
