"""Handshake: what plant side and controller side must agree on. Portable: CPython and MicroPython.

    version 1, digest 8, rate 2, sensors 2, actuators 2     bytes, numbers low byte first

The digest is the start of the vehicle file's sha256 (hal/vehicle_file/reader.py). Every version of the protocol
starts with these 15 bytes, so that two versions can reject each other with a message.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

VERSION = 1
SIZE = 15
_DIGEST = 8


class Handshake:
    """What one side runs, and whether the other side fits. `digest` in hex, the rate in Hz."""

    def __init__(
        self, digest: str, rate_hz: int, sensors: int, actuators: int, version: int = VERSION
    ) -> None:
        if len(digest) < 2 * _DIGEST:
            raise ValueError(
                f"link handshake: the digest {digest!r} is too short; give {2 * _DIGEST} hex digits or more"
            )
        self.digest = digest[: 2 * _DIGEST].lower()
        self.rate_hz = rate_hz
        self.sensors = sensors
        self.actuators = actuators
        self.version = version

    def pack(self, payload: bytearray) -> int:
        """Writes it into the payload; its size in bytes."""
        payload[0] = self.version
        for i in range(_DIGEST):
            payload[1 + i] = int(self.digest[2 * i : 2 * i + 2], 16)
        at = 1 + _DIGEST
        for number in (self.rate_hz, self.sensors, self.actuators):
            payload[at] = number & 0xFF
            payload[at + 1] = (number >> 8) & 0xFF
            at += 2
        return SIZE

    def refusal(self, payload: "Sequence[int]") -> "str | None":
        """Why the other side, which sent this payload, does not fit: a sentence, or None if it does."""
        other = read_handshake(payload)
        if other.version != self.version:
            return (
                f"the other side uses version {other.version} of the HIL link, this side version {self.version}: "
                "install the same version of Caudal on both"
            )
        if other.digest != self.digest:
            return (
                f"the other side runs vehicle file {other.digest}, this side {self.digest}: "
                "give both the same file and the same --set"
            )
        if (other.rate_hz, other.sensors, other.actuators) != (self.rate_hz, self.sensors, self.actuators):
            return (
                f"the other side runs {other._shape()}, this side {self._shape()}, from the same vehicle file: "
                "install the same version of Caudal on both"
            )
        return None

    def _shape(self) -> str:
        return f"{self.sensors} sensors and {self.actuators} actuators at {self.rate_hz} Hz"


def read_handshake(payload: "Sequence[int]") -> Handshake:
    """The handshake in a payload of SIZE bytes."""
    digest = "".join([f"{payload[1 + i]:02x}" for i in range(_DIGEST)])
    at = 1 + _DIGEST
    numbers = [payload[at + k] | payload[at + k + 1] << 8 for k in (0, 2, 4)]
    return Handshake(digest, numbers[0], numbers[1], numbers[2], payload[0])
