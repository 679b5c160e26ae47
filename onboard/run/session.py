"""One vehicle's tick with everything that accompanies it on a computer. CPython only.

An on-vehicle run, a simulated vehicle, the controller side of a HIL link and a replay are sessions. They differ in
what gives them the time, and in what they add `before` and `after` the tick.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from caudal.onboard.core.loop import Loop
from caudal.onboard.log.recorder import LogWriter
from caudal.onboard.log.tick_log import TickLog
from caudal.onboard.run.arming import Arming, Notify, ignore
from caudal.onboard.run.param_keeper import ParamKeeper
from caudal.onboard.station.bridge import Bridge


class Devices(Protocol):
    """A driver whose devices may be lost and come back."""

    @property
    def hung(self) -> bool:
        """Does a bus hang?"""

    def news(self) -> Iterable[tuple[str, str, str]]:
        """Events since the last call: kind, device, reason."""


class Session:
    """Ground stations, tick log, parameters, device events and arming of one loop.

    `before(time_ns, late_us)` gives the lateness, or None if the loop stalls for this tick; each of `after` is called
    with the session and the time (ns).
    """

    def __init__(
        self, name: str, loop: Loop, *, devices: Devices | None = None, notify: Notify = ignore
    ) -> None:
        self.name = name
        self.loop = loop
        self.arming = Arming(name, notify)
        self.bridge: Bridge | None = None
        self.params: ParamKeeper | None = None
        self.before: Callable[[int, int], int | None] = on_time
        self.after: list[Callable[[Session, int], None]] = []
        self.device_events: list[str] = []  # of the last tick
        self._devices = devices
        self._hung = False  # as the loop knows
        self._notify = notify
        self._writer: LogWriter | None = None
        self._tick_log: TickLog | None = None

    @property
    def fault(self) -> str | None:
        """Why the loop has stopped safe, or None."""
        return self.loop.fault

    def arm(self) -> None:
        """Sends the command."""
        self.loop.arm()

    def safe(self) -> None:
        """Puts the actuators into their safe state."""
        self.loop.board.safe()

    def record(self, writer: LogWriter) -> None:
        """Logs every tick from now on."""
        self._writer = writer
        self._tick_log = TickLog(writer, self.name, self.loop)

    def tick(self, time_ns: int, late_us: int) -> None:
        """One tick, at a time of the log (ns)."""
        loop, devices, bridge = self.loop, self._devices, self.bridge
        if devices and devices.hung != self._hung:
            self._hung = not self._hung
            loop.send("host", "bus_hung", int(self._hung))
        late = self.before(time_ns, late_us)
        if late is None:
            return
        start_ns = time.perf_counter_ns()
        if bridge:
            bridge.before()
        loop.tick(late)
        notes = bridge.after() if bridge else ()
        if self._tick_log:
            self._tick_log.write(time_ns, (time.perf_counter_ns() - start_ns) // 1000)
        for kind, details in notes:
            self._event(time_ns, kind, **details)
        if devices:
            self.device_events = []
            for kind, device, reason in devices.news():
                self.device_events.append(f"{kind}: {device}: {reason}")
                self._notify(self.device_events[-1])
                self._event(time_ns, kind, vehicle=self.name, tick=loop.ticks, device=device, reason=reason)
        if self.params:
            for sentence in self.params.after_tick():
                self._notify(sentence)
                self._event(time_ns, "params", vehicle=self.name, reason=sentence)
        self.arming.update(loop)
        for call in self.after:
            call(self, time_ns)

    def _event(self, time_ns: int, kind: str, **details: Any) -> None:
        if self._writer:
            self._writer.event(time_ns, kind, **details)


def on_time(time_ns: int, late_us: int) -> int:
    """The lateness as the clock gives it."""
    return late_us
