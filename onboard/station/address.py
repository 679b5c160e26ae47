"""Addresses of ground stations for `--mavlink`; similar to those of pymavlink.

    udp:PORT, udp:HOST:PORT     listens; for stations that connect (MAVProxy's udpout:, MAVSDK's udpout://)
    udpout:HOST:PORT            connects to a station that listens (QGroundControl at 14550, MAVSDK's udpin://)
    tcp:PORT, tcp:HOST:PORT     listens; several stations may connect
    serial:DEVICE@BAUD          a radio or a cable

It listens on 127.0.0.1 unless a HOST is given; 0.0.0.0 is every network of the computer.
"""

import re
from dataclasses import dataclass

from caudal.hal.errors import CaudalError

KINDS = ("udp", "udpin", "udpout", "tcp", "tcpin", "serial")
HINT = "write udp:14550, udpout:192.168.2.1:14550, tcp:5760 or serial:/dev/ttyUSB0@57600"


class AddressError(CaudalError, ValueError):
    """What is wrong with an address: a sentence."""


@dataclass(frozen=True)
class Address:
    """The address of a link."""

    kind: str  # udp, udpout, tcp or serial
    host: str  # or the device
    port: int  # or the baud rate

    def __str__(self) -> str:
        return (
            f"serial:{self.host}@{self.port}"
            if self.kind == "serial"
            else f"{self.kind}:{self.host}:{self.port}"
        )


def read_address(text: str) -> Address:
    """Reads an address; AddressError if it is invalid."""
    kind, _, rest = text.partition(":")
    if kind not in KINDS or not rest:
        raise AddressError(f"{text}: there is no such address; {HINT}")
    if kind == "serial":
        device, _, baud = rest.rpartition("@") if "@" in rest else (rest, "", "57600")
        if not device or not re.fullmatch(r"[1-9][0-9]{2,7}", baud):
            raise AddressError(f"{text}: write serial:DEVICE@BAUD, such as serial:/dev/ttyUSB0@57600")
        return Address(kind, device, int(baud))
    host, _, port = rest.rpartition(":")
    if not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise AddressError(f"{text}: {port or 'nothing'} is no port; {HINT}")
    if kind == "udpout" and (not host or int(port) == 0):
        raise AddressError(f"{text}: give the host of a station, such as udpout:127.0.0.1:{port}")
    return Address({"udpin": "udp", "tcpin": "tcp"}.get(kind, kind), host or "127.0.0.1", int(port))
