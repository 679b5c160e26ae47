"""Distance by sonar: Blue Robotics' Ping on a serial port, with the messages of their package. CPython only.

The package's own `get_distance_simple` waits for the response and would delay every device of the worker; here a
request is sent, and the port is read later. The table of messages is that of this sonar only: in the package's table of
all devices, 1211 is a message of another one. Bytes are checked before the package's parser may end a message, because
it prints invalid messages on the standard output, where programs read results.
"""

from collections.abc import Callable
from typing import Any

from brping import PingMessage, PingParser, definitions

from caudal.hal.pi.slot import RESTART_US, DeviceError, Slot, Steps

MESSAGES = {**definitions.payload_dict_common, **definitions.payload_dict_ping1d}
_PING = 1  # device_type of the echosounder
_POLL_US = 5_000
_TIMEOUT_US = 500_000
_TRIES = 3
_LONGEST = 1024  # bytes of a payload; a larger length is noise


def request(message_id: int) -> bytes:
    """A request that every firmware understands: an empty message with the number of the response."""
    message = PingMessage()
    message.request_id = message_id
    return bytes(message.pack_msg_data())


class Reader:
    """Parses messages out of bytes; skips incomplete, invalid and unknown ones."""

    def __init__(self) -> None:
        self._parser = PingParser(MESSAGES)

    def take(self, bytes_in: bytes) -> list[Any]:
        """The messages that end within these bytes."""
        messages = []
        for byte in bytes_in:
            if self._is_noise(byte):
                self._parser = PingParser(MESSAGES)
            elif self._parser.parse_byte(byte) == PingParser.NEW_MESSAGE:
                messages.append(self._parser.rx_msg)
        return messages

    def _is_noise(self, byte: int) -> bool:
        parser = self._parser
        if parser.state == PingParser.WAIT_MSG_ID_L:
            return int(parser.payload_length) > _LONGEST
        if parser.state != PingParser.WAIT_CHECKSUM_H:
            return False
        frame = parser.buf
        known = MESSAGES.get(parser.message_id)
        length = len(frame) - PingMessage.headerLength - 1
        return (
            known is None
            or length < known["payload_length"]
            or sum(frame[:-1]) & 0xFFFF != frame[-1] | byte << 8
        )


class Sonar:
    """Distance in mm; one of less confidence (in percent) than `confidence_least` is no reading."""

    restart_us = RESTART_US

    def __init__(
        self,
        open_iodev: Callable[[], Any],
        distance: Slot,
        period_us: int,
        confidence_least: int = 50,
        name: str = "ping",
    ) -> None:
        self.name = name
        self.period_us = period_us
        self.working = False
        self._open_iodev = open_iodev
        self._distance = distance
        self._confidence_least = confidence_least

    def run(self) -> Steps:
        """Checks the type of the device, then requests a distance once per period."""
        iodev = self._open_iodev()
        try:
            about = yield from self._request(iodev, definitions.COMMON_DEVICE_INFORMATION)
            if about.device_type != _PING:
                raise DeviceError(
                    f"{self.name} is a device of type {about.device_type}, not a Ping sonar ({_PING});"
                    " check which port it is on"
                )
            self.working = True
            while True:
                yield -_POLL_US  # so that the response is there by its period
                answer = yield from self._request(iodev, definitions.PING1D_DISTANCE_SIMPLE)
                if answer.confidence >= self._confidence_least:
                    self._distance.put(answer.distance)
        finally:
            iodev.close()

    def _request(self, iodev: Any, message_id: int) -> Any:
        """The response; a request without one is sent again."""
        for _ in range(_TRIES):
            reader = Reader()
            iodev.write(request(message_id))
            for _ in range(_TIMEOUT_US // _POLL_US):
                yield _POLL_US
                waiting = iodev.in_waiting
                for message in reader.take(iodev.read(waiting)) if waiting else ():
                    if message.message_id == message_id:
                        return message
        raise DeviceError(f"{self.name} does not answer; check its port, speed and supply")
