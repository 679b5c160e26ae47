"""Runs the controller again on a log's readings and commands, and compares all it computes with what was recorded."""

from collections.abc import Callable, Iterator
from typing import Any

from caudal.hal.core.fixed_point import ONE
from caudal.hal.errors import CaudalError
from caudal.onboard.build import build_loop
from caudal.onboard.log.reader import Columns, Log, Row
from caudal.onboard.run import runner
from caudal.onboard.run.session import Session
from caudal.onboard.tables.read import Scenario, Settings

NEEDED = ("counts", "outputs", "commands", "loop")  # topics of a vehicle


def replay(
    log: Log, settings: Settings, progress: Callable[[str, int, int], None] | None = None
) -> dict[str, Any]:
    """Replays all vehicles of a log; the first difference, if there is one. `progress` gets name, tick and ticks."""
    scenario = settings.scenarios.get(log.run.get("scenario", ""))
    if scenario is None:
        raise CaudalError(
            f'the vehicle file has no scenario "{log.run.get("scenario")}", which the log was made with'
        )
    result: dict[str, Any] = {"identical": True, "ticks": 0, "commands": 0, "missing_from_tick": None}
    names = [topic.split("/")[1] for topic in log.topics if topic.endswith("/counts")]
    if not names:
        raise CaudalError("the log holds no vehicle's readings")
    for name in names:
        one = _Replay(log, name, settings, scenario, progress)
        runner.run(one, stop=one.ended)
        result["ticks"] += one.session.loop.ticks
        result["commands"] += one.session.loop.ticks * len(settings.actuators)
        missing = result["missing_from_tick"]
        if one.missing and (missing is None or one.ticks < missing):
            result["missing_from_tick"] = one.ticks
        difference = one.difference
        if difference and (result["identical"] or difference["tick"] < result["tick"]):
            result |= difference | {"identical": False}
    return result


class RecordedDriver:
    """A board's driver that gives the counts of a log, tick by tick."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows

    def read(self, counts: list[int | None]) -> None:
        """Fills in the next row."""
        counts[:] = next(self._rows)

    def write(self, outputs: list[int]) -> None:
        """Drops the outputs."""

    def close(self) -> None:
        """There is nothing to close."""


class _Replay:
    """One vehicle's session on its recording; `difference` is the first."""

    fault = None  # a loop that stopped in the log stops again

    def __init__(
        self,
        log: Log,
        name: str,
        settings: Settings,
        scenario: Scenario,
        progress: Callable[[str, int, int], None] | None,
    ) -> None:
        for topic in (f"/{name}/{kind}" for kind in ("outputs", "loop")):
            if topic not in log.topics:
                raise CaudalError(f"{log.path} holds nothing in {topic}; replay needs it")
        counts, outputs = log.topics[f"/{name}/counts"], log.topics[f"/{name}/outputs"]
        timing, commands = log.topics[f"/{name}/loop"], log.topics.get(f"/{name}/commands")
        channels = (
            ("actuators", [channel.name for channel in settings.actuators], outputs.fields),
            ("sensors", [channel.name for channel in settings.sensors], counts.fields),
        )
        for kind, present, recorded in channels:
            if present != recorded:
                raise CaudalError(
                    f"the vehicle file's {kind} are {', '.join(present)}; the log's {', '.join(recorded)}"
                )
        # The plant side of a HIL link logs device units alone; the controller arms itself in its first tick.
        plant_side = commands is None and log.run.get("on", "").startswith("hil")
        if plant_side and log.run.get("realtime") == "True":
            raise CaudalError(
                "the plant did not wait for its controller (--realtime): replay needs the log of the controller side"
            )
        topics = [topic for topic in (counts, outputs, timing, commands) if topic is not None]
        self.ticks = min(map(len, topics))
        self.missing = any(topic.lost for topic in topics)
        if self.missing:
            self.ticks = _whole(timing.column("tick"), topics)
        if not self.ticks:
            raise CaudalError(
                f"{log.path} does not contain the start of {name}'s run; replay needs every tick from the first"
            )
        self.session = Session(name, build_loop(settings, scenario, RecordedDriver(counts.each())))
        self.session.before = self._before
        self.session.after.append(self._compare)
        self.period_us = self.session.loop.period_us
        self.difference: dict[str, Any] | None = None
        self._name = name
        self._progress = progress
        self._sent = {0: [("arm", [])]} if plant_side else _commands(log, name)
        self._late_us = iter(timing.column("late_us"))
        self._fields = [*outputs.fields, *(commands.fields if commands else ())]
        self._outputs, self._commands = outputs.each(), commands.each() if commands else None

    def ended(self) -> bool:
        """At the first difference or the end of the recording."""
        return self.difference is not None or self.session.loop.ticks == self.ticks

    def arm(self) -> None:
        """The log holds the command."""

    def safe(self) -> None:
        """There are no actuators."""

    def step(self, late_us: int) -> None:
        """One tick."""
        self.session.tick(0, 0)

    def _before(self, time_ns: int, late_us: int) -> int:
        loop = self.session.loop
        for kind, values in self._sent.get(loop.ticks, ()):
            loop.send(kind, *values)
        if self._progress:
            self._progress(self._name, loop.ticks, self.ticks)
        return int(next(self._late_us))

    def _compare(self, session: Session, time_ns: int) -> None:
        loop = session.loop
        recorded: list[Any] = [*next(self._outputs)]
        now: list[Any] = [*loop.board.outputs]
        if self._commands:
            recorded += next(self._commands)
            now += [None if c is None else c / ONE for c in loop.state.outputs]
        if now == recorded:
            return
        field, before, again = next(
            (field, a, b) for field, a, b in zip(self._fields, recorded, now, strict=True) if a != b
        )
        self.difference = {
            "tick": loop.state.tick,
            "channel": f"{self._name} {field}",
            "found": f"recorded {before}, now {again}",
        }


def _commands(log: Log, name: str) -> dict[int, list[tuple[str, list[Any]]]]:
    """By tick, the commands that the vehicle was sent."""
    commands: dict[int, list[tuple[str, list[Any]]]] = {}
    for event in log.events:
        if event.kind == "command" and event.details["vehicle"] == name:
            commands.setdefault(event.details["tick"], []).append(
                (event.details["kind"], event.details["values"])
            )
    return commands


def _whole(ticks: list[Any], topics: list[Columns]) -> int:
    """The number of ticks from the first one on before a message is missing."""
    rows = zip(ticks, *(topic.time_ns for topic in topics), strict=False)
    return next(
        (k for k, (tick, *times) in enumerate(rows) if tick != k or len(set(times)) > 1),
        min(map(len, topics)),
    )
