"""What UDP, TCP and serial links have in common: limits, and words for what goes wrong. None of them ever waits.

A link makes a peer of whoever speaks on it. What a station does not read is kept up to a limit, then dropped frame by
frame; one that reads nothing for too long is hung up on.
"""

import errno
from collections.abc import Callable
from typing import Protocol

from caudal.hal.errors import CaudalError
from caudal.onboard.station.station_link import StationLink

NET_B_S = 150_000.0  # a share of a wireless network; logs go at this rate
MOST_PEERS = 8  # of a link; strangers, who have said nothing that was taken, make room for others
PIECE = 4096

Welcome = Callable[
    [str, Callable[[bytes], bool], float, bool], StationLink
]  # name, send, bytes a second, datagrams?


class LinkError(CaudalError):
    """Why a link cannot be opened: a sentence."""


class Link(Protocol):
    def step(self, now_s: float) -> None: ...
    def close(self) -> None: ...
    def peers(self) -> list[StationLink]: ...


def reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return "another program has this port; choose another, or end that one"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be opened: {error.strerror}"
    return f"cannot be opened: {error}"
