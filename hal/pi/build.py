"""Builds the driver of a vehicle's board from its channels and its [pi] table (hal/tables/pi.py). CPython only.

`Parts` gives buses, serial ports and pins; emulated ones are in hal/emulated/wiring.py.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from caudal.hal.pi.ads1115 import Adc, Input
from caudal.hal.pi.bno055 import Imu
from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.driver import OutputDevice, Outputs, PiDriver
from caudal.hal.pi.gpio import OutputEnable, Switch
from caudal.hal.pi.ina219 import Power
from caudal.hal.pi.line import Lines
from caudal.hal.pi.ms5837 import Depth
from caudal.hal.pi.pca9685 import Pulses
from caudal.hal.pi.ping import Sonar
from caudal.hal.pi.slot import Slot
from caudal.hal.pi.valve import FULL_DUTY, UNIT, Coil, CurrentLoop, Valves
from caudal.hal.pi.valve_line import ValveLine
from caudal.hal.pi.worker import Device, Worker, clock_us
from caudal.hal.tables import channels
from caudal.hal.tables import pi as tables
from caudal.hal.tables.channels import BoardSettings
from caudal.hal.tables.types import tag_of

GRAVITY_M_S2 = 9.80665
SERIAL = "serial"  # the worker of all devices that are on no I2C bus
VALVE_PERIOD_US = 10_000
VALVE_KP, VALVE_KI = 0.25, 0.1  # of the duty of a current error, at once and per period


class Parts:
    """Clocks, buses, serial ports and pins, as the drivers' libraries have them: this computer's own."""

    def now_us(self, worker: str) -> Callable[[], int]:
        """The monotonic clock."""
        return clock_us

    def smbus(self, number: int) -> Any:
        """/dev/i2c-N."""
        from smbus2 import SMBus

        return SMBus(number)

    def serial(self, device: str, baud: int) -> Any:
        """A serial device."""
        from caudal.hal.pi.line import open_serial

        return open_serial(device, baud)

    def pin_in(self, device: str, line: int, pull: str, inverted: bool) -> Any:
        """A line of a GPIO chip as an input."""
        from caudal.hal.pi.gpio import open_input

        return open_input(device, line, pull, inverted)

    def pin_out(self, device: str, line: int) -> Any:
        """A line of a GPIO chip as an output."""
        from caudal.hal.pi.gpio import open_output

        return open_output(device, line)


Values = dict[str, tuple[Slot, int]]  # of a chip: slot and sign by value


def build_driver(
    settings: BoardSettings, pi: tables.Pi, rate_hz: int, parts: Parts | None = None
) -> PiDriver:
    """The driver of all channels, not started."""
    return _Builder(settings, pi, rate_hz, parts or Parts()).build()


class _Builder:
    def __init__(self, settings: BoardSettings, pi: tables.Pi, rate_hz: int, parts: Parts) -> None:
        self._settings = settings
        self._pi = pi
        self._tick_us = 1_000_000 // rate_hz
        self._parts = parts
        self._buses: dict[int, I2cBus] = {}
        self._devices: dict[str, list[Device]] = {}  # by worker
        self._slots: dict[tuple[str, str], tuple[Slot, int]] = {}  # by chip and value, with its sign

    def build(self) -> PiDriver:
        valves = self._pi.pulses.valves
        for reading in (*self._pi.readings.values(), *(valves.measured.values() if valves else ())):
            self._slots.setdefault((reading.chip, reading.value), (Slot(), reading.sign))
        senders = self._senders()
        for name, chip in self._pi.chip.items():
            values = {value: slot for (owner, value), slot in self._slots.items() if owner == name}
            if values:
                self._add_chip(f"{name} ({tag_of(chip)})", chip, values)
        arm = self._arm()
        workers = {
            name: Worker(name, devices, self._parts.now_us(name), self._tick_us)
            for name, devices in self._devices.items()
        }
        outputs = [Outputs(device, indices, workers[bus]) for device, indices, bus in senders]
        slots = [self._slot_of(sensor.name) for sensor in self._settings.sensors]
        return PiDriver(slots, outputs, list(workers.values()), arm)

    def _slot_of(self, sensor: str) -> Slot | None:
        reading = self._pi.readings.get(sensor)
        return self._slots[reading.chip, reading.value][0] if reading else None

    def _bus(self, number: int) -> I2cBus:
        if number not in self._buses:
            self._buses[number] = I2cBus(partial(self._parts.smbus, number), f"i2c-{number}")
        return self._buses[number]

    def _add(self, worker: str, device: Device) -> None:
        self._devices.setdefault(worker, []).append(device)

    def _senders(self) -> list[tuple[OutputDevice, list[int], str]]:
        """The PCA9685 and the valves, each with the indices of its outputs and its worker."""
        pulses, valves, board = self._pi.pulses, self._pi.pulses.valves, self._pi.valves
        actuators = list(enumerate(self._settings.actuators))
        pulsed = [(i, a.port) for i, a in actuators if a.map != "valve"]
        on_board = board.order if board else []
        coils = [(i, a) for i, a in actuators if a.map == "valve" and a.name not in on_board]
        enable = None
        if pulses.output_enable is not None:
            gpio = pulses.output_enable
            enable = OutputEnable(partial(self._parts.pin_out, "/dev/gpiochip0", gpio), gpio)
        chip = Pulses(
            self._bus(pulses.bus),
            pulses.address,
            pulses.frequency_hz,
            pulses.clock_hz,
            [port for _, port in pulsed],
            enable,
            f"pulses (pca9685 at 0x{pulses.address:02x})",
            [valves.channel[a.name] for _, a in coils] if valves else (),
        )
        worker = f"i2c-{pulses.bus}"
        self._add(worker, chip)
        senders: list[tuple[OutputDevice, list[int], str]] = [(chip, [i for i, _ in pulsed], worker)]
        if valves and coils:
            loops = [self._coil(valves, a) for _, a in coils]
            device = Valves(chip, loops, VALVE_PERIOD_US, "valves", self._parts.now_us(worker))
            self._add(worker, device)
            senders.insert(0, (device, [i for i, _ in coils], worker))
        if board:
            line = ValveLine(
                partial(self._parts.serial, board.device, board.baud), len(on_board), self._tick_us
            )
            self._add(SERIAL, line)
            indices = {a.name: i for i, a in actuators}
            senders.append((line, [indices[name] for name in on_board], SERIAL))
        return senders

    def _coil(self, valves: tables.Valves, actuator: channels.Valve) -> Coil:
        reading = valves.measured[actuator.name]
        limit_ua = actuator.high_ua * 5 // 4
        full_scale_ua = valves.full_scale_ua
        kp, ki = (round(gain * FULL_DUTY * UNIT / full_scale_ua) for gain in (VALVE_KP, VALVE_KI))
        loop = CurrentLoop(full_scale_ua, kp, ki, limit_ua)
        slot = self._slots[reading.chip, reading.value][0]
        return Coil(valves.channel[actuator.name], loop, slot, valves.ua_per_count)

    def _arm(self) -> Slot | None:
        arm = self._pi.arm
        if not arm:
            return None
        slot = Slot()
        open_pin = partial(self._parts.pin_in, arm.device, arm.gpio, arm.pull, arm.inverted)
        self._add(SERIAL, Switch(open_pin, arm.gpio, slot, self._tick_us, name="arm switch"))
        return slot

    def _add_chip(self, name: str, chip: tables.Chip, values: Values) -> None:
        """The devices of a chip, for the values that sensors take."""
        match chip:
            case tables.Line():
                open_line = partial(self._parts.serial, chip.device, chip.baud)
                fields = {int(field): slot for field, (slot, _) in values.items()}
                self._add(SERIAL, Lines(open_line, chip.fields, fields, self._tick_us, name))
            case tables.Ping():
                open_line = partial(self._parts.serial, chip.device, chip.baud)
                slot = values["distance"][0]
                self._add(SERIAL, Sonar(open_line, slot, _period_us(chip), chip.confidence, name))
            case tables.GpioPins():
                for text, (slot, _) in values.items():
                    line = int(text)
                    open_pin = partial(self._parts.pin_in, chip.device, line, chip.pull, chip.inverted)
                    self._add(SERIAL, Switch(open_pin, line, slot, _period_us(chip), f"{name} line {line}"))
            case _:
                self._add(f"i2c-{chip.bus}", _on_bus(self._bus(chip.bus), name, chip, values))


def _on_bus(
    bus: I2cBus,
    name: str,
    chip: tables.Bno055 | tables.Ms5837 | tables.Ads1115 | tables.Ina219,
    values: Values,
) -> Device:
    """The device of a chip on an I2C bus."""
    slots = {value: slot for value, (slot, _) in values.items()}
    match chip:
        case tables.Bno055():
            signs = {value: sign for value, (_, sign) in values.items()}
            return Imu(bus, chip.address, slots, _period_us(chip), signs, chip.fusion, name)
        case tables.Ms5837():
            head_pa = chip.surface_count * chip.density_kg_m3 * GRAVITY_M_S2 / 1000
            return Depth(
                bus,
                chip.address,
                chip.model,
                chip.surface_pa - head_pa,
                chip.density_kg_m3,
                GRAVITY_M_S2,
                slots.get("depth"),
                slots.get("temperature"),
                _period_us(chip),
                name,
            )
        case tables.Ads1115():
            inputs = [
                Input(int(value[1:]), chip.full_scale_mv / 1000, chip.uv_per_count, slot, _period_us(chip))
                for value, slot in sorted(slots.items())
            ]
            return Adc(bus, chip.address, inputs, chip.data_rate, name)
        case tables.Ina219():
            voltage, current = slots.get("voltage"), slots.get("current")
            return Power(bus, chip.address, chip.shunt_ohm, voltage, current, _period_us(chip), name)


def _period_us(chip: tables.Sampled) -> int:
    return round(1e6 / chip.rate_hz)
