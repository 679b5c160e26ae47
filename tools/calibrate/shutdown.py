"""Ctrl-C, a service manager's stop and a lost terminal, while something is pulsed: they end what a person is asked or
waits for, and nothing else.

A lost terminal is the end of the input and a signal or two within microseconds. If a signal could strike anywhere, it
would strike the code that ends the pulses; so it is remembered, and raised as KeyboardInterrupt only in a window.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Ending:
    def __init__(self) -> None:
        self.told = False
        self._listening = False
        self._before: dict[signal.Signals, Any] = {}

    def watch(self) -> None:
        """From now on signals strike in windows alone. Ctrl-Z does nothing: chips would go on pulsing."""
        self.told = False
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                self._before[number] = signal.signal(number, self._tell)
            self._before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, signal.SIG_IGN)

    def unwatch(self) -> None:
        """As it was before."""
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    @contextmanager
    def window(self) -> Iterator[None]:
        """Within this a signal is a KeyboardInterrupt, also one that came before."""
        try:
            self._listening = True
            if self.told and self._before:
                raise KeyboardInterrupt
            yield
        finally:
            self._listening = False

    def _tell(self, number: int, frame: Any) -> None:
        self.told = True
        if self._listening:
            self._listening = False  # once: whatever comes next must not disturb the end
            raise KeyboardInterrupt


ending = Ending()
