"""Linear waves on deep water: where the surface stands, and how the water moves below it.

A wave of amplitude A, frequency w and number k = w^2 / g raises the surface by A cos(k.x - w t + phase), and all
of it decays with depth by exp(k z). All waves ride on the current. Each body meets the water of one place, the
middle of its hull or else its origin: waves must be long beside a body. There a plane stands for the pressure
around, p = -rho g (height + up . r), with

    up = the world's up + (the acceleration of the water's particles, du/dt + u.grad u) / g

and the height by Bernoulli, so that a hull deep under water is pushed by rho V (g + acceleration), the
Froude-Krylov force, and one at the surface by the same for what of it is below the tilted plane. With u.grad u
and u^2 / 2 a lone wave is right to the second order (Stokes), and a body like water goes where the water goes.
Above z = 0 nothing decays: short waves would grow without bound on the crests of long ones.

The water's velocity there is what drag, foils, edges and slender links meet. Carried water moves by Kirchhoff's
equations in the frame that moves with the water, M_A (dv/dt - acceleration) and its turning with v - u. Left out:
how waves differ along a body, and the waves that a body makes itself (diffraction and radiation damping).
"""

from __future__ import annotations

import math

import numpy as np

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import (
    add,
    cross,
    dot,
    inertia_times,
    matrix,
    minus,
    put,
    scale,
    turned,
    turned_back,
    vector,
)
from caudal.sim_plant.base.types import F, Record, Records, Vec3
from caudal.sim_plant.tables.water import Jonswap, Wave

# Direction is where it goes, world x and y.
WAVE = np.dtype([("amplitude_m", F), ("rad_s", F), ("rad_m", F), ("direction", F, 2), ("phase_rad", F)])
BAND = (0.6, 3.0)  # of a spectrum's peak frequency: outside lies less than a fiftieth of its energy


def spectrum_waves(sea: Jonswap) -> list[Wave]:
    """One wave each equal part of the band, somewhere in it, with that part's share of the energy."""
    rng = np.random.default_rng(sea.seed)
    width = (BAND[1] - BAND[0]) / sea.components
    ratio = BAND[0] + width * (np.arange(sea.components) + rng.random(sea.components))  # to the peak
    sigma = np.where(ratio <= 1.0, 0.07, 0.09)
    peaked = sea.gamma ** np.exp(-((ratio - 1.0) ** 2) / (2 * sigma**2))
    density = ratio**-5 * np.exp(-1.25 * ratio**-4) * peaked
    # Significant height is four times the root of the mean square, the sum of half the squares.
    amplitudes = sea.significant_m / 4 * np.sqrt(2 * density / density.sum())
    phases = rng.uniform(0.0, 360.0, sea.components)
    return [
        Wave(
            amplitude_m=float(a),
            period_s=float(sea.peak_s / r),
            heading_deg=sea.heading_deg,
            phase_deg=float(p),
        )
        for a, r, p in zip(amplitudes, ratio, phases, strict=True)
    ]


def pack_waves(waves: list[Wave], gravity_m_s2: float) -> Records:
    rows = np.zeros(len(waves), WAVE)
    for row, wave in zip(rows, waves, strict=True):
        heading = math.radians(wave.heading_deg)
        row["amplitude_m"], row["rad_s"] = wave.amplitude_m, 2 * math.pi / wave.period_s
        row["rad_m"] = row["rad_s"] ** 2 / gravity_m_s2
        row["direction"], row["phase_rad"] = (
            (math.cos(heading), math.sin(heading)),
            math.radians(wave.phase_deg),
        )
    return rows


@inner
def water_at(waves: Records, x: float, y: float, z: float, time_s: float) -> tuple[float, Vec3, Vec3]:
    """(how far the waves raise the pressure's head (m), velocity, acceleration of the water), world axes.

    x and y drift with the current.
    """
    v, a, raised = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
    # Its gradient is symmetric, and what flows in across flows out up: five numbers.
    xx, xy, yy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0
    depth = min(z, 0.0)
    for i in range(len(waves)):
        wave = waves[i]
        dx, dy, w, k = wave.direction[0], wave.direction[1], wave.rad_s, wave.rad_m
        angle = k * (dx * x + dy * y) - w * time_s + wave.phase_rad
        here = wave.amplitude_m * math.exp(k * depth)
        c, s = here * math.cos(angle), here * math.sin(angle)
        v = add(v, (w * c * dx, w * c * dy, w * s))
        a = add(a, (w * w * s * dx, w * w * s * dy, -w * w * c))
        raised += c
        k *= w
        xx, xy, yy = xx - k * s * dx * dx, xy - k * s * dx * dy, yy - k * s * dy * dy
        xz, yz = xz + k * c * dx, yz + k * c * dy
    carried = (
        xx * v[0] + xy * v[1] + xz * v[2],
        xy * v[0] + yy * v[1] + yz * v[2],
        xz * v[0] + yz * v[1] - (xx + yy) * v[2],
    )
    return raised, v, add(a, carried)


@inner
def calm(water: Record, bodies: Records) -> None:
    """Still water: every body meets the world's own surface and no stream."""
    for i in range(len(bodies)):
        body = bodies[i]
        put(body.up, 0, vector(water.up, 0))
        body.height_m, body.share = water.height_m, 1.0


@inner
def ride(water: Record, bodies: Records, waves: Records) -> None:
    """Give every placed body that meets any the water around it: plane of the surface, velocity, acceleration."""
    frame, time_s = matrix(water.turn), water.time_s
    for i in range(len(bodies)):
        body = bodies[i]
        if not body.wet:
            continue
        middle = add(vector(body.at, 0), turned(matrix(body.turn), vector(body.wave_at, 0)))
        there = add(vector(water.at, 0), turned(frame, middle))
        drifted = scale(time_s, vector(water.current_m_s, 0))
        raised, v, a = water_at(waves, there[0] - drifted[0], there[1] - drifted[1], there[2], time_s)
        acceleration = turned_back(frame, a)
        up = add(vector(water.up, 0), scale(1.0 / water.gravity_m_s2, acceleration))
        put(body.up, 0, up)
        head = raised - 0.5 * dot(v, v) / water.gravity_m_s2
        body.height_m = there[2] - head - dot(up, middle)
        body.share = 1.0
        put(body.stream, 0, turned_back(frame, v))
        put(body.stream_rate, 0, acceleration)


@inner
def carry(body: Record) -> None:
    """Put right what a weighed body asks for its carried water, which was taken to be at rest around."""
    turn, at = matrix(body.turn), vector(body.at, 0)
    w = turned_back(turn, vector(body.velocity, 3))
    v = turned_back(turn, add(vector(body.velocity, 0), cross(vector(body.velocity, 3), at)))
    u, still = turned_back(turn, vector(body.stream, 0)), (0.0, 0.0, 0.0)
    p, _ = inertia_times(body.added, v, w)
    p_u, h_u = inertia_times(body.added, u, still)
    f, n = inertia_times(body.added, turned_back(turn, vector(body.stream_rate, 0)), still)
    force = turned(turn, add(f, cross(w, p_u)))
    turning = minus(cross(v, p), cross(minus(v, u), minus(p, p_u)))
    torque = turned(turn, add(add(n, cross(w, h_u)), turning))
    put(body.force, 0, minus(vector(body.force, 0), force))
    put(body.force, 3, minus(vector(body.force, 3), add(torque, cross(at, force))))
