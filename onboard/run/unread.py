"""Keys of a vehicle file that a scenario's loop does not read. CPython only.

The loop is built once from a view of the settings that records which attributes its parts read. It covers the tables
of the control stack; the HAL, the plant, the views and the commands read the other tables themselves.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.build import build_loop
from caudal.onboard.run.null_driver import NullDriver
from caudal.onboard.tables.read import Settings

TABLES = ("gait", "control", "estimate", "guidance", "surface", "sticks", "mission", "failsafe", "scenario")
LISTED = {"failsafe": "failsafes", "scenario": "scenarios"}
OF_A_RUN = {
    *("description", "duration_s", "world", "set", "faults"),
    *("expected_speed_m_s", "expected_turn_rate_deg_s"),
}  # keys of a scenario that a run reads, not its loop
OF_THE_READER = {"surface.method"}  # keys that only decide which others are checked

Path = tuple[str | int, ...]


class Opened(Protocol):
    """A vehicle file and its settings."""

    @property
    def file(self) -> VehicleFile: ...
    @property
    def settings(self) -> Settings: ...


class Recorded:
    """A view of a table: passes its attributes on, and records the paths of those that are read."""

    def __init__(self, table: Struct, path: Path, read: set[Path]) -> None:
        self._table = table
        self._path = path
        self._read = read

    def __getattribute__(self, name: str) -> Any:
        """For isinstance it has the table's class."""
        return type(self._table) if name == "__class__" else object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        path = (*self._path, name)
        self._read.add(path)
        return _recorded(getattr(self._table, name), path, self._read)


def _recorded(value: Any, path: Path, read: set[Path]) -> Any:
    if isinstance(value, Struct):
        return Recorded(value, path, read)
    if isinstance(value, list):
        return [_recorded(entry, (*path, k), read) for k, entry in enumerate(value)]
    if isinstance(value, dict):
        return {key: _recorded(entry, (*path, key), read) for key, entry in value.items()}
    return value


def unread_keys(vehicle: Opened, scenario: str) -> list[str]:
    """Keys that the file gives and the scenario's loop does not read; of a table without any, the table itself."""
    read: set[Path] = set()
    settings = Recorded(replace(vehicle.settings, params=[]), (), read)
    loop = build_loop(settings, settings.scenarios[scenario], NullDriver())  # type: ignore[arg-type]
    loop.tick()
    found: list[str] = []
    for name in TABLES:
        raw = vehicle.file.tables.get(name, {})
        node = getattr(vehicle.settings, LISTED.get(name, name))
        if name == "scenario":
            raw, node = {scenario: raw[scenario]}, {scenario: node[scenario]}
        if raw:
            read_elsewhere = partial(_read_elsewhere, vehicle, scenario)
            keys, total = _unread(raw, node, name, (LISTED.get(name, name),), read, read_elsewhere)
            found += [name] if keys and len(keys) == total else keys
    return found


def never_read(scenarios: Mapping[str, Opened]) -> list[str]:
    """Keys that the file gives and no scenario's loop reads; those of a scenario are its own loop's to read.

    `scenarios`: for each, the vehicle with what the scenario sets.
    """
    unread = {name: unread_keys(vehicle, name) for name, vehicle in scenarios.items()}
    own = [key for keys in unread.values() for key in keys if key.startswith("scenario.")]
    first, *others = unread.values()
    return [key for key in first if all(_within(key, keys) for keys in others)] + [
        key for key in own if key not in first
    ]


def refusal(vehicle: Opened, scenario: str, overrides: Sequence[str]) -> str | None:
    """Why an override (KEY=VALUE) is refused for this scenario: its loop does not read the key."""
    if not overrides:
        return None
    unread = unread_keys(vehicle, scenario)
    for line in overrides:
        key = line.partition("=")[0].strip()
        for found in [key] if _within(key, unread) else [k for k in unread if k.startswith(f"{key}.")]:
            because = _reason(vehicle, scenario, found)
            return f'{found} is not used by scenario "{scenario}"{because}; remove it'
    return None


def _within(key: str, keys: Collection[str]) -> bool:
    """Whether a key, or a table that holds it, is among the keys."""
    return any(f"{key}.".startswith(f"{other}.") for other in keys)


def _unread(
    raw: Any, node: Any, key: str, path: Path, read: set[Path], read_elsewhere: Callable[[str], bool]
) -> tuple[list[str], int]:
    """(the unread keys, how many keys the table gives)."""
    found: list[str] = []
    total = 0
    for name, value, inner, step in _entries(raw, node):
        here, at = f"{key}.{name}", (*path, *step)
        if read_elsewhere(here):
            continue
        total += 1
        if isinstance(inner, Struct | list | dict) and _holds_tables(value):
            below, count = _unread(value, inner, here, at, read, read_elsewhere)
            found += [here] if below and len(below) == count else below
        elif at not in read:
            found.append(here)
    return found, total


def _holds_tables(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _entries(raw: Any, node: Any) -> Iterator[tuple[str, Any, Any, Path]]:
    """(name, raw value, value in the settings, step of its path) of the keys whose values the settings hold as such."""
    if isinstance(raw, list):
        for k, entry in enumerate(raw):
            yield str(k), entry, node[k], (k,)
    elif isinstance(node, Struct):
        for name, value in raw.items():
            if name in node.__struct_fields__:
                inner = getattr(node, name)
                lowered = isinstance(value, dict) and isinstance(inner, list) and not _named(inner)
                yield name, None if lowered else value, inner, (name,)
    elif isinstance(node, list):
        for k, entry in enumerate(node):
            if entry.name in raw:
                yield entry.name, raw[entry.name], entry, (k,)
    elif isinstance(node, dict):
        for name, value in raw.items():
            yield name, value, node[name], (name,)


def _named(entries: Sequence[Any]) -> bool:
    return bool(entries) and isinstance(entries[0], Struct)


def _read_elsewhere(vehicle: Opened, scenario: str, key: str) -> bool:
    if key == "gait.frequency_hz":  # the reader has put it into the row of `swim`
        return bool(vehicle.file.tables["scenario"][scenario]["task"] == "swim")
    return key in OF_THE_READER or (key.startswith("scenario.") and key.rpartition(".")[2] in OF_A_RUN)


def _reason(vehicle: Opened, scenario: str, key: str) -> str:
    """Why a key is not used, in parentheses, where that is known."""
    tables: Mapping[str, Any] = vehicle.file.tables
    task = tables["scenario"][scenario]["task"]
    control = tables["control"]
    if key == "gait.frequency_hz" and task == "schedule":
        return " (its rows set the frequency)"
    if key == "gait.coupling_per_s":
        return f' (gait.source is "{tables["gait"]["source"]}")'
    for table, switch in (("control.shell", "shells"), ("control.neck", "gaze")):
        if _within(key, [table]) and control["kind"] == "undulate":
            return f' (control.{switch} is "{control.get(switch, "off")}")'
    return (
        f' (its task is "{task}")' if task in ("schedule", "swim") and not key.startswith("scenario.") else ""
    )
