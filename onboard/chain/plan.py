"""The shape by which hand and base can both have what they want, or nearly: a governor of references. Needs numpy.

A straight chain cannot feel that bending would bring its ends together; a base that is asked to be where joints do not
reach would pull the hand along; a shape that thrusters cannot hold against weight and buoyancy, or that lies in an
obstacle, is none. So the shape is planned: the bends (and the hand's heading, if that is free) that bring the base
nearest to where it is wanted while the hand is where it is led, each bend below its limit, all of the hull clear.

    keys, once:    least  |base - wanted|^2 + STAY^2 |shape - the one before|^2 + HOLD^2 |thrust|^2 + LACK^2 |lack|^2
    on the way:    least  |base - wanted|^2 + FOLLOW^2 |shape - keys|^2

by steps of Gauss and Newton. thrust is what holds the shape, lack the part of the load that no thrust can. Keys stand
at the hand's rows and between them; the first is sought from many starts, so that a straight chain knows which way to
fold. Base and shape then follow the plan, no faster than modules can be swung; where it meets the wish, it is the wish.
"""

import itertools
import math

import numpy as np

from caudal.onboard.chain.chamber import bend_vector
from caudal.onboard.chain.lead import Rows, down, euler_turn, turning
from caudal.onboard.chain.model import JOINT
from caudal.onboard.chain.soft_joint import universal_turn

FOLLOW, STAY, EASY = 2.0, 0.1, 0.02  # m a rad; keys can be held, what lies far beside them often not
HOLD, LACK = 0.03, 0.3  # m a N, m a N m
STIFF = 10.0  # m a rad, beyond a joint's limit
KEEP, SPACE_M = 5.0, 0.05  # weight of what a point lacks of being so far from where it must not be
STEP = 1e-5  # rad, of the differences
ROUNDS, ROUNDS_HELD = 25, 10
BENDS, HEADINGS = (0.7, -0.7), (0.0, 0.8, -0.8, 1.6, -1.6)  # to start from, rad
BETWEEN = 6  # keys from row to row
RATE_RAD_S, PUSH_RAD_S2, SMOOTH_PER_S = 0.08, 0.015, 0.5
EVERY = 4  # ticks, of a step of the plan: it is slow, and a tick has other things to do


class Plan:
    def __init__(self, chain, hand, base, clearance, bend_max_rad, ease_pa, dt):
        """hand: rows of a pose or of a place, base: of a place, as the scenario has them; clearance: its barrier."""
        self._chain, self._clear = chain, clearance
        self._modules, self._most, self._dt = chain.lengths_m, bend_max_rad, dt
        softs = [c.soft for c in chain.chambers]
        self._slack = [0.5 * (s["length_m"] + s["stretch_m_per_pa"] * ease_pa) for s in softs]
        self._bends = 2 * len(softs)
        self._size = self._bends + (1 if hand and len(hand[0]["to"]) == 3 else 0)
        self._keys = Rows(self._key_rows(hand, Rows(base)))
        self.start(np.zeros(self._size))

    def _key_rows(self, hand, base):
        rows, before, shape = [], None, np.zeros(self._size)
        for row in hand:
            target = np.array(row["to"], dtype=float)
            shares = np.linspace(0.0, 1.0, BETWEEN + 1)[1:] if before else (1.0,)
            for share in shares:
                at_s = before[0] + share * (row["at_s"] - before[0]) if before else row["at_s"]
                goal = (
                    *self._pose(before[1] + share * (target - before[1]) if before else target),
                    _at(base, at_s),
                )
                shape = self._held(shape if before else self._first(shape, goal), goal)
                rows.append({"at_s": at_s, "to": shape, "within_s": 0.0 if before else row["within_s"]})
            before = row["at_s"], target
        return rows

    def _first(self, straight, goal):
        found = []
        for shape in self._starts(straight):
            for _ in range(ROUNDS):
                shape = shape + limited(self._step(self._near, shape, goal, straight, EASY), 0.15)
            found.append((self._price(shape, straight, goal), shape))
        return min(found, key=lambda one: one[0])[1]

    def _starts(self, before):
        """Folded in one plane, either way, at any joints; headings all round the one before."""
        count = self._bends // 2
        for plane in (1, 0):
            for folds in itertools.product((0.0, *BENDS), repeat=count):
                shape = before.copy()
                shape[: self._bends] = 0.0
                shape[plane : self._bends : 2] = folds
                for heading in HEADINGS if self._size > self._bends else (0.0,):
                    turned = shape.copy()
                    turned[self._bends :] += heading
                    yield turned

    def _price(self, shape, before, goal):
        """Base off, hull not clear, and a little for the way from the shape before."""
        lack = self._near(shape, goal, before, 0.0)[3:]
        return (
            self._off_m(shape, goal)
            + float(np.linalg.norm(lack))
            + 0.05 * float(np.linalg.norm(shape - before))
        )

    def _held(self, shape, goal):
        before = shape
        for _ in range(ROUNDS_HELD):
            shape = shape + limited(self._step(self._load, shape, goal, before, STAY), 0.1)
        return shape

    def start(self, shape):
        """From the bends there are, and the hand's heading if that is free."""
        self.shape = np.array(shape, dtype=float)
        self.value, self.rate, self.push = self.shape, np.zeros(self._size), np.zeros(self._size)
        self._keys.start(self.shape)
        self._ticks = 0

    def step(self, time_s, place, turn, wanted):
        """On to a time at which the hand's lead is at (place, turn) and the base is wanted at `wanted`."""
        self._keys.step(time_s)
        if self._ticks % EVERY == 0:
            step = self._step(self._near, self.shape, (place, turn, wanted), self._keys.value, FOLLOW)
            self.shape = self.shape + limited(step, EVERY * RATE_RAD_S * self._dt)
        self._ticks += 1
        # as fast as can be stopped again
        left = self.shape - self.value
        far = np.abs(left)
        wish = np.minimum(np.minimum(far * SMOOTH_PER_S, np.sqrt(PUSH_RAD_S2 * far)), RATE_RAD_S)
        push = (np.sign(left) * wish - self.rate) * 2 * SMOOTH_PER_S
        self.push = np.clip(push, -PUSH_RAD_S2, PUSH_RAD_S2)
        self.rate = self.rate + self.push * self._dt
        self.value = self.value + self.rate * self._dt

    def base(self, place, turn):
        """Where the base comes to be with the planned shape."""
        return self._stands(self.value, place, turn)[0]

    def stands(self, place, turn):
        """(base's place, base's turn, slides) with the planned shape."""
        return self._stands(self.value, place, turn)[:3]

    def bends(self):
        return self.value[: self._bends]

    def heading(self):
        """(turn, spin) of a hand whose heading is free."""
        return turning([0.0, 0.0, self.value[-1]], [0.0, 0.0, self.rate[-1]])

    def bend_vectors(self):
        """The planned bends, their rates and pushes, as bend vectors."""
        count = self._bends
        value, slopes = np.empty(count), np.zeros((count, count))
        for k in range(0, count, 2):
            value[k], value[k + 1], four = bend_vector(*self.value[k : k + 2].tolist())
            slopes[k, k : k + 2], slopes[k + 1, k : k + 2] = four[:2], four[2:]
        return value, slopes @ self.rate[:count], slopes @ self.push[:count]

    def _pose(self, target):
        return down(target[:3]), euler_turn(*target[3:]) if len(target) == 6 else None

    def _off_m(self, shape, goal):
        return float(np.linalg.norm(self._stands(shape, *goal[:2])[0] - goal[2]))

    def _stands(self, shape, place, turn):
        """(base's place, base's turn, slides, points along the chain), all in the world but the slides."""
        if turn is None:
            turn = euler_turn(0.0, 0.0, shape[-1])
        at, turned, slides, points = np.zeros(3), np.eye(3), [], []
        for k, length_m in enumerate(self._modules):
            points += [at, at + 0.5 * length_m * turned[:, 0]]
            at = at + length_m * turned[:, 0]
            points.append(at)
            if k < len(self._slack):
                bent = universal_turn(*shape[2 * k : 2 * k + 2].tolist())
                half = 0.5 * math.acos(min(max(float(bent[0, 0]), -1.0), 1.0))
                slides.append(self._slack[k] * (math.tan(half) / half if half > 1e-4 else 1.0))
                at = at + slides[k] * turned[:, 0]
                points.append(at)
                turned = turned @ bent
                at = at + slides[k] * turned[:, 0]
        base_turn = turn @ turned.T
        base = place - base_turn @ at
        return base, base_turn, slides, points

    def _step(self, residual, shape, *goal):
        count = len(shape)
        here = residual(shape, *goal)
        slope = np.empty((len(here), count))
        for k in range(count):
            moved = shape.copy()
            moved[k] += STEP
            slope[:, k] = (residual(moved, *goal) - here) / STEP
        square = slope.T @ slope
        square.flat[:: count + 1] += 1e-4
        return -np.linalg.solve(square, slope.T @ here)

    def _near(self, shape, goal, keys, weight):
        place, turn, wanted = goal
        base, base_turn, _, points = self._stands(shape, place, turn)
        parts = [base - wanted, weight * (shape - keys)]
        for k in range(0, self._bends, 2):
            whole = math.acos(min(max(math.cos(shape[k]) * math.cos(shape[k + 1]), -1.0), 1.0))
            parts.append([STIFF * max(whole - self._most, 0.0)])
        if len(self._clear.radii):
            gaps = self._clear.gaps(base + np.array(points) @ base_turn.T)
            parts.append(KEEP * np.maximum(SPACE_M - gaps, 0.0).ravel())
        return np.concatenate(parts)

    def _load(self, shape, goal, keys, weight):
        """_near, and what it takes to hold the shape."""
        chain = self._chain
        _, base_turn, slides, _ = self._stands(shape, *goal[:2])
        q = np.zeros(chain.joints)
        q[chain.bends], q[0::JOINT], q[3::JOINT] = shape[: self._bends], slides, slides
        chain.update(base_turn, np.zeros(6), q, np.zeros(chain.joints), np.zeros(3 * len(slides)))
        load, b = chain.bias[chain.free], chain.free_b
        square = LACK * LACK * b.T @ b
        square.flat[:: len(square) + 1] += HOLD * HOLD
        thrust = np.linalg.solve(square, LACK * LACK * (b.T @ load))
        return np.concatenate(
            [self._near(shape, goal, keys, weight), HOLD * thrust, LACK * (load - b @ thrust)]
        )


def limited(step, most):
    size = float(np.abs(step).max())
    return step if size <= most else step * (most / size)


def _at(rows, at_s):
    rows.step(at_s)
    return down(rows.value)
