"""Arming of a run: at a set time, by the vehicle's switch, and whether it succeeded."""

from collections.abc import Callable

from caudal.onboard.core.loop import Loop

Notify = Callable[[str], None]  # takes one sentence for the user
ARM_WITHIN_S = 10.0  # after the requested time: chips need time to start


def ignore(text: str) -> None:
    """Drops a message (a Notify)."""


class Arming:
    """Reports the first rejection of each reason, and keeps it if the vehicle is never armed."""

    def __init__(self, name: str, notify: Notify) -> None:
        self._name = name
        self._notify = notify
        self._reason = ""
        self._armed = False

    @property
    def refusal(self) -> str | None:
        """Why the vehicle was never armed, or None."""
        return f"{self._name} {self._reason}" if self._reason and not self._armed else None

    def update(self, loop: Loop) -> None:
        """After each tick. A command with a ticket comes from a ground station, which gets its own answer."""
        if loop.state.armed:
            self._armed = True
        for kind, _, ticket, refusal in loop.taken:
            if kind == "arm" and ticket is None and refusal and refusal != self._reason:
                self._reason = refusal
                self._notify(f"{self._name} {refusal}")


class ArmTimer:
    """Arms a loop at a time, or soon after; never again once it was armed or disarmed."""

    def __init__(self, loop: Loop, after_s: float | None) -> None:
        self._loop = loop
        self._tick = None if after_s is None else round(after_s * loop.rate_hz)

    def step(self) -> None:
        """Before each tick."""
        loop = self._loop
        if self._tick is not None and any(kind == "disarm" for kind, *_ in loop.taken):
            self._tick = None
        if self._tick is None or loop.ticks < self._tick:
            return
        waited = loop.ticks - self._tick
        if loop.state.armed or waited > ARM_WITHIN_S * loop.rate_hz:
            self._tick = None
        elif waited % (loop.rate_hz // 2) == 0:
            loop.arm()


class ArmSwitch:
    """Arms a loop when the vehicle's switch closes, disarms it when it opens; one closed at the start does nothing."""

    def __init__(self, loop: Loop, closed: Callable[[], bool | None]) -> None:
        self._loop = loop
        self._closed = closed
        self._open_seen = False
        self._on = False

    def step(self) -> None:
        """Before each tick."""
        closed = self._closed()
        if closed is None:
            return
        if closed and self._open_seen and not self._on:
            self._on = True
            self._loop.arm()
        elif not closed:
            self._open_seen = True
            if self._on:
                self._on = False
                self._loop.disarm()
