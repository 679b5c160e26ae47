"""Tables `plant.motor.NAME` and `plant.battery`: what thrusters push with, and what feeds them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Annotated

import numpy as np
from msgspec import Meta

from caudal.sim_plant.tables.devices import Thruster
from caudal.sim_plant.tables.types import AtLeastZero, Number, Positive, Table


class Curve(Table, kw_only=True, frozen=True):
    """Measured at one battery voltage: straight lines between the points, the end values beyond them."""

    battery_v: Positive
    pulses_us: Annotated[list[Annotated[float, Meta(ge=500, le=2500)]], Meta(min_length=2)]
    forces_n: list[Number]
    currents_a: list[AtLeastZero]


class Motor(Table, kw_only=True, frozen=True):
    """A thruster's push and current by pulse, blended between the curves of the two nearest voltages."""

    curve: Annotated[list[Curve], Meta(min_length=1)]

    def steepest_a_per_v(self) -> float:
        """The most that its current grows with the voltage, over all pulses."""
        steepest = 0.0
        for low, high in pairwise(self.curve):
            pulses_us = np.union1d(low.pulses_us, high.pulses_us)
            more_a = np.interp(pulses_us, high.pulses_us, high.currents_a)
            more_a -= np.interp(pulses_us, low.pulses_us, low.currents_a)
            steepest = max(steepest, float(more_a.max()) / (high.battery_v - low.battery_v))
        return steepest


class Pack(Table, kw_only=True, frozen=True):
    """The battery: its voltage sags with the current, and falls in a straight line with the charge drawn."""

    volts: Positive  # full, without a load
    resistance_ohm: AtLeastZero = 0.0  # of cells and leads
    hotel_a: AtLeastZero = 0.0  # what all but the thrusters draws
    capacity_ah: Positive | None = None  # without it the charge lasts
    volts_empty: Positive | None = None  # without a load, when that is drawn


def motor_problems(motors: Mapping[str, Motor]) -> Iterator[tuple[str, str]]:
    """What is wrong with motors: (key below `plant`, what to do)."""
    for name, motor in motors.items():
        volts = [curve.battery_v for curve in motor.curve]
        if any(high <= low for low, high in pairwise(volts)):
            yield f"motor.{name}.curve", f"battery_v must grow from curve to curve, found {volts}; sort them."
        for k, curve in enumerate(motor.curve):
            at, count = f"motor.{name}.curve.{k}", len(curve.pulses_us)
            for key in ("forces_n", "currents_a"):
                if len(getattr(curve, key)) != count:
                    yield (
                        f"{at}.{key}",
                        f"{len(getattr(curve, key))} numbers for {count} pulses; give one for each pulse.",
                    )
            for low, high in pairwise(curve.pulses_us):
                if high <= low:
                    yield (
                        f"{at}.pulses_us",
                        f"pulses must grow, but {high:g} follows {low:g}; sort the points.",
                    )
            # Measured forces may fall a little between two points; a whole curve that does is upside down.
            if len(curve.forces_n) == count and curve.forces_n[-1] <= curve.forces_n[0]:
                yield (
                    f"{at}.forces_n",
                    "the longest pulse pushes no more than the shortest; check signs and order.",
                )


def thruster_problems(
    thrusters: Mapping[str, Thruster], motors: Mapping[str, Motor]
) -> Iterator[tuple[str, str]]:
    """Whether each thruster has a motor and a direction: (key below `plant`, what to do)."""
    for name, thruster in thrusters.items():
        if thruster.motor not in motors:
            known = f"choose from {', '.join(motors)}" if motors else f"add [plant.motor.{thruster.motor}]"
            yield f"actuator.{name}.motor", f"there is no motor {thruster.motor}; {known}."
        if math.hypot(*thruster.axis) < 1e-9:
            yield (
                f"actuator.{name}.axis",
                "an axis of no length has no direction; give one such as [1, 0, 0].",
            )


def pack_problems(
    pack: Pack, thrusters: Iterable[Thruster], motors: Mapping[str, Motor], step_s: float
) -> Iterator[tuple[str, str]]:
    """What is wrong with a battery and what it feeds: (key below `plant.battery`, what to do)."""
    if (pack.capacity_ah is None) != (pack.volts_empty is None):
        yield (
            "capacity_ah",
            "a battery that runs down needs capacity_ah and volts_empty; give both, or neither.",
        )
    if pack.volts_empty is not None and pack.volts_empty > pack.volts:
        yield "volts_empty", f"{pack.volts_empty:g} V is above volts, {pack.volts:g} V; exchange them."
    # Each step's current is that of the last step's voltage; from a gain of 1 on the two would swing.
    gain = 0.0
    for thruster in thrusters:
        if thruster.motor in motors:
            share = -math.expm1(-step_s / thruster.lag_s) if thruster.lag_s > 0 else 1.0
            gain += share * pack.resistance_ohm * motors[thruster.motor].steepest_a_per_v()
    if gain >= 1:
        yield (
            "resistance_ohm",
            "voltage and current would swing from step to step; lower it, or give the thrusters a longer lag_s.",
        )
