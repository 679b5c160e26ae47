"""Control allocation: thruster forces for a wrench, within their limits (Panetsos and Kyriakopoulos eq. 5-6).

    wrench = B f         column i of B: the axis e_i of thruster i, and r_i x e_i

B's pseudo-inverse gives the forces of least effort. Where one exceeds its limit, the forces first move along B's null
space, which does not change the wrench. If that is not enough, the whole wrench is scaled down and keeps its direction.
A wrench outside B's range (fewer than six directions) is met by least squares. Dead thrusters are dropped from B.
Portable; floats.
"""

import math

from caudal.onboard.control.matrix import dot, inverse, product, times, transposed, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.tables.thrusters import ThrusterPlace

HALVINGS = 24  # to the best move along a null direction
REGULARIZATION = 1e-9


def thruster_matrix(thrusters: "list[ThrusterPlace]") -> list[list[float]]:
    """B, 6 x n."""
    b = zeros(6, len(thrusters))
    for k, thruster in enumerate(thrusters):
        x, y, z = thruster.at_m
        length = math.sqrt(dot(thruster.axis, thruster.axis))
        ex, ey, ez = [value / length for value in thruster.axis]
        column = (ex, ey, ez, y * ez - z * ey, z * ex - x * ez, x * ey - y * ex)
        for i in range(6):
            b[i][k] = column[i]
    return b


def column(b: list[list[float]], k: int) -> list[float]:
    """Column k."""
    return [row[k] for row in b]


def pseudo_inverse(b: list[list[float]]) -> list[list[float]]:
    """B^T (B B^T + tiny)^-1: exact where B has rank six, least squares otherwise."""
    square = product(b, transposed(b))
    for i in range(len(square)):
        square[i][i] += REGULARIZATION
    return product(transposed(b), inverse(square))


def null_directions(b: list[list[float]], pseudo: list[list[float]]) -> list[list[float]]:
    """Orthonormal forces whose wrench is zero."""
    n = len(b[0])
    back = product(pseudo, b)
    found: list[list[float]] = []
    for k in range(n):
        v = [(1.0 if i == k else 0.0) - back[i][k] for i in range(n)]
        for other in found:
            part = dot(v, other)
            v = [a - part * c for a, c in zip(v, other)]
        length = math.sqrt(dot(v, v))
        if length > 1e-3 and dot(column(b, k), column(b, k)):  # not of a dropped thruster
            found.append([value / length for value in v])
    return found


class Allocation:
    """`forces(wrench)` sets `force`; `share` of the wrench was possible (1: all of it)."""

    def __init__(self, thrusters: "list[ThrusterPlace]", low: list[float], high: list[float]) -> None:
        self.b = thruster_matrix(thrusters)
        self._low = low  # N, below 0
        self._high = high  # N, above 0
        self.force = [0.0] * len(thrusters)
        self.share = 1.0
        self.dropped = [False] * len(thrusters)
        self.drop(self.dropped)

    def drop(self, dead: list[bool]) -> None:
        """Sets which thrusters are dead; their force is 0 from now on, that of the others no longer."""
        self.dropped = list(dead)
        able = [[0.0 if off else value for value, off in zip(row, dead)] for row in self.b]
        self._pseudo = pseudo_inverse(able)
        self._null = null_directions(able, self._pseudo)

    def forces(self, wrench: list[float]) -> list[float]:
        """The forces for a wrench, N."""
        force = self.force
        times(self._pseudo, wrench, force)
        worst = self._worst(force)
        if worst > 1.0:
            for direction in self._null:
                worst = self._relieve(direction)
        self.share = 1.0
        if worst > 1.0:
            self.share = 1.0 / worst
            for i in range(len(force)):
                force[i] *= self.share
        return force

    def _worst(self, force: list[float]) -> float:
        """The largest force, as a share of its limit."""
        worst = 0.0
        for i in range(len(force)):
            share = force[i] / (self._high[i] if force[i] > 0 else self._low[i])
            if share > worst:
                worst = share
        return worst

    def _along(self, direction: list[float], t: float) -> tuple[float, bool]:
        """The largest share after a move by t, and whether it grows with t."""
        worst = 0.0
        grows = False
        for i in range(len(direction)):
            moved = self.force[i] + t * direction[i]
            limit = self._high[i] if moved > 0 else self._low[i]
            if moved / limit > worst:
                worst = moved / limit
                grows = direction[i] * limit > 0
        return worst, grows

    def _relieve(self, direction: list[float]) -> float:
        """Moves along a null direction to the least largest share, by bisection: it is convex in t."""
        reach = 0.0
        for i in range(len(self.force)):
            if abs(self.force[i]) > reach:
                reach = abs(self.force[i])
        low = -2.0 * reach
        high = 2.0 * reach
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            _, grows = self._along(direction, middle)
            if grows:
                high = middle
            else:
                low = middle
        t = 0.5 * (low + high)
        for i in range(len(direction)):
            self.force[i] += t * direction[i]
        return self._worst(self.force)
