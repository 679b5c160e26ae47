"""Blue Robotics' Ping1D echosounder on a serial port within the process. CPython only.

It responds to general_request, and to the older request, an empty message with the number of the response. Bytes arrive
at the speed of the port by `clock`. It has the methods that drivers use of a serial port (`read`, `write`, `in_waiting`
...) and of a socket (`recv`, `send`): bluerobotics-ping treats everything that is not called Serial as a socket.

    paced       for a simulated sensor with its own sample clock: a distance is sent once, and a request for the next
                waits for `set`.
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
    """The device, with its distance and confidence."""

    def __init__(self, clock: Clock, device_id: int = 1, baud: int = 115_200, paced: bool = False) -> None:
        self.silent = False  # fault: it does not respond
        self.garbled = False  # fault: a byte of every response is wrong
        self.wrong_identity = False  # fault: it reports another device type
        self._clock = clock
        self._device_id = device_id
        self._byte_us = 10e6 / baud
        self._paced = paced
        self._fresh = False
        self._distance_mm = 0
        self._confidence = 0
        self._pings = 0
        self._received = bytearray()
        self._waiting: dict[int, int] = {}  # requested message -> its requester
        self._sent: list[tuple[float, bytes]] = []  # time of arrival, response

    def set(self, distance_mm: int, confidence: int = 100) -> None:
        """Sets a new echo."""
        self._distance_mm = distance_mm
        self._confidence = confidence
        self._pings += 1
        self._fresh = True
        self._respond()

    # The port.

    @property
    def in_waiting(self) -> int:
        """Bytes that can be read."""
        return sum(len(data) for due_us, data in self._sent if due_us <= self._clock())

    def write(self, data: bytes | bytearray) -> int:
        """Receives requests."""
        self._received += data
        while self._parse():
            pass
        return len(data)

    def read(self, size: int = 1) -> bytes:
        """The bytes that have arrived, without waiting."""
        got = b""
        while self._sent and self._sent[0][0] <= self._clock() and len(got) < size:
            due_us, data = self._sent.pop(0)
            cut = size - len(got)
            if data[cut:]:
                self._sent.insert(0, (due_us, data[cut:]))
            got += data[:cut]
        return got

    def flush(self) -> None:
        """No bytes are buffered."""

    def close(self) -> None:
        """The device keeps running."""

    def reset_input_buffer(self) -> None:
        """Drops the bytes that can be read."""
        self.read(self.in_waiting)

    def reset_output_buffer(self) -> None:
        """Drops an incomplete request."""
        self._received.clear()

    def send(self, data: bytes | bytearray) -> int:
        """`write`, as a socket has it."""
        return self.write(data)

    def recv(self, size: int) -> bytes:
        """`read`, as a socket has it."""
        got = self.read(size)
        if not got:
            raise BlockingIOError
        return got

    # The device.

    def _parse(self) -> bool:
        """Executes one received message; whether there may be another."""
        start = self._received.find(MARK)
        if start < 0:
            del self._received[: max(0, len(self._received) - 1)]  # the last byte may be half of the mark
            return False
        del self._received[:start]
        if len(self._received) < HEADER.size:
            return False
        _, length, message, source, _ = HEADER.unpack_from(self._received)
        if length > 64:  # no request is longer: this is no message
            del self._received[: len(MARK)]
            return True
        end = HEADER.size + length
        if len(self._received) < end + 2:
            return False
        (checksum,) = struct.unpack_from("<H", self._received, end)
        if checksum != sum(self._received[:end]) & 0xFFFF:
            del self._received[: len(MARK)]
            return True
        payload = bytes(self._received[HEADER.size : end])
        del self._received[: end + 2]
        requested = struct.unpack("<H", payload)[0] if message == GENERAL_REQUEST and length == 2 else message
        self._waiting[requested] = source
        self._respond()
        return True

    def _respond(self) -> None:
        for requested, requester in list(self._waiting.items()):
            if requested in (DISTANCE, DISTANCE_SIMPLE):
                if self._paced and not self._fresh:
                    continue
                self._fresh = False
            del self._waiting[requested]
            payload = self._payload(requested)
            if payload is None:
                self._send(NACK, struct.pack("<H", requested) + b"unknown message", requester)
            else:
                self._send(requested, payload, requester)

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

    def _send(self, message: int, payload: bytes, requester: int) -> None:
        if self.silent:
            return
        data = HEADER.pack(MARK, len(payload), message, self._device_id, requester) + payload
        checksum = sum(data) & 0xFFFF
        if self.garbled:
            data = data[:-1] + bytes((data[-1] ^ 0x10,))
        data += struct.pack("<H", checksum)
        # Responses follow each other on the port.
        now_us = float(self._clock())
        begin_us = max(now_us, self._sent[-1][0]) if self._sent else now_us
        self._sent.append((begin_us + len(data) * self._byte_us, data))
