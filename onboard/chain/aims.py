"""What a chain can be asked for: rows of accelerations, each aim some of them. Needs numpy.

    rows(chain, place) -> (J, a):   J dv/dt = a   is what the aim wants of the chain's accelerations

    a = a_ref + kp e + ki sum e + kd (v_ref - v) - (what there is without any acceleration)

All three poles of an error's way to nothing are at -pole_per_s: kp = 3 p^2, ki = p^3, kd = 3 p. An aim's lead
(lead.py) says where it is to be; vectors stand in the base's axes. The sum of an aim that limits or higher aims keep
from being met stands still, or it would wind up (`learn`).
"""

import math

import numpy as np

from caudal.onboard.chain.lead import down, euler_angles
from caudal.onboard.chain.model import cross


def rotation_vector(turn):
    """Axis times angle of a rotation."""
    c = min(max(0.5 * (turn[0, 0] + turn[1, 1] + turn[2, 2] - 1.0), -1.0), 1.0)
    angle = math.acos(c)
    off = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    if angle < 1e-6:
        return 0.5 * off
    if angle > math.pi - 1e-4:  # half a turn: the axis from the symmetric part
        square = 0.5 * (turn + np.eye(3))
        k = int(np.argmax(square.diagonal()))
        return angle * square[:, k] / math.sqrt(max(square[k, k], 1e-12))
    return off * (0.5 * angle / math.sin(angle))


class Aim:
    """An aim whose errors are summed up in steps of dt."""

    def __init__(self, settings, lead, dt):
        self.name = settings["name"]
        self.damping = settings["damping"]
        self.lead = lead
        pole = settings["pole_per_s"]
        self._gains = 3 * pole * pole, pole * pole * pole, 3 * pole
        self._most = settings["sum_limit"]
        self._leash = settings["leash"]
        self._dt = dt
        self.sum = 0.0
        self.error = np.zeros(0)
        self.missed = 0.0  # by the solver, in the last tick

    def start(self, chain, place):
        """Begin the lead where the chain is; `chain` is up to date."""
        self.lead.start(self.seen(chain, place))

    def seen(self, chain, place):
        """What the lead's numbers are now."""
        raise NotImplementedError

    def rows(self, chain, place):
        raise NotImplementedError

    def learn(self, met):
        """Let the errors of this tick count, if the aim was met as well as it was asked for."""
        if met:
            self.sum = np.clip(self.sum + self._gains[1] * self._dt * self.error, -self._most, self._most)

    def forget(self):
        self.sum = 0.0

    def _ask(self, error, rate_error):
        """A far error asks for no more than one of `leash`: its way back comes to a steady speed, pole times leash, and
        is no leap."""
        self.error = error
        size = math.sqrt(float(error @ error))
        near = error if size <= self._leash else error * (self._leash / size)
        return self._gains[0] * near + self._gains[2] * rate_error + self.sum


class FrameAim(Aim):
    """Of a frame: `module` is its module's number, at_m its place in that module's frame."""

    def __init__(self, settings, lead, dt, module, at_m):
        super().__init__(settings, lead, dt)
        self._module = module
        self._body = np.array([3 * module])
        self._at_m = np.array(at_m, dtype=float)

    def frame(self, chain):
        """(turn, place) of the frame in base axes."""
        turn, at = chain.module_end(self._module)
        return turn, at + turn @ self._at_m

    def stands(self, chain, place):
        """The frame's place in the world."""
        return place + chain.turn @ self.frame(chain)[1]


class PositionAim(FrameAim):
    def seen(self, chain, place):
        return down(self.stands(chain, place))

    def rows(self, chain, place):
        _, at = self.frame(chain)
        rows, drift, speed = chain.point_rows(self._body, at[None])
        lead, back = self.lead, chain.turn.T
        error = back @ (lead.place - place) - at
        ask = self._ask(error, back @ lead.speed - speed[0])
        return rows[0], ask + back @ lead.push - drift[0]


class TurnAim(FrameAim):
    def seen(self, chain, place):
        return euler_angles(chain.turn @ self.frame(chain)[0])

    def rows(self, chain, place):
        turn, _ = self.frame(chain)
        rows, drift, spin = chain.turn_rows(self._body[0])
        back = chain.turn.T
        error = rotation_vector(back @ self.lead.turn @ turn.T)
        return rows, self._ask(error, back @ self.lead.spin - spin) - drift


class LookAim(FrameAim):
    """Points the frame's x axis at the lead's place; how it is rolled about that axis is free."""

    def seen(self, chain, place):
        turn, _ = self.frame(chain)
        return down(self.stands(chain, place) + chain.turn @ turn[:, 0])

    def rows(self, chain, place):
        turn, at = self.frame(chain)
        rows, drift, spin = chain.turn_rows(self._body[0])
        way = chain.turn.T @ (self.lead.place - place) - at
        way = way / max(float(np.linalg.norm(way)), 1e-6)
        across = turn[:, 1:].T
        ask = self._ask(across @ cross(turn[:, 0], way), -(across @ spin))
        return across @ rows, ask - across @ drift


class PoseAim(FrameAim):
    """Place and turn of one frame, as one level."""

    def __init__(self, settings, lead, dt, module, at_m):
        super().__init__(settings, lead, dt, module, at_m)
        self._place = PositionAim(settings, lead, dt, module, at_m)
        self._turn = TurnAim(settings, lead, dt, module, at_m)

    def seen(self, chain, place):
        return np.concatenate([self._place.seen(chain, place), self._turn.seen(chain, place)])

    def rows(self, chain, place):
        upper, ask = self._place.rows(chain, place)
        lower, turn_ask = self._turn.rows(chain, place)
        self.error = np.concatenate([self._place.error, self._turn.error])
        return np.concatenate([upper, lower]), np.concatenate([ask, turn_ask])

    def learn(self, met):
        self._place.learn(met)
        self._turn.learn(met)

    def forget(self):
        self._place.forget()
        self._turn.forget()


class ShapeAim(Aim):
    """The bend vector of every soft joint: to port and up."""

    def seen(self, chain, place):
        return chain.bend.copy()

    def rows(self, chain, place):
        lead = self.lead
        return chain.bend_rows, self._ask(lead.value - chain.bend, lead.rate - chain.bend_rate) + lead.push


class SpeedAim(FrameAim):
    """A frame's speed through the water along one of its axes: an error of the speed is an error's rate."""

    def __init__(self, settings, lead, dt, module, at_m):
        super().__init__(settings, lead, dt, module, at_m)
        self._axis = WAYS[settings["way"]]

    def seen(self, chain, place):
        return self.rows_of_axis(chain)[2]

    def rows_of_axis(self, chain):
        """(row, what there is without any acceleration, speed) along the axis, which turns with the frame."""
        turn, at = self.frame(chain)
        rows, drift, speed = chain.point_rows(self._body, at[None])
        axis, (_, _, spin) = turn[:, self._axis], chain.turn_rows(self._body[0])
        turning = float(cross(spin, axis) @ speed[0])
        return axis[None] @ rows[0], np.array([axis @ drift[0] + turning]), np.array([axis @ speed[0]])

    def rows(self, chain, place):
        row, drift, speed = self.rows_of_axis(chain)
        return row, self._ask(np.zeros(1), self.lead.value - speed) + self.lead.rate - drift


WAYS = {"ahead": 0, "port": 1, "up": 2}
FRAME_AIMS = {"pose": PoseAim, "position": PositionAim, "turn": TurnAim, "look": LookAim, "speed": SpeedAim}
