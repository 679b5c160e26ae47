"""Gains of linear feedback and of linear filters: Riccati's equation, solved by doubling. Needs numpy.

    x[k+1] = F x[k] + G u[k]          least  sum of  x' Q x + u' R u

Doubling (Anderson; Chu, Fan and Lin) does in ten steps what the recursion does in a thousand: after step k it stands
where the recursion is after 2^k.
"""

import numpy as np

STEPS = 40
CLOSE = 1e-12


class NoGain(ArithmeticError):
    """What is to be steered cannot be, or cannot be seen."""


def transition(a, b, dt):
    """(F, G) over a step of dt, inputs held: the exponential of both, by halving and a short series."""
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


def worth(f, g, q, r):
    """The P of Riccati's equation: x' P x is what a state costs until it is at rest."""
    eye = np.eye(len(f))
    a, s, p = f, g @ np.linalg.solve(r, g.T), q
    with np.errstate(all="ignore"):  # what cannot be steered grows beyond all numbers
        for _ in range(STEPS):
            into = np.linalg.solve(eye + s @ p, np.hstack([a, s]))
            step, slip = into[:, : len(f)], into[:, len(f) :]
            more = a.T @ p @ step
            s = s + a @ slip @ a.T
            a, p = a @ step, p + 0.5 * (more + more.T)
            if not np.isfinite(p).all():
                break
            if np.abs(more).max() <= CLOSE * np.abs(p).max():
                return p
    raise NoGain("Riccati's equation has no answer: not all of it can be steered, or seen")


def feedback(f, g, q, r):
    """K of u = -K x."""
    p = worth(f, g, q, r)
    return np.linalg.solve(r + g.T @ p @ g, g.T @ p @ f)


def correction(f, c, w, r):
    """L of x += L (reading - C x): Kalman's, once it has settled; w and r are the variances of gusts and readings."""
    p = worth(f.T, c.T, w, r)
    return p @ c.T @ np.linalg.inv(c @ p @ c.T + r)
