"""Pilots and stations that fall silent, flood a vehicle with orders, talk nonsense, or disarm and arm it again."""

import random
from collections.abc import Callable
from typing import Any

from caudal.onboard.core import modes
from caudal.tools.faults.kinds import Fault

EVERY = 10  # ticks between two words of a pilot or a station that is there
FLOOD = 40  # orders a tick
Tell = Callable[..., Any]


def silent_pilot(fault: Fault, send: Tell, loop: Callable[[], Any], seed: int) -> Callable[[bool], None]:
    """At the sticks but while it is on."""
    count = 0

    def each(on: bool) -> None:
        nonlocal count
        count += 1
        if not on and count % EVERY == 1:
            send("sticks", 0.3, 0.0, 0.0, 0.1)
            if loop() is not None and loop().state.asked != modes.MANUAL:
                send("mode", "manual", "pilot")

    return each


def silent_station(fault: Fault, send: Tell, loop: Callable[[], Any], seed: int) -> Callable[[bool], None]:
    count = 0

    def each(on: bool) -> None:
        nonlocal count
        count += 1
        if not on and count % EVERY == 1:
            send("station")

    return each


def floods(fault: Fault, send: Tell, loop: Callable[[], Any], seed: int) -> Callable[[bool], None]:
    rng = random.Random(f"{fault} {seed}")
    orders = (("station",), ("arm",), ("sticks", 0.1, 0.0, 0.0, 0.0), ("mode", "hold", "pilot"),
              ("mode", "auto", "pilot"), ("goto", 1.0, 1.0, 0.5, None), ("begin", 0))  # fmt: skip

    def each(on: bool) -> None:
        for _ in range(FLOOD if on else 0):
            send(*rng.choice(orders))

    return each


VALUES = (
    None, True, -1, 0, 1, 3, 1.5, -0.0, 10**30, -(10**400), 1e308, float("nan"), float("inf"), "", "auto", "mission",
    "surface", "pilot", "host", "é" * 9, b"\x00", [], [[]], [1.0], [[0.0, 0.0, 0.0, 0.0]], [[1, 2, 3]], [None] * 600,
    [[float("nan")] * 4], {"a": 1}, (), object,
)  # fmt: skip
ORDER_KINDS = (
    "mode", "sticks", "goto", "mission", "begin", "station", "host", "set", "arm", "", "Arm", "disarm now", None, 7,
    [], {}, ("arm",),
)  # fmt: skip


def nonsense(fault: Fault, send: Tell, loop: Callable[[], Any], seed: int) -> Callable[[bool], None]:
    rng = random.Random(f"{fault} {seed}")

    def each(on: bool) -> None:
        for _ in range(rng.randrange(4) if on else 0):
            send(rng.choice(ORDER_KINDS), *(rng.choice(VALUES) for _ in range(rng.randrange(6))))

    return each


def rearms(fault: Fault, send: Tell, loop: Callable[[], Any], seed: int) -> Callable[[bool], None]:
    """Disarms when it begins, arms when it ends."""
    was_on = False

    def each(on: bool) -> None:
        nonlocal was_on
        if on != was_on:
            was_on = on
            send("disarm" if on else "arm")

    return each


ORDERS = {
    "silent:pilot": silent_pilot, "silent:station": silent_station, "floods:station": floods,
    "nonsense:station": nonsense, "rearms:pilot": rearms,
}  # fmt: skip
