"""Parameters of a run that were not at their defaults: at the start, and every change while it ran."""

from typing import Any, NamedTuple

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.report.plot import ReportData

HEAD = ("time", "vehicle", "parameter", "before", "after", "source")


class Change(NamedTuple):
    """One change of a parameter, as text."""

    time: str
    vehicle: str
    parameter: str
    before: str
    after: str
    source: str


def changes(data: ReportData) -> list[Change]:
    """Returns all changes in order of time."""
    return [*_overrides(data), *_commands(data)]


def _overrides(data: ReportData) -> list[Change]:
    """Returns the keys of the vehicle file that the scenario or --set changed."""
    file = vehicle_file(data.log)
    by_scenario = set(data.scenario.set if data.scenario else ())
    plain = VehicleFile.parse(file.text, file.label)
    out = []
    for line in file.overrides:
        key, _, text = line.partition("=")
        source = f"scenario {data.log.run['scenario']}" if line in by_scenario else "--set"
        before, after = _lookup(plain.tables, key), _lookup(file.tables, key)
        if before is None or before != after:
            now = _text(after) if after is not None else text
            out.append(Change("start", "all", key.strip(), _text(before), now, source))
    return out


def _lookup(tables: Any, key: str) -> Any:
    """Returns the value of a dotted key, None where there is none."""
    node = tables
    for word in key.strip().split("."):
        word = word.strip().strip("\"'")
        if isinstance(node, dict) and word in node:
            node = node[word]
        elif isinstance(node, list) and word.isdigit() and int(word) < len(node):
            node = node[int(word)]
        else:
            return None
    return node


def _commands(data: ReportData) -> list[Change]:
    """Returns the parameters loaded from the store in the first tick, and every set command, rejected ones too."""
    params = {param.name: param for param in data.settings.params}
    values: dict[str, dict[str, Any]] = {}
    out = []
    for event in data.log.events:
        kind, given = event.details.get("kind"), event.details.get("values") or []
        if event.kind != "command" or kind not in ("set", "load"):
            continue
        vehicle = str(event.details.get("vehicle", ""))
        now = values.setdefault(vehicle, {name: param.default for name, param in params.items()})
        when = f"{(event.time_ns - data.start_ns) / 1e9:.2f} s"
        refused = event.details.get("refused")
        for name, value in _pairs(kind, given):
            before = now.get(name)
            if not refused and value == before:
                continue
            unit = f" {params[name].unit}" if name in params and params[name].unit else ""
            after = f"rejected: {refused}" if refused else _text(value) + unit
            key = f"{name} ({params[name].key})" if name in params else str(name)
            source = "parameter store" if kind == "load" else "set"
            if not refused and name in params and not params[name].live and kind == "set":
                source = "set, takes effect at the next start"
            old = _text(before) + (unit if before is not None else "")
            out.append(Change(when, vehicle, key, old, after, source))
            if not refused:
                now[name] = value
    return out


def _pairs(kind: str, given: list[Any]) -> list[tuple[str, Any]]:
    """Returns the (name, value) pairs of a command; a rejected command may have any form."""
    pairs = [given] if kind == "set" else given[0] if given and isinstance(given[0], list) else []
    return [(str(pair[0]), pair[1]) for pair in pairs if isinstance(pair, list | tuple) and len(pair) == 2]


def _text(value: Any) -> str:
    if value is None:
        return "not set"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
