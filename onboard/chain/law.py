"""The published law of priority, corrected: null-space projection of forces. The baseline of hierarchy.py. Needs numpy.

    F_s = M_s a + W_s,   M_s = (J M^-1 J')^-1,   W_s = M_s J M^-1 W          Zhang and others eq. 13-18, signs mended
    tau = J_1' F_1 + N_1 J_2' F_2 + ...

Every N belongs to the Jacobians above it stacked (the printed product of two projectors leaks half of the base's force
into the active limits). A limit is a task of its own, above all others, while it is active: from the moment it is
reached and the aims alone would break it, until they have wanted away from it for LEAVE_TICKS, or it would be switched
at every tick. The generalised force then goes to the inputs by bounded least squares; the inputs' limits are kept,
but nobody gives way in order.
"""

import numpy as np

from caudal.onboard.chain.hierarchy import SolverError, quadratic

REACH = 0.02  # of a barrier's h: where a limit may become active
LEAVE_TICKS = 10
LEAST = 1e-3
DAMP = 1e-6  # of task inertias, so that a singular one gives no infinite force


class Law:
    def __init__(self, scale):
        self._scale = np.array(scale, dtype=float)
        self._free_ticks = {}  # of each active limit: for how long it has not been needed
        self.broken = 0.0
        self.missed = []
        self.binding = np.zeros(0, dtype=bool)

    def solve(self, chain, levels, barriers, low, high):
        """As hierarchy.Hierarchy.solve."""
        inverse = np.linalg.inv(chain.free_mass)
        levels = [(rows[:, chain.free], asked) for rows, asked, _ in levels]
        tau = self.force(chain, inverse, levels)
        self.binding = self._activated(chain, barriers, inverse @ (tau - chain.free_load))
        if self.binding.any():
            limits = barriers.g[self.binding][:, chain.free], barriers.most[self.binding]
            tau = self.force(chain, inverse, [limits, *levels])
            self.missed = self.missed[1:]
        return self._allocated(chain, tau, low, high)

    def force(self, chain, inverse, levels):
        """Generalised force of levels (J, a) on the free coordinates, the first served first."""
        load = chain.free_load
        tau = np.zeros(len(load))
        above = np.zeros((0, len(load)))
        self.missed = []
        for rows, asked in levels:
            project = projector(above, inverse)
            moved = rows @ inverse
            # what the levels above have given this one already counts
            tau = tau + project @ rows.T @ _solved(moved @ project @ rows.T, asked - moved @ (tau - load))
            above = np.concatenate([above, rows])
            self.missed.append(float(np.linalg.norm(asked - moved @ (tau - load))))
        # what no level asks for comes to rest
        calm = np.concatenate([chain.velocity, chain.qd])[chain.free]
        return tau + projector(above, inverse) @ (load - chain.free_mass @ calm - tau)

    def _activated(self, chain, barriers, alone):
        """Which rows count now, at most one a joint or obstacle; `alone`: accelerations if none did."""
        active = np.zeros(len(barriers), dtype=bool)
        for whose in np.unique(barriers.whose[barriers.whose >= 0]).tolist():
            own = np.flatnonzero(barriers.whose == whose)
            k = own[np.argmin(barriers.h[own])]
            needed = barriers.g[k, chain.free] @ alone > barriers.most[k]
            if needed and barriers.h[k] <= REACH:
                self._free_ticks[whose] = 0
            elif whose in self._free_ticks and not needed:
                self._free_ticks[whose] += 1
            active[k] = self._free_ticks.get(whose, LEAVE_TICKS) < LEAVE_TICKS
            if not active[k]:
                self._free_ticks.pop(whose, None)
        return active

    def _allocated(self, chain, tau, low, high):
        scale = self._scale
        weight = 1 / np.sqrt(chain.free_mass.diagonal())
        a = weight[:, None] * chain.free_b * scale
        h = a.T @ a + LEAST * LEAST * np.eye(len(scale))
        f = -(a.T @ (weight * tau))
        u, _ = quadratic(h, f, np.eye(len(scale)), high / scale, low / scale)
        if u is None:
            raise SolverError("the allocation has no answer")
        return np.clip(u * scale, low, high)


def projector(above, inverse):
    """I - J' Jbar': forces that give the rows above no acceleration."""
    if not len(above):
        return np.eye(len(inverse))
    return np.eye(len(inverse)) - above.T @ _solved(above @ inverse @ above.T, above @ inverse)


def _solved(square, right):
    """square^-1 right for a symmetric square that may be singular: what it cannot give is not asked of it."""
    sizes, ways = np.linalg.eigh(0.5 * (square + square.T))
    keep = sizes > max(DAMP * sizes[-1], 1e-12)
    ways = ways[:, keep]
    return ways @ ((ways.T @ right).T / sizes[keep]).T
