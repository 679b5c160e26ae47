"""A vehicle as its own computer sees it: the HAL's and the control stack's tables, and nothing of the plant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.onboard.build import build_loop
from caudal.onboard.core.loop import Loop
from caudal.onboard.tables.params import end_problem
from caudal.onboard.tables.read import Settings
from caudal.tools.common.output import UsageError

TABLES = ("excite", "look")  # of a vehicle file: the commands' own


class NullDriver:
    """A board with nothing behind it: enough to see that names resolve and maps build."""

    def read(self, counts: list) -> None:
        for i in range(len(counts)):
            counts[i] = None

    def write(self, outputs: list) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Controlled:
    file: VehicleFile
    settings: Settings

    @property
    def name(self) -> str:
        return self.settings["name"]

    def scenario(self, name: str | None) -> tuple[str, dict[str, Any]]:
        """A scenario by name; without one, the first of the file."""
        scenarios = self.settings["scenarios"]
        name = name or next(iter(scenarios))
        if name not in scenarios:
            if name in self.file.tables.get("trial", {}):
                raise UsageError(f"{name} is a trial of the plant alone; run it with --on sim and no clock")
            raise UsageError(f'{self.name} has no scenario "{name}"; it has {", ".join(scenarios)}')
        return name, scenarios[name]

    def build_loop(self, scenario: dict[str, Any], driver: Any) -> Loop:
        """The controller; values that each are allowed may still not make one together."""
        try:
            return build_loop(self.settings, scenario, driver)
        except ModuleNotFoundError as error:
            kind = self.settings["control"]["kind"]
            raise UsageError(
                f'a control.kind of "{kind}" needs {error.name}, which is not installed; install caudal[{kind}]'
            ) from error
        except (ArithmeticError, ValueError) as error:
            raise self.file.error(
                "gait and control", f"together they make no controller ({error})"
            ) from error

    def try_without_readings(self, name: str, scenario: dict[str, Any]) -> None:
        """One tick of a scenario's controller: names resolve, maps build, and it stands a start without readings."""
        loop = self.build_loop(scenario, NullDriver())
        loop.tick()
        if loop.fault:
            raise self.file.error(f"scenario.{name}", f"the controller fails without readings: {loop.fault}")

    def try_params(self) -> None:
        """Every parameter at both ends of its range: read from the file, and set in a loop that runs."""
        params = self.settings["params"]
        problem = end_problem(self.file, params, vehicles.read)
        if problem:
            raise problem
        _, scenario = self.scenario(None)
        for end, other in (("low", "high"), ("high", "low")) if params else ():
            loop = self.build_loop(scenario, NullDriver())
            loop.send("load", [[param["name"], param[end]] for param in params])
            for param in (*params, None):
                loop.tick()
                troubles = [*(refusal for _, _, _, refusal in loop.taken if refusal), loop.fault]
                if any(troubles):
                    raise self.file.error("param", f"the controller fails at the {end} ends: {troubles[0]}")
                if param:
                    loop.send("set", param["name"], param[other])


def read_settings(file: VehicleFile) -> Settings:
    settings = vehicles.read(file)
    if not settings["scenarios"]:
        raise file.error("scenario", "there is none; a vehicle needs at least one")
    return settings


def expect_tables(file: VehicleFile) -> None:
    """A table or key that belongs to nobody is a slip. Where the plant is not installed, its tables are not known."""
    try:
        from caudal.sim_plant.tables.read import TABLES as PLANT_TABLES
    except ImportError:
        return
    file.expect_tables((*vehicles.TABLES, *PLANT_TABLES, *TABLES))


def open_controlled(
    name_or_path: str, overrides: list[str], scenario: str | None
) -> tuple[Controlled, str, dict[str, Any]]:
    """A vehicle as one of its scenarios wants it, with the scenario's name and settings."""

    def read(lines: list[str]) -> Controlled:
        file = VehicleFile.open(vehicles.find(name_or_path), lines)
        expect_tables(file)
        return Controlled(file, read_settings(file))

    vehicle = read(overrides)
    name, settings = vehicle.scenario(scenario)
    if settings["set"]:
        vehicle = read([*settings["set"], *overrides])
        name, settings = vehicle.scenario(name)
    return vehicle, name, settings
