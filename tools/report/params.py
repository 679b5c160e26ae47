"""What of a run's parameters was not at its default: at the start, and every set while it ran."""

from typing import Any, NamedTuple

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.report.plot import Reported

HEAD = ("when", "vehicle", "what", "before", "after", "by")


class Change(NamedTuple):
    when: str
    vehicle: str
    what: str
    before: str
    after: str
    by: str


def changes(told: Reported) -> list[Change]:
    return [*_overridden(told), *_ordered(told)]


def _overridden(told: Reported) -> list[Change]:
    """Keys that the scenario or --set changed in the vehicle file."""
    file = vehicle_file(told.log)
    by_scenario = set(told.scenario.get("set", ()))
    plain = VehicleFile.parse(file.text, file.label)
    out = []
    for line in file.overrides:
        key, _, text = line.partition("=")
        by = f"scenario {told.log.run['scenario']}" if line in by_scenario else "--set"
        before, after = _lookup(plain.tables, key), _lookup(file.tables, key)
        if before is None or before != after:
            out.append(
                Change(
                    "start",
                    "all",
                    key.strip(),
                    _said(before),
                    _said(after) if after is not None else text,
                    by,
                )
            )
    return out


def _lookup(tables: Any, key: str) -> Any:
    """The value of a dotted key; None where there is none."""
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


def _ordered(told: Reported) -> list[Change]:
    """What a store brought in the first tick, and every set: done, or refused with the reason."""
    about = {param["name"]: param for param in told.settings["params"]}
    values: dict[str, dict[str, Any]] = {}
    out = []
    for event in told.log.events:
        kind, given = event.details.get("kind"), event.details.get("values") or []
        if event.kind != "order" or kind not in ("set", "load"):
            continue
        vehicle = str(event.details.get("vehicle", ""))
        now = values.setdefault(vehicle, {name: param["default"] for name, param in about.items()})
        when = f"{(event.time_ns - told.start_ns) / 1e9:.2f} s"
        refused = event.details.get("refused")
        for name, value in _pairs(kind, given):
            before = now.get(name)
            if not refused and value == before:
                continue
            unit = f" {about[name]['unit']}" if name in about and about[name]["unit"] else ""
            after = f"refused: {refused}" if refused else _said(value) + unit
            key = f"{name} ({about[name]['key']})" if name in about else str(name)
            by = "kept from before" if kind == "load" else "set"
            if not refused and name in about and not about[name]["live"] and kind == "set":
                by = "set, for the next start"
            out.append(
                Change(when, vehicle, key, _said(before) + (unit if before is not None else ""), after, by)
            )
            if not refused:
                now[name] = value
    return out


def _pairs(kind: str, given: list[Any]) -> list[tuple[str, Any]]:
    """(name, value) of an order, as far as it has that form: a refused one may have any."""
    pairs = [given] if kind == "set" else given[0] if given and isinstance(given[0], list) else []
    return [(str(pair[0]), pair[1]) for pair in pairs if isinstance(pair, list | tuple) and len(pair) == 2]


def _said(value: Any) -> str:
    if value is None:
        return "not named"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
