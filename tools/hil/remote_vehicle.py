"""A vehicle of a simulation whose controller is at the other end of a HIL link."""

import time
from typing import Protocol

from caudal.hal.serial_ports import PortError
from caudal.onboard.link.frame_counters import FrameCounters
from caudal.onboard.link.link_timeout import LinkTimeout
from caudal.onboard.log.recorder import LogWriter, TopicWriter
from caudal.onboard.run.arming import Notify
from caudal.sim_plant.world.world import Body
from caudal.tools.common.output import note, slow_notice
from caudal.tools.faults.injector import FaultInjector
from caudal.tools.hil.slew_back import Ramp

LINK_TIMEOUT_TICKS = 20  # free running: so many without a new answer, and there are no pulses
PATIENCE_S = 2.0  # lockstep: how long an answer may take before the controller counts as gone; no tick passes meanwhile
CONNECT_S = 20.0
WIRE = (
    "good",
    "lost",
    "bad",
    "late",
    "duplicate",
    "last_round_trip_us",
)  # of FrameCounters, as counted so far


class End(Protocol):
    """The plant side of a link: what connects to a controller and exchanges readings for outputs with it."""

    greetings: int
    bytes_sent: int
    bytes_received: int

    @property
    def counters(self) -> FrameCounters:
        """The frames received."""

    def connect(self, patience_s: float) -> bool:
        """Waits for a controller; False if none answered."""

    def exchange(self, tick: int, counts: list[int | None], patience_s: float) -> list[int] | None:
        """In lockstep, one tick: the outputs, or None if the controller timed out."""

    def post(self, tick: int, counts: list[int | None], gone: bool) -> None:
        """Free running: sends a tick's readings."""

    def collect(self, tick: int) -> list[int] | None:
        """Free running: the newest outputs since the last call, or None."""

    def bye(self) -> None:
        """Ends the link."""


class Remote:
    """`period_us` of its loop: while the controller is gone, time goes on about as fast as the clock (`gone_s` a tick).

    `free` running, the plant runs in real time and does not wait: outputs take effect in the tick after they
    came; the link times out after LINK_TIMEOUT_TICKS. When the controller is back, or another has taken its
    place, the `ramp` leads the joints to its set-points.
    """

    def __init__(
        self,
        name: str,
        body: Body,
        end: End,
        period_us: int,
        *,
        free: bool = False,
        connect_s: float = CONNECT_S,
        patience_s: float = PATIENCE_S,
        gone_s: float | None = None,
        ramp: Ramp | None = None,
        notify: Notify = note,
    ) -> None:
        self.name = name
        self.body = body
        self.end = end
        self.injector: FaultInjector | None = None  # of its body; its loop is on the other side
        self.fault: str | None = None
        self.gone = False
        self.gone_ticks = 0
        self.wire_s = 0.0  # spent in exchanges: the line and the controller, not the plant
        self.outputs = [0] * len(body.actuators)
        self._ramp = ramp
        self._notify = notify
        self._greetings = 0
        self._greet_s = connect_s
        self._patience_s = patience_s
        self._gone_s = period_us / 1e6 if gone_s is None else gone_s
        self._tick = 0
        self._met = not free
        self._link_timeout = LinkTimeout(LINK_TIMEOUT_TICKS) if free else None
        self._counts: list[int | None] = [None] * len(body.sensors)
        self._writer: LogWriter | None = None
        self._topics: list[TopicWriter] = []

    def arm(self) -> None:
        """The controller arms itself when the link is up: connects."""
        try:
            with slow_notice("waiting for a controller at the other end of the link", after_s=3.0):
                there = self.end.connect(self._greet_s)
            if not there:
                self.fault = "no controller answered on the link"
        except PortError as error:
            self.fault = str(error)

    def safe(self) -> None:
        """No pulses: decided by the plant side, not by the controller."""
        self.outputs = [0] * len(self.body.actuators)
        self.body.write(self.outputs)

    def record(self, writer: LogWriter) -> None:
        self._writer = writer
        sensors = [("int32", name) for name in self.body.sensors]
        actuators = [("int32", name) for name in self.body.actuators]
        truth = [("float64", name) for name in self.body.truth_fields]
        self._topics = [
            writer.topic(f"/{self.name}/counts", sensors),
            writer.topic(f"/{self.name}/outputs", actuators),
            writer.topic(f"/{self.name}/truth", truth),
            writer.topic(
                f"/{self.name}/loop", [("int32", f) for f in ("tick", "late_us", "cost_us", "armed")]
            ),
            writer.topic(f"/{self.name}/wire", [("int32", field) for field in WIRE]),
        ]

    def tick(self, time_ns: int, late_us: int) -> None:
        if self.injector:
            self.injector.step(time_ns, late_us)
        self.body.read(self._counts)
        truth = self.body.truth()
        answer = self._exchange()
        if self._ramp and (self._link_timeout or answer is None or self.end.greetings != self._greetings):
            self._greetings = self.end.greetings
            self._ramp.start()  # free running in every tick: answers may come late, and then two at a time
        self._met = self._met or answer is not None
        if self._met and (answer is None) != self.gone:
            self.gone = answer is None
            self._notify(
                f"caudal: {self.name}'s controller is {'gone, its outputs are safe' if self.gone else 'back'}"
            )
            if self._writer:
                kind = "controller gone" if self.gone else "controller back"
                self._writer.event(time_ns, kind, vehicle=self.name, tick=self._tick)
        if answer is None:
            self.gone_ticks += self._met  # free running, the first answer takes a tick
            self.safe()
        else:
            self.outputs = self._ramp.step(answer) if self._ramp else list(answer)
            self.body.write(self.outputs)
        if self._topics:
            counts, sent, true, loop, wire = self._topics
            counts.write(time_ns, self._counts)
            sent.write(time_ns, self.outputs)
            true.write(time_ns, truth)
            loop.write(time_ns, (self._tick, late_us, 0, not self.gone))
            counters = self.end.counters
            wire.write(time_ns, [getattr(counters, field) for field in WIRE])
        self._tick += 1

    def _exchange(self) -> list[int] | None:
        if self.fault:
            return None
        start = time.monotonic()
        try:
            if self._link_timeout:
                fresh = self.end.collect(self._tick)
                gone = self._link_timeout.step(fresh is not None)
                self.end.post(self._tick, self._counts, gone)
                if gone:
                    return None
                return fresh or self.outputs
            return self.end.exchange(
                self._tick, self._counts, self._gone_s if self.gone else self._patience_s
            )
        except PortError as error:
            self.fault = str(error)
            return None
        finally:
            self.wire_s += time.monotonic() - start
