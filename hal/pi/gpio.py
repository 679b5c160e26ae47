"""Switches and the output-enable of pulses on a Pi's pins, through gpiod (version 2). CPython only.

A function that requests the line is passed in, so that a line which another program holds is requested again.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import gpiod
from gpiod.line import Bias, Direction, Value

from caudal.hal.pi.slot import RESTART_US, Slot, Steps

BIASES = {"up": Bias.PULL_UP, "down": Bias.PULL_DOWN, "none": Bias.DISABLED}
DEBOUNCE = timedelta(milliseconds=5)  # by the kernel: the level stays until a bouncing contact has settled


def open_input(chip: str, line: int, pull: str, active_low: bool) -> Any:
    """Requests a line as an input; `chip` is a device such as /dev/gpiochip0."""
    settings = gpiod.LineSettings(
        direction=Direction.INPUT, bias=BIASES[pull], active_low=active_low, debounce_period=DEBOUNCE
    )
    return gpiod.request_lines(chip, config={line: settings}, consumer="caudal")


def open_output(chip: str, line: int) -> Any:
    """Requests a line as an active-low output, inactive at first."""
    settings = gpiod.LineSettings(direction=Direction.OUTPUT, active_low=True, output_value=Value.INACTIVE)
    return gpiod.request_lines(chip, config={line: settings}, consumer="caudal")


class Switch:
    """A digital input, read once per period."""

    restart_us = RESTART_US

    def __init__(
        self, open_request: Callable[[], Any], line: int, slot: Slot, period_us: int, name: str = ""
    ) -> None:
        self.name = name or f"switch on line {line}"
        self.period_us = period_us
        self.working = False
        self._open_request = open_request
        self._line = line
        self._slot = slot

    def run(self) -> Steps:
        """Reads 0 or 1 once per period."""
        request = self._open_request()
        try:
            self.working = True
            while True:
                yield None
                self._slot.put(int(request.get_value(self._line) is Value.ACTIVE))
        finally:
            request.release()


class OutputEnable:
    """The pin that enables pulses. Low is on: with a pull-up, the OE of a PCA9685 is off while nothing drives it."""

    def __init__(self, open_request: Callable[[], Any], line: int) -> None:
        self._open_request = open_request
        self._line = line
        self._request: Any = None

    def set(self, on: bool) -> None:
        """Enables or disables the pulses."""
        if self._request is None:
            self._request = self._open_request()
        self._request.set_value(self._line, Value.ACTIVE if on else Value.INACTIVE)
