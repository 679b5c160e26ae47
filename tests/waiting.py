"""Waiting for an event, for as long as a busy machine may need, and no longer than the event takes."""

import time
from collections.abc import Callable
from typing import TypeVar

LIMIT_S = 300.0  # no measure of anything: it only ends a test whose event never comes

T = TypeVar("T")


def wait_for(event: Callable[[], T], what: str = "the event", limit_s: float = LIMIT_S) -> T:
    """What `event()` returns as soon as that is true."""
    give_up_s = time.monotonic() + limit_s
    while not (found := event()):
        assert time.monotonic() < give_up_s, f"{what} did not come within {limit_s:.0f} s"
        time.sleep(0.005)
    return found
