"""Finds devices on this computer's I2C buses, serial lines and GPIO, and compares them with the vehicle file.

It only reads (and writes register pointers, and a device query to a Ping sonar): nothing moves. Chips without an
identity register are identified by their reserved bits. Without VEHICLE it lists all buses and expects nothing. Exit
code 1: an expected device is missing, or is another chip.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caudal.hal.tables.pi import GpioPins, OnBus, OnSerial, Pi
from caudal.hal.tables.types import tag_of
from caudal.tools.common import options, output
from caudal.tools.config.pi_vehicle import PiVehicle, add_on, open_parts, open_pi_vehicle

if TYPE_CHECKING:
    from caudal.hal.pi.bus import I2cBus

Expected = dict[tuple[int, int], tuple[str, str]]  # kind and name, by bus and address
DEVICES = Path("/dev")
ENABLE = (
    "on a Raspberry Pi add dtparam=i2c_arm=on to /boot/firmware/config.txt, or use raspi-config, and reboot"
)
GPIO_CHIP = "/dev/gpiochip0"  # of output_enable


@dataclass(frozen=True)
class Row:
    """One device that was found or expected; `ok` unless it was expected and is missing or another chip."""

    where: str
    found: bool
    chip: str | None
    expected: str | None
    name: str | None
    ok: bool
    note: str = ""


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal probe`."""
    command.add_argument("vehicle", nargs="?", help="a vehicle's name or file, to compare with")
    add_on(command)
    command.add_argument("--bus", metavar="N", type=options.natural, help="only this bus, /dev/i2c-N")
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Prints the devices; 1 if one is not as expected."""
    vehicle = open_pi_vehicle(args.vehicle, args.set) if args.vehicle else None
    parts = open_parts(args.on, vehicle.pi if vehicle else None)
    emulated = args.on != "pi"
    there = sorted(parts.buses) if emulated else _buses_there()
    expected = _expected(vehicle.pi if vehicle else None)
    if args.bus is not None:
        expected = {place: what for place, what in expected.items() if place[0] == args.bus}
    wanted = {args.bus} if args.bus is not None else {bus for bus, _ in expected} or set(there)
    if not there and (wanted or not vehicle):
        raise output.UsageError(f"there is no I2C bus ({DEVICES}/i2c-*); {ENABLE}")
    if args.bus is not None and args.bus not in there:
        have = ", ".join(map(str, there))
        raise output.UsageError(f"there is no I2C bus {args.bus}; there is {have}. To enable more, {ENABLE}")
    rows = [row for bus in sorted(wanted) for row in _on_bus(parts, bus, expected, emulated)]
    if vehicle and args.bus is None:
        rows += [*_on_lines(parts, vehicle, emulated), *_on_pins(vehicle, emulated)]
    ok = all(row.ok for row in rows)
    if args.json:
        output.as_json(
            {"on": args.on, "buses": sorted(wanted), "rows": [asdict(row) for row in rows], "ok": ok}
        )
    else:
        _show(rows, ok, bool(vehicle))
    return 0 if ok else 1


def _show(rows: list[Row], ok: bool, compared: bool) -> None:
    head = ("where", "", "identified as", "expected", "", "")
    lines = [
        (
            row.where,
            "found" if row.found else "missing" if row.expected else "-",
            row.chip or ("unknown" if row.found else "-"),
            f"{row.expected} ({row.name})" if row.expected else "-",
            "" if row.ok else "<-",
            row.note,
        )
        for row in rows
    ]
    output.table(lines, head)
    if not rows:
        output.note("no device responds; check supply and wiring")
    elif compared:
        wrong = sum(not row.ok for row in rows)
        output.note("all expected devices are there" if ok else f"{wrong} not as expected, marked <-")


def _buses_there() -> list[int]:
    names = (re.fullmatch(r"i2c-(\d+)", path.name) for path in DEVICES.glob("i2c-*"))
    return sorted(int(match[1]) for match in names if match)


def _expected(pi: Pi | None) -> Expected:
    """Kind and name of each expected chip, by bus and address."""
    if pi is None:
        return {}
    pulses = pi.pulses
    places = {(pulses.bus, pulses.address): ("pca9685", "pi.pulses")}
    for name, chip in pi.chip.items():
        if isinstance(chip, OnBus):
            places[chip.bus, chip.address] = (tag_of(chip), f"pi.chip.{name}")
    return places


def _on_bus(parts: Any, number: int, expected: Expected, emulated: bool) -> Iterator[Row]:
    from caudal.hal.pi import identify
    from caudal.hal.pi.bus import I2cBus

    here = {address: what for (bus, address), what in expected.items() if bus == number}
    bus = I2cBus(lambda: parts.smbus(number), f"i2c-{number}")
    try:
        found = identify.scan(bus, {address: kind for address, (kind, _) in here.items()})
        chips = {at: identify.identify(bus, at, here.get(at, (None,))[0]) for at in found}
        _name_all_call(bus, chips, here)
    except identify.BusError as error:
        output.note(f"I2C bus {number} {error}")
        found, chips = [], {}
        if not here:
            yield Row(f"i2c-{number}", False, None, None, None, False, "cannot be scanned")
    finally:
        with suppress(OSError):
            bus.close()
    for address in sorted({*found, *here}):
        kind, name = here.get(address, (None, None))
        chip = chips.get(address)
        ok = kind is None or kind == chip
        note = "" if ok or address not in found else f"is not a {kind}; check address and wiring"
        yield Row(f"i2c-{number} 0x{address:02x}", address in found, chip, kind, name, ok, note)


def _name_all_call(bus: I2cBus, chips: dict[int, str | None], here: dict[int, tuple[str, str]]) -> None:
    """Names a PCA9685's second address (all call), to which it responds until a driver has set it up."""
    from caudal.hal.pi.identify import ALL_CALL, responds_to_all_call

    if ALL_CALL in chips and ALL_CALL not in here:
        for address, chip in chips.items():
            if chip == "pca9685" and responds_to_all_call(bus, address):
                chips[ALL_CALL] = f"pca9685 of 0x{address:02x} (all call)"
                return


def _on_lines(parts: Any, vehicle: PiVehicle, emulated: bool) -> Iterator[Row]:
    for name, chip in vehicle.pi.chip.items():
        if not isinstance(chip, OnSerial):
            continue
        device, kind, key = chip.device, tag_of(chip), f"pi.chip.{name}"
        found = emulated or "://" in device or os.path.exists(device)
        if kind == "line" or not found:
            # not opened: some boards restart when their port is opened
            yield Row(device, found, "a line" if found else None, kind, key, found)
            continue
        is_ping, note = _ask_ping(parts, chip, emulated)
        yield Row(device, True, "ping" if is_ping else None, "ping", key, is_ping, note)


def _ask_ping(parts: Any, chip: OnSerial, emulated: bool) -> tuple[bool, str]:
    from caudal.hal.pi.identify import request_ping

    def wait_us(us: int) -> None:
        if emulated:
            parts.now_us("serial").spend(us)
        else:
            time.sleep(us / 1e6)

    try:
        port = parts.serial(chip.device, chip.baud)
    except OSError as error:  # pyserial's own is one
        return False, f"cannot be opened ({error.strerror or error})"
    try:
        for device_type in request_ping(port, wait_us):
            if device_type == 1:
                return True, ""
            return False, f"a device of type {device_type}, not a Ping sonar (1); check which port it is on"
        return False, "does not respond; check its port, baud rate and supply"
    except OSError as error:
        return False, f"fails ({error.strerror or error}); check its port"
    finally:
        port.close()


def _on_pins(vehicle: PiVehicle, emulated: bool) -> Iterator[Row]:
    pi = vehicle.pi
    users: dict[str, list[str]] = {}
    for name, chip in pi.chip.items():
        if isinstance(chip, GpioPins):
            users.setdefault(chip.device, []).append(f"pi.chip.{name}")
    if pi.arm:
        users.setdefault(pi.arm.device, []).append("pi.arm")
    if pi.pulses.output_enable is not None:
        users.setdefault(GPIO_CHIP, []).append("pi.pulses")
    for device, names in users.items():
        found = emulated or os.path.exists(device)
        is_chip = emulated or (found and _is_gpio_chip(device))
        yield Row(device, found, "gpio" if is_chip else None, "gpio", ", ".join(names), is_chip)


def _is_gpio_chip(device: str) -> bool:
    import gpiod

    return gpiod.is_gpiochip_device(device)
