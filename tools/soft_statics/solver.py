"""Statics of a chain of modules and soft joints, clamped at its base in a cross flow, under any kinematic model.

All models balance the same generalised forces: springs against the virtual work of the drag,

    k (q - q_rest) = sum over Gauss points of J' f,      f = (c_n |v_n| v_n + c_t |v_t| v_t) ds

with v the flow, across and along the section there. All models have the springs of one material: an arc of bending
stiffness K and axial stiffness k is n arcs in series of n K and n k, or a universal joint of K about both axes with
2 k on either side. World axes are those of the base: x along the straight chain, y in the direction of the flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from caudal.onboard.chain.soft_joint import (
    ConstantCurvature,
    Rigid,
    Series,
    SoftJoint,
    Universal,
    cross,
    onto,
    universal_like,
)

AT, WEIGHT = np.polynomial.legendre.leggauss(4)  # along an arc
ARC = [(0.5 * (1 + at), 0.5 * weight) for at, weight in zip(AT, WEIGHT, strict=True)]
MOST_TURN_RAD = 0.4  # change of a bending angle per step of the flow, so that no other equilibrium is reached
CLOSE = 1e-11  # last step of Newton's method, rad and m
DIFFERENCE = 1e-6  # rad and m


class NoEquilibrium(Exception):
    """The chain has no stable equilibrium beyond this speed of the flow (m/s)."""

    def __init__(self, flow_m_s: float) -> None:
        super().__init__(f"no equilibrium beyond {flow_m_s:.3g} m/s")
        self.flow_m_s = flow_m_s


@dataclass(frozen=True)
class Drag:
    """Drag coefficients per length of the chain."""

    across_n_s2_m3: float  # 1/2 rho d C_d
    along_n_s2_m3: float


@dataclass(frozen=True)
class Module:
    """A rigid part of the chain."""

    length_m: float
    drag: Drag


@dataclass(frozen=True)
class Joint:
    """A soft joint of the chain."""

    length_m: float
    bending_n_m_rad: float
    axial_n_m: float  # N per metre
    drag: Drag


@dataclass(frozen=True)
class Chain:
    """A chain under one model: its kinematics, springs, coordinates at rest, and the drag of each part."""

    kinematics: Series
    stiffness: np.ndarray
    rest: np.ndarray
    drag: list[Drag]
    joints: list[tuple[int, int]]  # first part of each joint, and the part after it


@dataclass(frozen=True)
class Equilibrium:
    """The coordinates of a chain at rest in a flow."""

    chain: Chain
    q: np.ndarray

    @property
    def displacement_m(self) -> np.ndarray:
        """The displacement of the end from its position in still water."""
        transform = self.chain.kinematics.transform
        displacement_m: np.ndarray = transform(self.q)[:3, 3] - transform(self.chain.rest)[:3, 3]
        return displacement_m

    def bends_rad(self) -> list[float]:
        """Returns the angle by which each joint turns the axis of the chain, positive to port."""
        bends = []
        for first, after in self.chain.joints:
            near, far = (self.chain.kinematics.reach(self.q, part)[0][:3, :3] for part in (first, after))
            ahead = near.T @ far[:, 0]
            bends.append(float(np.arctan2(np.copysign(np.hypot(*ahead[1:]), ahead[1]), ahead[0])))
        return bends

    def line_m(self, points: int = 9) -> np.ndarray:
        """Returns the axis of the chain (point, 3) for a plot."""
        kinematics, shares = self.chain.kinematics, np.linspace(0, 1, points)
        parts = range(len(kinematics.parts))
        return np.array([kinematics.section(self.q, part, s)[0][:3, 3] for part in parts for s in shares])


def build_chain(
    parts: Sequence[Module | Joint], model: str, pieces: int, bends_rad: Sequence[float]
) -> Chain:
    """Builds the chain under a model (suj, cc, pcc) with joints that rest at these bending angles to port."""
    bends = iter(bends_rad)
    kinematics: list[SoftJoint] = []
    stiffness: list[float] = []
    rest: list[float] = []
    drag: list[Drag] = []
    joints = []
    for part in parts:
        if isinstance(part, Module):
            kinematics.append(Rigid(part.length_m))
            drag.append(part.drag)
            continue
        arc = (part.length_m, 0.0, next(bends))
        many = pieces if model == "pcc" else 1
        joints.append((len(kinematics), len(kinematics) + many))
        drag += [part.drag] * many
        if model == "suj":
            kinematics.append(Universal(part.length_m))
            side = 2 * part.axial_n_m
            stiffness += [side, part.bending_n_m_rad, part.bending_n_m_rad, side]
            rest += list(universal_like(arc))
        else:
            kinematics += [ConstantCurvature(part.length_m / many)] * many
            stiffness += [
                many * k for k in (part.axial_n_m, part.bending_n_m_rad, part.bending_n_m_rad)
            ] * many
            rest += [value / many for value in arc] * many
    return Chain(Series(kinematics), np.array(stiffness), np.array(rest), drag, joints)


def equilibrium_in_flow(chain: Chain, flow_m_s: float) -> Equilibrium:
    """Finds the equilibrium that is reached when the flow rises slowly from 0, by Newton's method in steps."""
    q, share, step = chain.rest, 0.0, 1.0
    while share < 1.0:
        to = min(1.0, share + step)
        found = newton(chain, q, to * flow_m_s)
        if found is not None and np.abs(found - q).max() < MOST_TURN_RAD:
            q, share, step = found, to, 1.6 * step
        elif step > 1e-4:
            step *= 0.4
        else:
            raise NoEquilibrium(share * flow_m_s)
    return Equilibrium(chain, q)


def newton(chain: Chain, q: np.ndarray, flow_m_s: float) -> np.ndarray | None:
    """Finds a stable equilibrium near q, or returns None where there is none."""
    before, slope = 0.0, np.empty((len(q), len(q)))
    for _ in range(40):
        force = residual(chain, q, flow_m_s)
        size = np.abs(force / chain.stiffness).max()
        if size >= 0.1 * before:  # the slope is expensive: an old one is used as long as it converges well
            for k, step in enumerate(DIFFERENCE * np.eye(len(q))):
                slope[:, k] = (residual(chain, q + step, flow_m_s) - force) / DIFFERENCE
        before = size
        change = np.linalg.solve(slope, -force)
        if not np.all(np.abs(change) < 1.0):  # diverges
            return None
        q = q + change
        if np.abs(change).max() < CLOSE:
            stable = np.linalg.eigvals(slope / chain.stiffness[:, None]).real.min() > 0
            return q if stable else None
    return None


def residual(chain: Chain, q: np.ndarray, flow_m_s: float) -> np.ndarray:
    """Returns spring forces minus drag, N for lengths and N m for angles."""
    kinematics, flow = chain.kinematics, np.array([0.0, flow_m_s, 0.0])
    force: np.ndarray = chain.stiffness * (q - chain.rest)
    near, jacobian = np.eye(4), np.zeros((6, len(q)))
    for part, place, drag in zip(kinematics.parts, kinematics.places, chain.drag, strict=True):
        rotation, wrench = near[:3, :3], np.zeros(6)  # wrench: on this part, about its near end
        for share, weight_m in gauss_points(part, q[place]):
            at, moves = part.at(q[place], share)
            drag_n = weight_m * drag_n_m(rotation @ at[:3, 0], flow, drag)
            force[place] -= moves[:3].T @ (rotation.T @ drag_n)
            wrench[:3] += drag_n
            wrench[3:] += cross(rotation @ at[:3, 3], drag_n)
        force -= jacobian.T @ wrench
        near, jacobian = onto(near, jacobian, part.transform(q[place]), part.jacobian(q[place]), place)
    return force


def gauss_points(part: SoftJoint, q: np.ndarray) -> list[tuple[float, float]]:
    """Returns the Gauss points of a part: (share of its length, weight in m); one is enough for a straight length."""
    if isinstance(part, Universal):
        return [(0.25, q[0]), (0.75, q[3])]
    if isinstance(part, ConstantCurvature):
        return [(share, weight * q[0]) for share, weight in ARC]
    assert isinstance(part, Rigid)
    return [(0.5, part.length_m)]


def drag_n_m(along: np.ndarray, flow: np.ndarray, drag: Drag) -> np.ndarray:
    """Returns the force of the flow per metre of the chain, N/m."""
    v_t = along @ flow
    v_n = flow - v_t * along
    force: np.ndarray = (
        drag.across_n_s2_m3 * np.sqrt(v_n @ v_n) * v_n + drag.along_n_s2_m3 * abs(v_t) * v_t * along
    )
    return force
