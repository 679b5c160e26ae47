"""Gains of optimal linear feedback and of Kalman filters: Riccati's equation, solved by doubling. Needs numpy.

    x[k+1] = F x[k] + G u[k]          least  sum of  x' Q x + u' R u

Doubling (Anderson; Chu, Fan and Lin) does in ten steps what the recursion does in a thousand: after step k it has
reached the recursion's result after 2^k.
"""

import numpy as np

from caudal.onboard.chain.arrays import Floats, inverted, solved

STEPS = 40
CLOSE = 1e-12


class NoGainError(ArithmeticError):
    """The system cannot be stabilised, or not all of its state can be observed."""


def transition(a: Floats, b: Floats, dt: float) -> tuple[Floats, Floats]:
    """(F, G) over a step of dt, inputs held: the matrix exponential of both, by halving and a short series."""
    n, wide = len(a), b.shape[1]
    both = np.zeros((n + wide, n + wide))
    both[:n, :n], both[:n, n:] = a * dt, b * dt
    halvings = max(0, int(np.ceil(np.log2(max(np.abs(both).sum(axis=1).max(), 1e-9)))) + 4)
    both /= 2.0**halvings
    out = term = np.eye(n + wide)
    for k in range(1, 10):
        term = term @ both / k
        out = out + term
    for _ in range(halvings):
        out = out @ out
    return out[:n, :n], out[:n, n:]


def cost_matrix(f: Floats, g: Floats, q: Floats, r: Floats) -> Floats:
    """The P of Riccati's equation: x' P x is the cost of a state until it is at rest."""
    eye = np.eye(len(f))
    a, s, p = f, g @ solved(r, g.T), q
    with np.errstate(all="ignore"):  # a state that cannot be stabilised overflows
        for _ in range(STEPS):
            into = solved(eye + s @ p, np.hstack([a, s]))
            step, slip = into[:, : len(f)], into[:, len(f) :]
            more = a.T @ p @ step
            s = s + a @ slip @ a.T
            a, p = a @ step, p + 0.5 * (more + more.T)
            if not np.isfinite(p).all():
                break
            if np.abs(more).max() <= CLOSE * np.abs(p).max():
                return p
    raise NoGainError("Riccati's equation has no answer: not all of the state can be controlled, or observed")


def feedback(f: Floats, g: Floats, q: Floats, r: Floats) -> Floats:
    """K of u = -K x."""
    p = cost_matrix(f, g, q, r)
    return solved(r + g.T @ p @ g, g.T @ p @ f)


def correction(f: Floats, c: Floats, w: Floats, r: Floats) -> Floats:
    """L of x += L (reading - C x), the steady Kalman gain; w and r are the variances of disturbances and readings."""
    p = cost_matrix(f.T, c.T, w, r)
    return p @ c.T @ inverted(c @ p @ c.T + r)
