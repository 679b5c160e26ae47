"""Lift of foils with stall, quasi-steady or lagging behind their wake, at the centre of pressure.

The law is RayBot eq. 5-8, put right. With v the velocity of the centre of pressure through the water, in the
plane of chord c and normal n, and a = atan2(v.n, v.c) the angle of attack,

    F = -1/2 rho area |v|^2 (CN n + CT c)
    CN = cn s sign(a)       s = sin(pi/2 min(b / stall, 1)),     b = min(|a|, pi - |a|)
    CT = ct s r             r = sin(pi/2 (pi/2 - |a|) / stall), held at 1 and -1 outside the stall angle

The minus is not printed there; without it the force pushes along the motion. b folds CN, so that it has no jump
where a goes from pi to -pi. CT is even in a, and r turns it over at broadside, so that it opposes a foil that
moves backward too. So v.F <= 0 for every v: a foil takes energy out of still water.

Suction at a round leading edge pulls forward by the share `suction` of CN tan(a), with which lift would stand
straight across the flow; it is lost from one to two stall angles, and in flow from behind. The share is at most
1, so v.F <= 0 holds with it too.

Lag: lift answers a change of v.n by Wagner's function, in R. T. Jones' form 1 - 0.165 exp(-0.0455 s)
- 0.335 exp(-0.3 s) with s in half chords travelled; Theodorsen's function is its transform. Two states a
foil, in m/s, are the parts of v.n that tell with time; half of v.n tells at once. The angle of attack is taken
with what has told. A wake gives energy back, so no such law holds from moment to moment.

A body's foils work by the share of its hull that is under water; without a hull, whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.spatial import add, cross, dot, matrix, minus, put, scale, turned, vector
from caudal.sim_plant.base.types import F, N, Record, Records
from caudal.sim_plant.tables.water import Foil, unit, unit_across

FOIL = np.dtype(
    [("body", N), ("at", F, 3), ("chord", F, 3), ("normal", F, 3), ("pressure", F)]
    + [("cn", F), ("ct", F), ("stall_rad", F), ("suction", F)]
    # lags: has two states, at lag_at in a state; half a chord (m)
    + [("lags", N), ("lag_at", N), ("half_m", F)]
    # the states, put here before the kernel runs, and their rates, written by it
    + [("lag", F, 2), ("lag_rate", F, 2)]
)
TOLD_AT_ONCE = 0.5
SHARE_1, SHARE_2, PACE_1, PACE_2 = 0.165, 0.335, 0.0455, 0.3


def lag_states(foils: Sequence[Foil]) -> int:
    return 2 * sum(foil.lag for foil in foils)


def pack_foils(foils: Sequence[tuple[int, Foil, int]], density_kg_m3: float) -> Records:
    """Of (place of the body, foil, where its lag stands in a state)."""
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
def coefficients(foil: Record, forward: float, across: float) -> tuple[float, float]:
    """(CN, CT) with which a foil that moves by (forward, across), along chord and normal, is met."""
    angle = abs(math.atan2(across, forward))
    stall = foil.stall_rad
    folded = min(angle, math.pi - angle)
    rise = math.sin(0.5 * math.pi * min(folded / stall, 1.0))
    normal = foil.cn * rise
    beside = (0.5 * math.pi - angle) / stall
    tangent = foil.ct * rise * math.sin(0.5 * math.pi * min(max(beside, -1.0), 1.0))
    if foil.suction > 0.0 and angle < 2.0 * stall and forward > 0.0:
        kept = min(2.0 - folded / stall, 1.0)
        tangent -= foil.suction * kept * normal * abs(across) / forward
    return normal if across > 0.0 else -normal, tangent


@inner
def told_across(foil: Record, across: float, speed: float) -> float:
    """The part of v.n that the wake has let tell; writes the rates of the lag."""
    pace = speed / foil.half_m
    foil.lag_rate[0] = PACE_1 * pace * (SHARE_1 * across - foil.lag[0])
    foil.lag_rate[1] = PACE_2 * pace * (SHARE_2 * across - foil.lag[1])
    told: float = TOLD_AT_ONCE * across + foil.lag[0] + foil.lag[1]
    return told


@inner
def lift_foils(bodies: Records, foils: Records) -> None:
    """Take the foils' forces off what their bodies ask for."""
    for i in range(len(foils)):
        foil = foils[i]
        body = bodies[foil.body]
        turn = matrix(body.turn)
        chord, normal = turned(turn, vector(foil.chord, 0)), turned(turn, vector(foil.normal, 0))
        at = add(vector(body.at, 0), turned(turn, vector(foil.at, 0)))
        v = minus(add(vector(body.velocity, 0), cross(vector(body.velocity, 3), at)), vector(body.stream, 0))
        forward, across = dot(v, chord), dot(v, normal)
        squared = forward * forward + across * across
        if foil.lags:
            across = told_across(foil, across, math.sqrt(squared))
        cn, ct = coefficients(foil, forward, across)
        k = -foil.pressure * body.share * squared
        force = add(scale(k * cn, normal), scale(k * ct, chord))
        put(body.force, 0, minus(vector(body.force, 0), force))
        put(body.force, 3, minus(vector(body.force, 3), cross(at, force)))
