"""Notifies the service manager that the loop ticks: systemd's sd_notify protocol, a datagram per word. CPython only.

`alive()` belongs into the loop's own tick, so that a hanging loop is restarted; a call from another thread would report
that all is well while nothing is controlled. It may be called every tick: it sends a datagram four times per watchdog
period. Nothing here raises or waits: a manager that does not listen must not stop a vehicle.
"""

import socket
import time
from collections.abc import Callable, Mapping


class Notifier:
    """Does nothing where no manager listens (no NOTIFY_SOCKET)."""

    def __init__(self, environ: Mapping[str, str], now_ns: Callable[[], int] = time.monotonic_ns) -> None:
        path = environ.get("NOTIFY_SOCKET", "")
        self._address = "\0" + path[1:] if path.startswith("@") else path  # "@" is an abstract socket
        self._socket = self._open() if path else None
        text = environ.get("WATCHDOG_USEC", "")
        self.watchdog_us = int(text) if text.isdigit() else 0  # 0: no watchdog
        self._now_ns = now_ns
        self._next_ns = 0

    def _open(self) -> socket.socket | None:
        try:
            opened = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            opened.setblocking(False)
            return opened
        except OSError:
            return None

    def ready(self) -> None:
        """The loop ticks."""
        self._say("READY=1")

    def alive(self) -> None:
        """From the loop's tick, every tick or at least twice a watchdog period."""
        if self.watchdog_us and self._now_ns() >= self._next_ns:
            self._next_ns = self._now_ns() + self.watchdog_us * 250
            self._say("WATCHDOG=1")

    def status(self, text: str) -> None:
        """One line for `systemctl status`."""
        self._say("STATUS=" + text.replace("\n", " "))

    def stopping(self) -> None:
        self._say("STOPPING=1")

    def _say(self, word: str) -> None:
        if self._socket:
            try:
                self._socket.sendto(word.encode(), self._address)
            except OSError:
                pass  # the manager is away or its queue is full; the next word comes soon
