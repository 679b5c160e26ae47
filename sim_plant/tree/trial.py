"""Runs a trial: the plant alone, one second at a time; the results are numbers by name.

result = run(tree_spec, trial, label)

energy_error        |energy at the end - at the start| over the initial energy above rest (or over the first energy)
energy_gain         largest rise of the energy above any earlier value, likewise: 0 if it only falls
com_drift_m         largest distance of the centre of mass from its start
roll_std_deg, max_roll_deg, roll_hz         of the base about its long axis
speed_m_s, distance_m    of the centre of mass: mean over the second half, along the first heading; net distance
max_pitch_deg, depth_m                      of the base; depth at the end
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from caudal.sim_plant.base.types import Floats
from caudal.sim_plant.tables.tree import TreeSpec
from caudal.sim_plant.tables.trial import Bend, Frozen, Trial, Undulate
from caudal.sim_plant.tree.equilibrium import find_equilibrium, rotated
from caudal.sim_plant.tree.model import Model

SAMPLE_S = 0.01
ENERGY_EVERY = 10  # samples
CHUNK_S = 1.0


def run(
    tree: TreeSpec,
    trial: Trial,
    label: str = "tree",
    on_sample: Callable[[float, Floats], None] | None = None,
) -> dict[str, float]:
    """Run a trial and return its results by name; calls on_sample(time in s, state) for every sample."""
    model = Model(replace(tree, water=trial.water), gravity=trial.gravity, label=label)
    x, rest_j = _start(model, trial)
    steps = max(1, round(min(CHUNK_S, trial.duration_s) / trial.step_s))
    every = max(1, round(SAMPLE_S / trial.step_s))
    total = max(1, round(trial.duration_s / trial.step_s))
    states, done = [x[None]], 0
    while done < total:
        count = min(steps, total - done)
        driven = motion(model, trial, done, count)
        # Up to the turning point with the acceleration before it: the jump belongs to the next step.
        chunk = model.rollout(
            x, count, trial.step_s, driven=driven, method=trial.method, time_s=done * trial.step_s
        )
        x = chunk[-1]
        rows = np.arange(1, count + 1)
        states.append(chunk[1:][(done + rows) % every == 0])
        done += count
    samples = np.concatenate(states)
    times_s = np.arange(len(samples), dtype=float) * every * trial.step_s
    if on_sample:
        for time_s, state in zip(times_s, samples, strict=True):
            on_sample(float(time_s), state)
    return _figures(model, samples, times_s, rest_j)


def motion(model: Model, trial: Trial, first: int, steps: int) -> Floats:
    """Positions, velocities and accelerations of the driven joints, (half step, 3, joint), from step `first` on."""
    t = trial.step_s * (first + 0.5 * np.arange(2 * steps + 1, dtype=float))
    driven = np.zeros((len(t), 3, len(model.driven)))
    for name, value in trial.start.joints.items():
        if name in model.driven:
            driven[:, 0, model.driven.index(name)] = value
    spec = trial.motion
    if isinstance(spec, Undulate | Frozen):
        places = np.array(spec.joint_positions_m)
        swing = spec.amplitude_rad * np.exp(spec.growth_per_m * places)
        lead = 2 * np.pi * spec.waves * places / spec.length_m
        columns = [model.driven.index(name) for name in spec.joints]
        if isinstance(spec, Frozen):
            driven[:, 0, columns] = swing * np.cos(lead)
        else:
            w = 2 * np.pi * spec.frequency_hz
            phase = lead - w * t[:, None]
            driven[:, 0, columns] = swing * np.sin(phase)
            driven[:, 1, columns] = -swing * w * np.cos(phase)
            driven[:, 2, columns] = -swing * w * w * np.sin(phase)
    elif isinstance(spec, Bend):
        columns = [model.driven.index(name) for name in spec.joints]
        driven[:, :, columns] = _bend(spec, t, first * trial.step_s)[:, :, None]
    return driven


def _bend(bend: Bend, t: Floats, from_s: float) -> Floats:
    """(time, 3) of a bend. Its acceleration jumps at half_s; a chunk that begins before it ends with the left limit."""
    half = bend.half_s
    there = (t <= half) if from_s < half else (t < half)
    s = np.clip(np.where(there, t, t - half), 0.0, half)
    sign = np.where(there, 1.0, -1.0)
    shape: Floats = np.array(
        [
            0.25 * s**4 - 0.5 * half * s**3 + 0.25 * half**2 * s**2,
            s**3 - 1.5 * half * s**2 + 0.5 * half**2 * s,
            3 * s**2 - 3 * half * s + 0.5 * half**2,
        ]
    )
    bent: Floats = (bend.scale * sign * shape).T
    return bent


def _start(model: Model, trial: Trial) -> tuple[Floats, float | None]:
    """The first state, and the energy (J) of the equilibrium before it was rotated, if it started in one."""
    x, start = model.state(), trial.start
    first = motion(model, trial, 0, 1)[0]
    for name, value in start.joints.items():
        x[model.q[name]] = value
    for k, name in enumerate(model.driven):
        x[model.q[name]] = first[0, k]
    x[2] = -start.depth_m
    rest_j = None
    if start.afloat:
        x = find_equilibrium(model, x)
        rest_j = model.energy(x)
    x = rotated(x, np.radians(start.roll_deg), np.radians(start.pitch_deg))
    for k, name in enumerate(model.driven):
        x[model.qd[name]] = first[1, k]
    if start.momentum == "none":
        rates = np.zeros(model.freedoms)
        for name in model.joints:
            rates[model.v[name]] = x[model.qd[name]]
        mass = model.mass_matrix(x)
        x[7:13] = np.linalg.solve(mass[:6, :6], -mass[:6, 6:] @ rates[6:])
    return x, rest_j


def _figures(model: Model, samples: Floats, times_s: Floats, rest_j: float | None) -> dict[str, float]:
    energies = np.array([model.energy(x) for x in [*samples[::ENERGY_EVERY], samples[-1]]])
    excess = abs(energies[0] - rest_j) if rest_j is not None else abs(energies[0])
    excess = excess or float(np.ptp(energies)) or 1.0
    centres = np.array([model.centre_of_mass(x) for x in samples[::ENERGY_EVERY]])
    w, i, j, k = samples[:, 3:7].T
    roll = np.unwrap(np.arctan2(2 * (w * i + j * k), 1 - 2 * (i * i + j * j)))
    roll_deg = (np.degrees(roll) + 180) % 360 - 180
    pitch_deg = np.degrees(np.arcsin(np.clip(2 * (w * j - k * i), -1, 1)))
    heading = np.arctan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k))[0]
    ahead = np.array([np.cos(heading), np.sin(heading), 0.0])
    half = len(centres) // 2
    span_s = (len(centres) - 1 - half) * ENERGY_EVERY * (times_s[1] - times_s[0]) if len(times_s) > 1 else 0.0
    return {
        "energy_error": float(abs(energies[-1] - energies[0]) / excess),
        "energy_gain": float(max((energies - np.minimum.accumulate(energies)).max(), 0.0) / excess),
        "com_drift_m": float(np.linalg.norm(centres - centres[0], axis=1).max()),
        "roll_std_deg": float(roll_deg.std()),
        "max_roll_deg": float(np.abs(roll_deg).max()),
        "rolled_over": int(np.abs(np.degrees(roll)).max() // 360),
        "roll_hz": _crossings_hz(roll - roll.mean(), times_s),
        "max_pitch_deg": float(np.abs(pitch_deg).max()),
        "speed_m_s": float((centres[-1] - centres[half]) @ ahead / span_s) if span_s else 0.0,
        "distance_m": float(np.linalg.norm((centres[-1] - centres[0])[:2])),
        "depth_m": float(-samples[-1, 2]),
    }


def _crossings_hz(signal: Floats, times_s: Floats) -> float:
    """Mean frequency between the first and the last upward crossing; 0 without crossings."""
    up = np.flatnonzero((signal[:-1] < 0) & (signal[1:] >= 0))
    if len(up) < 2:
        return 0.0
    at_s = times_s[up] - signal[up] / (signal[up + 1] - signal[up]) * (times_s[1] - times_s[0])
    return float((len(up) - 1) / (at_s[-1] - at_s[0]))
