"""A vehicle as its own computer has it: the HAL's and the control stack's tables, without the plant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from caudal.hal.errors import CaudalError
from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.onboard import vehicles
from caudal.onboard.build import build_loop
from caudal.onboard.core.loop import Loop
from caudal.onboard.run import unread
from caudal.onboard.run.null_driver import NullDriver
from caudal.onboard.tables.params import end_problem
from caudal.onboard.tables.read import Scenario, Settings

if TYPE_CHECKING:
    from caudal.hal.core.board import Driver


@dataclass(frozen=True)
class Controlled:
    """A vehicle file and the settings that were read from it."""

    file: VehicleFile
    settings: Settings

    @property
    def name(self) -> str:
        """The vehicle's."""
        return self.settings.name

    def scenario(self, name: str | None) -> tuple[str, Scenario]:
        """A scenario by name; without one, the first of the file."""
        scenarios = self.settings.scenarios
        name = name or next(iter(scenarios))
        if name not in scenarios:
            if name in self.file.tables.get("trial", {}):
                raise CaudalError(f"{name} is a trial of the plant alone; run it with --on sim and no clock")
            raise CaudalError(f'{self.name} has no scenario "{name}"; it has {", ".join(scenarios)}')
        return name, scenarios[name]

    def build_loop(self, scenario: Scenario, driver: Driver) -> Loop:
        """The controller; values that are each valid may still not make one together."""
        try:
            loop: Loop = build_loop(self.settings, scenario, driver)
            return loop
        except ModuleNotFoundError as error:
            kind = self.file.tables["control"]["kind"]
            raise CaudalError(
                f'a control.kind of "{kind}" needs {error.name}, which is not installed; install caudal[{kind}]'
            ) from error
        except (ArithmeticError, ValueError) as error:
            raise self.file.error(
                "gait and control", f"together they make no controller ({error})"
            ) from error

    def refuse_unread(self, scenario: str, overrides: Sequence[str]) -> None:
        """Raises for an override (KEY=VALUE) of a key that the scenario's loop does not read."""
        sentence = unread.refusal(self, scenario, overrides)
        if sentence:
            raise VehicleFileError(f"{self.file.label}: --set: {sentence}.")

    def try_without_readings(self, name: str, scenario: Scenario) -> None:
        """One tick of a scenario's controller: names resolve, maps build, and it survives a start without readings."""
        loop = self.build_loop(scenario, NullDriver())
        loop.tick()
        if loop.fault:
            raise self.file.error(f"scenario.{name}", f"the controller fails without readings: {loop.fault}")

    def try_params(self) -> None:
        """Every parameter at both ends of its range: read from the file, and set in a loop that runs."""
        params = self.settings.params
        problem = end_problem(self.file, params, vehicles.read)
        if problem:
            raise problem
        _, scenario = self.scenario(None)
        for end, other in (("low", "high"), ("high", "low")) if params else ():
            loop = self.build_loop(scenario, NullDriver())
            loop.send("load", [[param.name, getattr(param, end)] for param in params])
            for param in (*params, None):
                loop.tick()
                troubles = [*(refusal for _, _, _, refusal in loop.taken if refusal), loop.fault]
                if any(troubles):
                    raise self.file.error("param", f"the controller fails at the {end} ends: {troubles[0]}")
                if param:
                    loop.send("set", param.name, getattr(param, other))


def read_settings(file: VehicleFile) -> Settings:
    """The settings of a vehicle, which needs a scenario."""
    settings = vehicles.read(file)
    if not settings.scenarios:
        raise file.error("scenario", "there is none; a vehicle needs at least one")
    return settings


def open_file(name_or_path: str, overrides: Sequence[str], scenario: str | None) -> VehicleFile:
    """A vehicle file with the `set` of a scenario (by default the first) and then these overrides applied."""
    return in_scenario(VehicleFile.open(vehicles.find(name_or_path)), overrides, scenario)


def in_scenario(raw: VehicleFile, overrides: Sequence[str], scenario: str | None) -> VehicleFile:
    """A file without overrides, with the `set` of a scenario and then these overrides applied."""
    file = raw.overridden(overrides)
    scenarios = file.tables.get("scenario")
    if not isinstance(scenarios, dict):
        return file
    chosen = scenarios.get(scenario or next(iter(scenarios), ""))
    own = chosen.get("set") if isinstance(chosen, dict) else None
    if not own or not isinstance(own, list) or not all(isinstance(line, str) for line in own):
        return file  # an invalid one is the reader's error
    return raw.overridden([*own, *overrides])


def open_controlled(
    name_or_path: str, overrides: Sequence[str], scenario: str | None, known: Collection[str] = ()
) -> tuple[Controlled, str, Scenario]:
    """A vehicle with the overrides of one of its scenarios, the scenario's name and settings.

    `known`: the tables that belong to others, such as the plant; without them unknown tables are not errors.
    """
    file = open_file(name_or_path, overrides, scenario)
    if known:
        file.expect_tables((*vehicles.TABLES, *known))
    vehicle = Controlled(file, read_settings(file))
    name, chosen = vehicle.scenario(scenario)
    vehicle.refuse_unread(name, overrides)
    return vehicle, name, chosen
