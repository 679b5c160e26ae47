"""A vehicle of the fleet whose controller sits at the other end of a wire."""

import time

from hal.ports import PortError
from onboard.link.dead_man import DeadMan
from onboard.record import Recorder, Topic
from sim_plant.world import Body
from tools.plant_end import PlantEnd

DEAD_MAN_TICKS = 20
PATIENCE_S = 2.0  # lockstep: how long an answer may take before the controller counts as gone


class Remote:
    """`period_us` of its loop: while the controller is gone, time goes on about as fast as the clock.

    `free` running, the plant is paced by the clock and waits for nobody: outputs take effect in the tick after they
    came, and a dead-man of DEAD_MAN_TICKS says when the controller is gone.
    """

    def __init__(self, name: str, body: Body, end: PlantEnd, period_us: int, free: bool = False) -> None:
        self.name = name
        self.body = body
        self.end = end
        self.fault: str | None = None
        self.gone = False
        self.gone_ticks = 0
        self.wire_s = 0.0  # spent in exchanges: the line and the controller, not the plant
        self.outputs = [0] * len(body.actuators)
        self._period_s = period_us / 1e6
        self._tick = 0
        self._dead_man = DeadMan(DEAD_MAN_TICKS) if free else None
        self._counts: list[int | None] = [None] * len(body.sensors)
        self._recorder: Recorder | None = None
        self._topics: list[Topic] = []

    def arm(self) -> None:
        """The controller arms itself when the wire is up: say hello."""
        try:
            if not self.end.greet():
                self.fault = "no controller answered on the wire"
        except PortError as error:
            self.fault = str(error)

    def safe(self) -> None:
        """No pulses: this end's own judgement, not the controller's."""
        self.outputs = [0] * len(self.body.actuators)
        self.body.write(self.outputs)

    def record(self, recorder: Recorder) -> None:
        self._recorder = recorder
        sensors = [("int32", name) for name in self.body.sensors]
        actuators = [("int32", name) for name in self.body.actuators]
        truth = [("float64", name) for name in self.body.truth_fields]
        self._topics = [
            recorder.topic(f"/{self.name}/counts", sensors),
            recorder.topic(f"/{self.name}/outputs", actuators),
            recorder.topic(f"/{self.name}/truth", truth),
            recorder.topic(
                f"/{self.name}/loop", [("int32", f) for f in ("tick", "late_us", "cost_us", "armed")]
            ),
        ]

    def tick(self, time_ns: int, late_us: int) -> None:
        self.body.read(self._counts)
        truth = self.body.truth()
        answer = self._exchange()
        if (answer is None) != self.gone:
            self.gone = answer is None
            if self._recorder:
                kind = "controller gone" if self.gone else "controller back"
                self._recorder.event(time_ns, kind, vehicle=self.name, tick=self._tick)
        if answer is None:
            self.gone_ticks += 1
            self.safe()
        else:
            self.outputs = list(answer)
            self.body.write(self.outputs)
        if self._topics:
            counts, sent, true, loop = self._topics
            counts.write(time_ns, self._counts)
            sent.write(time_ns, self.outputs)
            true.write(time_ns, truth)
            loop.write(time_ns, (self._tick, late_us, 0, not self.gone))
        self._tick += 1

    def _exchange(self) -> list[int] | None:
        if self.fault:
            return None
        start = time.monotonic()
        try:
            if self._dead_man:
                fresh = self.end.collect(self._tick)
                self.end.post(self._tick, self._counts)
                if self._dead_man.step(fresh is not None):
                    return None
                return fresh or self.outputs
            return self.end.exchange(self._tick, self._counts, self._period_s if self.gone else PATIENCE_S)
        except PortError as error:
            self.fault = str(error)
            return None
        finally:
            self.wire_s += time.monotonic() - start
