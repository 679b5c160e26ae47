r"""Valve currents over a serial line, to a board that drives the coils: "120000,0,183250\n", in microamperes.

One line when they change, and one every period, so that the board, which lets its valves run empty when it hears
nothing, knows that somebody is there. CPython only.
"""

from collections.abc import Callable, Sequence
from typing import Any

from caudal.hal.pi.slot import RESTART_US, Steps


class ValveLine:
    restart_us = RESTART_US

    def __init__(
        self, open_port: Callable[[], Any], count: int, period_us: int, name: str = "valves"
    ) -> None:
        self.name = name
        self.period_us = period_us
        self.working = False
        self._open_port = open_port
        self._asked: tuple[int, ...] = (0,) * count
        self._port: Any = None

    def set(self, asked_ua: Sequence[int]) -> None:
        """By the control thread: one current a valve. Poke the device to have them sent at once."""
        self._asked = tuple(asked_ua)

    def close(self) -> None:
        """Currents off, as far as the line still takes it; the board's own dead-man does the rest."""
        self._asked = (0,) * len(self._asked)
        try:
            port = self._port or self._open_port()
            self._send(port)
            port.close()
        except OSError:
            pass

    def run(self) -> Steps:
        self._port = self._open_port()
        try:
            while True:
                self._send(self._port)
                self.working = True
                yield None
        finally:
            port, self._port = self._port, None
            if port is not None:
                port.close()

    def _send(self, port: Any) -> None:
        port.write((",".join(str(int(ua)) for ua in self._asked) + "\n").encode())
