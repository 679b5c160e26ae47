"""Blue Robotics' Ping1D echosounder, as the other end of a serial line within the process. CPython only.

It answers general_request, and the older way of asking, an empty message with the number of the one that is wanted.
Bytes arrive at the line's pace by `clock`. It has what drivers use of a serial port (`read`, `write`, `in_waiting` ...)
and of a socket (`recv`, `send`): bluerobotics-ping takes everything for a socket that is not called Serial.

    paced       for a simulated sensor with a sample clock of its own: a distance is told once, and a request for the
                next waits for `set`.
"""

import struct

from caudal.hal.emulated.chip import Clock

NACK, GENERAL_REQUEST, DEVICE_INFORMATION, PROTOCOL_VERSION = 2, 6, 4, 5
FIRMWARE_VERSION, DEVICE_ID, GENERAL_INFO, DISTANCE_SIMPLE, DISTANCE = 1200, 1201, 1210, 1211, 1212
HEADER = struct.Struct("<2sHHBB")
MARK = b"BR"
ECHOSOUNDER, OTHER_DEVICE = 1, 2  # device_type
TRANSMIT_US, SCAN_START_MM, SCAN_LENGTH_MM, GAIN, SUPPLY_MV, INTERVAL_MS = 30, 0, 10_000, 3, 5_000, 50


class Ping1d:
    def __init__(self, clock: Clock, device_id: int = 1, baud: int = 115_200, paced: bool = False) -> None:
        self.silent = False  # a fault: it hears and does not answer
        self.garbled = False  # a fault: a byte of every answer is wrong
        self.wrong_identity = False  # a fault: it says it is another device
        self._clock = clock
        self._device_id = device_id
        self._byte_us = 10e6 / baud
        self._paced = paced
        self._fresh = False
        self._distance_mm = 0
        self._confidence = 0
        self._pings = 0
        self._heard = bytearray()
        self._waiting: dict[int, int] = {}  # message wanted -> who wants it
        self._sent: list[tuple[float, bytes]] = []  # when it has arrived, and the answer

    def set(self, distance_mm: int, confidence: int = 100) -> None:
        """A new echo."""
        self._distance_mm = distance_mm
        self._confidence = confidence
        self._pings += 1
        self._fresh = True
        self._answer_waiting()

    # The line, as a driver sees it.

    @property
    def in_waiting(self) -> int:
        return sum(len(data) for due_us, data in self._sent if due_us <= self._clock())

    def write(self, data: bytes | bytearray) -> int:
        self._heard += data
        while self._parse():
            pass
        return len(data)

    def read(self, size: int = 1) -> bytes:
        """What has arrived, without waiting."""
        got = b""
        while self._sent and self._sent[0][0] <= self._clock() and len(got) < size:
            due_us, data = self._sent.pop(0)
            cut = size - len(got)
            if data[cut:]:
                self._sent.insert(0, (due_us, data[cut:]))
            got += data[:cut]
        return got

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """The device goes on by itself."""

    def reset_input_buffer(self) -> None:
        self.read(self.in_waiting)

    def reset_output_buffer(self) -> None:
        self._heard.clear()

    def send(self, data: bytes | bytearray) -> int:
        return self.write(data)

    def recv(self, size: int) -> bytes:
        got = self.read(size)
        if not got:
            raise BlockingIOError
        return got

    # The device.

    def _parse(self) -> bool:
        """One message out of what was heard: is there perhaps another."""
        start = self._heard.find(MARK)
        if start < 0:
            del self._heard[: max(0, len(self._heard) - 1)]  # the last byte may be the first half of the mark
            return False
        del self._heard[:start]
        if len(self._heard) < HEADER.size:
            return False
        _, length, message, source, _ = HEADER.unpack_from(self._heard)
        if length > 64:  # nothing it understands is longer: this was no message
            del self._heard[: len(MARK)]
            return True
        end = HEADER.size + length
        if len(self._heard) < end + 2:
            return False
        (checksum,) = struct.unpack_from("<H", self._heard, end)
        if checksum != sum(self._heard[:end]) & 0xFFFF:
            del self._heard[: len(MARK)]
            return True
        payload = bytes(self._heard[HEADER.size : end])
        del self._heard[: end + 2]
        wanted = struct.unpack("<H", payload)[0] if message == GENERAL_REQUEST and length == 2 else message
        self._waiting[wanted] = source
        self._answer_waiting()
        return True

    def _answer_waiting(self) -> None:
        for wanted, who in list(self._waiting.items()):
            if wanted in (DISTANCE, DISTANCE_SIMPLE):
                if self._paced and not self._fresh:
                    continue
                self._fresh = False
            del self._waiting[wanted]
            payload = self._payload(wanted)
            if payload is None:
                self._send(NACK, struct.pack("<H", wanted) + b"unknown message", who)
            else:
                self._send(wanted, payload, who)

    def _payload(self, message: int) -> bytes | None:
        device_type = OTHER_DEVICE if self.wrong_identity else ECHOSOUNDER
        if message == DEVICE_INFORMATION:
            return struct.pack("<6B", device_type, 1, 3, 29, 0, 0)
        if message == PROTOCOL_VERSION:
            return struct.pack("<4B", 1, 0, 0, 0)
        if message == FIRMWARE_VERSION:
            return struct.pack("<BBHH", device_type, 1, 3, 29)
        if message == DEVICE_ID:
            return struct.pack("<B", self._device_id)
        if message == GENERAL_INFO:
            return struct.pack("<HHHHBB", 3, 29, SUPPLY_MV, INTERVAL_MS, GAIN, 1)
        if message == DISTANCE_SIMPLE:
            return struct.pack("<IB", self._distance_mm, self._confidence)
        if message == DISTANCE:
            scan = (TRANSMIT_US, self._pings, SCAN_START_MM, SCAN_LENGTH_MM, GAIN)
            return struct.pack("<IHHIIII", self._distance_mm, self._confidence, *scan)
        return None

    def _send(self, message: int, payload: bytes, who: int) -> None:
        if self.silent:
            return
        data = HEADER.pack(MARK, len(payload), message, self._device_id, who) + payload
        checksum = sum(data) & 0xFFFF
        if self.garbled:
            data = data[:-1] + bytes((data[-1] ^ 0x10,))
        data += struct.pack("<H", checksum)
        # Answers follow each other on the line.
        now_us = float(self._clock())
        begin_us = max(now_us, self._sent[-1][0]) if self._sent else now_us
        self._sent.append((begin_us + len(data) * self._byte_us, data))
