"""Lift of foils with stall at the centre of pressure, quasi-steady or with the lag of their wake.

The model is RayBot eq. 5-8, corrected. With v the velocity of the centre of pressure through the water, in the
plane of chord c and normal n, and a = atan2(v.n, v.c) the angle of attack,

    F = -1/2 rho area |v|^2 (CN n + CT c)
    CN = cn s sign(a)       s = sin(pi/2 min(b / stall, 1)),     b = min(|a|, pi - |a|)
    CT = ct s r             r = sin(pi/2 (pi/2 - |a|) / stall), clipped to 1 and -1 beyond the stall angle

The paper does not print the minus; without it the force pushes along the motion. b folds CN, so that it has no jump
where a goes from pi to -pi. CT is even in a, and r reverses it at broadside, so that it also opposes a foil that
moves backwards. So v.F <= 0 for every v: a foil takes energy out of still water.

Suction at a round leading edge pulls forward by the share `suction` of CN tan(a). With the whole of CN tan(a), lift
would be at a right angle to the flow. Suction is lost from one to two stall angles, and in flow from behind. The share
is at most 1, so v.F <= 0 also holds with it.

Lag: lift follows a change of v.n by Wagner's function, in R. T. Jones' form 1 - 0.165 exp(-0.0455 s)
- 0.335 exp(-0.3 s) with s in half chords travelled; Theodorsen's function is its transform. Half of v.n acts
immediately. Two states per foil, in m/s, are the parts that act with a delay. The angle of attack is that of the
lagged v.n. A wake also gives energy back, so v.F <= 0 does not hold at every instant then.

The forces on a body's foils are scaled by the immersed share of its hull; without a hull they act fully.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import add, cross, dot, matrix, rotate, scale, vector
from caudal.sim_plant.base.types import Record, Records, floats, ints
from caudal.sim_plant.tables.water import Foil, unit, unit_across
from caudal.sim_plant.water.wrench import apply_force, velocity_through_water

FOIL = np.dtype(
    ints("body")
    + floats("at chord normal", 3)
    + floats("pressure cn ct stall_rad suction")
    # lags: has two lag states, from index lag_at of a state; half_m: half a chord
    + ints("lags lag_at")
    + floats("half_m")
    # the lag states, copied here before the kernel runs, and their rates, which it writes
    + floats("lag lag_rate", 2)
)
IMMEDIATE_SHARE = 0.5
SHARE_1, SHARE_2, RATE_1, RATE_2 = 0.165, 0.335, 0.0455, 0.3


def lag_states(foils: Sequence[Foil]) -> int:
    """Number of lag states that these foils add to a state."""
    return 2 * sum(foil.lag for foil in foils)


def pack_foils(foils: Sequence[tuple[int, Foil, int]], density_kg_m3: float) -> Records:
    """FOIL records of (index of the body, foil, index of its lag in a state)."""
    rows = np.zeros(len(foils), FOIL)
    for row, (body, foil, lag_at) in zip(rows, foils, strict=True):
        row["body"], row["at"], row["chord"] = body, foil.at_m, unit(foil.chord)
        row["normal"] = unit_across(foil.normal, row["chord"])
        row["pressure"] = 0.5 * density_kg_m3 * foil.area_m2
        row["cn"], row["ct"], row["suction"] = foil.cn, foil.ct, foil.suction
        row["stall_rad"] = math.radians(foil.stall_deg)
        row["lags"], row["lag_at"], row["half_m"] = foil.lag, lag_at, 0.5 * (foil.chord_m or 0.0)
    return rows


@inner
def force_coefficients(foil: Record, forward: float, across: float) -> tuple[float, float]:
    """(CN, CT) of a foil that moves by (forward, across), along its chord and its normal."""
    angle = abs(math.atan2(across, forward))
    stall = foil.stall_rad
    folded = min(angle, math.pi - angle)
    rise = math.sin(0.5 * math.pi * min(folded / stall, 1.0))
    normal = foil.cn * rise
    from_broadside = (0.5 * math.pi - angle) / stall
    tangent = foil.ct * rise * math.sin(0.5 * math.pi * min(max(from_broadside, -1.0), 1.0))
    if foil.suction > 0.0 and angle < 2.0 * stall and forward > 0.0:
        kept = min(2.0 - folded / stall, 1.0)
        tangent -= foil.suction * kept * normal * abs(across) / forward
    return normal if across > 0.0 else -normal, tangent


@inner
def lagged_velocity(foil: Record, across: float, speed: float) -> float:
    """Effective normal velocity (m/s) behind the wake's lag; writes the rates of the lag states."""
    rate = speed / foil.half_m
    foil.lag_rate[0] = RATE_1 * rate * (SHARE_1 * across - foil.lag[0])
    foil.lag_rate[1] = RATE_2 * rate * (SHARE_2 * across - foil.lag[1])
    lagged: float = IMMEDIATE_SHARE * across + foil.lag[0] + foil.lag[1]
    return lagged


@inner
def apply_foils(bodies: Records, foils: Records) -> None:
    """Apply the foils' forces to their bodies."""
    for i in range(len(foils)):
        foil = foils[i]
        body = bodies[foil.body]
        turn = matrix(body.turn)
        chord, normal = rotate(turn, vector(foil.chord, 0)), rotate(turn, vector(foil.normal, 0))
        at = add(vector(body.at, 0), rotate(turn, vector(foil.at, 0)))
        v = velocity_through_water(body, at)
        forward, across = dot(v, chord), dot(v, normal)
        squared = forward * forward + across * across
        if foil.lags:
            across = lagged_velocity(foil, across, math.sqrt(squared))
        cn, ct = force_coefficients(foil, forward, across)
        k = -foil.pressure * body.immersed_share * squared
        force = add(scale(k * cn, normal), scale(k * ct, chord))
        apply_force(body, force, cross(at, force))
