"""The [pi] table: which chip on a Raspberry Pi's buses each channel of a vehicle is on. CPython only.

    [pi.pulses]         the PCA9685 that drives servos and thrusters; an actuator's port is its channel
    [pi.valves]         a board on a serial line that drives valves, where the PCA9685 does not
    [pi.chip.NAME]      a device with readings: bno055, ms5837, ads1115, ina219, ping, line, gpio
    [pi.sensor]         heading = "-imu.heading": which value of which chip a sensor is, and its sign

`read` checks it against the vehicle's channels and gives plain settings that hal/pi/build.py makes drivers from.
"""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from caudal.hal.vehicle_file.reader import VehicleFile

Address = Annotated[int, Meta(ge=3, le=119)]  # of seven bits; the rest are the bus's own
Bus = Annotated[int, Meta(ge=0, le=31)]  # /dev/i2c-N
Gpio = Annotated[int, Meta(ge=0, le=511)]
Rate = Annotated[float, Meta(ge=0.1, le=1000)]

ANGLES = ("heading", "roll", "pitch")
RATES = ("rate_x", "rate_y", "rate_z")
ACCELERATIONS = ("acc_x", "acc_y", "acc_z")


class _Table(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    pass


class Valves(_Table, kw_only=True, frozen=True):
    """Current drivers on channels of the PCA9685, their coils' currents measured by a chip's values."""

    full_scale_ua: Annotated[int, Meta(gt=0, le=10_000_000)]  # at full duty
    channel: dict[str, Annotated[int, Meta(ge=0, le=15)]]  # by actuator
    current: dict[str, str]  # by actuator: which value of which chip is its coil's current, in uA_per_count
    ua_per_count: Annotated[float, Meta(gt=0, le=1e6)] = 1000.0


class Pulses(_Table, kw_only=True, frozen=True):
    """A PCA9685. Its oscillator is off by several per cent: `caudal calibrate clock` finds clock_hz."""

    bus: Bus = 1
    address: Address = 0x40
    frequency_hz: Annotated[float, Meta(ge=24, le=1526)] = 50.0
    clock_hz: Annotated[int, Meta(ge=20_000_000, le=30_000_000)] = 25_000_000
    output_enable: Gpio | None = None  # the GPIO its OE pin is wired to; high is off
    valves: Valves | None = None


class ValveBoard(_Table, kw_only=True, frozen=True):
    """A board of its own that drives the valves' coils, told their currents in lines (hal/pi/valve_line.py)."""

    device: str
    baud: Annotated[int, Meta(ge=1200, le=4_000_000)] = 115_200
    order: Annotated[list[str], Meta(min_length=1, max_length=64)]  # of the actuators in a line


class _OnBus(_Table, tag_field="kind", kw_only=True, frozen=True):
    bus: Bus = 1


class Bno055(_OnBus, tag="bno055", kw_only=True, frozen=True):
    """Angles in 1/16 degree, rates in 1/16 degree a second, accelerations in 1/100 m/s2."""

    address: Address = 0x28
    rate_hz: Rate = 100.0
    fusion: Literal["ndof", "imu"] = "ndof"


class Ms5837(_OnBus, tag="ms5837", kw_only=True, frozen=True):
    """Depth in millimetres below where the pressure is surface_pa."""

    address: Address = 0x76
    model: Literal["30ba", "02ba"] = "30ba"
    rate_hz: Rate = 20.0
    surface_pa: Annotated[float, Meta(ge=50_000, le=120_000)] = 101_325.0
    density_kg_m3: Annotated[float, Meta(ge=900, le=1100)] = 997.0
    surface_count: Annotated[int, Meta(ge=-100_000, le=100_000)] = 0


class Ads1115(_OnBus, tag="ads1115", kw_only=True, frozen=True):
    """Inputs a0 to a3, in uv_per_count."""

    address: Address = 0x48
    rate_hz: Rate = 20.0
    full_scale_mv: Literal[6144, 4096, 2048, 1024, 512, 256] = 4096
    uv_per_count: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000
    data_rate: Literal[8, 16, 32, 64, 128, 250, 475, 860] = 860


class Ina219(_OnBus, tag="ina219", kw_only=True, frozen=True):
    """Voltage in 4 mV, current in mA."""

    address: Address = 0x41
    rate_hz: Rate = 10.0
    shunt_ohm: Annotated[float, Meta(gt=0, le=10)] = 0.1


class _OnSerial(_Table, tag_field="kind", kw_only=True, frozen=True):
    device: str
    baud: Annotated[int, Meta(ge=1200, le=4_000_000)] = 115_200


class Ping(_OnSerial, tag="ping", kw_only=True, frozen=True):
    """A Ping sonar on a serial line of its own: distance in millimetres."""

    rate_hz: Rate = 10.0
    confidence: Annotated[int, Meta(ge=0, le=100)] = 50


class Line(_OnSerial, tag="line", kw_only=True, frozen=True):
    """Another board that sends its sensors as lines of numbers (hal/core/number_line.py)."""

    fields: Annotated[int, Meta(ge=1, le=64)]


class GpioPins(_Table, tag_field="kind", tag="gpio", kw_only=True, frozen=True):
    """Switches, by their GPIO's number: 1 while closed."""

    device: str = "/dev/gpiochip0"
    pull: Literal["up", "down", "none"] = "up"
    inverted: bool = True
    rate_hz: Rate = 100.0


Chip = Bno055 | Ms5837 | Ads1115 | Ina219 | Ping | Line | GpioPins
VALUES: dict[type, tuple[str, ...]] = {
    Bno055: (*ANGLES, *RATES, *ACCELERATIONS),
    Ms5837: ("depth", "temperature"),
    Ads1115: ("a0", "a1", "a2", "a3"),
    Ina219: ("voltage", "current"),
    Ping: ("distance",),
}


class Arm(_Table, kw_only=True, frozen=True):
    """The switch that arms the vehicle while it is closed."""

    gpio: Gpio
    device: str = "/dev/gpiochip0"
    pull: Literal["up", "down", "none"] = "up"
    inverted: bool = True


class Emulated(_Table, kw_only=True, frozen=True):
    """The truth about the emulated chips, where it is not what the drivers believe."""

    oscillator_hz: Annotated[float, Meta(ge=20e6, le=30e6)] = 25e6  # of the PCA9685


class Pi(_Table, kw_only=True, frozen=True):
    about: str = ""
    pulses: Pulses | None = None
    valves: ValveBoard | None = None
    chip: dict[str, Chip] = {}
    sensor: dict[str, str] = {}
    absent: list[str] = []  # sensors that are not fitted
    arm: Arm | None = None
    emulated: Emulated = Emulated()


def read(file: VehicleFile, channels: Any) -> dict[str, Any]:
    """The table as plain settings, every channel of the vehicle placed."""
    if "pi" not in file.tables:
        raise file.error("pi", "there is no such table to say which chips its channels are on; add it")
    pi: Pi = file.read("pi", Pi)
    _check_addresses(file, pi)
    _check_actuators(file, pi, channels["actuators"])
    sensors = [channel["name"] for channel in channels["sensors"]]
    for key, named in (("pi.sensor", pi.sensor), ("pi.absent", pi.absent)):
        for name in named:
            if name not in sensors:
                raise file.error(
                    f"{key}.{name}", f"there is no sensor {name}; there are {', '.join(sensors)}"
                )
    for name in sensors:
        if (name in pi.sensor) == (name in pi.absent):
            problem = (
                "is placed, and absent too; keep one" if name in pi.absent else "has no place; give it one"
            )
            raise file.error("pi.sensor", f"sensor {name} {problem}, or list it in pi.absent")
    taken: dict[str, str] = {}
    valves = pi.pulses.valves.current if pi.pulses and pi.pulses.valves else {}
    for key, places in (("pi.sensor", pi.sensor), ("pi.pulses.valves.current", valves)):
        for name, text in places.items():
            value = text.lstrip("-")
            if value in taken:
                raise file.error(
                    f"{key}.{name}", f"{value} is {taken[value]}'s already; a value has one taker"
                )
            taken[value] = name
    plain = msgspec.to_builtins(pi)
    plain["sensor"] = {name: _place(file, pi, f"pi.sensor.{name}", text) for name, text in pi.sensor.items()}
    if pi.pulses and pi.pulses.valves:
        plain["pulses"]["valves"]["current"] = {
            name: _place(file, pi, f"pi.pulses.valves.current.{name}", text)
            for name, text in pi.pulses.valves.current.items()
        }
    return plain


def _place(file: VehicleFile, pi: Pi, key: str, text: str) -> dict[str, Any]:
    """ "-imu.heading" as chip, value and sign."""
    match = re.fullmatch(r"(-?)([a-z][a-z0-9_]*)\.([a-z0-9_]+)", text)
    if not match:
        raise file.error(key, f'"{text}" is not CHIP.VALUE; write such as "imu.heading" or "-imu.heading"')
    minus, chip_name, value = match.groups()
    chip = pi.chip.get(chip_name)
    if chip is None:
        raise file.error(key, f"there is no [pi.chip.{chip_name}]; there are {', '.join(pi.chip) or 'none'}")
    if isinstance(chip, Line) and not (value.isdigit() and int(value) < chip.fields):
        raise file.error(key, f"{chip_name} is a line of {chip.fields} numbers; give 0 to {chip.fields - 1}")
    if isinstance(chip, GpioPins) and not value.isdigit():
        raise file.error(key, f"{chip_name} has pins by number; {value} is none")
    known = VALUES.get(type(chip), (value,))
    if value not in known:
        raise file.error(key, f"{chip_name} has no {value}; it has {', '.join(known)}")
    if minus and not isinstance(chip, Bno055):
        raise file.error(key, f"only an inertial unit's values change sign here; take the - off {text}")
    return {"chip": chip_name, "value": value, "sign": -1 if minus else 1}


def _check_addresses(file: VehicleFile, pi: Pi) -> None:
    """Two chips at one address would both answer."""
    taken: dict[tuple[int, int], str] = {}
    named: list[tuple[str, Any]] = [(f"pi.chip.{name}", chip) for name, chip in pi.chip.items()]
    for key, chip in [("pi.pulses", pi.pulses), *named]:
        if not isinstance(chip, _OnBus | Pulses):
            continue
        place = chip.bus, getattr(chip, "address")  # noqa: B009 (each kind has its own default)
        if place in taken:
            problem = f"0x{place[1]:02x} on bus {place[0]} is {taken[place]}'s already; give each its own"
            raise file.error(f"{key}.address", problem)
        taken[place] = key
    devices: dict[str, str] = {pi.valves.device: "pi.valves"} if pi.valves else {}
    for name, chip in pi.chip.items():
        if isinstance(chip, _OnSerial):
            if chip.device in devices:
                problem = f"{chip.device} is {devices[chip.device]}'s already; a serial line has one device"
                raise file.error(f"pi.chip.{name}.device", problem)
            devices[chip.device] = f"pi.chip.{name}"


def _check_actuators(file: VehicleFile, pi: Pi, actuators: list[dict[str, Any]]) -> None:
    pulses = pi.pulses
    if pulses is None:
        raise file.error(
            "pi.pulses", "there is no such table to say which PCA9685 the actuators are on; add it"
        )
    valves = pulses.valves
    taken: dict[int, str] = {}
    on_board = pi.valves.order if pi.valves else []
    is_a_valve = [actuator["name"] for actuator in actuators if actuator["map"] == "valve"]
    for k, name in enumerate(on_board):
        if name not in is_a_valve or name in on_board[:k] or (valves and name in valves.channel):
            raise file.error("pi.valves.order", f"{name} is no valve, or driven twice; name each valve once")
    for actuator in actuators:
        name, is_valve = actuator["name"], actuator["map"] == "valve"
        if name in on_board:
            continue
        if is_valve and (valves is None or name not in valves.channel or name not in valves.current):
            problem = f"actuator {name} is a valve without a channel and a current; give it both"
            raise file.error("pi.pulses.valves", problem)
        channel = valves.channel[name] if is_valve and valves else actuator["port"]
        if channel > 15:
            raise file.error(f"actuator.{name}.port", f"{channel} is no channel of a PCA9685; it has 0 to 15")
        if channel in taken:
            raise file.error(
                "pi.pulses", f"channel {channel} is both {taken[channel]}'s and {name}'s; change one"
            )
        taken[channel] = name
        period_us = 1e6 / pulses.frequency_hz
        if not is_valve and actuator["high_us"] >= period_us:
            problem = f"pulses of {name} last up to {actuator['high_us']} us, a period {period_us:.0f} us"
            raise file.error("pi.pulses.frequency_hz", f"{problem}; lower it")
    for name in valves.channel if valves else ():
        if name not in [a["name"] for a in actuators if a["map"] == "valve"]:
            raise file.error(f"pi.pulses.valves.channel.{name}", f"there is no valve {name}")
