"""Plan of the shape with which hand and base both meet their references, or nearly: a reference governor. Needs numpy.

A straight chain does not sense that bending would bring its ends together. A base whose reference the joints cannot
reach would pull the hand along. A shape that thrusters cannot hold against weight and buoyancy, or that lies in an
obstacle, is useless. So the shape is planned: the bends (and the hand's heading, if that is free) that bring the base
nearest to its reference while the hand is at its own, each bend below its limit, the whole hull clear.

    keys, once:     least  |base error|^2 + STAY^2 |shape - the key before|^2 + HOLD^2 |thrust|^2 + LACK^2 |lack|^2
    between them:   least  |base error|^2 + FOLLOW^2 |shape - keys|^2

by Gauss-Newton steps. thrust is what holds the shape, lack the part of the load that no thrust can hold. There are keys
at the hand's rows and between them. The first is searched from many starts, so that a straight chain knows which way to
fold. Base and shape then follow the plan, no faster than modules can be swung.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from caudal.onboard.chain.arrays import Floats, solved
from caudal.onboard.chain.barriers import Clearance
from caudal.onboard.chain.chamber import bend_vector
from caudal.onboard.chain.model import JOINT, ChainModel
from caudal.onboard.chain.references import RowReference
from caudal.onboard.chain.rotations import euler_motion, euler_rotation, flip_z
from caudal.onboard.chain.soft_joint import universal_rotation
from caudal.onboard.tables.chain import TaskRow

FOLLOW, STAY, FIRST = 2.0, 0.1, 0.02  # m a rad; keys can be held, shapes far from them often not
HOLD, LACK = 0.03, 0.3  # m a N, m a N m
STIFF = 10.0  # m a rad, beyond a joint's limit
KEEP, SPACE_M = 5.0, 0.05  # weight of the distance that a point lacks to SPACE_M from the limit
STEP = 1e-5  # rad, of the differences
ROUNDS, ROUNDS_HELD = 25, 10
BENDS, HEADINGS = (0.7, -0.7), (0.0, 0.8, -0.8, 1.6, -1.6)  # to start from, rad
BETWEEN = 6  # keys from row to row
RATE_RAD_S, ACCELERATION_RAD_S2, SMOOTH_PER_S = 0.08, 0.015, 0.5
EVERY = 4  # ticks between two steps of the plan: it is slow, and a step costs a good part of a tick

# (the hand's position, its rotation or None if its heading is free, the base's reference), all in world axes
Goal = tuple[Floats, Floats | None, Floats]
Residual = Callable[[Floats, Goal, Floats, float], Floats]  # of a shape, for a goal, keys and their weight


class ShapePlan:
    """The planned shape; `value`, `rate` and `acceleration` are what base and shape follow."""

    def __init__(
        self,
        chain: ChainModel,
        hand: Sequence[TaskRow],
        base: Sequence[TaskRow],
        clearance: Clearance,
        bend_max_rad: float,
        ease_pa: float,
        dt: float,
    ) -> None:
        """hand: rows of a pose or of a position, base: of a position, as the scenario has them; clearance: its
        barrier."""
        self._chain, self._clearance = chain, clearance
        self._modules, self._most, self._dt = chain.lengths_m, bend_max_rad, dt
        self._slack = [0.5 * (c.length_m + c.stretch_m_per_pa * ease_pa) for c in chain.chambers]
        self._bends = 2 * len(chain.chambers)
        self._size = self._bends + (1 if hand and len(hand[0].to) == 3 else 0)
        self._keys = RowReference(self._key_rows(hand, RowReference(base)))
        self.start(np.zeros(self._size))

    def _key_rows(self, hand: Sequence[TaskRow], base: RowReference) -> list[TaskRow]:
        rows: list[TaskRow] = []
        before: tuple[float, Floats] | None = None
        shape = np.zeros(self._size)
        for row in hand:
            target = np.array(row.to, dtype=float)
            shares = np.linspace(0.0, 1.0, BETWEEN + 1)[1:].tolist() if before else [1.0]
            for share in shares:
                at_s = before[0] + share * (row.at_s - before[0]) if before else row.at_s
                pose = self._pose(before[1] + share * (target - before[1]) if before else target)
                goal = (*pose, _position_at(base, at_s))
                shape = self._held(shape if before else self._first(shape, goal), goal)
                within_s = 0.0 if before else row.within_s
                rows.append(TaskRow(at_s=at_s, to=shape.tolist(), within_s=within_s))
            before = row.at_s, target
        return rows

    def _first(self, straight: Floats, goal: Goal) -> Floats:
        found = []
        for shape in self._starts(straight):
            for _ in range(ROUNDS):
                shape = shape + limited(self._step(self._near, shape, goal, straight, FIRST), 0.15)
            found.append((self._price(shape, straight, goal), shape))
        return min(found, key=lambda one: one[0])[1]

    def _starts(self, before: Floats) -> Iterator[Floats]:
        """Folded in one plane, either way, at any joints; headings all around the one before."""
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

    def _price(self, shape: Floats, before: Floats, goal: Goal) -> float:
        """Error of the base, lack of clearance, and a little for the change from the shape before."""
        lack = self._near(shape, goal, before, 0.0)[3:]
        return (
            self._base_error_m(shape, goal)
            + float(np.linalg.norm(lack))
            + 0.05 * float(np.linalg.norm(shape - before))
        )

    def _held(self, shape: Floats, goal: Goal) -> Floats:
        before = shape
        for _ in range(ROUNDS_HELD):
            shape = shape + limited(self._step(self._load, shape, goal, before, STAY), 0.1)
        return shape

    def start(self, shape: Floats) -> None:
        """Begin at the present bends, and the hand's heading if that is free."""
        self.shape: Floats = np.array(shape, dtype=float)
        self.value = self.shape
        self.rate: Floats = np.zeros(self._size)
        self.acceleration: Floats = np.zeros(self._size)
        self._keys.start(self.shape)
        self._ticks = 0

    def step(self, time_s: float, position: Floats, rotation: Floats | None, base: Floats) -> None:
        """Go to a time at which the hand's reference is (position, rotation) and the base's is `base`."""
        self._keys.step(time_s)
        if self._ticks % EVERY == 0:
            step = self._step(self._near, self.shape, (position, rotation, base), self._keys.value, FOLLOW)
            self.shape = self.shape + limited(step, EVERY * RATE_RAD_S * self._dt)
        self._ticks += 1
        # as fast as can be stopped again
        gap = self.shape - self.value
        size = np.abs(gap)
        speed = np.minimum(np.minimum(size * SMOOTH_PER_S, np.sqrt(ACCELERATION_RAD_S2 * size)), RATE_RAD_S)
        acceleration = (np.sign(gap) * speed - self.rate) * 2 * SMOOTH_PER_S
        self.acceleration = np.clip(acceleration, -ACCELERATION_RAD_S2, ACCELERATION_RAD_S2)
        self.rate = self.rate + self.acceleration * self._dt
        self.value = self.value + self.rate * self._dt

    def base(self, position: Floats, rotation: Floats | None) -> Floats:
        """The base's position with the planned shape and the hand there."""
        return self._frames(self.value, position, rotation)[0]

    def frames(self, position: Floats, rotation: Floats | None) -> tuple[Floats, Floats, list[float]]:
        """(base's position, base's rotation, slides) with the planned shape and the hand there."""
        return self._frames(self.value, position, rotation)[:3]

    def bends(self) -> Floats:
        """th1 and th2 of each joint, planned."""
        return self.value[: self._bends]

    def heading(self) -> tuple[Floats, Floats]:
        """(rotation, angular velocity) of a hand whose heading is free."""
        return euler_motion([0.0, 0.0, self.value[-1]], [0.0, 0.0, self.rate[-1]])

    def bend_vectors(self) -> tuple[Floats, Floats, Floats]:
        """The planned bends, their rates and accelerations, as bend vectors."""
        count = self._bends
        value, slopes = np.empty(count), np.zeros((count, count))
        for k in range(0, count, 2):
            value[k], value[k + 1], four = bend_vector(*self.value[k : k + 2].tolist())
            slopes[k, k : k + 2], slopes[k + 1, k : k + 2] = four[:2], four[2:]
        return value, slopes @ self.rate[:count], slopes @ self.acceleration[:count]

    def _pose(self, target: Floats) -> tuple[Floats, Floats | None]:
        return flip_z(target[:3]), euler_rotation(*target[3:]) if len(target) == 6 else None

    def _base_error_m(self, shape: Floats, goal: Goal) -> float:
        return float(np.linalg.norm(self._frames(shape, *goal[:2])[0] - goal[2]))

    def _frames(
        self, shape: Floats, position: Floats, rotation: Floats | None
    ) -> tuple[Floats, Floats, list[float], list[Floats]]:
        """(base's position, base's rotation, slides, points along the chain in base axes) with the hand there."""
        if rotation is None:
            rotation = euler_rotation(0.0, 0.0, shape[-1])
        at, turned = np.zeros(3), np.eye(3)
        slides: list[float] = []
        points: list[Floats] = []
        for k, length_m in enumerate(self._modules):
            points += [at, at + 0.5 * length_m * turned[:, 0]]
            at = at + length_m * turned[:, 0]
            points.append(at)
            if k < len(self._slack):
                bent = universal_rotation(*shape[2 * k : 2 * k + 2].tolist())
                half = 0.5 * math.acos(min(max(float(bent[0, 0]), -1.0), 1.0))
                slides.append(self._slack[k] * (math.tan(half) / half if half > 1e-4 else 1.0))
                at = at + slides[k] * turned[:, 0]
                points.append(at)
                turned = turned @ bent
                at = at + slides[k] * turned[:, 0]
        base_rotation = rotation @ turned.T
        base = position - base_rotation @ at
        return base, base_rotation, slides, points

    def _step(self, residual: Residual, shape: Floats, goal: Goal, keys: Floats, weight: float) -> Floats:
        """A Gauss-Newton step of the shape."""
        count = len(shape)
        here = residual(shape, goal, keys, weight)
        slope = np.empty((len(here), count))
        for k in range(count):
            moved = shape.copy()
            moved[k] += STEP
            slope[:, k] = (residual(moved, goal, keys, weight) - here) / STEP
        square = slope.T @ slope
        square.flat[:: count + 1] += 1e-4
        return -solved(square, slope.T @ here)

    def _near(self, shape: Floats, goal: Goal, keys: Floats, weight: float) -> Floats:
        """Residuals: the base's error, distance from the keys, bends beyond the limit, lack of clearance."""
        position, rotation, wanted = goal
        base, base_rotation, _, points = self._frames(shape, position, rotation)
        parts: list[Floats | list[float]] = [base - wanted, weight * (shape - keys)]
        for k in range(0, self._bends, 2):
            bend = math.acos(min(max(math.cos(shape[k]) * math.cos(shape[k + 1]), -1.0), 1.0))
            parts.append([STIFF * max(bend - self._most, 0.0)])
        if len(self._clearance.radii):
            gaps = self._clearance.gaps(base + np.array(points) @ base_rotation.T)
            parts.append(KEEP * np.maximum(SPACE_M - gaps, 0.0).ravel())
        return np.concatenate(parts)

    def _load(self, shape: Floats, goal: Goal, keys: Floats, weight: float) -> Floats:
        """Residuals of _near, and what it takes to hold the shape."""
        chain = self._chain
        _, base_rotation, slides, _ = self._frames(shape, *goal[:2])
        q = np.zeros(chain.joints)
        q[chain.bends], q[0::JOINT], q[3::JOINT] = shape[: self._bends], slides, slides
        chain.update(base_rotation, np.zeros(6), q, np.zeros(chain.joints), np.zeros(3 * len(slides)))
        load, b = chain.bias[chain.free], chain.free_b
        square = LACK * LACK * b.T @ b
        square.flat[:: len(square) + 1] += HOLD * HOLD
        thrust = solved(square, LACK * LACK * (b.T @ load))
        return np.concatenate(
            [self._near(shape, goal, keys, weight), HOLD * thrust, LACK * (load - b @ thrust)]
        )


def limited(step: Floats, most: float) -> Floats:
    """A step, shortened so that no part of it is larger than `most`."""
    size = float(np.abs(step).max())
    return step if size <= most else step * (most / size)


def _position_at(rows: RowReference, at_s: float) -> Floats:
    rows.step(at_s)
    return flip_z(rows.value)
