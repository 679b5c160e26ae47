"""Handshake: what both ends must agree on before they swim together. Portable: CPython and MicroPython.

    version 1, digest 8, rate 2, sensors 2, actuators 2     bytes, numbers low byte first

The digest is the start of the vehicle file's sha256 (hal/vehicle_file/reader.py). Every version of the protocol says
hello in these 15 bytes, so that two versions can refuse each other in a sentence.
"""

VERSION = 1
SIZE = 15
_DIGEST = 8


class Handshake:
    """What this end says of itself, and whether the other end fits. `digest` in hex, the rate in Hz."""

    def __init__(self, digest, rate_hz, sensors, actuators, version=VERSION):
        if len(digest) < 2 * _DIGEST:
            raise ValueError(
                f"link hello: the digest {digest!r} is too short; give {2 * _DIGEST} hex digits or more"
            )
        self.digest = digest[: 2 * _DIGEST].lower()
        self.rate_hz = rate_hz
        self.sensors = sensors
        self.actuators = actuators
        self.version = version

    def pack(self, payload):
        """Write it into the payload; gives its size in bytes."""
        payload[0] = self.version
        for i in range(_DIGEST):
            payload[1 + i] = int(self.digest[2 * i : 2 * i + 2], 16)
        at = 1 + _DIGEST
        for number in (self.rate_hz, self.sensors, self.actuators):
            payload[at] = number & 0xFF
            payload[at + 1] = (number >> 8) & 0xFF
            at += 2
        return SIZE

    def refusal(self, payload):
        """Why the other end, which said this, does not fit: a sentence, or None if it does."""
        other = read_handshake(payload)
        if other.version != self.version:
            return (
                f"the other end speaks version {other.version} of the bench wire, this end version {self.version}: "
                "install the same version of Caudal on both"
            )
        if other.digest != self.digest:
            return (
                f"the other end runs vehicle file {other.digest}, this end {self.digest}: "
                "give both the same file and the same --set"
            )
        if (other.rate_hz, other.sensors, other.actuators) != (self.rate_hz, self.sensors, self.actuators):
            return (
                f"the other end runs {other._shape()}, this end {self._shape()}, from the same vehicle file: "
                "install the same version of Caudal on both"
            )
        return None

    def _shape(self):
        return f"{self.sensors} sensors and {self.actuators} actuators at {self.rate_hz} Hz"


def read_handshake(payload):
    """The hello in a payload of SIZE bytes."""
    digest = "".join([f"{payload[1 + i]:02x}" for i in range(_DIGEST)])
    at = 1 + _DIGEST
    numbers = [payload[at + k] | payload[at + k + 1] << 8 for k in (0, 2, 4)]
    return Handshake(digest, numbers[0], numbers[1], numbers[2], payload[0])
