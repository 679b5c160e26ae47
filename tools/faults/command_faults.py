"""Faults of those who send commands: a pilot or ground station that times out, floods, sends nonsense or re-arms."""

import random
from collections.abc import Callable

from caudal.onboard.core import modes
from caudal.onboard.core.loop import Loop
from caudal.tools.faults.kinds import Fault

EVERY = 10  # ticks between two messages of a pilot or a station that is present
FLOOD = 40  # commands a tick
Send = Callable[..., None]
Each = Callable[[bool], None]  # called every tick: is the fault on


def silent_pilot(fault: Fault, send: Send, loop: Callable[[], Loop | None], seed: int) -> Each:
    """A pilot who controls manually, except while the fault is on."""

    def control() -> None:
        send("sticks", 0.3, 0.0, 0.0, 0.1)
        running = loop()
        if running is not None and running.state.requested_mode != modes.MANUAL:
            send("mode", "manual", "pilot")

    return _while_off(control)


def silent_station(fault: Fault, send: Send, loop: Callable[[], Loop | None], seed: int) -> Each:
    """A ground station that sends its heartbeat, except while the fault is on."""
    return _while_off(lambda: send("station"))


def _while_off(act: Callable[[], None]) -> Each:
    count = 0

    def each(on: bool) -> None:
        nonlocal count
        count += 1
        if not on and count % EVERY == 1:
            act()

    return each


def floods(fault: Fault, send: Send, loop: Callable[[], Loop | None], seed: int) -> Each:
    """More valid commands than a tick takes."""
    rng = random.Random(f"{fault} {seed}")
    commands = (("station",), ("arm",), ("sticks", 0.1, 0.0, 0.0, 0.0), ("mode", "hold", "pilot"),
                ("mode", "auto", "pilot"), ("goto", 1.0, 1.0, 0.5, None), ("begin", 0))  # fmt: skip

    def each(on: bool) -> None:
        for _ in range(FLOOD if on else 0):
            send(*rng.choice(commands))

    return each


VALUES: tuple[object, ...] = (
    None, True, -1, 0, 1, 3, 1.5, -0.0, 10**30, -(10**400), 1e308, float("nan"), float("inf"), "", "auto", "mission",
    "surface", "pilot", "host", "é" * 9, b"\x00", [], [[]], [1.0], [[0.0, 0.0, 0.0, 0.0]], [[1, 2, 3]], [None] * 600,
    [[float("nan")] * 4], {"a": 1}, (), object,
)  # fmt: skip
COMMAND_KINDS: tuple[object, ...] = (
    "mode", "sticks", "goto", "mission", "begin", "station", "host", "set", "arm", "", "Arm", "disarm now", None, 7,
    [], {}, ("arm",),
)  # fmt: skip


def nonsense(fault: Fault, send: Send, loop: Callable[[], Loop | None], seed: int) -> Each:
    """Commands of unknown kinds with values of wrong types and sizes."""
    rng = random.Random(f"{fault} {seed}")

    def each(on: bool) -> None:
        for _ in range(rng.randrange(4) if on else 0):
            send(rng.choice(COMMAND_KINDS), *(rng.choice(VALUES) for _ in range(rng.randrange(6))))

    return each


def rearms(fault: Fault, send: Send, loop: Callable[[], Loop | None], seed: int) -> Each:
    """Disarms when the fault begins, arms when it ends."""
    was_on = False

    def each(on: bool) -> None:
        nonlocal was_on
        if on != was_on:
            was_on = on
            send("disarm" if on else "arm")

    return each


COMMAND_FAULTS = {
    "silent:pilot": silent_pilot, "silent:station": silent_station, "floods:station": floods,
    "nonsense:station": nonsense, "rearms:pilot": rearms,
}  # fmt: skip
