"""Switches and the output-enable pin (hal/pi/gpio.py), on lines that are made up."""

from datetime import timedelta

import gpiod
import pytest
from gpiod.line import Bias, Direction, Value

from caudal.hal.pi.gpio import OutputEnable, Switch, open_input, open_output
from caudal.hal.pi.slot import Slot
from tests.hal.pi_bench import Bench, taken


class Lines:
    """A request of lines."""

    def __init__(self) -> None:
        self.value = Value.INACTIVE
        self.broken = False
        self.released = 0

    def get_value(self, line: int) -> Value:
        assert line == 17
        if self.broken:
            raise OSError(5, "Input/output error")
        return self.value

    def set_value(self, line: int, value: Value) -> None:
        assert line == 17
        self.value = value

    def release(self) -> None:
        self.released += 1


class Rig(Bench):
    def __init__(self) -> None:
        super().__init__()
        self.lines = Lines()
        self.slot = Slot()
        self.use(Switch(lambda: self.lines, 17, self.slot, 20_000))


def test_switch_is_read_every_period():
    rig = Rig()
    assert taken(rig.slot, rig, 200) == [0] * 10
    rig.lines.value = Value.ACTIVE
    assert taken(rig.slot, rig, 200) == [1] * 10


def test_failed_line_is_released_and_requested_again():
    rig = Rig()
    rig.run(50)
    rig.lines.broken = True
    rig.slot.take()
    rig.run(50)
    assert rig.slot.take() is None and rig.lines.released == 1
    assert "Input/output" in rig.reason
    rig.lines.broken = False
    rig.run(200)
    assert rig.slot.take() == 0 and not rig.reason


def test_output_enable_requests_its_line_once_and_drives_it():
    requests = []

    def ask() -> Lines:
        requests.append(Lines())
        return requests[-1]

    pin = OutputEnable(ask, 17)
    assert not requests
    for on in (True, False, True):
        pin.set(on)
        assert requests[0].value is (Value.ACTIVE if on else Value.INACTIVE)
    assert len(requests) == 1


def test_lines_are_requested_from_gpiod_as_they_are_wired(monkeypatch):
    asked = []
    monkeypatch.setattr(gpiod, "request_lines", lambda chip, config, consumer: asked.append((chip, config)))
    open_input("/dev/gpiochip0", 17, "up", True)
    open_output("/dev/gpiochip4", 5)
    (chip, inputs), (other, outputs) = asked
    assert (chip, other) == ("/dev/gpiochip0", "/dev/gpiochip4")
    assert inputs[17] == gpiod.LineSettings(
        direction=Direction.INPUT,
        bias=Bias.PULL_UP,
        active_low=True,
        debounce_period=timedelta(milliseconds=5),
    )
    assert outputs[5] == gpiod.LineSettings(
        direction=Direction.OUTPUT, active_low=True, output_value=Value.INACTIVE
    )


def test_missing_gpio_chip_is_an_os_error():
    with pytest.raises(OSError):
        open_output("/dev/no-such-gpiochip", 5)
