"""The [pi] table: which chip on a Raspberry Pi's buses each channel of a vehicle is on. CPython only.

    [pi.pulses]         the PCA9685 that drives servos and thrusters; an actuator's port is its channel
    [pi.valves]         a board on a serial port that drives valves, where the PCA9685 does not
    [pi.chip.NAME]      a device with readings: bno055, ms5837, ads1115, ina219, ping, line, gpio
    [pi.sensor]         heading = "-imu.heading": the chip and the value of a sensor, and its sign

`read` checks it against the vehicle's channels; hal/pi/build.py makes drivers from it.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from caudal.hal.tables.types import Kind, Table
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.hal.vehicle_file.schema import filled_in

if TYPE_CHECKING:
    from caudal.hal.tables.channels import Actuator, BoardSettings

Address = Annotated[int, Meta(ge=3, le=119)]  # of seven bits; the others are reserved
Bus = Annotated[int, Meta(ge=0, le=31)]  # /dev/i2c-N
Gpio = Annotated[int, Meta(ge=0, le=511)]
Rate = Annotated[float, Meta(ge=0.1, le=1000)]

ANGLES = ("heading", "roll", "pitch")
RATES = ("rate_x", "rate_y", "rate_z")
ACCELERATIONS = ("acc_x", "acc_y", "acc_z")


class Reading(Table, kw_only=True, frozen=True):
    """A value of a chip, with its sign."""

    chip: str
    value: str
    sign: int


class Valves(Table, kw_only=True, frozen=True):
    """Current drivers on channels of the PCA9685; values of chips measure the currents of their coils."""

    full_scale_ua: Annotated[int, Meta(gt=0, le=10_000_000)]  # at full duty
    channel: dict[str, Annotated[int, Meta(ge=0, le=15)]]  # by actuator
    current: dict[str, str]  # by actuator: the chip and value of its coil's current, in ua_per_count
    ua_per_count: Annotated[float, Meta(gt=0, le=1e6)] = 1000.0
    measured: dict[str, Reading] = filled_in("measured", {})  # `current`, read


class Pulses(Table, kw_only=True, frozen=True):
    """A PCA9685. Its oscillator is off by several per cent: `caudal calibrate clock` finds clock_hz."""

    bus: Bus = 1
    address: Address = 0x40
    frequency_hz: Annotated[float, Meta(ge=24, le=1526)] = 50.0
    clock_hz: Annotated[int, Meta(ge=20_000_000, le=30_000_000)] = 25_000_000
    output_enable: Gpio | None = None  # the GPIO its OE pin is wired to; high is off
    valves: Valves | None = None


class ValveBoard(Table, kw_only=True, frozen=True):
    """A separate board that drives the valves' coils; it receives their currents as lines (hal/pi/valve_line.py)."""

    device: str
    baud: Annotated[int, Meta(ge=1200, le=4_000_000)] = 115_200
    order: Annotated[list[str], Meta(min_length=1, max_length=64)]  # of the actuators in a line


class OnBus(Kind, kw_only=True, frozen=True):
    """A chip on an I2C bus."""

    bus: Bus = 1
    address: Address


class Bno055(OnBus, tag="bno055", kw_only=True, frozen=True):
    """Angles in 1/16 degree, rates in 1/16 degree a second, accelerations in 1/100 m/s2."""

    address: Address = 0x28
    rate_hz: Rate = 100.0
    fusion: Literal["ndof", "imu"] = "ndof"


class Ms5837(OnBus, tag="ms5837", kw_only=True, frozen=True):
    """Depth in millimetres below where the pressure is surface_pa."""

    address: Address = 0x76
    model: Literal["30ba", "02ba"] = "30ba"
    rate_hz: Rate = 20.0
    surface_pa: Annotated[float, Meta(ge=50_000, le=120_000)] = 101_325.0
    density_kg_m3: Annotated[float, Meta(ge=900, le=1100)] = 997.0
    surface_count: Annotated[int, Meta(ge=-100_000, le=100_000)] = 0


class Ads1115(OnBus, tag="ads1115", kw_only=True, frozen=True):
    """Inputs a0 to a3, in uv_per_count."""

    address: Address = 0x48
    rate_hz: Rate = 20.0
    full_scale_mv: Literal[6144, 4096, 2048, 1024, 512, 256] = 4096
    uv_per_count: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000
    data_rate: Literal[8, 16, 32, 64, 128, 250, 475, 860] = 860


class Ina219(OnBus, tag="ina219", kw_only=True, frozen=True):
    """Voltage in 4 mV, current in mA."""

    address: Address = 0x41
    rate_hz: Rate = 10.0
    shunt_ohm: Annotated[float, Meta(gt=0, le=10)] = 0.1


class OnSerial(Kind, kw_only=True, frozen=True):
    """A device on a serial port."""

    device: str
    baud: Annotated[int, Meta(ge=1200, le=4_000_000)] = 115_200


class Ping(OnSerial, tag="ping", kw_only=True, frozen=True):
    """A Ping sonar on its own serial port: distance in millimetres."""

    rate_hz: Rate = 10.0
    confidence: Annotated[int, Meta(ge=0, le=100)] = 50


class Line(OnSerial, tag="line", kw_only=True, frozen=True):
    """Another board that sends its sensors as lines of numbers (hal/core/number_line.py)."""

    fields: Annotated[int, Meta(ge=1, le=64)]


class GpioPins(Kind, tag="gpio", kw_only=True, frozen=True):
    """Switches, by their GPIO's number: 1 while closed."""

    device: str = "/dev/gpiochip0"
    pull: Literal["up", "down", "none"] = "up"
    inverted: bool = True
    rate_hz: Rate = 100.0


Sampled = Bno055 | Ms5837 | Ads1115 | Ina219 | Ping | GpioPins  # with a rate_hz
Chip = Sampled | Line
VALUES: dict[type, tuple[str, ...]] = {
    Bno055: (*ANGLES, *RATES, *ACCELERATIONS),
    Ms5837: ("depth", "temperature"),
    Ads1115: ("a0", "a1", "a2", "a3"),
    Ina219: ("voltage", "current"),
    Ping: ("distance",),
}


class Arm(Table, kw_only=True, frozen=True):
    """The switch that arms the vehicle while it is closed."""

    gpio: Gpio
    device: str = "/dev/gpiochip0"
    pull: Literal["up", "down", "none"] = "up"
    inverted: bool = True


class Emulated(Table, kw_only=True, frozen=True):
    """True values of the emulated chips that drivers do not know."""

    oscillator_hz: Annotated[float, Meta(ge=20e6, le=30e6)] = 25e6  # of the PCA9685


class Pi(Table, kw_only=True, frozen=True):
    """The chips, buses and serial ports of a vehicle."""

    description: str = ""
    pulses: Pulses
    valves: ValveBoard | None = None
    chip: dict[str, Chip] = {}
    sensor: dict[str, str] = {}
    absent: list[str] = []  # sensors that are not fitted
    arm: Arm | None = None
    emulated: Emulated = Emulated()
    readings: dict[str, Reading] = filled_in("readings", {})  # `sensor`, read


def read(file: VehicleFile, channels: "BoardSettings") -> Pi:
    """The table, checked to give every channel of the vehicle a chip."""
    if "pi" not in file.tables:
        raise file.error("pi", "the table is missing; it gives the chips of the channels; add it")
    pi = file.read("pi", Pi)
    _check_addresses(file, pi)
    _check_actuators(file, pi, channels.actuators)
    sensors = [channel.name for channel in channels.sensors]
    for key, named in (("pi.sensor", pi.sensor), ("pi.absent", pi.absent)):
        for name in named:
            if name not in sensors:
                raise file.error(
                    f"{key}.{name}", f"there is no sensor {name}; there are {', '.join(sensors)}"
                )
    for name in sensors:
        if (name in pi.sensor) == (name in pi.absent):
            problem = (
                f"sensor {name} has a chip and is listed in pi.absent; remove one"
                if name in pi.absent
                else f"sensor {name} has no chip; add it, or list it in pi.absent"
            )
            raise file.error("pi.sensor", problem)
    taken: dict[str, str] = {}
    valves = pi.pulses.valves
    readings = _readings(file, pi, "pi.sensor", pi.sensor, taken)
    if valves:
        measured = _readings(file, pi, "pi.pulses.valves.current", valves.current, taken)
        pi = replace(pi, pulses=replace(pi.pulses, valves=replace(valves, measured=measured)))
    return replace(pi, readings=readings)


def _readings(
    file: VehicleFile, pi: Pi, key: str, texts: dict[str, str], taken: dict[str, str]
) -> dict[str, Reading]:
    """The readings by channel; each value of a chip once."""
    for name, text in texts.items():
        value = text.lstrip("-")
        if value in taken:
            raise file.error(f"{key}.{name}", f"{value} is used by {taken[value]} too; use each value once")
        taken[value] = name
    return {name: _reading(file, pi, f"{key}.{name}", text) for name, text in texts.items()}


def _reading(file: VehicleFile, pi: Pi, key: str, text: str) -> Reading:
    """ "-imu.heading" as chip, value and sign."""
    match = re.fullmatch(r"(-?)([a-z][a-z0-9_]*)\.([a-z0-9_]+)", text)
    if not match:
        raise file.error(key, f'"{text}" is not CHIP.VALUE; write it like "imu.heading" or "-imu.heading"')
    minus, chip_name, value = match.groups()
    chip = pi.chip.get(chip_name)
    if chip is None:
        raise file.error(key, f"there is no [pi.chip.{chip_name}]; there are {', '.join(pi.chip) or 'none'}")
    if isinstance(chip, Line) and not (value.isdigit() and int(value) < chip.fields):
        raise file.error(key, f"{chip_name} is a line of {chip.fields} numbers; give 0 to {chip.fields - 1}")
    if isinstance(chip, GpioPins) and not value.isdigit():
        raise file.error(key, f"{chip_name} has pins by number; {value} is not one")
    known = VALUES.get(type(chip), (value,))
    if value not in known:
        raise file.error(key, f"{chip_name} has no {value}; it has {', '.join(known)}")
    if minus and not isinstance(chip, Bno055):
        raise file.error(key, f"only values of an inertial unit can have a sign; remove the - of {text}")
    return Reading(chip=chip_name, value=value, sign=-1 if minus else 1)


def _check_addresses(file: VehicleFile, pi: Pi) -> None:
    """Two chips at one address would both respond."""
    taken: dict[tuple[int, int], str] = {}
    on_bus = [(f"pi.chip.{name}", chip) for name, chip in pi.chip.items() if isinstance(chip, OnBus)]
    for key, chip in [("pi.pulses", pi.pulses), *on_bus]:
        place = chip.bus, chip.address
        if place in taken:
            problem = f"0x{chip.address:02x} on bus {chip.bus} is used by {taken[place]} too; change one"
            raise file.error(f"{key}.address", problem)
        taken[place] = key
    devices: dict[str, str] = {pi.valves.device: "pi.valves"} if pi.valves else {}
    for name, port in pi.chip.items():
        if isinstance(port, OnSerial):
            if port.device in devices:
                problem = f"{port.device} is used by {devices[port.device]} too; a port has one device"
                raise file.error(f"pi.chip.{name}.device", problem)
            devices[port.device] = f"pi.chip.{name}"


def _check_actuators(file: VehicleFile, pi: Pi, actuators: "Sequence[Actuator]") -> None:
    pulses, valves = pi.pulses, pi.pulses.valves
    taken: dict[int, str] = {}
    on_board = pi.valves.order if pi.valves else []
    all_valves = [actuator.name for actuator in actuators if actuator.map == "valve"]
    for k, name in enumerate(on_board):
        if name not in all_valves or name in on_board[:k] or (valves and name in valves.channel):
            raise file.error(
                "pi.valves.order", f"{name} is not a valve, or is listed twice; list each valve once"
            )
    for actuator in actuators:
        name, is_valve = actuator.name, actuator.map == "valve"
        if name in on_board:
            continue
        if is_valve and (valves is None or name not in valves.channel or name not in valves.current):
            problem = f"actuator {name} is a valve without a channel and a current; give it both"
            raise file.error("pi.pulses.valves", problem)
        channel = valves.channel[name] if is_valve and valves else actuator.port
        if channel > 15:
            raise file.error(f"actuator.{name}.port", f"{channel} is no channel of a PCA9685; it has 0 to 15")
        if channel in taken:
            raise file.error(
                "pi.pulses", f"{taken[channel]} and {name} are both on channel {channel}; change one"
            )
        taken[channel] = name
        period_us = 1e6 / pulses.frequency_hz
        if actuator.map != "valve" and actuator.high_us >= period_us:
            problem = f"pulses of {name} last up to {actuator.high_us} us, a period {period_us:.0f} us"
            raise file.error("pi.pulses.frequency_hz", f"{problem}; lower it")
    for name in valves.channel if valves else ():
        if name not in all_valves:
            raise file.error(f"pi.pulses.valves.channel.{name}", f"there is no valve {name}")
