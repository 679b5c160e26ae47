"""Tables `plant.motor.NAME` and `plant.battery`: the motors of thrusters, and the battery that feeds them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Annotated

import numpy as np
from msgspec import Meta

from caudal.hal.tables.types import NotNegative, Number, Positive, Table
from caudal.sim_plant.tables.devices import Thruster


class Curve(Table, kw_only=True, frozen=True):
    """Measured at one battery voltage: straight lines between the points, the end values beyond them."""

    battery_v: Positive
    pulses_us: Annotated[list[Annotated[float, Meta(ge=500, le=2500)]], Meta(min_length=2)]
    forces_n: list[Number]
    currents_a: list[NotNegative]


class Motor(Table, kw_only=True, frozen=True):
    """A thruster's thrust and current by pulse, interpolated between the curves of the two nearest voltages."""

    curve: Annotated[list[Curve], Meta(min_length=1)]

    def steepest_a_per_v(self) -> float:
        """Largest growth of the current with the voltage (A/V), over all pulses."""
        steepest = 0.0
        for low, high in pairwise(self.curve):
            pulses_us = np.union1d(low.pulses_us, high.pulses_us)
            more_a = np.interp(pulses_us, high.pulses_us, high.currents_a)
            more_a -= np.interp(pulses_us, low.pulses_us, low.currents_a)
            steepest = max(steepest, float(more_a.max()) / (high.battery_v - low.battery_v))
        return steepest


class BatteryPack(Table, kw_only=True, frozen=True):
    """The battery: its voltage sags with the current, and falls in a straight line with the charge drawn."""

    volts: Positive  # full, without a load
    resistance_ohm: NotNegative = 0.0  # of cells and leads
    hotel_a: NotNegative = 0.0  # current of everything except the thrusters
    capacity_ah: Positive | None = None  # without it the battery never runs down
    volts_empty: Positive | None = None  # without a load, when the capacity is drawn


def validate_motors(motors: Mapping[str, Motor]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with motors: (key below `plant`, what is wrong and what to do)."""
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
            # Measured forces may fall a little between two points; a whole curve that falls has wrong signs.
            if len(curve.forces_n) == count and curve.forces_n[-1] <= curve.forces_n[0]:
                yield (
                    f"{at}.forces_n",
                    "the longest pulse gives no more thrust than the shortest; check signs and order.",
                )


def validate_thrusters(
    thrusters: Mapping[str, Thruster], motors: Mapping[str, Motor]
) -> Iterator[tuple[str, str]]:
    """Yield thrusters without a motor or a direction: (key below `plant`, what is wrong and what to do)."""
    for name, thruster in thrusters.items():
        if thruster.motor not in motors:
            known = f"choose from {', '.join(motors)}" if motors else f"add [plant.motor.{thruster.motor}]"
            yield f"actuator.{name}.motor", f"there is no motor {thruster.motor}; {known}."
        if math.hypot(*thruster.axis) < 1e-9:
            yield (
                f"actuator.{name}.axis",
                "the axis has no length; give one such as [1, 0, 0].",
            )


def validate_battery(
    battery: BatteryPack, thrusters: Iterable[Thruster], motors: Mapping[str, Motor], step_s: float
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a battery and its load: (key below `plant.battery`, what is wrong and what to do)."""
    if (battery.capacity_ah is None) != (battery.volts_empty is None):
        yield (
            "capacity_ah",
            "a battery that runs down needs capacity_ah and volts_empty; give both, or neither.",
        )
    if battery.volts_empty is not None and battery.volts_empty > battery.volts:
        yield (
            "volts_empty",
            f"{battery.volts_empty:g} V is above volts, {battery.volts:g} V; exchange the two.",
        )
    # The current of a step follows from the voltage of the last one; with a gain of 1 or more the two would oscillate.
    gain = 0.0
    for thruster in thrusters:
        if thruster.motor in motors:
            share = -math.expm1(-step_s / thruster.lag_s) if thruster.lag_s > 0 else 1.0
            gain += share * battery.resistance_ohm * motors[thruster.motor].steepest_a_per_v()
    if gain >= 1:
        yield (
            "resistance_ohm",
            "voltage and current would oscillate from step to step; lower it, or give the thrusters a longer lag_s.",
        )
