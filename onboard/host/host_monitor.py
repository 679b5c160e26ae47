"""Monitors the computer once per second in a thread of its own, and reports changes.

    computer_hot     the processor is above HOT_C           under_voltage   as the firmware reports (Raspberry Pi)
    storage_full     no space for the log                   clock_jumped    the wall clock against the monotonic one

What cannot be read is not reported. CPython on Linux.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

HOT_C = 80.0  # a Raspberry Pi slows down from here
ROOM_BYTES = 50 << 20
JUMP_S = 1.0
THERMAL = "sys/class/thermal/thermal_zone0/temp"  # thousandths of a degree
THROTTLED = "sys/devices/platform/soc/soc:firmware/get_throttled"  # bit 0: under-voltage now


class Host:
    """Calls `tell(word, value)` from this thread for every change; `root` contains /sys."""

    def __init__(self, tell: Callable[[str, bool], object], log: Path, root: Path = Path("/")) -> None:
        self._tell = tell
        self._log = log
        self._root = root
        self._told: dict[str, bool] = {}
        self._offset_s = _offset_s()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="host", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join(1.0)

    def check(self) -> None:
        """Checks once, and reports what differs from the last time."""
        found = {
            "computer_hot": self._above(THERMAL, HOT_C * 1000),
            "under_voltage": self._bit(THROTTLED),
            "storage_full": self._no_room(),
            "clock_jumped": self._jumped(),
        }
        for word, value in found.items():
            if value is not None and value != self._told.get(word, False):
                self._told[word] = value
                self._tell(word, value)

    def _watch(self) -> None:
        while not self._ending.wait(1.0):
            self.check()

    def _above(self, name: str, limit: float) -> bool | None:
        text = self._read(name)
        try:
            return None if text is None else float(text) > limit
        except ValueError:
            return None

    def _bit(self, name: str) -> bool | None:
        text = self._read(name)
        try:
            return None if text is None else bool(int(text, 16) & 1)
        except ValueError:
            return None

    def _read(self, name: str) -> str | None:
        try:
            return (self._root / name).read_text().strip()
        except OSError:
            return None

    def _no_room(self) -> bool | None:
        try:
            room = os.statvfs(self._log.parent)
        except OSError:
            return None
        return room.f_bavail * room.f_frsize < ROOM_BYTES

    def _jumped(self) -> bool:
        """In the second in which it did."""
        before, self._offset_s = self._offset_s, _offset_s()
        return abs(self._offset_s - before) > JUMP_S


def _offset_s() -> float:
    return time.clock_gettime(time.CLOCK_REALTIME) - time.monotonic()
