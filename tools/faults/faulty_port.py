"""A serial line with faults, for HIL tests: bytes lost, corrupted, repeated or delayed, or the link cut."""

import random
import time

from caudal.hal.serial_ports import Port


class FaultyPort:
    """Wraps one end of a line and injects faults in both directions. Shares are per frame or chunk."""

    def __init__(
        self,
        port: Port,
        *,
        seed: int = 0,
        drop: float = 0.0,
        corrupt: float = 0.0,
        duplicate: float = 0.0,
        delay_s: float = 0.0,
    ) -> None:
        self._port = port
        self._random = random.Random(seed)
        self.drop, self.corrupt, self.duplicate, self._delay_s = drop, corrupt, duplicate, delay_s
        self.cut = False
        self.deaf = False  # what comes in is lost, what goes out is not
        self.faults = 0

    def write(self, buffer: bytearray, count: int) -> None:
        """Sends `count` bytes of the buffer, faults injected."""
        frame = self._inject(bytearray(buffer[:count]))
        for _ in range(self._copies()):
            if frame:
                self._port.write(frame, len(frame))

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        """Receives into the buffer, faults injected; returns the number of bytes."""
        count = self._port.read(buffer, timeout_ms)
        if not count or self.deaf:
            return 0
        chunk = self._inject(buffer[:count])
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        """Closes the wrapped port."""
        self._port.close()

    def _copies(self) -> int:
        if self._random.random() < self.duplicate:
            self.faults += 1
            return 2
        return 1

    def _inject(self, data: bytearray) -> bytearray:
        if self._delay_s:
            time.sleep(self._random.uniform(0, self._delay_s))
        if self.cut or self._random.random() < self.drop:
            self.faults += 1
            return bytearray()
        if self._random.random() < self.corrupt:
            self.faults += 1
            data[self._random.randrange(len(data))] ^= 1 << self._random.randrange(8)
        return data
