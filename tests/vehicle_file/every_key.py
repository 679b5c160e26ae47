"""Sets each key of a vehicle file to another value and looks for a part of a run, a plant or a view that changes.

python -m tests.vehicle_file.every_key [VEHICLE ...]     every single key, which takes minutes
"""

import copy
import hashlib
import itertools
import re
import sys
import time
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
import numpy as np

from caudal.hal.emulated.wiring import EmulatedDriver
from caudal.hal.tables import pi as pi_tables
from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.onboard import vehicles
from caudal.onboard.build import build_loop
from caudal.onboard.run.null_driver import NullDriver
from caudal.sim_plant.tree import trial
from caudal.sim_plant.world.world import World
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import Vehicle, read_vehicle
from caudal.tools.excite.bezier import curve
from caudal.tools.excite.tables import read as read_excite
from caudal.tools.view.vehicle import VehicleMeshes

Path = tuple[str | int, ...]

# Keys that nothing here can see change, and what reads them.
REASONS = {
    "name": "topics of a log are named after it",
    "sensor.*.unit": "reading compares it with what feedback, a pressure loop or a calibration needs",
    "description": "`caudal list` prints it",
    "*.description": "`caudal list`, `caudal params`, `caudal calibrate` and stations print it",
    "scenario.*.duration_s": "a run ends after it",
    "scenario.*.faults": "a run injects them",
    "scenario.*.set": "a run changes these keys",
    "scenario.*.world": "a run opens it",
    "*.expected_speed_m_s": "a run's summary compares the measured speed with it",
    "*.expected_turn_rate_deg_s": "a run's summary compares the measured turn rate with it",
    "*.rms_n": "it documents the fit of `caudal thrust`",
    "motor.*.polynomial": "motor.use chooses between polynomial and table",
}
ENOUGH = 3  # other values that change nothing make a key one that nothing reads


class Recorder:
    """Stands for viser's scene: records every call, and the calls on what it returns."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*values: Any, **named: Any) -> "Recorder":
            self.calls.append((name, values, named))
            return Recorder()

        return call


def keys_of(tables: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every value; a list of values is one."""
    if isinstance(tables, dict):
        for key, value in tables.items():
            yield from keys_of(value, (*path, key))
    elif isinstance(tables, list) and tables and isinstance(tables[0], dict):
        for k, value in enumerate(tables):
            yield from keys_of(value, (*path, k))
    else:
        yield path


def pattern(path: Path) -> str:
    """The path with names of channels, scenarios, worlds ... and indices as *: keys of one pattern share a reader."""
    named = {
        "actuator",
        "sensor",
        "scenario",
        "world",
        "trial",
        "param",
        "motor",
        "failsafe",
        "chip",
        "trajectory",
    }
    parts: list[str] = []
    for part in path:
        wild = isinstance(part, int) or (bool(parts) and parts[-1] in named)
        parts.append("*" if wild else str(part))
    return ".".join(parts)


def at(tables: Any, path: Path) -> Any:
    """The value at a path."""
    for part in path:
        tables = tables[part]
    return tables


def with_value(file: VehicleFile, path: Path, value: Any) -> VehicleFile:
    """A copy of the file with another value at a path."""
    tables = copy.deepcopy(file.tables)
    at(tables, path[:-1])[path[-1]] = value
    return VehicleFile(file.label, file.text, [], tables)


def others(value: Any, words: list[str]) -> Iterator[Any]:
    """Other values, the likeliest to be allowed first."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, -value, value * 2, value // 2, value + 10, value * 10, 50, 100, 200)
    elif isinstance(value, float):
        yield from (value * 1.01, value * 0.99, value + 0.01, value - 0.01, value * 1.25, value * 0.5, -value)
        yield from (0.0, 1.0, value + 1.0)
    elif isinstance(value, str):
        yield from (word for word in words if word != value)
        yield from (value + "_", "")
    elif isinstance(value, list):
        for k, entry in enumerate(value):
            for other in itertools.islice(others(entry, words), 40):
                yield [*value[:k], other, *value[k + 1 :]]
        yield value[:-1]
        yield value[::-1]


def words_for(file: VehicleFile, path: Path) -> list[str]:
    """Words that may stand where this one does: what the schema allows, then names of the same file."""
    words: list[str] = []
    try:
        read_vehicle(with_value(file, path, "no such word"))
    except (VehicleFileError, UsageError) as error:
        words += re.findall(r'"([^"]+)"', str(error)) + re.findall(r"[a-z][a-z0-9_]+", str(error))
    tables = file.tables
    for table in ("actuator", "sensor", "world", "motor", "trajectory"):
        words += list(tables.get(table, {}))
    words += list(tables.get("pi", {}).get("chip", {}))
    words += [body["name"] for body in tables["plant"].get("tree", {}).get("body", ())]
    words += ["#123456"]
    return list(dict.fromkeys(words))


def digest(root: Any) -> str:
    """A hash of all that an object holds, closures and arrays included."""
    found = hashlib.sha256()
    seen: dict[int, int] = {}
    alive: list[Any] = []  # or an id could be another object's

    def walk(value: Any) -> None:
        if value is None or isinstance(value, bool | int | float | str | bytes | type | types.ModuleType):
            found.update(repr(value).encode())
            return
        if id(value) in seen:
            found.update(f"@{seen[id(value)]}".encode())
            return
        seen[id(value)] = len(seen)
        alive.append(value)
        found.update(type(value).__name__.encode())
        if isinstance(value, np.ndarray):
            found.update(str(value.dtype).encode() + value.tobytes())
            if value.dtype == object:
                walk(value.tolist())
        elif isinstance(value, dict):
            for key, entry in value.items():
                walk(key)
                walk(entry)
        elif isinstance(value, list | tuple | set | frozenset):
            for entry in value:
                walk(entry)
        elif isinstance(value, types.FunctionType):
            found.update(value.__qualname__.encode())
            walk(value.__defaults__)
            for cell in value.__closure__ or ():
                walk(cell.cell_contents)
        elif isinstance(value, types.MethodType):
            found.update(value.__func__.__qualname__.encode())
            walk(value.__self__)
        elif isinstance(value, msgspec.Struct):
            walk(msgspec.structs.asdict(value))
        else:
            walk(getattr(value, "__dict__", None))
            for name in getattr(type(value), "__slots__", ()):
                walk(getattr(value, name, None))

    walk(root)
    return found.hexdigest()


def loop_digest(vehicle: Vehicle, scenario: str) -> str:
    """All that a loop is built of."""
    settings = vehicle.settings
    loop = build_loop(settings, settings.scenarios[scenario], NullDriver())
    loop.handler.params = None  # holds the settings themselves, read or not
    return digest(loop)


def plant_digest(vehicle: Vehicle, world: str) -> str:
    """A world with its vehicle."""
    opened = World(vehicle.worlds[world], seed=1)
    names = [
        [channel.name for channel in kind] for kind in (vehicle.settings.actuators, vehicle.settings.sensors)
    ]
    opened.add(vehicle.plant, actuators=names[0], sensors=names[1], name="a")
    return digest(opened)


def trial_digest(vehicle: Vehicle, name: str) -> str:
    """The first steps of a trial."""
    spec = vehicle.trials[name]
    states: list[Any] = []
    assert vehicle.plant.tree is not None
    short = msgspec.structs.replace(spec, duration_s=20 * spec.step_s)
    figures = trial.run(
        vehicle.plant.tree, short, vehicle.name, lambda time_s, x: states.append((time_s, x.copy()))
    )
    return digest([spec.duration_s, figures, states])


def pi_digest(vehicle: Vehicle) -> str:
    """Drivers and emulated chips, not started."""
    names = [
        [channel.name for channel in kind] for kind in (vehicle.settings.actuators, vehicle.settings.sensors)
    ]
    world = World(vehicle.worlds[next(iter(vehicle.worlds))], seed=1)
    body = world.add(vehicle.plant, actuators=names[0], sensors=names[1], name="a")
    table = pi_tables.read(vehicle.file, vehicle.settings)
    driver = EmulatedDriver(vehicle.settings, table, vehicle.settings.rate_hz, body, lambda: 0, None)
    try:
        return digest([driver, table.arm])
    finally:
        driver.close()


def view_digest(vehicle: Vehicle) -> str:
    """All that the view draws of a vehicle."""
    scene = Recorder()
    VehicleMeshes(scene, "a", vehicle.plant, vehicle.appearance)
    return digest(scene.calls)


def excite_digest(vehicle: Vehicle) -> str:
    """The curve that `caudal excite` searches on."""
    table = read_excite(vehicle.file)
    return digest(curve(table))


def looks(vehicle: Vehicle, path: Path) -> Iterator[Callable[[Vehicle], str]]:
    """What a key may change, the likeliest first."""
    top = path[0]
    if top == "appearance":
        yield view_digest
    elif top == "pi":
        yield pi_digest
    elif top == "excite":
        yield excite_digest
    elif top == "param":
        yield lambda vehicle: digest(vehicle.settings.params)  # what stations and `caudal params` show
    elif top == "trial":
        yield lambda vehicle: trial_digest(vehicle, str(path[1]))
    elif top == "world":
        yield lambda vehicle: plant_digest(vehicle, str(path[1]))
    else:
        chosen = (
            [str(path[1])]
            if top == "scenario"
            else sorted(vehicle.settings.scenarios, key=costs(vehicle).get)
        )
        for name in chosen:
            if top != "plant":
                yield lambda vehicle, name=name: loop_digest(in_scenario(vehicle, name), name)
        if top in ("actuator", "sensor", "plant"):
            for name in chosen:
                yield lambda vehicle, name=name: plant_digest(
                    in_scenario(vehicle, name), world_of(vehicle, name)
                )
            yield view_digest
        for name in vehicle.trials:
            yield lambda vehicle, name=name: trial_digest(vehicle, name)


COSTS: dict[str, dict[str, float]] = {}  # seconds that the loop of a scenario takes to build, by file


def costs(vehicle: Vehicle) -> dict[str, float]:
    """Seconds by scenario: quick ones are tried first."""
    label = vehicle.file.label
    if label not in COSTS:
        COSTS[label] = {}
        for name in vehicle.settings.scenarios:
            start_s = time.perf_counter()
            loop_digest(in_scenario(vehicle, name), name)
            COSTS[label][name] = time.perf_counter() - start_s
    return COSTS[label]


def representatives(name: str) -> list[Path]:
    """One path of each pattern, in the scenario that is the quickest to build. Those above a second are left to
    `main`."""
    file, vehicle = opened(name)
    seconds = costs(vehicle)
    paths = sorted(
        keys_of(file.tables), key=lambda path: seconds[str(path[1])] if path[0] == "scenario" else 0.0
    )
    first = {pattern(path): path for path in reversed(paths)}
    return [path for path in first.values() if path[0] != "scenario" or seconds[str(path[1])] < 1.0]


def in_scenario(vehicle: Vehicle, scenario: str) -> Vehicle:
    """The vehicle with the keys that a scenario sets."""
    changes = vehicle.settings.scenarios[scenario].set
    return read_vehicle(vehicle.file.overridden(changes)) if changes else vehicle


def world_of(vehicle: Vehicle, scenario: str) -> str:
    """The name of a scenario's world."""
    return vehicle.settings.scenarios[scenario].world


def reason_for(path: Path) -> str | None:
    """Why nothing is seen to change, where that is known."""
    wild = pattern(path)
    return REASONS.get(wild) or REASONS.get(f"*.{wild.rpartition('.')[2]}") or REASONS.get(pattern(path[:3]))


@cache
def opened(name: str) -> tuple[VehicleFile, Vehicle]:
    """A shipped file as it is."""
    file = VehicleFile.open(vehicles.find(name))
    return file, read_vehicle(file)


def unread(name: str, path: Path, known: dict[Any, str]) -> str | None:
    """What is wrong with a key; None where another value changes something. `known`: digests of the file as it is."""
    file, vehicle = opened(name)
    value = at(file.tables, path)
    words = words_for(file, path) if isinstance(value, str | list) else []
    tried = 0
    for other in others(value, words):
        if other == value:
            continue
        try:
            changed = read_vehicle(with_value(file, path, other))
        except (VehicleFileError, UsageError):
            continue
        tried += 1
        for k, look in enumerate(looks(vehicle, path)):
            key = (path[0], path[1] if path[0] in ("scenario", "world", "trial") else "", k)
            if key not in known:
                known[key] = look(vehicle)
            try:
                if look(changed) != known[key]:
                    return None
            except (ValueError, UsageError, ArithmeticError):
                return None  # the part refuses it: it has read it
        if tried == ENOUGH:
            break
    return (
        "another value changes nothing" if tried else None
    )  # reading refuses every other value, so it depends on it


def main() -> None:
    """Checks every key of the vehicles given, or of all."""
    for name in sys.argv[1:] or vehicles.names():
        known: dict[Any, str] = {}
        paths = list(keys_of(opened(name)[0].tables))
        bad = 0
        for path in paths:
            problem = None if reason_for(path) else unread(name, path, known)
            if problem:
                bad += 1
                print(f"{name}: {'.'.join(map(str, path))}: {problem}", flush=True)
        print(f"{name}: {len(paths)} keys, {bad} of them unread")


if __name__ == "__main__":
    main()
