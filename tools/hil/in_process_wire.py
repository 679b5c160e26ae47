"""A HIL link within one process: real frames, plant side and controller side, and simulated waiting.

On a serial line, waiting for an answer takes real time. Here the controller answers within the write, and time passes
only while the plant waits for what does not come; so a run with lost frames, a cut or a kill is the same every time.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from caudal.onboard.core.loop import Loop
from caudal.onboard.link.controller import Controller
from caudal.onboard.link.frame import BYE
from caudal.onboard.log.recorder import LogWriter
from caudal.onboard.run.arming import ignore
from caudal.onboard.run.link_controller import SessionController
from caudal.onboard.run.session import Session, on_time
from caudal.onboard.tables.read import Scenario
from caudal.sim_plant.world.world import Body
from caudal.tools.config.vehicle import Vehicle
from caudal.tools.faults.faulty_port import FaultyPort
from caudal.tools.faults.injector import FaultInjector
from caudal.tools.hil.plant_side import PlantSide
from caudal.tools.hil.remote_vehicle import Remote
from caudal.tools.hil.slew_back import Ramp

if TYPE_CHECKING:
    from caudal.onboard.link.controller import Port

LINK_TIMEOUT_S = 2.0  # the controller's own, as caudal run --on hil has it


class InProcessWire:
    """A line; the plant writes and reads, and the controller on the other side answers within the write."""

    def __init__(self, make: Callable[["Port"], Controller]) -> None:
        self.now_s = 0.0
        self.controller: Controller | None = None
        self._make = make
        self._back = bytearray()
        self._received_s = 0.0
        self.start()

    def start(self) -> None:
        """Starts a controller."""
        self.controller = self._make(_ControllersEnd(self._back))

    def kill(self) -> None:
        """Ends the controller at once."""
        self.controller = None
        self._back.clear()

    def write(self, buffer: bytearray, count: int) -> None:
        """Gives the controller the plant's bytes."""
        controller = self.controller
        if controller is None:
            return
        controller.decoder.feed(buffer, count)
        while controller.decoder.next():
            self._received_s = self.now_s
            controller.timed_out = False
            if controller.decoder.kind != BYE:
                controller.answer()

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        """The controller's bytes, or none after the (simulated) timeout."""
        count = min(len(self._back), len(buffer))
        if not count:
            self.now_s += timeout_ms / 1000
            if self.controller and self.now_s - self._received_s >= LINK_TIMEOUT_S:
                self.controller.on_timeout()
        buffer[:count] = self._back[:count]
        del self._back[:count]
        return count

    def close(self) -> None:
        """There is nothing to close."""


class _ControllersEnd:
    def __init__(self, back: bytearray) -> None:
        self._back = back

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        """Nothing: the line gives the controller its frames."""
        return 0

    def write(self, buffer: bytearray, count: int) -> None:
        """Sends bytes back to the plant."""
        self._back += buffer[:count]


class FaultyWire(FaultyPort):
    """The faults of a line and of the controller's process."""

    def __init__(self, line: InProcessWire, seed: int) -> None:
        super().__init__(line, seed=seed)  # type: ignore[arg-type]
        self.kill, self.start = line.kill, line.start

    def inject(self, kind: str, share: float) -> None:
        if kind == "cut":
            self.cut = not self.cut
        else:
            setattr(self, {"lossy": "drop", "corrupt": "corrupt", "repeated": "duplicate"}[kind], share)


class WiredVehicle(Remote):
    """A vehicle instance. Its log has the controller's session, and one more for each time the controller restarted."""

    def __init__(self, name: str, body: Body, vehicle: Vehicle, scenario: Scenario, seed: int) -> None:
        settings, digest = vehicle.settings, vehicle.file.digest()
        self.after: list[Callable[[Session, int], None]] = []  # of each session
        self._sessions = 0
        self._time_ns = 0

        def make(port: "Port") -> SessionController:
            return SessionController(settings, scenario, digest, port, self._session, lambda: self._time_ns)

        self._line = InProcessWire(make)
        self.line = FaultyWire(self._line, seed)
        end = PlantSide(settings, digest, self.line, lambda: self._line.now_s)
        ramp = Ramp(settings.actuators, settings.rate_hz)
        super().__init__(name, body, end, 1_000_000 // settings.rate_hz, ramp=ramp, notify=ignore)
        self.injector = FaultInjector(self, vehicle, seed)

    @property
    def loop(self) -> Loop | None:
        """The controller's, while it runs."""
        return self._line.controller.loop if self._line.controller else None

    def record(self, writer: LogWriter) -> None:
        """Logs what is sent to the actuators; each session of the controller logs the rest."""
        self._writer = writer
        self._sent = writer.topic(f"/{self.name}/sent", [("int32", a) for a in self.body.actuators])

    def tick(self, time_ns: int, late_us: int) -> None:
        """One exchange, in which the controller ticks."""
        self._time_ns = time_ns
        super().tick(time_ns, 0)
        if self._writer:
            self._sent.write(time_ns, self.outputs)

    def _session(self, loop: Loop) -> Session:
        session = Session(self.name, loop)
        session.before = lambda time_ns, late_us: self._begin(session, late_us)
        session.arm()
        return session

    def _begin(self, session: Session, late_us: int) -> int:
        """Before its first tick: a controller that restarts before that leaves nothing in the log."""
        session.before = on_time
        if self._sessions:
            session.name = f"{self.name}_again_{self._sessions}"
        self._sessions += 1
        if self._writer:
            session.record(self._writer)
            fields = [("float64", field) for field in self.body.truth_fields]
            truth = self._writer.topic(f"/{session.name}/truth", fields)
            session.after.append(lambda session, time_ns: truth.write(time_ns, self.body.truth()))
        session.after += self.after
        return late_us
