"""Priority by null-space projection of forces, as published but corrected: the baseline for hierarchy.py. Needs numpy.

    F_s = M_s a + W_s,   M_s = (J M^-1 J')^-1,   W_s = M_s J M^-1 W          Zhang and others eq. 13-18, signs corrected
    tau = J_1' F_1 + N_1 J_2' F_2 + ...

Every N belongs to all Jacobians above it, stacked (the printed product of two projectors leaks half of the base's force
into the active limits). A limit is a task of its own, above all others, while it is active: from when it is reached and
the tasks alone would violate it, until they have not needed it for LEAVE_TICKS, or it would switch at every tick.
Bounded least squares then shares the generalised force among the inputs: their limits hold, but no task has priority.
"""

from collections.abc import Sequence

import numpy as np

from caudal.onboard.chain.arrays import Flags, Floats, inverted
from caudal.onboard.chain.barriers import BarrierRows
from caudal.onboard.chain.hierarchy import Level, SolverError, solve_qp
from caudal.onboard.chain.model import ChainModel

REACH = 0.02  # of a barrier's h: below it a limit may become active
LEAVE_TICKS = 10
LEAST = 1e-3
DAMP = 1e-6  # of task inertias, so that a singular one gives no infinite force


class NullSpaceProjection:
    """The solver of `control.solver = "law"`; `scale` is the unit of each input."""

    def __init__(self, scale: Floats) -> None:
        self._scale: Floats = np.array(scale, dtype=float)
        self._free_ticks: dict[int, int] = {}  # of each active limit: for how long no task has needed it
        self.violation = 0.0
        self.missed: list[float] = []
        self.binding: Flags = np.zeros(0, dtype=bool)

    def solve(
        self, chain: ChainModel, levels: Sequence[Level], barriers: BarrierRows, low: Floats, high: Floats
    ) -> Floats:
        """As HierarchicalSolver.solve."""
        inverse = inverted(chain.free_mass)
        tasks = [(rows[:, chain.free], demand) for rows, demand, _ in levels]
        tau = self.force(chain, inverse, tasks)
        self.binding = self._activated(chain, barriers, inverse @ (tau - chain.free_load))
        if self.binding.any():
            limits = barriers.g[self.binding][:, chain.free], barriers.limit[self.binding]
            tau = self.force(chain, inverse, [limits, *tasks])
            self.missed = self.missed[1:]
        return self._allocated(chain, tau, low, high)

    def force(self, chain: ChainModel, inverse: Floats, levels: Sequence[tuple[Floats, Floats]]) -> Floats:
        """Generalised force of levels (J, a) on the free coordinates, in order of priority."""
        load = chain.free_load
        tau: Floats = np.zeros(len(load))
        above: Floats = np.zeros((0, len(load)))
        self.missed = []
        for rows, demand in levels:
            project = projector(above, inverse)
            moved = rows @ inverse
            # what the levels above have given this one already counts
            tau = tau + project @ rows.T @ _pseudo_solved(
                moved @ project @ rows.T, demand - moved @ (tau - load)
            )
            above = np.concatenate([above, rows])
            self.missed.append(float(np.linalg.norm(demand - moved @ (tau - load))))
        # motion in which no level has a share comes to rest
        remaining: Floats = np.concatenate([chain.velocity, chain.qd])[chain.free]
        return tau + projector(above, inverse) @ (load - chain.free_mass @ remaining - tau)

    def _activated(self, chain: ChainModel, barriers: BarrierRows, alone: Floats) -> Flags:
        """Which rows are active now, at most one a joint or obstacle; `alone`: accelerations if none were."""
        active = np.zeros(len(barriers), dtype=bool)
        for owner in np.unique(barriers.owner[barriers.owner >= 0]).tolist():
            own = np.flatnonzero(barriers.owner == owner)
            k = own[np.argmin(barriers.h[own])]
            needed = barriers.g[k, chain.free] @ alone > barriers.limit[k]
            if needed and barriers.h[k] <= REACH:
                self._free_ticks[owner] = 0
            elif owner in self._free_ticks and not needed:
                self._free_ticks[owner] += 1
            active[k] = self._free_ticks.get(owner, LEAVE_TICKS) < LEAVE_TICKS
            if not active[k]:
                self._free_ticks.pop(owner, None)
        return active

    def _allocated(self, chain: ChainModel, tau: Floats, low: Floats, high: Floats) -> Floats:
        scale = self._scale
        weight = 1 / np.sqrt(chain.free_mass.diagonal())
        a = weight[:, None] * chain.free_b * scale
        h = a.T @ a + LEAST * LEAST * np.eye(len(scale))
        f = -(a.T @ (weight * tau))
        u, _ = solve_qp(h, f, np.eye(len(scale)), high / scale, low / scale)
        if u is None:
            raise SolverError("the allocation has no answer")
        return np.clip(u * scale, low, high)


def projector(above: Floats, inverse: Floats) -> Floats:
    """I - J' Jbar': forces that give the rows above no acceleration."""
    if not len(above):
        return np.eye(len(inverse))
    return np.eye(len(inverse)) - above.T @ _pseudo_solved(above @ inverse @ above.T, above @ inverse)


def _pseudo_solved(square: Floats, right: Floats) -> Floats:
    """square^-1 right for a symmetric square that may be singular: its null directions are left out."""
    sizes, vectors = np.linalg.eigh(0.5 * (square + square.T))
    keep = sizes > max(DAMP * sizes[-1], 1e-12)
    directions: Floats = vectors[:, keep]
    shares: Floats = ((directions.T @ right).T / sizes[keep]).T
    return directions @ shares
