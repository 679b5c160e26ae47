"""A vehicle with its [pi] table, on this computer's own chips or on emulated ones."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.tools.common.options import as_toml
from caudal.tools.common.output import UsageError

if TYPE_CHECKING:
    from caudal.hal.tables.channels import Actuator, Sensor
    from caudal.hal.tables.pi import Pi
    from caudal.hal.tables.types import Named
    from caudal.onboard.tables.read import Settings

Channel = TypeVar("Channel", bound="Named")


def add_on(command: argparse.ArgumentParser) -> None:
    """Adds the option --on, of commands that use the chips of a Pi."""
    command.add_argument(
        "--on",
        type=_on,
        default="pi",
        metavar="BOARD",
        help="pi: this computer's buses (default); emulated: emulated chips of the vehicle, for practice",
    )


def _on(text: str) -> str:
    """Checks the option. emulated:FILE keeps the PCA9685's registers in a file, as for caudal run."""
    if text in ("pi", "emulated") or text.startswith("emulated:"):
        return text
    raise argparse.ArgumentTypeError(f"{text} is neither pi nor emulated")


@dataclass(frozen=True)
class PiVehicle:
    """A vehicle file with its settings and its [pi] table."""

    file: VehicleFile
    settings: Settings
    pi: Pi

    def actuator(self, name: str) -> Actuator:
        """An actuator's settings by its name."""
        return self._channel("actuator", name, self.settings.actuators)

    def sensor(self, name: str) -> Sensor:
        """A sensor's settings by its name."""
        return self._channel("sensor", name, self.settings.sensors)

    def _channel(self, kind: str, name: str, channels: Iterable[Channel]) -> Channel:
        by_name = {channel.name: channel for channel in channels}
        if name not in by_name:
            raise UsageError(f"{self.settings.name} has no {kind} {name}; it has {', '.join(by_name)}")
        return by_name[name]

    def changed(self, values: Mapping[str, Any]) -> PiVehicle:
        """The vehicle with other values for some keys; a VehicleFileError if they are invalid."""
        lines = [*self.file.overrides, *(f"{key}={as_toml(value)}" for key, value in values.items())]
        return _read(VehicleFile.parse(self.file.text, self.file.label, lines))

    def refuses(self, values: Mapping[str, Any]) -> str | None:
        """Why these values are invalid, or None if they are valid."""
        try:
            self.changed(values)
        except VehicleFileError as error:
            return str(error).replace(" (from --set)", "")  # they are typed by a person
        return None


def open_pi_vehicle(name_or_path: str, overrides: Iterable[str]) -> PiVehicle:
    """A vehicle by its name or file, which needs a [pi] table."""
    from caudal.onboard import vehicles

    return _read(VehicleFile.open(vehicles.find(name_or_path), overrides))


def _read(file: VehicleFile) -> PiVehicle:
    from caudal.hal.tables import pi as pi_spec
    from caudal.onboard.run.config import read_settings

    settings = read_settings(file)
    return PiVehicle(file, settings, pi_spec.read(file, settings))


def open_parts(on: str, pi: Pi | None) -> Any:
    """The buses, serial lines and pins (hal/pi/build.py); emulated ones need the [pi] settings."""
    if on == "pi":
        from caudal.hal.pi.build import Parts

        return Parts()
    if pi is None:
        raise UsageError("--on emulated needs a vehicle, whose chips it emulates; name one")
    from caudal.hal.emulated.wiring import EmulatedParts

    registers = on.partition(":")[2]
    return EmulatedParts(pi, 0, Path(registers) if registers else None)
