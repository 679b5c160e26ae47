"""Runs the controller again on a log's recorded readings and orders and compares every command with what was recorded.

Exit code 0 if all are identical, 1 if not. With --set or --vehicle the controller is another than recorded.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from caudal.hal.core.fixed_point import ONE
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.build import build_loop
from caudal.onboard.log.reader import Log
from caudal.onboard.vehicles import find, read
from caudal.tools.common import options, output
from caudal.tools.config.from_log import vehicle_file
from caudal.onboard.run.config import expect_tables

NEEDED = ("counts", "outputs", "commands", "loop")  # topics of a vehicle
_READ: dict[tuple, dict[str, Any]] = {}  # the settings of the log replayed last


class RecordedDriver:
    """Gives back the counts of a log, tick by tick."""

    def __init__(self, rows: Iterator[tuple]) -> None:
        self._rows = rows

    def read(self, counts: list) -> None:
        counts[:] = next(self._rows)

    def write(self, outputs: list) -> None:
        pass

    def close(self) -> None:
        pass


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("log", type=Path, help="a log that caudal run wrote")
    command.add_argument("--vehicle", metavar="FILE", help="another vehicle file than the recorded one")
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    log = Log(args.log, only=NEEDED)
    result = replay(log, args.vehicle, args.set)
    if args.json:
        output.as_json(result)
    elif result["identical"]:
        print(f"identical: {result['ticks']} ticks, {result['commands']} commands.")
        if result["missing_from_tick"] is not None:
            print(
                f"From tick {result['missing_from_tick']} on messages are missing from the log: nobody can tell."
            )
    else:
        print(f"differs: first at tick {result['tick']}, {result['channel']}: {result['found']}.")
    return 0 if result["identical"] and result["missing_from_tick"] is None else 1


def replay(log: Log, vehicle_path: str | None = None, overrides: list[str] | None = None) -> dict[str, Any]:
    settings = _settings(log, vehicle_path, overrides or [])
    scenario = settings["scenarios"].get(log.run.get("scenario"))
    if scenario is None:
        raise output.UsageError(
            f'the vehicle file has no scenario "{log.run.get("scenario")}", which the log was made with'
        )
    result: dict[str, Any] = {"identical": True, "ticks": 0, "commands": 0, "missing_from_tick": None}
    if log.run.get("on", "").startswith("hil") and log.run.get("realtime") == "True":
        raise output.UsageError(
            "a bench that ran free answers when it can: its log shows what happened, it does not replay"
        )
    names = [topic.split("/")[1] for topic in log.topics if topic.endswith("/counts")]
    if not names:
        raise output.UsageError("the log holds no vehicle's readings")
    for name in names:
        difference = _replay_one(log, name, settings, scenario, result)
        if difference and (result["identical"] or difference["tick"] < result["tick"]):
            result |= difference | {"identical": False}
    return result


def _settings(log: Log, vehicle_path: str | None, overrides: list[str]) -> dict[str, Any]:
    if vehicle_path:
        file = VehicleFile.open(find(vehicle_path), overrides)
        expect_tables(file)
        return read(file)
    key = (log.run.get("vehicle_file"), log.run.get("overrides"), *overrides)
    if key not in _READ:  # a campaign replays thousands of logs of one vehicle
        _READ.clear()
        file = vehicle_file(log, overrides)
        expect_tables(file)
        _READ[key] = read(file)
    return _READ[key]


def _orders(log: Log, name: str) -> dict[int, list[tuple[str, list[Any]]]]:
    """By tick, what the vehicle was told; a controller at the other end of a wire arms itself in its first."""
    if log.run.get("on", "").startswith("hil"):
        return {0: [("arm", [])]}
    orders: dict[int, list[tuple[str, list[Any]]]] = {}
    for event in log.events:
        if event.kind == "order" and event.details["vehicle"] == name:
            orders.setdefault(event.details["tick"], []).append(
                (event.details["kind"], event.details["values"])
            )
    return orders


def _whole(ticks: list[int], times_ns: list) -> int:
    """How many ticks there are from the first one on before a message is missing."""
    rows = zip(ticks, *times_ns, strict=False)
    return next(
        (k for k, (tick, *times) in enumerate(rows) if tick != k or len(set(times)) > 1),
        min(map(len, times_ns)),
    )


def _replay_one(log: Log, name: str, settings: dict, scenario: dict, result: dict) -> dict | None:
    """Ticks one vehicle's loop through its recording; the first difference, if there is one."""
    for topic in (f"/{name}/{kind}" for kind in ("outputs", "loop")):
        if topic not in log.topics:
            raise output.UsageError(
                f"{log.path} holds nothing in {topic}, without which nothing can be replayed"
            )
    counts, outputs = log.topics[f"/{name}/counts"], log.topics[f"/{name}/outputs"]
    timing = log.topics[f"/{name}/loop"]
    commands = log.topics.get(f"/{name}/commands")  # a bench's plant end sees device units alone
    for kind, recorded in (("actuators", outputs.fields), ("sensors", counts.fields)):
        present = [channel["name"] for channel in settings[kind]]
        if present != recorded:
            raise output.UsageError(
                f"the vehicle file's {kind} are {', '.join(present)}; the log's {', '.join(recorded)}"
            )
    topics = [topic for topic in (counts, outputs, timing, commands) if topic is not None]
    ticks = min(map(len, topics))
    if any(topic.lost for topic in topics):
        ticks = _whole(timing.column("tick"), [topic.time_ns for topic in topics])
        if result["missing_from_tick"] is None or ticks < result["missing_from_tick"]:
            result["missing_from_tick"] = ticks
    if not ticks:
        raise output.UsageError(
            f"{log.path} has no beginning of {name}'s run, from which alone it could be replayed"
        )
    loop = build_loop(settings, scenario, RecordedDriver(counts.each()))
    progress = output.Progress(f"replaying {name}", ticks, "ticks")
    orders = _orders(log, name)
    recorded = zip(range(ticks), timing.column("late_us"), outputs.each(), strict=False)
    sent_rows = commands.each() if commands is not None else None
    for tick, late_us, told in recorded:
        for kind, values in orders.get(tick, ()):
            loop.send(kind, *values)
        loop.tick(late_us)
        progress.at(tick)
        result["ticks"] += 1
        result["commands"] += len(told)
        now = list(zip(outputs.fields, told, loop.board.outputs, strict=True))
        if sent_rows is not None and commands is not None:
            sent = [None if c is None else c / ONE for c in loop.state.outputs]
            now += list(zip(commands.fields, next(sent_rows), sent, strict=True))
        for channel, before, again in now:
            if before != again:
                progress.end()
                return {
                    "tick": tick,
                    "channel": f"{name} {channel}",
                    "found": f"recorded {before}, now {again}",
                }
    progress.end()
    return None
