"""Common to UDP, TCP and serial links: limits, interface, error messages. No link ever blocks.

Every sender on a link is a station. Frames that a station does not read wait up to a limit, then the link drops them;
it disconnects a station that reads nothing for too long.
"""

import errno
from collections.abc import Callable
from typing import Protocol

from caudal.hal.errors import CaudalError
from caudal.onboard.station.station_link import StationLink

NET_B_S = 150_000.0  # a share of a wireless network; logs go at this rate
MAX_STATIONS = 8  # of a link; a new one replaces a station without an accepted frame
PIECE = 4096

# of its name, function to send, capacity in bytes a second, and whether the link carries datagrams
MakeStation = Callable[[str, Callable[[bytes], bool], float, bool], StationLink]


class LinkError(CaudalError):
    """Why a link cannot be opened; one sentence."""


class Link(Protocol):
    """Interface of a link."""

    def step(self, now_s: float) -> None:
        """Does what is due now."""

    def close(self) -> None:
        """Ends the stations and closes the link."""

    def stations(self) -> list[StationLink]:
        """The stations on this link."""
        ...


def reason(error: Exception) -> str:
    """Why a link cannot be opened, in words."""
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return "another program has this port; choose another, or end that one"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be opened: {error.strerror}"
    return f"cannot be opened: {error}"
