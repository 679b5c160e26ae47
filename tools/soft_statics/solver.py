"""Statics of a chain of modules and soft joints, clamped at its base in a cross flow, under any kinematic model.

One mechanics for all models: the balance of generalised forces, springs against the virtual work of the drag,

    k (q - q_rest) = sum over Gauss points of J' f,      f = (c_n |v_n| v_n + c_t |v_t| v_t) ds

with v the flow, across and along the section there. The springs are those of one material: an arc of bending
stiffness K and axial stiffness k is n arcs in series of n K and n k, and a universal joint of K about both axes
with 2 k on either side. World axes are the base's: x along the straight chain, y the way of the flow.
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
TURN_RAD = 0.4  # by which a bend may change in one step of the flow, so that no other balance is jumped to
CLOSE = 1e-11  # step of Newton's that ends it, rad and m
DIFFERENCE = 1e-6  # rad and m


class NoBalance(Exception):
    """The chain finds no rest beyond this flow."""

    def __init__(self, flow_m_s: float) -> None:
        super().__init__(f"no balance beyond {flow_m_s:.3g} m/s")
        self.flow_m_s = flow_m_s


@dataclass(frozen=True)
class Resistance:
    """What the water does to a length of the chain."""

    across_n_s2_m3: float  # 1/2 rho d C_d
    along_n_s2_m3: float


@dataclass(frozen=True)
class Module:
    length_m: float
    drag: Resistance


@dataclass(frozen=True)
class Joint:
    length_m: float
    bending_n_m_rad: float
    axial_n_m: float  # N per metre
    drag: Resistance


@dataclass(frozen=True)
class Laid:
    """A chain under one model: its kinematics, its springs, where they rest, and each part's drag."""

    chain: Series
    stiffness: np.ndarray
    rest: np.ndarray
    drag: list[Resistance]
    joints: list[tuple[int, int]]  # first part of each joint, and the part behind it


@dataclass(frozen=True)
class Balance:
    laid: Laid
    q: np.ndarray

    @property
    def displacement_m(self) -> np.ndarray:
        """Of the end, from where it rests in still water."""
        chain = self.laid.chain
        return chain.transform(self.q)[:3, 3] - chain.transform(self.laid.rest)[:3, 3]

    def bends_rad(self) -> list[float]:
        """By how much each joint turns the chain's axis, positive to port."""
        chain, bends = self.laid.chain, []
        for first, behind in self.laid.joints:
            near, far = (chain.reach(self.q, part)[0][:3, :3] for part in (first, behind))
            ahead = near.T @ far[:, 0]
            bends.append(float(np.arctan2(np.copysign(np.hypot(*ahead[1:]), ahead[1]), ahead[0])))
        return bends

    def line_m(self, points: int = 9) -> np.ndarray:
        """(point, 3): the chain's axis, for a picture."""
        chain, shares = self.laid.chain, np.linspace(0, 1, points)
        return np.array(
            [chain.section(self.q, part, s)[0][:3, 3] for part in range(len(chain.parts)) for s in shares]
        )


def lay(parts: Sequence[Module | Joint], model: str, pieces: int, bends_rad: Sequence[float]) -> Laid:
    """The chain under a model (suj, cc, pcc), its joints at rest bent to port by these angles."""
    bends = iter(bends_rad)
    kinematics: list[SoftJoint] = []
    stiffness: list[float] = []
    rest: list[float] = []
    drag: list[Resistance] = []
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
    return Laid(Series(kinematics), np.array(stiffness), np.array(rest), drag, joints)


def rest_in_flow(laid: Laid, flow_m_s: float) -> Balance:
    """Where the chain comes to rest when the flow rises slowly from nothing, by Newton's method along the way."""
    q, share, step = laid.rest, 0.0, 1.0
    while share < 1.0:
        to = min(1.0, share + step)
        found = newton(laid, q, to * flow_m_s)
        if found is not None and np.abs(found - q).max() < TURN_RAD:
            q, share, step = found, to, 1.6 * step
        elif step > 1e-4:
            step *= 0.4
        else:
            raise NoBalance(share * flow_m_s)
    return Balance(laid, q)


def newton(laid: Laid, q: np.ndarray, flow_m_s: float) -> np.ndarray | None:
    """A balance near q that lasts, or None where there is none near enough."""
    before, slope = 0.0, np.empty((len(q), len(q)))
    for _ in range(40):
        off = residual(laid, q, flow_m_s)
        size = np.abs(off / laid.stiffness).max()
        if size >= 0.1 * before:  # a slope is dear: an old one does as long as it leads on well
            for k, step in enumerate(DIFFERENCE * np.eye(len(q))):
                slope[:, k] = (residual(laid, q + step, flow_m_s) - off) / DIFFERENCE
        before = size
        change = np.linalg.solve(slope, -off)
        if not np.all(np.abs(change) < 1.0):  # off to another turn
            return None
        q = q + change
        if np.abs(change).max() < CLOSE:
            lasts = np.linalg.eigvals(slope / laid.stiffness[:, None]).real.min() > 0
            return q if lasts else None
    return None


def residual(laid: Laid, q: np.ndarray, flow_m_s: float) -> np.ndarray:
    """Springs less drag, N for lengths and N m for angles."""
    chain, flow = laid.chain, np.array([0.0, flow_m_s, 0.0])
    off = laid.stiffness * (q - laid.rest)
    near, jacobian = np.eye(4), np.zeros((6, len(q)))
    for part, place, drag in zip(chain.parts, chain.places, laid.drag, strict=True):
        turn, wrench = near[:3, :3], np.zeros(6)  # all on this part, about its near end
        for share, weight_m in gauss(part, q[place]):
            at, moves = part.at(q[place], share)
            force = weight_m * resisted(turn @ at[:3, 0], flow, drag)
            off[place] -= moves[:3].T @ (turn.T @ force)
            wrench[:3] += force
            wrench[3:] += cross(turn @ at[:3, 3], force)
        off -= jacobian.T @ wrench
        near, jacobian = onto(near, jacobian, part.transform(q[place]), part.jacobian(q[place]), place)
    return off


def gauss(part: SoftJoint, q: np.ndarray) -> list[tuple[float, float]]:
    """Gauss points of a part: share of it, and the length each stands for. A straight length needs but one."""
    if isinstance(part, Universal):
        return [(0.25, q[0]), (0.75, q[3])]
    if isinstance(part, ConstantCurvature):
        return [(share, weight * q[0]) for share, weight in ARC]
    assert isinstance(part, Rigid)
    return [(0.5, part.length_m)]


def resisted(along: np.ndarray, flow: np.ndarray, drag: Resistance) -> np.ndarray:
    """Force of the flow on a metre of the chain, N/m."""
    v_t = along @ flow
    v_n = flow - v_t * along
    return drag.across_n_s2_m3 * np.sqrt(v_n @ v_n) * v_n + drag.along_n_s2_m3 * abs(v_t) * v_t * along
