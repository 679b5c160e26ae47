"""A vehicle of the fleet whose controller sits at the other end of a wire."""

from hal.ports import PortError
from onboard.record import Recorder, Topic
from sim_plant.world import Body
from tools.plant_end import PlantEnd


class Remote:
    def __init__(self, name: str, body: Body, end: PlantEnd) -> None:
        self.name = name
        self.body = body
        self.end = end
        self.fault: str | None = None
        self._tick = 0
        self._counts: list[int | None] = [None] * len(body.sensors)
        self._outputs = [0] * len(body.actuators)
        self._topics: list[Topic] = []

    def arm(self) -> None:
        """The controller arms itself when the wire is up: say hello."""
        try:
            if not self.end.greet():
                self.fault = "no controller answered on the wire"
        except PortError as error:
            self.fault = str(error)

    def safe(self) -> None:
        self.body.write([0] * len(self.body.actuators))

    def record(self, recorder: Recorder) -> None:
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
        outputs = None
        try:
            outputs = self.end.exchange(self._tick, self._counts) if self.fault is None else None
        except PortError as error:
            self.fault = str(error)
        if outputs is None:
            self.fault = self.fault or "the controller fell silent"
            self.safe()
            self._outputs = [0] * len(self.body.actuators)
        else:
            self._outputs = outputs
            self.body.write(outputs)
        if self._topics:
            counts, sent, true, loop = self._topics
            counts.write(time_ns, self._counts)
            sent.write(time_ns, self._outputs)
            true.write(time_ns, truth)
            loop.write(time_ns, (self._tick, late_us, 0, outputs is not None))
        self._tick += 1
