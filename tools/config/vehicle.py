"""A vehicle file as the commands use it, with all tables of the HAL, the control stack and the plant."""

from collections.abc import Sequence
from dataclasses import dataclass

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.onboard.run.config import Controlled, open_file, read_settings
from caudal.onboard.tables.read import Scenario
from caudal.sim_plant.tables import read as sim_plant_spec
from caudal.sim_plant.tables.trial import Trial
from caudal.tools.common.output import UsageError
from caudal.tools.config import appearance_tables, known_tables
from caudal.tools.faults.kinds import read_fault


@dataclass(frozen=True)
class Vehicle(Controlled):
    """A vehicle with its simulated plant."""

    plant: sim_plant_spec.PlantSpec
    worlds: dict[str, sim_plant_spec.WorldSpec]
    trials: dict[str, Trial]  # of the plant alone
    appearance: appearance_tables.Appearance


def open_vehicle(name_or_path: str, overrides: Sequence[str] = ()) -> Vehicle:
    """A vehicle by its name or file, with overrides (KEY=VALUE)."""
    return read_vehicle(VehicleFile.open(vehicles.find(name_or_path), overrides))


def open_scenario(
    name_or_path: str, overrides: Sequence[str], scenario: str | None
) -> tuple[Vehicle, str, Scenario]:
    """A vehicle with the overrides of one of its scenarios, the scenario's name and settings."""
    vehicle = read_vehicle(open_file(name_or_path, overrides, scenario))
    name, chosen = vehicle.scenario(scenario)
    vehicle.refuse_unread(name, overrides)
    return vehicle, name, chosen


def read_vehicle(file: VehicleFile) -> Vehicle:
    """Reads all tables of a vehicle file and checks them against each other."""
    file.expect_tables((*vehicles.TABLES, *sim_plant_spec.TABLES, *known_tables.OWN))
    settings = read_settings(file)
    plant = sim_plant_spec.read(file)
    worlds = sim_plant_spec.read_worlds(file)
    for kind, channels in (("actuator", settings.actuators), ("sensor", settings.sensors)):
        for channel in channels:
            if channel.name not in getattr(plant, kind):
                problem = f"the plant has no [plant.{kind}.{channel.name}] for it"
                raise file.error(f"{kind}.{channel.name}", problem)
    for name, scenario in settings.scenarios.items():
        if scenario.world not in worlds:
            problem = f"there is no [world.{scenario.world}]; there are {', '.join(worlds)}"
            raise file.error(f"scenario.{name}.world", problem)
    trials = sim_plant_spec.read_trials(file, plant)
    for name in trials:
        if name in settings.scenarios:
            raise file.error(f"trial.{name}", "a scenario has this name too; rename one of them")
    vehicle = Vehicle(file, settings, plant, worlds, trials, appearance_tables.read(file, plant))
    for name, scenario in settings.scenarios.items():
        for k, text in enumerate(scenario.faults):
            try:
                read_fault(text, vehicle)
            except UsageError as error:
                raise file.error(f"scenario.{name}.faults.{k}", str(error)) from error
    return vehicle
