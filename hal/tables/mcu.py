"""The [mcu] table: which pin or bus of a microcontroller each channel of a vehicle is on. CPython only.

It stands in the vehicle file, or in a board file of its own. `read` checks it against the vehicle's channels and gives
plain settings that hal/mcu/build.py (portable) builds a driver from.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from caudal.hal.vehicle_file.reader import VehicleFile

Pin = Annotated[int, Meta(ge=0, le=99)] | str  # by number, or by the board's own name for it
Id = Annotated[int, Meta(ge=0, le=9)]
Byte = Annotated[int, Meta(ge=0, le=255)]
Address = Annotated[int, Meta(ge=3, le=119)]  # of seven bits; the rest are the bus's own
Field = Annotated[int, Meta(ge=0, le=63)]


class _Table(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    pass


class I2c(_Table, kw_only=True, frozen=True):
    id: Id = 0
    scl: Pin
    sda: Pin
    frequency_hz: Annotated[int, Meta(ge=10_000, le=1_000_000)] = 400_000


class Uart(_Table, kw_only=True, frozen=True):
    """A serial line; without pins, on the board's own for that number."""

    id: Id = 1
    tx: Pin | None = None
    rx: Pin | None = None
    baud: Annotated[int, Meta(ge=1200, le=4_000_000)] = 115_200


class NumberLine(Uart, kw_only=True, frozen=True):
    """A serial line on which another board sends its sensors' numbers (hal/core/number_line.py)."""

    fields: Annotated[int, Meta(ge=1, le=64)]


class Setup(_Table, kw_only=True, frozen=True):
    """A byte written to a device once, when the board starts."""

    address: Address
    register: Byte
    value: Byte


class OnAdc(_Table, tag_field="on", tag="adc", kw_only=True, frozen=True):
    pin: Pin


class OnPin(_Table, tag_field="on", tag="pin", kw_only=True, frozen=True):
    pin: Pin
    pull: Literal["up", "down", "none"] = "up"
    inverted: bool = False


class OnI2c(_Table, tag_field="on", tag="i2c", kw_only=True, frozen=True):
    address: Address
    register: Byte
    bytes: Literal[1, 2, 3, 4] = 2
    order: Literal["little", "big"] = "little"
    signed: bool = True


class OnLine(_Table, tag_field="on", tag="line", kw_only=True, frozen=True):
    field: Field


class Arm(_Table, kw_only=True, frozen=True):
    """A switch that arms the vehicle while it is closed to ground."""

    pin: Pin
    pull: Literal["up", "down", "none"] = "up"
    inverted: bool = True


class Mcu(_Table, kw_only=True, frozen=True):
    """One board. Every channel has a place; a sensor that is not fitted is named in `absent`."""

    about: str = ""
    pulse_hz: Annotated[int, Meta(ge=40, le=400)] = 50
    pulse: dict[str, Pin] = {}
    sensor: dict[str, OnAdc | OnPin | OnI2c | OnLine] = {}
    absent: list[str] = []
    i2c: I2c | None = None
    setup: list[Setup] = []
    line: NumberLine | None = None
    bench: Uart = Uart()  # the bench wire
    arm: Arm | None = None
    arm_after_s: Annotated[float, Meta(ge=0, le=3600)] = 5.0  # where there is no switch
    watchdog_ms: Annotated[int, Meta(ge=0, le=8000)] = 0


def read(file: VehicleFile, channels: Any) -> dict[str, Any]:
    """The table as plain settings, every channel of the vehicle placed."""
    mcu: Mcu = file.read("mcu", Mcu)
    actuators = {channel["name"]: channel for channel in channels["actuators"]}
    sensors = [channel["name"] for channel in channels["sensors"]]
    _check_names(file, "mcu.pulse", mcu.pulse, list(actuators), "actuator")
    _check_names(file, "mcu.sensor", mcu.sensor, sensors, "sensor")
    _check_names(file, "mcu.absent", mcu.absent, sensors, "sensor")
    for name, channel in actuators.items():
        _check_pulse(file, mcu, name, channel)
    for name in sensors:
        if (name in mcu.sensor) == (name in mcu.absent):
            problem = (
                "is placed, and absent too; keep one" if name in mcu.absent else "has no place; give it one"
            )
            raise file.error("mcu.sensor", f"sensor {name} {problem}, or list it in mcu.absent")
    for name, place in mcu.sensor.items():
        if isinstance(place, OnI2c) and mcu.i2c is None:
            raise file.error(f"mcu.sensor.{name}", "there is no [mcu.i2c] for it; say which pins it is on")
        if isinstance(place, OnLine) and (mcu.line is None or place.field >= mcu.line.fields):
            raise file.error(f"mcu.sensor.{name}", "[mcu.line] has no such field; say how many it has")
    if mcu.setup and mcu.i2c is None:
        raise file.error("mcu.setup", "there is no [mcu.i2c] to write to")
    if mcu.line and mcu.line.id == mcu.bench.id:
        raise file.error("mcu.line.id", f"{mcu.line.id} is the bench wire's; give one of them another")
    taken: dict[int | str, str] = {}
    for key, pin in _pins(mcu):
        if pin in taken:
            raise file.error(key, f"pin {pin} is taken by {taken[pin]} already; give each its own")
        taken[pin] = key
    return msgspec.to_builtins(mcu)


def _check_names(file: VehicleFile, key: str, named: Any, known: list[str], kind: str) -> None:
    for name in named:
        if name not in known:
            raise file.error(f"{key}.{name}", f"there is no {kind} {name}; there are {', '.join(known)}")


def _check_pulse(file: VehicleFile, mcu: Mcu, name: str, channel: dict[str, Any]) -> None:
    if channel["map"] == "valve":
        raise file.error("mcu.pulse", f"actuator {name} is a valve; a microcontroller's pins give no current")
    if name not in mcu.pulse:
        raise file.error("mcu.pulse", f"actuator {name} has no pin; give it one")
    period_us = 1_000_000 // mcu.pulse_hz
    if channel["high_us"] >= period_us:
        problem = f"pulses of {name} last up to {channel['high_us']} us, a period {period_us} us"
        raise file.error("mcu.pulse_hz", f"{problem}; lower it")


def _pins(mcu: Mcu) -> Iterator[tuple[str, int | str]]:
    """Every pin the table names, with its key."""
    for name, pin in mcu.pulse.items():
        yield f"mcu.pulse.{name}", pin
    for name, place in mcu.sensor.items():
        if isinstance(place, OnAdc | OnPin):
            yield f"mcu.sensor.{name}.pin", place.pin
    if mcu.i2c:
        yield "mcu.i2c.scl", mcu.i2c.scl
        yield "mcu.i2c.sda", mcu.i2c.sda
    for key, uart in (("mcu.line", mcu.line), ("mcu.bench", mcu.bench)):
        for wire in ("tx", "rx"):
            if uart and getattr(uart, wire) is not None:
                yield f"{key}.{wire}", getattr(uart, wire)
    if mcu.arm:
        yield "mcu.arm.pin", mcu.arm.pin


def bench_by_default() -> dict[str, Any]:
    """The bench wire where no file says anything of it."""
    return msgspec.to_builtins(Uart())
