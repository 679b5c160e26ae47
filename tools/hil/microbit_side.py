"""HIL with a micro:bit: this side has the readings and the guidance, the board runs the gait.

Estimators, guidance and the failsafe monitor run here, in the portable core's own loop. A request carries their result:
frequency, amplitude, turn, the failsafe action, and the commands of channels that the gait does not move. The board
answers with the pulses of that tick. The next request waits for it, as the board's line holds 32 bytes. A request
without an answer is sent again under its number, which is one tick to the board.
"""

import time
from typing import TYPE_CHECKING, Any

from caudal.onboard.build import build_loop
from caudal.onboard.core.failsafe import DISARM, NEUTRAL
from caudal.onboard.link.controller import WireDriver
from caudal.onboard.link.frame import crc16
from caudal.onboard.link.frame_counters import FrameCounters
from caudal.onboard.tables.read import Scenario, Settings
from caudal.tools.hil.microbit_program import answer_size, others, request_size

if TYPE_CHECKING:
    from caudal.onboard.link.controller import Port

FREE, SAFE, OFF, PEEK = 0, 3, 4, 9  # as in deploy/mcu/microbit_program.py
RESEND_MS = 400  # longer than the board takes half a request for garbage


class SetPoints:
    """Takes the gait's place and keeps its set-points: the board has the gait."""

    def __init__(self) -> None:
        self.asked = (0, 0, 0)

    def ask(self, frequency: int, amplitude: int, turn: int) -> None:
        self.asked = (frequency, amplitude, turn)

    def step(self, commands: "list[int | None]") -> None:
        pass


class MicrobitSide:
    """The plant side of a link (End in tools/hil/remote_vehicle.py) with a micro:bit on the other side."""

    def __init__(self, settings: Settings, scenario: Scenario, port: "Port") -> None:
        self._port = port
        self._driver = WireDriver(len(settings.sensors), len(settings.actuators))
        self._loop = build_loop(settings, scenario, self._driver)
        self._points = SetPoints()
        for stage in self._loop.stages:
            if stage.name == "gait":
                part: Any = stage.step
                part.__self__.gait = self._points
        self._loop.arm()
        self._others = others(settings)
        self._held = [0] * len(self._others)
        self._request = bytearray(request_size(settings))
        self._size = answer_size(settings)
        self._chunk = bytearray(512)
        self._came = bytearray()
        self._sequence = 0
        self.trips = 0  # of the board's dead-man
        self.greetings = 0  # the loop is on this side: nobody starts anew
        self.counters = FrameCounters()
        self.bytes_sent = 0
        self.bytes_received = 0

    def connect(self, patience_s: float = 20.0) -> bool:
        """Does the board answer?"""
        return self.peek(patience_s) is not None

    def peek(self, patience_s: float = 2.0) -> list[int] | None:
        """The pulses as they stand on the board, which does not move for it."""
        self._fill(PEEK, (0, 0, 0), [0] * len(self._others))
        return self._ask(patience_s)

    def exchange(self, tick: int, counts: list[int | None], patience_s: float) -> list[int] | None:
        """One tick: the board's pulses for these readings, or None if it is gone."""
        self._driver.counts = list(counts)
        self._loop.tick()
        commands = self._loop.state.commands
        for k, channel in enumerate(self._others):
            command = commands[channel]
            if command is not None:
                self._held[k] = command
        action = self._loop.state.action
        stop = SAFE if self._loop.fault or action == NEUTRAL else OFF if action == DISARM else FREE
        self._fill(stop, self._points.asked, self._held)
        return self._ask(patience_s)

    def post(self, tick: int, counts: list[int | None], gone: bool) -> None:
        """A micro:bit runs in lockstep alone."""
        raise NotImplementedError

    def collect(self, tick: int) -> list[int] | None:
        """A micro:bit runs in lockstep alone."""
        raise NotImplementedError

    def bye(self) -> None:
        """Nothing: its process ends with the command."""

    def _fill(self, action: int, asked: tuple[int, int, int], held: list[int]) -> None:
        self._sequence = (self._sequence + 1) & 0xFF
        request = self._request
        request[0] = action
        request[1] = self._sequence
        for k, number in enumerate((*asked, *held)):
            request[2 + 3 * k : 5 + 3 * k] = (number & 0xFFFFFF).to_bytes(3, "little")
        size = len(request) - 2
        request[size:] = crc16(request, size).to_bytes(2, "big")

    def _ask(self, patience_s: float) -> list[int] | None:
        start = time.monotonic()
        while time.monotonic() < start + patience_s:
            self._came = bytearray()
            self._port.write(self._request, len(self._request))
            self.bytes_sent += len(self._request)
            pulses = self._await(min(RESEND_MS / 1000, patience_s))
            if pulses is not None:
                self.counters.good += 1
                self.counters.round_trip(int((time.monotonic() - start) * 1e6))
                return pulses
            self.counters.lost += 1
        return None

    def _await(self, patience_s: float) -> list[int] | None:
        """The answer to the request that is out; other bytes are passed over."""
        give_up = time.monotonic() + patience_s
        while (left_s := give_up - time.monotonic()) > 0:
            count = self._port.read(self._chunk, int(left_s * 1000) + 1)
            self.bytes_received += count
            self._came += self._chunk[:count]
            while len(self._came) >= self._size:
                answer = self._came[: self._size]
                if crc16(answer, self._size):
                    self.counters.bad += 1
                    del self._came[0]
                    continue
                del self._came[: self._size]
                if answer[0] == self._sequence:
                    self.trips = answer[1]
                    return [answer[k] | answer[k + 1] << 8 for k in range(2, self._size - 2, 2)]
        return None
