"""Tables `param.NAME` of a vehicle file: numbers that may be set while the loop runs, and their ranges.

    [param.GAIT_FREQ]
    key = "control.frequency_max_hz"    # of this file; its value there is the default
    low = 0.5
    high = 3.0
    description = "fastest tail-beat"

CPython only. `caudal check` uses `end_problem`: no value within a range may be refused.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from caudal.hal.tables.types import Named, Number, Table
from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.hal.vehicle_file.wording import did_you_mean, unit_of

if TYPE_CHECKING:
    from caudal.onboard.tables.read import Settings

NAME = re.compile(r"[A-Z][A-Z0-9_]{0,15}")  # as MAVLink allows
MOST = 1000
TABLES = (
    *("gait", "control", "estimate", "guidance", "failsafe", "surface", "sticks", "mission"),
    *("scenario", "actuator", "sensor"),
)
LISTED = {"failsafe": "failsafes", "actuator": "actuators", "sensor": "sensors", "scenario": "scenarios"}

Ends = Sequence[tuple["Param", float]]  # parameters with a value each


class ParamTable(Table, kw_only=True, frozen=True):
    """A number that may be set."""

    key: str
    low: Number
    high: Number
    description: Annotated[str, Meta(min_length=1, max_length=120)]
    unit: Annotated[str, Meta(max_length=16)] | None = None  # without it, that of the key's suffix
    armed: bool = True  # whether it may be set while the vehicle is armed


class Param(Named, kw_only=True, frozen=True):
    """A parameter as a loop has it. `places`: paths of its value in the settings, each with a factor."""

    key: str
    unit: str
    low: float
    high: float
    default: float
    description: str
    kind: Literal["int", "float"]
    armed: bool
    live: bool  # whether a running loop takes it
    places: list[tuple[list[str | int], int]]


def read(file: VehicleFile, settings: "Settings") -> list[Param]:
    """The parameters of the file, checked."""
    params: dict[str, ParamTable] = file.read("param", dict[str, ParamTable])
    if len(params) > MOST:
        raise file.error("param", f"has {len(params)} parameters; {MOST} are enough")
    found: list[Param] = []
    keys: dict[str, str] = {}
    for name, param in params.items():
        where = f"param.{name}"
        if not NAME.fullmatch(name):
            raise file.error(
                where, "a parameter's name is 1 to 16 of A-Z, 0-9 and _, and begins with a letter"
            )
        if param.key in keys:
            raise file.error(f"{where}.key", f'"{param.key}" is {keys[param.key]}\'s already')
        keys[param.key] = name
        found.append(_lowered(file, name, param, settings))
    return found


def _lowered(file: VehicleFile, name: str, param: ParamTable, settings: "Settings") -> Param:
    where = f"param.{name}"
    places = _places(file, f"{where}.key", param.key, settings)
    default = _look_up(settings, places[0][0])
    if isinstance(default, bool) or not isinstance(default, int | float):
        raise file.error(f"{where}.key", f'"{param.key}" is not a number; a parameter is one')
    kind: Literal["int", "float"] = "int" if isinstance(default, int) else "float"
    low, high = param.low, param.high
    if kind == "int" and not (low == int(low) and high == int(high)):
        raise file.error(where, f'"{param.key}" takes whole numbers; so must low and high be')
    if low >= high:
        raise file.error(f"{where}.low", f"must be below high, {high:g}")
    if not low <= default <= high:
        if not _overridden(file, param.key):
            raise file.error(where, f'"{param.key}" is {default:g}, outside {low:g} to {high:g}; change one')
        low, high = min(low, default), max(high, default)  # --set may exceed the range
    number: Callable[[float], float] = int if kind == "int" else float
    return Param(
        name=name,
        key=param.key,
        unit=unit_of(param.key.split(".")[-1]) if param.unit is None else param.unit,
        low=number(low),
        high=number(high),
        default=default,
        description=param.description,
        kind=kind,
        armed=param.armed,
        live=is_live(param.key, settings),
        places=places,
    )


def is_live(key: str, settings: "Settings") -> bool:
    """Whether a running loop takes it. A chain's plan takes half a second: its numbers wait for the next start."""
    return key.startswith("failsafe.") or settings.control.kind != "chain"


def _overridden(file: VehicleFile, key: str) -> bool:
    """Whether --set, or a scenario's `set`, has changed this key or a table that holds it."""
    return any(f"{key}.".startswith(f"{line.partition('=')[0].strip()}.") for line in file.overrides)


def _places(
    file: VehicleFile, where: str, key: str, settings: "Settings"
) -> list[tuple[list[str | int], int]]:
    """Paths of a key's value in the settings: the first is the value itself, others follow it by a factor."""
    parts = key.split(".")
    if parts[0] not in TABLES:
        problem = f'"{key}" is not in a table that may be tuned; these may: {", ".join(TABLES)}'
        raise file.error(where, problem)
    node: Any = settings
    path: list[str | int] = []
    for part in [LISTED.get(parts[0], parts[0]), *parts[1:]]:
        step = _step(node, part)
        if step is None:
            known = [getattr(one, "name", "") for one in node] if isinstance(node, list) else _keys(node)
            hint = did_you_mean(part, known)
            raise file.error(where, f'there is no "{key}" in this file{hint}')
        path.append(step)
        node = _into(node, step)
    places: list[tuple[list[str | int], int]] = [(path, 1)]
    if key == "gait.frequency_hz":  # the tail-beat of `swim`
        for name, scenario in file.tables.get("scenario", {}).items():
            if scenario["task"] == "swim":
                backward = scenario.get("backward", False)
                places.append((["scenarios", name, "rows", 0, "frequency_hz"], -1 if backward else 1))
    return places


def _step(node: Any, part: str) -> str | int | None:
    """How a part of a key enters the settings: a key, an index, or the index of the entry with that name."""
    if isinstance(node, dict | Struct):
        return part if part in _keys(node) else None
    if isinstance(node, list):
        for k, entry in enumerate(node):
            if getattr(entry, "name", None) == part:
                return k
        if part.isdecimal() and int(part) < len(node):
            return int(part)
    return None


def _keys(node: Any) -> list[str]:
    if isinstance(node, Struct):
        return [key for key in (*node.__struct_fields__, node.__struct_config__.tag_field) if key]
    return list(node) if isinstance(node, dict) else []


def _into(node: Any, step: str | int) -> Any:
    return getattr(node, str(step)) if isinstance(node, Struct) else node[step]


def _look_up(settings: object, path: Sequence[str | int]) -> Any:
    for step in path:
        settings = _into(settings, step)
    return settings


def end_problem(
    file: VehicleFile, params: list[Param], read_again: Callable[[VehicleFile], "Settings"]
) -> VehicleFileError | None:
    """Reads the file with values at the ends of the ranges, each two of them at either end together. The error: the
    file is refused, or a running loop would have other settings than the next start."""
    settings = read_again(file)

    def refused(ends: Ends) -> str | None:
        return _refused(file, settings, ends, read_again)

    for ends in _corners(params):
        if refused(ends):
            few = _fewest(ends, refused)
            words = " with ".join(f"{param.key} = {value:g}" for param, value in few)
            return file.error(f"param.{few[0][0].name}", f"{words} is within its range, but {refused(few)}")
    return None


def _fewest(ends: Ends, refused: Callable[[Ends], str | None]) -> Ends:
    """The parameters at fault: leaves out ever smaller parts, as long as the rest is refused."""
    size = len(ends)
    while size > 1:
        size = (size + 1) // 2
        at = 0
        while at < len(ends):
            left = [*ends[:at], *ends[at + size :]]
            if left and refused(left):
                ends = left
            else:
                at += size
    return ends


def _corners(params: list[Param]) -> Iterator[Ends]:
    """All in the middle, all low, all high, and by each bit of their numbers: two numbers differ in a bit."""
    yield [(param, _middle(param)) for param in params]
    for bit in range(max(len(params) - 1, 0).bit_length() + 1):
        for turned in (0, 1):
            yield [
                (param, param.high if (k >> bit & 1) ^ turned else param.low)
                for k, param in enumerate(params)
            ]


def _middle(param: Param) -> float:
    total = param.low + param.high
    return total // 2 if param.kind == "int" else total / 2


def _refused(
    file: VehicleFile,
    settings: "Settings",
    ends: Ends,
    read_again: Callable[[VehicleFile], "Settings"],
) -> str | None:
    try:
        found = read_again(with_values(file, settings, ends))
    except VehicleFileError as error:
        return str(error).replace(" (from --set)", "").removeprefix(f"{file.label}: ")
    for param, value in ends:
        settings = changed(settings, param, value)
    if replace(found, params=[]) != replace(settings, params=[]):
        return "it would change other settings, too; it cannot be a parameter"
    return None


def with_values(file: VehicleFile, settings: "Settings", ends: Ends) -> VehicleFile:
    """The file with other values; tables and lists that it leaves to their defaults are made for them."""
    tables = msgspec.json.decode(msgspec.json.encode(file.tables))
    lines = []
    for param, value in ends:
        node = tables
        parts, place = param.key.split("."), param.places[0][0]
        for k, part in enumerate(parts[:-1]):
            if isinstance(node, list):
                node = _into(node, place[k])
                continue
            default = _look_up(settings, place[: k + 1])
            node = node.setdefault(part, list(default) if parts[k + 1].isdecimal() else {})
        node[int(parts[-1]) if isinstance(node, list) else parts[-1]] = value
        lines.append(f"{param.key}={value}")
    return VehicleFile(file.label, file.text, [*file.overrides, *lines], tables)


def changed(settings: "Settings", param: Param, value: float) -> "Settings":
    """The settings with another value of a parameter; tables without it are shared, not copied."""
    for path, factor in param.places:
        settings = _with(settings, path, value if factor == 1 else factor * value)
    return settings


def _with(node: Any, path: Sequence[str | int], value: float) -> Any:
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(node, Struct):
        return replace(node, **{str(key): _with(getattr(node, str(key)), rest, value)})
    if isinstance(node, list):
        return [_with(entry, rest, value) if k == key else entry for k, entry in enumerate(node)]
    return {**node, key: _with(node[key], rest, value)}
