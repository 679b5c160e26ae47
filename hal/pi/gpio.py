"""Switches and the pulses' output-enable on a Pi's pins, through gpiod (version 2). CPython only.

A request of lines is passed in as a function, so that a line that another program holds is asked for again.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import gpiod
from gpiod.line import Bias, Direction, Value

from caudal.hal.pi.slot import RESTART_US, Slot, Steps

BIASES = {"up": Bias.PULL_UP, "down": Bias.PULL_DOWN, "none": Bias.DISABLED}
DEBOUNCE = timedelta(milliseconds=5)  # by the kernel: a contact that bounces keeps its level until it rests


def open_input(chip: str, line: int, pull: str, active_low: bool) -> Any:
    """A line as an input; `chip` such as /dev/gpiochip0."""
    settings = gpiod.LineSettings(
        direction=Direction.INPUT, bias=BIASES[pull], active_low=active_low, debounce_period=DEBOUNCE
    )
    return gpiod.request_lines(chip, config={line: settings}, consumer="caudal")


def open_output(chip: str, line: int) -> Any:
    """A line as an output that is active low, and not active to begin with."""
    settings = gpiod.LineSettings(direction=Direction.OUTPUT, active_low=True, output_value=Value.INACTIVE)
    return gpiod.request_lines(chip, config={line: settings}, consumer="caudal")


class Switch:
    """0 or 1, once a period."""

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
        request = self._open_request()
        try:
            self.working = True
            while True:
                yield None
                self._slot.put(int(request.get_value(self._line) is Value.ACTIVE))
        finally:
            request.release()


class OutputEnable:
    """The pin that lets pulses out. Low is on: a PCA9685's OE with a pull-up is off while nobody drives it."""

    def __init__(self, open_request: Callable[[], Any], line: int) -> None:
        self._open_request = open_request
        self._line = line
        self._request: Any = None

    def set(self, on: bool) -> None:
        if self._request is None:
            self._request = self._open_request()
        self._request.set_value(self._line, Value.ACTIVE if on else Value.INACTIVE)
