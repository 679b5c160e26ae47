"""Emulated chips between the real drivers and a simulated body: all chips of a Raspberry Pi, from the [pi] table.

One tick: the body's sensor counts go into the chips; the workers run up to the present in simulated time; the board
takes the drivers' readings. Its outputs go through the drivers into the PCA9685, and the pulses into the body. The
chips hold a body's counts of a tick during the period before it. CPython only.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from caudal.hal.emulated.ads1115 import Ads1115
from caudal.hal.emulated.bno055 import Bno055
from caudal.hal.emulated.chip import Chip
from caudal.hal.emulated.ina219 import Ina219
from caudal.hal.emulated.lines import CoilBoard, NumberSender, Pin
from caudal.hal.emulated.ms5837 import Ms5837
from caudal.hal.emulated.pca9685 import Pca9685, open_registers
from caudal.hal.emulated.ping import Ping1d
from caudal.hal.emulated.smbus import EmulatedSMBus
from caudal.hal.pi.build import GRAVITY_M_S2, SERIAL, Parts, build_driver
from caudal.hal.pi.driver import PiDriver
from caudal.hal.pi.ms5837 import RANGE_PA
from caudal.hal.pi.worker import SimulatedClock
from caudal.hal.tables import pi as tables
from caudal.hal.tables.channels import BoardSettings

POWER_UP_US = 900_000  # before the first tick: time for every chip's set-up, too short for a silent line


class Body(Protocol):
    """A simulated vehicle (caudal.sim_plant.world.world.Body): pulses in whole microseconds in, counts out."""

    actuators: list[str]

    def read(self, counts: list[int | None]) -> None:
        """Fills the list with one count per sensor."""

    def write(self, outputs: list[int]) -> None:
        """Sends one output per actuator."""


class EmulatedParts(Parts):
    """Emulated chips, by their names in the [pi] table, and the buses and serial ports they are on."""

    def __init__(self, pi: tables.Pi, start_us: int, registers: Path | None = None) -> None:
        self.clocks: dict[str, SimulatedClock] = {}
        self.chips: dict[str, Any] = {}  # of a kind of this folder each; pins have none
        self.pins: dict[tuple[str, int], Pin] = {}
        self._start_us = start_us
        self._serials: dict[str, Any] = {}
        pulses = pi.pulses
        state = open_registers(registers) if registers else None
        clock = self.now_us(f"i2c-{pulses.bus}")
        self.pulses = Pca9685(clock, pulses.address, pi.emulated.oscillator_hz, registers=state)
        self.chips["pulses"] = self.pulses
        by_bus: dict[int, dict[int, Chip]] = {pulses.bus: {pulses.address: self.pulses}}
        for name, table in pi.chip.items():
            chip = self._make(table)
            self.chips[name] = chip
            if isinstance(table, tables.OnBus):
                by_bus.setdefault(table.bus, {})[table.address] = chip
            elif isinstance(table, tables.OnSerial):
                self._serials[table.device] = chip
        self.coils = CoilBoard(len(pi.valves.order) if pi.valves else 0)
        if pi.valves:
            self._serials[pi.valves.device] = self.coils
        self.buses = {
            number: EmulatedSMBus(chips, self.now_us(f"i2c-{number}").spend)
            for number, chips in by_bus.items()
        }

    def _make(self, table: tables.Chip) -> Any:
        clock = self.now_us(f"i2c-{table.bus}" if isinstance(table, tables.OnBus) else SERIAL)
        match table:
            case tables.Bno055():
                return Bno055(clock, table.address)
            case tables.Ms5837():
                gauge = Ms5837(clock, table.address, table.model)  # paced from its first sample on
                gauge.set(pressure_pa=1.1 * RANGE_PA[table.model][1])  # until then it has no reading
                return gauge
            case tables.Ads1115():
                adc = Ads1115(clock, table.address)  # the same
                for number in range(4):
                    adc.set(number, 2 * 1000 * table.full_scale_mv)
                return adc
            case tables.Ina219():
                return Ina219(clock, table.address, paced=True)
            case tables.Ping():
                return Ping1d(clock, baud=table.baud, paced=True)
            case tables.Line():
                return NumberSender()
        return None

    def now_us(self, worker: str) -> SimulatedClock:
        """The simulated clock of a worker."""
        return self.clocks.setdefault(worker, SimulatedClock(self._start_us))

    def smbus(self, number: int) -> EmulatedSMBus:
        """The bus with the chips of its number."""
        return self.buses[number]

    def serial(self, device: str, baud: int) -> Any:
        """The emulated device on a serial port."""
        return self._serials[device]

    def pin_in(self, device: str, line: int, pull: str, inverted: bool) -> Pin:
        """An input, in `pins`."""
        return self.pins.setdefault((device, line), Pin())

    def pin_out(self, device: str, line: int) -> Pin:
        """The output-enable pin of the PCA9685."""
        return _OutputEnablePin(self.pulses)


class _OutputEnablePin(Pin):
    """The pin that is wired to the OE of the PCA9685."""

    def __init__(self, chip: Pca9685) -> None:
        super().__init__()
        self._chip = chip

    def set_value(self, line: int, value: Any) -> None:
        super().set_value(line, value)
        self._chip.output_enable = bool(self.level)


class EmulatedDriver:
    """The real driver of a board on emulated chips, with a body behind them. `now_us` is the simulation's time."""

    def __init__(
        self,
        settings: BoardSettings,
        pi: tables.Pi,
        rate_hz: int,
        body: Body,
        now_us: Callable[[], int],
        registers: Path | None = None,
    ) -> None:
        self.parts = EmulatedParts(pi, now_us() - POWER_UP_US, registers)
        self.driver: PiDriver = build_driver(settings, pi, rate_hz, self.parts)
        self.pulses_us = [0.0] * len(settings.actuators)
        self._body = body
        self._now_us = now_us
        self._send_us = 250_000 // rate_hz  # a quarter of a tick: the bus may still be busy with a reading
        self.truth: list[int | None] = [None] * len(settings.sensors)  # the body's counts of this tick
        self._feeds = feeds(settings, pi, self.parts)
        self._channels = [(i, a.port) for i, a in enumerate(settings.actuators) if a.map != "valve"]
        indices = {a.name: i for i, a in enumerate(settings.actuators)}
        self._coils = [indices[name] for name in pi.valves.order] if pi.valves else []
        # Before the samples of the first tick; a converter of four inputs starts more than a tick before it.
        self._run(-1_500_000 // rate_hz)

    @property
    def hung(self) -> bool:
        """Whether an I2C bus has no working device."""
        return self.driver.hung

    def read(self, counts: list[int | None]) -> None:
        """Runs the chips up to now, and fills the list with the driver's counts."""
        self._body.read(self.truth)
        for feed in self._feeds:
            feed(self.truth)
        self._run()
        self.driver.read(counts)

    def write(self, outputs: list[int]) -> None:
        """Sends outputs through the driver to the body."""
        self.driver.write(outputs)
        self._run(self._send_us)

    def close(self) -> None:
        """Closes the driver; the body gets what the chips then put out."""
        self.driver.close()
        self._carry()

    def news(self) -> Iterator[tuple[str, str, str]]:
        """Devices lost and back since the last call: (event kind, device, reason)."""
        return self.driver.news()

    @property
    def step_us(self) -> float:
        """Resolution of a pulse."""
        return self.parts.pulses.step_us

    @property
    def lost(self) -> dict[str, str]:
        """Devices that do not work, with the reason."""
        return self.driver.lost

    def set_fault(self, kind: str, name: str, on: bool, **how: int) -> None:
        """Sets or clears one of faults.KINDS for a chip, by its name in the [pi] table, or for "bus", the first."""
        chip = None if name == "bus" else self.parts.chips[name]
        bus = next(bus for bus in self.parts.buses.values() if chip is None or chip in bus.chips.values())
        address = chip.address if chip else None
        if on:
            bus.faults.set(kind, address, **how)
        else:
            bus.faults.clear(kind, address)
        self._carry()

    def _run(self, more_us: int = 0) -> None:
        for worker in self.driver.workers:
            worker.run_until(self._now_us() + more_us)
        self._carry()

    def _carry(self) -> None:
        """Passes the pulses of the PCA9685 and the currents of the valve board to the body."""
        pins = self.parts.pulses.pulses_us()
        for i, port in self._channels:
            self.pulses_us[i] = pins[port]
        for i, current_ua in zip(self._coils, self.parts.coils.currents_ua, strict=True):
            self.pulses_us[i] = current_ua
        self._body.write([round(pulse_us) for pulse_us in self.pulses_us])


def fault_targets(pi: tables.Pi) -> list[str]:
    """Targets of bus faults: chips on buses, and the bus."""
    return ["pulses", *(name for name, chip in pi.chip.items() if isinstance(chip, tables.OnBus)), "bus"]


Feed = Callable[[Sequence[int | None]], None]
Places = list[tuple[int, tables.Reading]]  # of a chip: each sensor's index and reading


def feeds(settings: BoardSettings, pi: tables.Pi, parts: EmulatedParts) -> list[Feed]:
    """One function per chip, which puts the counts of a tick, one per sensor, into the chip."""
    places: dict[str, Places] = {}
    for i, sensor in enumerate(settings.sensors):
        reading = pi.readings.get(sensor.name)
        if reading:
            places.setdefault(reading.chip, []).append((i, reading))
    return [_feed(parts, pi.chip[name], parts.chips[name], at) for name, at in places.items()]


def _feed(parts: EmulatedParts, table: tables.Chip, chip: Any, places: Places) -> Feed:
    match table:
        case tables.Bno055():
            return partial(_feed_imu, chip, places)
        case tables.Ms5837():
            return partial(_feed_gauge, chip, places, table)
        case tables.Ads1115():
            return partial(_feed_adc, chip, places, table)
        case tables.Ina219():
            return partial(_feed_power, chip, places, table)
        case tables.Ping():
            return partial(_feed_ping, chip, places)
        case tables.Line():
            return partial(_feed_line, chip, places, [None] * table.fields)
        case tables.GpioPins():
            return partial(_feed_pins, parts, places, table)


def _feed_imu(imu: Bno055, places: Places, counts: Sequence[int | None]) -> None:
    new = {r.value: r.sign * count for i, r in places if (count := counts[i]) is not None}
    if "heading" in new:
        new["heading"] %= 5760
    imu.set(**new)


def _feed_gauge(gauge: Ms5837, places: Places, table: tables.Ms5837, counts: Sequence[int | None]) -> None:
    count = next(counts[i] for i, reading in places if reading.value == "depth")
    if count is not None:
        head_pa = (count - table.surface_count) * table.density_kg_m3 * GRAVITY_M_S2 / 1000
        gauge.set(pressure_pa=table.surface_pa + head_pa)
        gauge.paced = True


def _feed_adc(adc: Ads1115, places: Places, table: tables.Ads1115, counts: Sequence[int | None]) -> None:
    for i, reading in places:
        count, number = counts[i], int(reading.value[1:])
        if count is not None:
            adc.set(number, count * table.uv_per_count)
            adc.paced.add(number)


def _feed_power(power: Ina219, places: Places, table: tables.Ina219, counts: Sequence[int | None]) -> None:
    for i, reading in places:
        count = counts[i]
        if count is not None and reading.value == "voltage":
            power.set(bus_mv=4 * count)
        elif count is not None:
            power.set(shunt_uv=round(count * 1000 * table.shunt_ohm))


def _feed_ping(ping: Ping1d, places: Places, counts: Sequence[int | None]) -> None:
    count = counts[places[0][0]]
    if count is not None:
        ping.set(count)


def _feed_line(
    line: NumberSender, places: Places, numbers: list[int | None], counts: Sequence[int | None]
) -> None:
    for i, reading in places:
        numbers[int(reading.value)] = counts[i]
    if any(number is not None for number in numbers):
        line.send(numbers)


def _feed_pins(
    parts: EmulatedParts, places: Places, table: tables.GpioPins, counts: Sequence[int | None]
) -> None:
    for i, reading in places:
        count = counts[i]
        if count is not None:
            parts.pins[table.device, int(reading.value)].level = count
