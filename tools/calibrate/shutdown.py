"""Handles stop signals (Ctrl-C, a service manager's stop, a closed terminal) while there are pulses.

A closed terminal is the end of the input and one or two signals within microseconds. A signal must not interrupt the
code that ends the pulses; so it is stored, and raised as KeyboardInterrupt only in a window: a prompt or a wait.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class StopSignals:
    """Stores stop signals, and raises them in windows."""

    def __init__(self) -> None:
        self.stopped = False
        self._in_window = False
        self._before: dict[signal.Signals, Any] = {}

    def watch(self) -> None:
        """Takes over the signals. Ctrl-Z is ignored, because chips would go on pulsing."""
        self.stopped = False
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._store)
            self._before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, signal.SIG_IGN)

    def unwatch(self) -> None:
        """Restores the signal handlers."""
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    @contextmanager
    def window(self) -> Iterator[None]:
        """In this context a signal raises KeyboardInterrupt, also one that was stored before."""
        try:
            self._in_window = True
            if self.stopped and self._before:
                raise KeyboardInterrupt
            yield
        finally:
            self._in_window = False

    def _store(self, number: int, frame: Any) -> None:
        self.stopped = True
        if self._in_window:
            self._in_window = False  # once: the next signal must not interrupt the end of the pulses
            raise KeyboardInterrupt


stop_signals = StopSignals()
