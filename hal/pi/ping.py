"""Distance by sonar: Blue Robotics' Ping over a serial line, by their package's messages. CPython only.

The package's own `get_distance_simple` waits for the answer and so would hold up every device of the worker; here a
request goes out and what has come is looked at later. The table of messages is that of this sonar alone: in the
package's table of all, 1211 is another device's message. Bytes are checked before the package's parser may end a
message, because it prints what it cannot read on the standard output, where programs read results.
"""

from collections.abc import Callable
from typing import Any

from brping import PingMessage, PingParser, definitions

from caudal.hal.pi.slot import RESTART_US, DeviceError, Slot, Steps

MESSAGES = {**definitions.payload_dict_common, **definitions.payload_dict_ping1d}
_PING = 1  # device_type of the echosounder
_LOOK_US = 5_000
_PATIENCE_US = 500_000
_TRIES = 3
_LONGEST = 1024  # bytes of a payload; more is noise in the length


def request(message_id: int) -> bytes:
    """A request as every firmware understands it: an empty message with the number of the answer."""
    message = PingMessage()
    message.request_id = message_id
    return bytes(message.pack_msg_data())


class Reader:
    """Messages out of bytes; what is not whole, right and known is passed over."""

    def __init__(self) -> None:
        self._parser = PingParser(MESSAGES)

    def take(self, bytes_in: bytes) -> list[Any]:
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
        iodev = self._open_iodev()
        try:
            about = yield from self._ask(iodev, definitions.COMMON_DEVICE_INFORMATION)
            if about.device_type != _PING:
                raise DeviceError(
                    f"{self.name} is a device of type {about.device_type}, not a Ping sonar ({_PING});"
                    " check which port it is on"
                )
            self.working = True
            while True:
                yield -_LOOK_US  # so that the answer is there when its period is
                answer = yield from self._ask(iodev, definitions.PING1D_DISTANCE_SIMPLE)
                if answer.confidence >= self._confidence_least:
                    self._distance.put(answer.distance)
        finally:
            iodev.close()

    def _ask(self, iodev: Any, message_id: int) -> Any:
        """The answer; a request that was lost is made again."""
        for _ in range(_TRIES):
            reader = Reader()
            iodev.write(request(message_id))
            for _ in range(_PATIENCE_US // _LOOK_US):
                yield _LOOK_US
                waiting = iodev.in_waiting
                for message in reader.take(iodev.read(waiting)) if waiting else ():
                    if message.message_id == message_id:
                        return message
        raise DeviceError(f"{self.name} does not answer; check its port, speed and supply")
