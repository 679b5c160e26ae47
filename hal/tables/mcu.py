"""The [mcu] table: which pin or bus of a microcontroller each channel of a vehicle is on. CPython only.

The table is in the vehicle file, or in a board file of its own. `read` checks it against the vehicle's channels;
hal/mcu/build.py (portable) builds a driver from it.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from caudal.hal.tables.types import Table
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.hal.vehicle_file.schema import filled_in

if TYPE_CHECKING:
    from caudal.hal.tables.channels import Actuator, BoardSettings

Pin = Annotated[int, Meta(ge=0, le=99)] | str  # by number, or by the board's own name for it
Id = Annotated[int, Meta(ge=0, le=9)]
Byte = Annotated[int, Meta(ge=0, le=255)]
Address = Annotated[int, Meta(ge=3, le=119)]  # of seven bits; the others are reserved
Field = Annotated[int, Meta(ge=0, le=63)]


class I2c(Table, kw_only=True, frozen=True):
    """The I2C bus."""

    id: Id = 0
    scl: Pin
    sda: Pin
    frequency_hz: Annotated[int, Meta(ge=10_000, le=1_000_000)] = 400_000


class Uart(Table, kw_only=True, frozen=True):
    """A serial port; without pins, on the board's default pins for its number."""

    id: Id = 1
    tx: Pin | None = None
    rx: Pin | None = None
    baud: Annotated[int, Meta(ge=1200, le=4_000_000)] = 115_200


class NumberLine(Uart, kw_only=True, frozen=True):
    """A serial port on which another board sends its sensors' numbers (hal/core/number_line.py)."""

    fields: Annotated[int, Meta(ge=1, le=64)]


class Setup(Table, kw_only=True, frozen=True):
    """A byte that is written to a device when the board starts."""

    address: Address
    register: Byte
    value: Byte


class OnAdc(Table, tag_field="on", tag="adc", kw_only=True, frozen=True):
    """A sensor on an analogue input."""

    on: Literal["adc"] = filled_in("on", "adc")
    pin: Pin


class OnPin(Table, tag_field="on", tag="pin", kw_only=True, frozen=True):
    """A sensor on a digital input."""

    on: Literal["pin"] = filled_in("on", "pin")
    pin: Pin
    pull: Literal["up", "down", "none"] = "up"
    inverted: bool = False


class OnI2c(Table, tag_field="on", tag="i2c", kw_only=True, frozen=True):
    """A sensor in a register of an I2C device."""

    on: Literal["i2c"] = filled_in("on", "i2c")
    address: Address
    register: Byte
    bytes: Literal[1, 2, 3, 4] = 2
    order: Literal["little", "big"] = "little"
    signed: bool = True


class OnLine(Table, tag_field="on", tag="line", kw_only=True, frozen=True):
    """A sensor in a field of the line of numbers."""

    on: Literal["line"] = filled_in("on", "line")
    field: Field


class Arm(Table, kw_only=True, frozen=True):
    """A switch that arms the vehicle while it is closed to ground."""

    pin: Pin
    pull: Literal["up", "down", "none"] = "up"
    inverted: bool = True


Place = OnAdc | OnPin | OnI2c | OnLine
Input = OnPin | Arm


class Bench(Table, kw_only=True, frozen=True):
    """What a board at the controller side of a HIL link needs of [mcu]: its serial port."""

    bench: Uart = Uart()


class Mcu(Bench, kw_only=True, frozen=True):
    """One board. Every channel has a pin or bus; a sensor that is not fitted is named in `absent`."""

    description: str = ""
    pulse_hz: Annotated[int, Meta(ge=40, le=400)] = 50
    pulse: dict[str, Pin] = {}
    sensor: dict[str, Place] = {}
    absent: list[str] = []
    i2c: I2c | None = None
    setup: list[Setup] = []
    line: NumberLine | None = None
    arm: Arm | None = None
    arm_after_s: Annotated[float, Meta(ge=0, le=3600)] = 5.0  # where there is no switch
    watchdog_ms: Annotated[int, Meta(ge=0, le=8000)] = 0


def read(file: VehicleFile, channels: "BoardSettings") -> Mcu:
    """The table, checked to give every channel of the vehicle a pin or bus."""
    mcu = file.read("mcu", Mcu)
    actuators = {channel.name: channel for channel in channels.actuators}
    sensors = [channel.name for channel in channels.sensors]
    _check_names(file, "mcu.pulse", mcu.pulse, list(actuators), "actuator")
    _check_names(file, "mcu.sensor", mcu.sensor, sensors, "sensor")
    _check_names(file, "mcu.absent", mcu.absent, sensors, "sensor")
    for name, channel in actuators.items():
        _check_pulse(file, mcu, name, channel)
    for name in sensors:
        if (name in mcu.sensor) == (name in mcu.absent):
            problem = (
                f"sensor {name} has a pin or bus and is listed in mcu.absent; remove one"
                if name in mcu.absent
                else f"sensor {name} has no pin or bus; add it, or list it in mcu.absent"
            )
            raise file.error("mcu.sensor", problem)
    for name, place in mcu.sensor.items():
        if isinstance(place, OnI2c) and mcu.i2c is None:
            raise file.error(f"mcu.sensor.{name}", "needs [mcu.i2c], which gives the pins of the bus; add it")
        if isinstance(place, OnLine) and (mcu.line is None or place.field >= mcu.line.fields):
            raise file.error(f"mcu.sensor.{name}", f"[mcu.line] has no field {place.field}; set its fields")
    if mcu.setup and mcu.i2c is None:
        raise file.error("mcu.setup", "needs [mcu.i2c], which gives the pins of the bus; add it")
    if mcu.line and mcu.line.id == mcu.bench.id:
        raise file.error("mcu.line.id", f"{mcu.line.id} is the UART of mcu.bench too; change one of them")
    taken: dict[int | str, str] = {}
    for key, pin in _pins(mcu):
        if pin in taken:
            raise file.error(key, f"pin {pin} is used by {taken[pin]} too; change one of them")
        taken[pin] = key
    return mcu


def _check_names(file: VehicleFile, key: str, named: Iterable[str], known: list[str], kind: str) -> None:
    for name in named:
        if name not in known:
            raise file.error(f"{key}.{name}", f"there is no {kind} {name}; there are {', '.join(known)}")


def _check_pulse(file: VehicleFile, mcu: Mcu, name: str, channel: "Actuator") -> None:
    if channel.map == "valve":
        raise file.error("mcu.pulse", f"actuator {name} is a valve; the pins of a board drive none")
    if name not in mcu.pulse:
        raise file.error("mcu.pulse", f"actuator {name} has no pin; give it one")
    period_us = 1_000_000 // mcu.pulse_hz
    if channel.high_us >= period_us:
        problem = f"pulses of {name} last up to {channel.high_us} us, a period {period_us} us"
        raise file.error("mcu.pulse_hz", f"{problem}; lower it")


def _pins(mcu: Mcu) -> Iterator[tuple[str, int | str]]:
    """Every pin of the table, with its key."""
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
