"""Linear waves on deep water: the position of the surface, and the motion of the water below it.

A wave of amplitude A, frequency w and wave number k = w^2 / g raises the surface by A cos(k.x - w t + phase). Its
motion decays with depth by exp(k z). All waves drift with the current. Each body takes the water at one point, the
middle of its hull or else its origin: waves must be long compared with a body. There the pressure is that of a plane,
p = -rho g (height + up . r), with

    up = the world's up + (the acceleration of the water's particles, du/dt + u.grad u) / g

and the height by Bernoulli. So the force on a hull deep under water is rho V (g + acceleration), the Froude-Krylov
force. On a hull at the surface it is that of its part below the tilted plane. With u.grad u and u^2 / 2 a single wave
is right to second order (Stokes). A body of the density of water then moves with the water. Above z = 0 nothing
decays: short waves would grow without bound on the crests of long ones.

Drag, foils, edges and slender links see the velocity of the water there. The added mass moves by Kirchhoff's equations
in the frame that moves with the water: M_A (dv/dt - acceleration), and its rotation with v - u. Left out: how waves
change along a body, and the waves that a body makes itself (diffraction and radiation damping).
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
    rotate,
    rotate_back,
    scale,
    store,
    subtract,
    vector,
)
from caudal.sim_plant.base.types import Record, Records, Vec3, floats
from caudal.sim_plant.tables.water import Jonswap, Wave
from caudal.sim_plant.water.wrench import apply_force

# Direction of travel: world x and y.
WAVE = np.dtype(floats("amplitude_m rad_s rad_m phase_rad") + floats("direction", 2))
BAND = (0.6, 3.0)  # of a spectrum's peak frequency; less than 2 % of the energy is outside


def spectrum_waves(sea: Jonswap) -> list[Wave]:
    """Waves of a JONSWAP sea: one in each equal part of the band, at random in it, with the energy of that part."""
    rng = np.random.default_rng(sea.seed)
    width = (BAND[1] - BAND[0]) / sea.components
    ratio = BAND[0] + width * (np.arange(sea.components) + rng.random(sea.components))  # to the peak
    sigma = np.where(ratio <= 1.0, 0.07, 0.09)
    peaked = sea.gamma ** np.exp(-((ratio - 1.0) ** 2) / (2 * sigma**2))
    density = ratio**-5 * np.exp(-1.25 * ratio**-4) * peaked
    # Significant height is four times the RMS elevation; its square is the sum of half the squared amplitudes.
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
    """WAVE records."""
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
def wave_motion(waves: Records, x: float, y: float, z: float, time_s: float) -> tuple[float, Vec3, Vec3]:
    """(rise of the pressure head (m), velocity, acceleration of the water) of all waves at a point, world axes.

    x and y are relative to water that drifts with the current.
    """
    v, a, raised = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
    # The velocity gradient is symmetric and has no trace: five numbers.
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
    convective = (
        xx * v[0] + xy * v[1] + xz * v[2],
        xy * v[0] + yy * v[1] + yz * v[2],
        xz * v[0] + yz * v[1] - (xx + yy) * v[2],
    )
    return raised, v, add(a, convective)


@inner
def set_still_water(water: Record, bodies: Records) -> None:
    """Still water: give every body the surface of the world and no water velocity."""
    for i in range(len(bodies)):
        body = bodies[i]
        store(body.up, 0, vector(water.up, 0))
        body.height_m, body.immersed_share = water.height_m, 1.0


@inner
def set_wave_motion(water: Record, bodies: Records, waves: Records) -> None:
    """Give every placed body the water around it: surface plane, velocity and acceleration, base axes."""
    frame, time_s = matrix(water.turn), water.time_s
    for i in range(len(bodies)):
        body = bodies[i]
        if not body.wet:
            continue
        middle = add(vector(body.at, 0), rotate(matrix(body.turn), vector(body.wave_at, 0)))
        there = add(vector(water.at, 0), rotate(frame, middle))
        drifted = scale(time_s, vector(water.current_m_s, 0))
        raised, v, a = wave_motion(waves, there[0] - drifted[0], there[1] - drifted[1], there[2], time_s)
        acceleration = rotate_back(frame, a)
        up = add(vector(water.up, 0), scale(1.0 / water.gravity_m_s2, acceleration))
        store(body.up, 0, up)
        head = raised - 0.5 * dot(v, v) / water.gravity_m_s2
        body.height_m = there[2] - head - dot(up, middle)
        body.immersed_share = 1.0
        store(body.water_velocity, 0, rotate_back(frame, v))
        store(body.water_acceleration, 0, acceleration)


@inner
def apply_carried_water(body: Record) -> None:
    """Correct a body's bias force for the motion of its added mass; body_bias takes the water to be at rest."""
    turn, at = matrix(body.turn), vector(body.at, 0)
    w = rotate_back(turn, vector(body.velocity, 3))
    v = rotate_back(turn, add(vector(body.velocity, 0), cross(vector(body.velocity, 3), at)))
    u, zero = rotate_back(turn, vector(body.water_velocity, 0)), (0.0, 0.0, 0.0)
    p, _ = inertia_times(body.added, v, w)
    p_u, h_u = inertia_times(body.added, u, zero)
    f, n = inertia_times(body.added, rotate_back(turn, vector(body.water_acceleration, 0)), zero)
    force = rotate(turn, add(f, cross(w, p_u)))
    turning = subtract(cross(v, p), cross(subtract(v, u), subtract(p, p_u)))
    torque = rotate(turn, add(add(n, cross(w, h_u)), turning))
    apply_force(body, force, add(torque, cross(at, force)))
