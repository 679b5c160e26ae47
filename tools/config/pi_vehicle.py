"""A vehicle by its [pi] table: what is on which bus, on this computer's own chips or on emulated ones."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.tools.common.options import as_toml
from caudal.tools.common.output import UsageError


def add_on(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--on",
        type=_on,
        default="pi",
        metavar="BOARD",
        help="pi, this computer's own buses (default), or emulated, the vehicle's chips emulated, for practice",
    )


def _on(text: str) -> str:
    """emulated:FILE keeps the PCA9685's registers in a file, as for caudal run."""
    if text in ("pi", "emulated") or text.startswith("emulated:"):
        return text
    raise argparse.ArgumentTypeError(f"{text} is none of pi and emulated")


@dataclass(frozen=True)
class PiVehicle:
    file: VehicleFile
    settings: dict[str, Any]
    pi: dict[str, Any]

    def actuator(self, name: str) -> dict[str, Any]:
        return self._channel("actuator", name)

    def sensor(self, name: str) -> dict[str, Any]:
        return self._channel("sensor", name)

    def _channel(self, kind: str, name: str) -> dict[str, Any]:
        channels = {channel["name"]: channel for channel in self.settings[f"{kind}s"]}
        if name not in channels:
            raise UsageError(f"{self.settings['name']} has no {kind} {name}; it has {', '.join(channels)}")
        return channels[name]

    def changed(self, values: Mapping[str, Any]) -> PiVehicle:
        """The same file read again, with other values for some keys; a VehicleFileError if it refuses them."""
        lines = [*self.file.overrides, *(f"{key}={as_toml(value)}" for key, value in values.items())]
        return _read(VehicleFile.parse(self.file.text, self.file.label, lines))

    def refuses(self, values: Mapping[str, Any]) -> str | None:
        """Why the vehicle file would not take these values: a sentence, or None if it does."""
        try:
            self.changed(values)
        except VehicleFileError as error:
            return str(error).replace(" (from --set)", "")  # it is from a person
        return None


def open_pi_vehicle(name_or_path: str, overrides: Iterable[str]) -> PiVehicle:
    from caudal.onboard import vehicles

    return _read(VehicleFile.open(vehicles.find(name_or_path), overrides))


def _read(file: VehicleFile) -> PiVehicle:
    from caudal.hal.tables import pi as pi_spec
    from caudal.tools.vehicle_run.config import read_settings

    settings = read_settings(file)
    return PiVehicle(file, settings, pi_spec.read(file, settings))


def open_parts(on: str, pi: dict[str, Any] | None) -> Any:
    """Where buses, lines and pins come from (hal/pi/build.py); emulated ones need the [pi] settings."""
    if on == "pi":
        from caudal.hal.pi.build import Parts

        return Parts()
    if pi is None:
        raise UsageError("emulated chips are those of a vehicle; name one")
    from caudal.hal.emulated.wiring import EmulatedParts

    registers = on.partition(":")[2]
    return EmulatedParts(pi, 0, Path(registers) if registers else None)
