"""Valves of hydraulic chambers: a current in microamperes goes in, the chamber's pressure comes out.

A spool follows the current with play, as wide as the valve's hysteresis. Above the cracking current the pressure grows
with it, up to the supply's. The chamber follows with its lag, in closed form, so that its pressure does not depend on
the step. Without a current the chamber empties, unless the spool is stuck.
"""

from __future__ import annotations

import math

from caudal.sim_plant.base.arrays import NEVER_US
from caudal.sim_plant.base.jit import inner
from caudal.sim_plant.base.types import Record, Records
from caudal.sim_plant.tables.devices import Valve


def pack_valve(row: Records, spec: Valve) -> None:
    """Fill a valve's part of its ACTUATOR record; the chamber is empty."""
    row["cracking_current_ua"], row["pa_per_ua"], row["supply_pa"] = (
        spec.cracking_current_ua,
        spec.pa_per_ua,
        spec.supply_pa,
    )
    row["play_ua"], row["leak_share"] = 0.5 * spec.hysteresis_ua, spec.leak_share
    row["stuck_us"] = NEVER_US if spec.stuck_from_s is None else round(spec.stuck_from_s * 1e6)
    row["leak_us"] = NEVER_US if spec.leak_from_s is None else round(spec.leak_from_s * 1e6)


@inner
def move_spool(valve: Record, current_ua: float, now_us: int) -> None:
    """Move the spool after a current (uA), unless it is stuck."""
    if now_us < valve.stuck_us:
        valve.spool_ua = min(max(valve.spool_ua, current_ua - valve.play_ua), current_ua + valve.play_ua)


@inner
def target_pa(valve: Record, now_us: int) -> float:
    """Pressure (Pa) that the chamber tends to."""
    if not valve.powered and now_us < valve.stuck_us:
        return 0.0
    target: float = min(
        max((valve.spool_ua - valve.cracking_current_ua) * valve.pa_per_ua, 0.0), valve.supply_pa
    )
    return target * (1.0 - valve.leak_share) if now_us >= valve.leak_us else target


@inner
def fill_chamber(valve: Record, now_us: int, duration_s: float) -> None:
    """Let the chamber follow its valve for duration_s > 0; sets its pressure at the end and the mean until then."""
    target, left, mean = target_pa(valve, now_us), 0.0, 0.0
    if valve.lag_s > 0.0:
        left = math.exp(-duration_s / valve.lag_s)
        mean = (1.0 - left) * valve.lag_s / duration_s
    valve.mean_pa = target + mean * (valve.pressure_pa - target)
    valve.pressure_pa = target + left * (valve.pressure_pa - target)
