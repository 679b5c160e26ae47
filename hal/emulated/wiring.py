"""Emulated chips between the real drivers and a simulated body: a whole Raspberry Pi's worth, from the [pi] settings.

One tick: what the body's sensors counted goes into the chips; the workers run until now, in simulated time; the board
takes what the drivers read. Its outputs go through the drivers into the PCA9685, and its pulses into the body. A body's
counts of a tick are what the chips hold during the period before it. CPython only.
"""

from collections.abc import Callable, Sequence
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
from caudal.hal.pi.build import GRAVITY_M_S2, SERIAL, build_driver
from caudal.hal.pi.driver import PiDriver
from caudal.hal.pi.ms5837 import RANGE_PA
from caudal.hal.pi.worker import SimulatedClock

POWER_UP_US = (
    900_000  # before the first tick: every chip's set-up is through by then, no line counts as silent
)


class Body(Protocol):
    """A simulated vehicle (caudal.sim_plant.world.world.Body): pulses in whole microseconds in, counts out."""

    actuators: list[str]

    def read(self, counts: list) -> None: ...
    def write(self, outputs: list) -> None: ...


class EmulatedParts:
    """Takes the place of hal/pi/build.Parts. `chips` by the names that the [pi] table has for them."""

    def __init__(self, pi: dict[str, Any], start_us: int, registers: Path | None = None) -> None:
        self.clocks: dict[str, SimulatedClock] = {}
        self.chips: dict[str, Any] = {}
        self.pins: dict[tuple[str, int], Pin] = {}
        self._start_us = start_us
        self._serials: dict[str, Any] = {}
        pulses = pi["pulses"]
        state = open_registers(registers) if registers else None
        clock = self.now_us(f"i2c-{pulses['bus']}")
        oscillator_hz = pi["emulated"]["oscillator_hz"]
        self.pulses = Pca9685(clock, pulses["address"], oscillator_hz, registers=state)
        self.chips["pulses"] = self.pulses
        by_bus: dict[int, dict[int, Chip]] = {pulses["bus"]: {pulses["address"]: self.pulses}}
        for name, chip in pi["chip"].items():
            made = self._make(chip)
            self.chips[name] = made
            if isinstance(made, Chip):
                by_bus.setdefault(chip["bus"], {})[chip["address"]] = made
            elif made is not None:
                self._serials[chip["device"]] = made
        valves = pi["valves"]
        self.coils = CoilBoard(len(valves["order"]) if valves else 0)
        if valves:
            self._serials[valves["device"]] = self.coils
        self.buses = {
            number: EmulatedSMBus(chips, self.now_us(f"i2c-{number}").spend)
            for number, chips in by_bus.items()
        }

    def _make(self, chip: dict[str, Any]) -> Any:
        kind = chip["kind"]
        clock = self.now_us(f"i2c-{chip['bus']}" if "bus" in chip else SERIAL)
        if kind == "bno055":
            return Bno055(clock, chip["address"])
        if kind == "ms5837":
            gauge = Ms5837(clock, chip["address"], chip["model"])  # paced from its first sample on
            gauge.set(pressure_pa=1.1 * RANGE_PA[chip["model"]][1])  # until then it reads nothing
            return gauge
        if kind == "ads1115":
            adc = Ads1115(clock, chip["address"])  # the same
            for number in range(4):
                adc.set(number, 2 * 1000 * chip["full_scale_mv"])
            return adc
        if kind == "ina219":
            return Ina219(clock, chip["address"], paced=True)
        if kind == "ping":
            return Ping1d(clock, baud=chip["baud"], paced=True)
        return NumberSender() if kind == "line" else None

    # What build_driver asks for.

    def now_us(self, worker: str) -> SimulatedClock:
        return self.clocks.setdefault(worker, SimulatedClock(self._start_us))

    def smbus(self, number: int) -> EmulatedSMBus:
        return self.buses[number]

    def serial(self, device: str, baud: int) -> Any:
        return self._serials[device]

    def pin_in(self, device: str, line: int, pull: str, inverted: bool) -> Pin:
        return self.pins.setdefault((device, line), Pin())

    def pin_out(self, device: str, line: int) -> Any:
        return _OutputEnablePin(self.pulses)


class _OutputEnablePin(Pin):
    """Wired to the PCA9685's OE."""

    def __init__(self, chip: Pca9685) -> None:
        super().__init__()
        self._chip = chip

    def set_value(self, line: int, value: Any) -> None:
        super().set_value(line, value)
        self._chip.output_enable = bool(self.level)


class EmulatedDriver:
    """The board's driver: the real one, on emulated chips, with a body behind them. `now_us` is the world's time."""

    def __init__(
        self,
        settings: dict[str, Any],
        pi: dict[str, Any],
        rate_hz: int,
        body: Body,
        now_us: Callable[[], int],
        registers: Path | None = None,
    ) -> None:
        self.parts = EmulatedParts(pi, now_us() - POWER_UP_US, registers)
        self.driver: PiDriver = build_driver(settings, pi, rate_hz, self.parts)
        self.pulses_us = [0.0] * len(settings["actuators"])
        self._body = body
        self._now_us = now_us
        self._send_us = 250_000 // rate_hz  # a quarter of a tick: the bus may still be busy with a reading
        self.truth: list[int | None] = [None] * len(settings["sensors"])  # what the body counted this tick
        self._feeds = feeds(settings, pi, self.parts)
        self._channels = [(i, a["port"]) for i, a in enumerate(settings["actuators"]) if a["map"] != "valve"]
        order = pi["valves"]["order"] if pi["valves"] else []
        places = [a["name"] for a in settings["actuators"]]
        self._coils = [places.index(name) for name in order]
        # The samples of the first tick are still to come; a converter of four inputs begins more than a tick before it.
        self._run(-1_500_000 // rate_hz)

    @property
    def hung(self) -> bool:
        return self.driver.hung

    def read(self, counts: list) -> None:
        self._body.read(self.truth)
        for feed in self._feeds:
            feed(self.truth)
        self._run()
        self.driver.read(counts)

    def write(self, outputs: list) -> None:
        self.driver.write(outputs)
        self._run(self._send_us)

    def close(self) -> None:
        self.driver.close()
        self._carry()

    def news(self) -> Any:
        return self.driver.news()

    @property
    def step_us(self) -> float:
        """The least by which a pulse can change."""
        return self.parts.pulses.step_us

    @property
    def lost(self) -> dict[str, str]:
        return self.driver.lost

    def set_fault(self, kind: str, name: str, on: bool, **how: int) -> None:
        """One of faults.KINDS for a chip, by its name in the [pi] table, or for the whole first bus ("bus")."""
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
        """What comes out of the PCA9685 moves the body."""
        pins = self.parts.pulses.pulses_us()
        for i, port in self._channels:
            self.pulses_us[i] = pins[port]
        for i, current_ua in zip(self._coils, self.parts.coils.currents_ua, strict=True):
            self.pulses_us[i] = current_ua
        self._body.write([round(pulse_us) for pulse_us in self.pulses_us])


def fault_targets(pi: dict[str, Any]) -> list[str]:
    """What a fault can befall: chips on buses, and the bus."""
    return ["pulses", *(name for name, chip in pi["chip"].items() if "bus" in chip), "bus"]


def feeds(
    settings: dict[str, Any], pi: dict[str, Any], parts: EmulatedParts
) -> list[Callable[[Sequence[int | None]], None]]:
    """One function a chip: from the counts of a tick, one a sensor, to what the chip holds."""
    places: dict[str, list[tuple[int, str, int]]] = {}
    for i, sensor in enumerate(settings["sensors"]):
        place = pi["sensor"].get(sensor["name"])
        if place:
            places.setdefault(place["chip"], []).append((i, place["value"], place["sign"]))
    return [
        FEEDS[pi["chip"][name]["kind"]](parts, pi["chip"][name], parts.chips[name], at)
        for name, at in places.items()
    ]


Places = list[tuple[int, str, int]]


def _feed_imu(parts: EmulatedParts, chip: dict[str, Any], imu: Bno055, places: Places) -> Callable:
    def feed(counts: Sequence[int | None]) -> None:
        new = {value: sign * counts[i] for i, value, sign in places if counts[i] is not None}  # type: ignore[operator]
        if "heading" in new:
            new["heading"] %= 5760
        imu.set(**new)

    return feed


def _feed_gauge(parts: EmulatedParts, chip: dict[str, Any], gauge: Ms5837, places: Places) -> Callable:
    at = {value: i for i, value, _ in places}["depth"]

    def feed(counts: Sequence[int | None]) -> None:
        count = counts[at]
        if count is not None:
            head_pa = (count - chip["surface_count"]) * chip["density_kg_m3"] * GRAVITY_M_S2 / 1000
            gauge.set(pressure_pa=chip["surface_pa"] + head_pa)
            gauge.paced = True

    return feed


def _feed_adc(parts: EmulatedParts, chip: dict[str, Any], adc: Ads1115, places: Places) -> Callable:
    def feed(counts: Sequence[int | None]) -> None:
        for i, value, _ in places:
            count = counts[i]
            if count is not None:
                adc.set(int(value[1:]), count * chip["uv_per_count"])
                adc.paced.add(int(value[1:]))

    return feed


def _feed_power(parts: EmulatedParts, chip: dict[str, Any], power: Ina219, places: Places) -> Callable:
    def feed(counts: Sequence[int | None]) -> None:
        for i, value, _ in places:
            count = counts[i]
            if count is not None and value == "voltage":
                power.set(bus_mv=4 * count)
            elif count is not None:
                power.set(shunt_uv=round(count * 1000 * chip["shunt_ohm"]))

    return feed


def _feed_ping(parts: EmulatedParts, chip: dict[str, Any], ping: Ping1d, places: Places) -> Callable:
    at = places[0][0]

    def feed(counts: Sequence[int | None]) -> None:
        count = counts[at]
        if count is not None:
            ping.set(count)

    return feed


def _feed_line(parts: EmulatedParts, chip: dict[str, Any], line: NumberSender, places: Places) -> Callable:
    numbers: list[int | None] = [None] * chip["fields"]

    def feed(counts: Sequence[int | None]) -> None:
        for i, value, _ in places:
            numbers[int(value)] = counts[i]
        if any(number is not None for number in numbers):
            line.send(numbers)

    return feed


def _feed_pins(parts: EmulatedParts, chip: dict[str, Any], _: None, places: Places) -> Callable:
    def feed(counts: Sequence[int | None]) -> None:
        for i, value, _ in places:
            count = counts[i]
            if count is not None:
                parts.pins[chip["device"], int(value)].level = count

    return feed


FEEDS: dict[str, Callable[..., Callable]] = {
    "bno055": _feed_imu,
    "ms5837": _feed_gauge,
    "ads1115": _feed_adc,
    "ina219": _feed_power,
    "ping": _feed_ping,
    "line": _feed_line,
    "gpio": _feed_pins,
}
