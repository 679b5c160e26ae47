r"""Valve currents over a serial port, to a board that drives the coils: "120000,0,183250\n", in microamperes.

A line is sent when the currents change, and once per period: the board releases its valves when lines stop (link
timeout). CPython only.
"""

from collections.abc import Callable, Sequence
from typing import Any

from caudal.hal.pi.slot import RESTART_US, Steps


class ValveLine:
    """A board on a serial port that drives valves."""

    restart_us = RESTART_US

    def __init__(
        self, open_port: Callable[[], Any], count: int, period_us: int, name: str = "valves"
    ) -> None:
        self.name = name
        self.period_us = period_us
        self.working = False
        self._open_port = open_port
        self._commands_ua: tuple[int, ...] = (0,) * count
        self._port: Any = None

    def set(self, commands_ua: Sequence[int]) -> None:
        """Takes one current per valve; called by the control thread, which then pokes the device."""
        self._commands_ua = tuple(commands_ua)

    def close(self) -> None:
        """Sends zero currents if the port takes them; otherwise the board's own link timeout ends them."""
        self._commands_ua = (0,) * len(self._commands_ua)
        try:
            port = self._port or self._open_port()
            self._send(port)
            port.close()
        except OSError:
            pass

    def run(self) -> Steps:
        """Sends the currents once per period, and at once after a poke."""
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
        port.write((",".join(str(int(ua)) for ua in self._commands_ua) + "\n").encode())
