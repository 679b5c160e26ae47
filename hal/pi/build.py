"""From a vehicle's channels and its plain [pi] settings (hal/tables/pi.py) to the driver of its board. CPython only.

Where buses, serial lines and pins come from is passed in: `Parts` are this computer's own, hal/emulated/wiring.py has
the emulated ones.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from caudal.hal.pi.ads1115 import Adc
from caudal.hal.pi.bno055 import Imu
from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.driver import Outputs, PiDriver
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

GRAVITY_M_S2 = 9.80665
SERIAL = "serial"  # the worker of everything that is on no I2C bus
VALVE_PERIOD_US = 10_000
VALVE_KP, VALVE_KI = 0.25, 0.1  # of the duty that an error of current would take, at once and each period


class Parts:
    """This computer's own buses, serial lines and pins, opened when they are first used."""

    def now_us(self, worker: str) -> Callable[[], int]:
        return clock_us

    def smbus(self, number: int) -> Any:
        from smbus2 import SMBus

        return SMBus(number)

    def serial(self, device: str, baud: int) -> Any:
        from caudal.hal.pi.line import open_serial

        return open_serial(device, baud)

    def pin_in(self, device: str, line: int, pull: str, inverted: bool) -> Any:
        from caudal.hal.pi.gpio import open_input

        return open_input(device, line, pull, inverted)

    def pin_out(self, device: str, line: int) -> Any:
        from caudal.hal.pi.gpio import open_output

        return open_output(device, line)


def build_driver(settings: dict[str, Any], pi: dict[str, Any], rate_hz: int, parts: Any = None) -> PiDriver:
    """The driver of all channels, not started."""
    return _Builder(settings, pi, rate_hz, parts or Parts()).build()


class _Builder:
    def __init__(self, settings: dict[str, Any], pi: dict[str, Any], rate_hz: int, parts: Any) -> None:
        self._settings = settings
        self._pi = pi
        self._tick_us = 1_000_000 // rate_hz
        self._parts = parts
        self._buses: dict[int, I2cBus] = {}
        self._devices: dict[str, list[Device]] = {}  # by worker
        self._slots: dict[tuple[str, str], tuple[Slot, int]] = {}  # by chip and value, with its sign

    def build(self) -> PiDriver:
        for place in self._places():
            self._slots.setdefault((place["chip"], place["value"]), (Slot(), place["sign"]))
        senders = self._senders()
        for name, chip in self._pi["chip"].items():
            values = {value: slot for (owner, value), slot in self._slots.items() if owner == name}
            if values:
                make = getattr(self, f"_{chip['kind']}")
                make(f"{name} ({chip['kind']})", chip, values)
        arm = self._arm()
        workers = {
            name: Worker(name, devices, self._parts.now_us(name), self._tick_us)
            for name, devices in self._devices.items()
        }
        outputs = [Outputs(device, indices, workers[bus]) for device, indices, bus in senders]
        slots = [self._slot_of(sensor["name"]) for sensor in self._settings["sensors"]]
        return PiDriver(slots, outputs, list(workers.values()), arm)

    def _places(self) -> list[dict[str, Any]]:
        """Every value of a chip that is wanted: sensors, and the currents of valves."""
        valves = self._pi["pulses"]["valves"]
        return [*self._pi["sensor"].values(), *(valves["current"].values() if valves else ())]

    def _slot_of(self, sensor: str) -> Slot | None:
        place = self._pi["sensor"].get(sensor)
        return self._slots[place["chip"], place["value"]][0] if place else None

    def _bus(self, number: int) -> I2cBus:
        if number not in self._buses:
            self._buses[number] = I2cBus(partial(self._parts.smbus, number), f"i2c-{number}")
        return self._buses[number]

    def _add(self, worker: str, device: Any) -> None:
        self._devices.setdefault(worker, []).append(device)

    def _senders(self) -> list[tuple[Any, list[int], str]]:
        """The PCA9685 and the valves on it, each with which of the board's outputs it takes and its worker."""
        pulses, valves = self._pi["pulses"], self._pi["pulses"]["valves"]
        actuators = list(enumerate(self._settings["actuators"]))
        pulsed = [(i, a["port"]) for i, a in actuators if a["map"] != "valve"]
        board = self._pi["valves"]
        on_board = board["order"] if board else []
        coils = [(i, a) for i, a in actuators if a["map"] == "valve" and a["name"] not in on_board]
        enable = None
        if pulses["output_enable"] is not None:
            line = pulses["output_enable"]
            enable = OutputEnable(partial(self._parts.pin_out, "/dev/gpiochip0", line), line)
        chip = Pulses(
            self._bus(pulses["bus"]),
            pulses["address"],
            pulses["frequency_hz"],
            pulses["clock_hz"],
            [port for _, port in pulsed],
            enable,
            f"pulses (pca9685 at 0x{pulses['address']:02x})",
            [valves["channel"][a["name"]] for _, a in coils],
        )
        worker = f"i2c-{pulses['bus']}"
        self._add(worker, chip)
        senders: list[tuple[Any, list[int], str]] = [(chip, [i for i, _ in pulsed], worker)]
        if coils:
            loops = [self._coil(valves, a) for _, a in coils]
            device = Valves(chip, loops, VALVE_PERIOD_US, "valves", self._parts.now_us(worker))
            self._add(worker, device)
            senders.insert(0, (device, [i for i, _ in coils], worker))
        if board:
            line = ValveLine(
                partial(self._parts.serial, board["device"], board["baud"]), len(on_board), self._tick_us
            )
            self._add(SERIAL, line)
            places = {a["name"]: i for i, a in actuators}
            senders.append((line, [places[name] for name in on_board], SERIAL))
        return senders

    def _coil(self, valves: dict[str, Any], actuator: dict[str, Any]) -> Coil:
        place = valves["current"][actuator["name"]]
        limit_ua = actuator["high_ua"] * 5 // 4
        full_scale_ua = valves["full_scale_ua"]
        kp, ki = (round(gain * FULL_DUTY * UNIT / full_scale_ua) for gain in (VALVE_KP, VALVE_KI))
        loop = CurrentLoop(full_scale_ua, kp, ki, limit_ua)
        slot = self._slots[place["chip"], place["value"]][0]
        return Coil(valves["channel"][actuator["name"]], loop, slot, valves["ua_per_count"])

    def _arm(self) -> Slot | None:
        arm = self._pi["arm"]
        if not arm:
            return None
        slot = Slot()
        open_pin = partial(self._parts.pin_in, arm["device"], arm["gpio"], arm["pull"], arm["inverted"])
        self._add(SERIAL, Switch(open_pin, arm["gpio"], slot, self._tick_us, name="arm switch"))
        return slot

    # A chip's values with their slots and signs, as its device.

    def _bno055(self, name: str, chip: dict[str, Any], values: dict[str, tuple[Slot, int]]) -> None:
        slots = {value: slot for value, (slot, _) in values.items()}
        signs = {value: sign for value, (_, sign) in values.items()}
        bus = self._bus(chip["bus"])
        imu = Imu(bus, chip["address"], slots, _period_us(chip), signs, chip["fusion"], name)
        self._add(f"i2c-{chip['bus']}", imu)

    def _ms5837(self, name: str, chip: dict[str, Any], values: dict[str, tuple[Slot, int]]) -> None:
        depth, temperature = (_slot(values, value) for value in ("depth", "temperature"))
        surface_pa = chip["surface_pa"] - chip["surface_count"] * chip["density_kg_m3"] * GRAVITY_M_S2 / 1000
        gauge = Depth(
            self._bus(chip["bus"]),
            chip["address"],
            chip["model"],
            surface_pa,
            chip["density_kg_m3"],
            GRAVITY_M_S2,
            depth,
            temperature,
            _period_us(chip),
            name,
        )
        self._add(f"i2c-{chip['bus']}", gauge)

    def _ads1115(self, name: str, chip: dict[str, Any], values: dict[str, tuple[Slot, int]]) -> None:
        inputs = [
            (int(value[1:]), chip["full_scale_mv"] / 1000, chip["uv_per_count"], slot, _period_us(chip))
            for value, (slot, _) in sorted(values.items())
        ]
        adc = Adc(self._bus(chip["bus"]), chip["address"], inputs, chip["data_rate"], name)
        self._add(f"i2c-{chip['bus']}", adc)

    def _ina219(self, name: str, chip: dict[str, Any], values: dict[str, tuple[Slot, int]]) -> None:
        voltage, current = (_slot(values, value) for value in ("voltage", "current"))
        bus, address, shunt_ohm = self._bus(chip["bus"]), chip["address"], chip["shunt_ohm"]
        self._add(
            f"i2c-{chip['bus']}", Power(bus, address, shunt_ohm, voltage, current, _period_us(chip), name)
        )

    def _ping(self, name: str, chip: dict[str, Any], values: dict[str, tuple[Slot, int]]) -> None:
        open_line = partial(self._parts.serial, chip["device"], chip["baud"])
        slot = values["distance"][0]
        self._add(SERIAL, Sonar(open_line, slot, _period_us(chip), chip["confidence"], name))

    def _line(self, name: str, chip: dict[str, Any], values: dict[str, tuple[Slot, int]]) -> None:
        open_line = partial(self._parts.serial, chip["device"], chip["baud"])
        slots = {int(field): slot for field, (slot, _) in values.items()}
        self._add(SERIAL, Lines(open_line, chip["fields"], slots, self._tick_us, name))

    def _gpio(self, name: str, chip: dict[str, Any], values: dict[str, tuple[Slot, int]]) -> None:
        for text, (slot, _) in values.items():
            line = int(text)
            open_pin = partial(self._parts.pin_in, chip["device"], line, chip["pull"], chip["inverted"])
            self._add(SERIAL, Switch(open_pin, line, slot, _period_us(chip), name=f"{name} line {line}"))


def _period_us(chip: dict[str, Any]) -> int:
    return round(1e6 / chip["rate_hz"])


def _slot(values: dict[str, tuple[Slot, int]], value: str) -> Slot | None:
    return values[value][0] if value in values else None
