"""A controller behind a wire within one process: real frames, both ends, and no clock but the plant's waiting.

Lockstep on a real line waits for answers by the clock. Here the controller answers within the write, and time passes
only while the plant waits for what does not come; so a run with lost frames, a cut or a kill is the same every time.
"""

from collections.abc import Callable
from typing import Any

from caudal.onboard.core.loop import Loop
from caudal.onboard.link.controller import Controller
from caudal.onboard.link.frame import BYE
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.log.tick_log import TickLog
from caudal.tools.faults.faulty_port import FaultyPort
from caudal.tools.faults.injector import FaultInjector
from caudal.tools.hil.plant_side import PlantSide
from caudal.tools.hil.remote_vehicle import Remote
from caudal.tools.hil.slew_back import Ramp

LINK_TIMEOUT_S = 2.0  # the controller's own, as caudal run --on hil has it


class InProcessWire:
    """Both ends of a wire; the plant writes and reads, the controller behind it hears and answers."""

    def __init__(self, make: Callable[[Any], Controller]) -> None:
        self.now_s = 0.0
        self.controller: Controller | None = None
        self._make = make
        self._back = bytearray()
        self._heard_s = 0.0
        self.start()

    def start(self) -> None:
        self.controller = self._make(_ControllersEnd(self._back))

    def kill(self) -> None:
        self.controller = None
        self._back.clear()

    def write(self, buffer: bytearray, count: int) -> None:
        controller = self.controller
        if controller is None:
            return
        controller.decoder.feed(buffer, count)
        while controller.decoder.next():
            self._heard_s = self.now_s
            controller.timed_out = False
            if controller.decoder.kind != BYE:
                controller.answer()

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        count = min(len(self._back), len(buffer))
        if not count:
            self.now_s += timeout_ms / 1000
            if self.controller and self.now_s - self._heard_s >= LINK_TIMEOUT_S:
                self.controller.on_timeout()
        buffer[:count] = self._back[:count]
        del self._back[:count]
        return count

    def close(self) -> None:
        pass


class _ControllersEnd:
    def __init__(self, back: bytearray) -> None:
        self._back = back

    def write(self, buffer: bytearray, count: int) -> None:
        self._back += buffer[:count]


class FaultyWire(FaultyPort):
    """What befalls the wire, and the process at its far end."""

    def __init__(self, line: InProcessWire, seed: int) -> None:
        super().__init__(line, seed=seed)  # type: ignore[arg-type]
        self.kill, self.start = line.kill, line.start

    def inject(self, kind: str, share: float) -> None:
        if kind == "cut":
            self.cut = not self.cut
        else:
            setattr(self, {"lossy": "drop", "corrupt": "corrupt", "repeated": "duplicate"}[kind], share)


class _Watched(Controller):
    def __init__(self, *given: Any, ticked: Callable[[Loop], None]) -> None:
        super().__init__(*given)
        self._ticked = ticked

    def answer(self) -> None:
        before = self.loop.ticks if self.loop is not None else 0
        super().answer()
        if self.loop is not None and self.loop.ticks > before:
            self._ticked(self.loop)


class WiredVehicle(Remote):
    """A vehicle of the fleet. Its log has the controller's board, and one more for each that was started anew."""

    def __init__(self, name: str, body: Any, vehicle: Any, scenario: dict[str, Any], seed: int) -> None:
        settings, digest = vehicle.settings, vehicle.file.digest()
        self._line = InProcessWire(
            lambda port: _Watched(settings, scenario, digest, port, ticked=self._ticked)
        )
        self.line = FaultyWire(self._line, seed)
        end = PlantSide(settings, digest, self.line, lambda: self._line.now_s)
        ramp = Ramp(settings["actuators"], settings["rate_hz"])
        super().__init__(name, body, end, 1_000_000 // settings["rate_hz"], ramp=ramp, say=lambda text: None)
        self.injector = FaultInjector(self, vehicle, seed)
        self.on_tick: Callable[[str, Loop, int], None] | None = None
        self._time_ns = 0
        self._boxes: list[tuple[Loop, str, TickLog | None, Any]] = []

    @property
    def loop(self) -> Loop | None:
        return self._line.controller.loop if self._line.controller else None

    def record(self, recorder: Recorder) -> None:
        self._recorder = self.injector.recorder = recorder
        self._sent = recorder.topic(f"/{self.name}/sent", [("int32", a) for a in self.body.actuators])

    def tick(self, time_ns: int, late_us: int) -> None:
        self._time_ns = time_ns
        super().tick(time_ns, 0)
        if self._recorder:
            self._sent.write(time_ns, self.outputs)

    def _ticked(self, loop: Loop) -> None:
        if not self._boxes or self._boxes[-1][0] is not loop:
            again = len(self._boxes)
            self._open(loop, f"{self.name}_again_{again}" if again else self.name)
        _, name, box, truth = self._boxes[-1]
        if box:
            box.write(self._time_ns)
            truth.write(self._time_ns, self.body.truth())
        if self.on_tick:
            self.on_tick(name, loop, self._time_ns)

    def _open(self, loop: Loop, name: str) -> None:
        box = truth = None
        if self._recorder:
            box = TickLog(self._recorder, name, loop)
            truth = self._recorder.topic(f"/{name}/truth", [("float64", f) for f in self.body.truth_fields])
        self._boxes.append((loop, name, box, truth))
