"""A plant and a controller on a HIL link in one process, with faults, for tests."""

import os
import threading
import time
from collections.abc import Sequence
from typing import Any

from caudal.hal.serial_ports import Port, PortError, open_port
from caudal.onboard.core.clock import RealClock
from caudal.onboard.link.controller import Controller
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.faults.faulty_port import FaultyPort
from caudal.tools.hil.plant_side import PlantSide
from caudal.tools.hil.pty import open_line
from caudal.tools.hil.remote_vehicle import Remote
from caudal.tools.hil.slew_back import Ramp
from caudal.tools.simulate.simulation import Simulation

HOPELESS_SPEED = 300.0  # so patience of minutes lasts about a second on a cut line


class WaitClock:
    """The clock of the plant's waiting. It runs fast while no answer can come; until then a busy machine is no cut."""

    def __init__(self, line: FaultyPort, controller: threading.Thread) -> None:
        self._line = line
        self._controller = controller
        self._read_s = self._now_s = time.monotonic()

    def __call__(self) -> float:
        """Returns the time in s, from a start of its own."""
        read_s = time.monotonic()
        hopeless = self._line.cut or self._line.deaf or not self._controller.is_alive()
        self._now_s += (read_s - self._read_s) * (HOPELESS_SPEED if hopeless else 1)
        self._read_s = read_s
        return self._now_s


class StallingPort:
    """The controller's own end of the line, which can be made to hang."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self.until = 0.0

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        time.sleep(max(0.0, self.until - time.monotonic()))
        return self._port.read(buffer, timeout_ms)

    def write(self, buffer: bytearray, count: int) -> None:
        self._port.write(buffer, count)

    def close(self) -> None:
        self._port.close()


class Wire:
    """`patience_s`: how long the plant waits for an answer before the controller counts as gone, then `gone_s` a tick
    (None: the clock's pace). `link_timeout_ms`: the controller's timeout. `free` running, ticks are in real time.
    """

    def __init__(
        self,
        name: str,
        scenario: str | None = None,
        seed: int = 0,
        overrides: Sequence[str] = (),
        *,
        free: bool = False,
        patience_s: float = 300.0,
        gone_s: float | None = None,
        link_timeout_ms: int = 500,
        **faults: Any,
    ) -> None:
        vehicle, scenario_name, scenario_settings = open_scenario(name, list(overrides), scenario)
        digest = vehicle.file.digest()
        master, self._slave = open_line()
        self._far = StallingPort(open_port(os.ttyname(self._slave)))
        self.line = FaultyPort(Port(master, "bench"), seed=seed, **faults)
        self.controller = Controller(vehicle.settings, scenario_settings, digest, self._far)
        self._link_timeout_ms = link_timeout_ms
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        period_us = 1_000_000 // vehicle.settings.rate_hz

        def launch(name: str, body: Any) -> Remote:
            end = PlantSide(vehicle.settings, digest, self.line, WaitClock(self.line, self._thread))
            ramp = Ramp(vehicle.settings.actuators, vehicle.settings.rate_hz)
            return Remote(
                name, body, end, period_us, free=free, ramp=ramp, patience_s=patience_s, gone_s=gone_s
            )

        self.simulation = Simulation(vehicle, scenario_name, seed, launch)
        self.world = self.simulation.world
        self.vehicle: Remote = self.simulation.instances[0]
        self.outputs: list[list[int]] = []
        self.simulation.arm()
        self._clock = RealClock(period_us) if free else None

    def _serve(self) -> None:
        try:
            self.controller.serve(timeout_ms=self._link_timeout_ms)
        except PortError:
            return  # the bench is put away

    def swim(self, seconds: float) -> None:
        for _ in range(round(seconds * 1e6 / self.simulation.period_us)):
            self.simulation.step(self._clock.wait() if self._clock else 0)
            self.outputs.append(self.vehicle.outputs)

    def cut(self) -> None:
        self.line.cut = True

    def clear(self) -> None:
        self.line.cut = False

    def stall(self, seconds: float) -> None:
        self._far.until = time.monotonic() + seconds

    def close(self) -> None:
        self.clear()
        self.line.drop = self.line.corrupt = 0.0
        while (
            self._thread.is_alive()
        ):  # else it would go on reading, perhaps from the next wire's file descriptor
            self.vehicle.end.bye()
            self._thread.join(timeout=0.1)
        self._far.close()
        self.line.close()
        os.close(self._slave)
