"""The failsafe table: the rows that every vehicle has as far as it has the parts, and how a vehicle file changes them.

`[failsafe.NAME]` with the name of a standard row overrides keys of it, within the row's bounds: an action not weaker
than `least`, a delay not longer than `longest_s`, latched if it is, limits that its sensors can reach. A table with a
name of its own and a `trigger` is a row of the vehicle's own. CPython only.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta

from caudal.hal.tables.types import Named, Number, Wide, named, tag_of
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.core.failsafe import ACTIONS

Action = Literal["warn", "slow", "hold", "surface", "drop", "neutral", "disarm"]
Names = Annotated[list[str], Meta(min_length=1)]


class RuleTable(Named, tag_field="trigger", kw_only=True, frozen=True):
    """What every failsafe rule has, whatever triggers it."""

    action: Action
    delay_s: Annotated[float, Meta(ge=0, le=600)] = 0.0  # the cause lasts so long before the row is active
    clear_s: Annotated[float, Meta(ge=0, le=3600)] = 0.0  # and is gone so long before it clears
    latched: bool = False  # stays until a person has taken note

    @property
    def trigger(self) -> str:
        return tag_of(self)


class NotArmed(RuleTable, tag="not_armed", kw_only=True, frozen=True):
    pass


class BadCommand(RuleTable, tag="bad_command", kw_only=True, frozen=True):
    pass


class Overrun(RuleTable, tag="overrun", kw_only=True, frozen=True):
    limit_ticks: Annotated[float, Meta(gt=0, le=20)] = 1.0


class Stalled(RuleTable, tag="stalled", kw_only=True, frozen=True):
    limit_s: Annotated[float, Meta(gt=0, le=5)] = 0.5


class ReadingLost(RuleTable, tag="reading_lost", kw_only=True, frozen=True):
    sensors: Names


class Silence(RuleTable, tag="silence", kw_only=True, frozen=True):
    pass


class Outside(RuleTable, tag="outside", kw_only=True, frozen=True):
    sensors: Names
    low: Wide | None = None  # in the sensors' unit
    high: Wide | None = None


class Tilted(RuleTable, tag="tilted", kw_only=True, frozen=True):
    sensors: Names
    limit_deg: Annotated[float, Meta(ge=5, le=179)] = 100.0


class Implausible(RuleTable, tag="implausible", kw_only=True, frozen=True):
    pairs: Annotated[list[tuple[str, str]], Meta(min_length=1)]  # an angle's sensor and its rate's
    limit_rad: Annotated[float, Meta(ge=0.05, le=3)] = 0.8


class Inconsistent(RuleTable, tag="inconsistent", kw_only=True, frozen=True):
    limit_nis: Annotated[float, Meta(ge=2, le=50)] = 12.0
    average_s: Annotated[float, Meta(ge=0.1, le=60)] = 2.0


class Astray(RuleTable, tag="astray", kw_only=True, frozen=True):
    low_m: Annotated[list[Number], Meta(min_length=3, max_length=3)]  # x, y, depth
    high_m: Annotated[list[Number], Meta(min_length=3, max_length=3)]


class PilotLost(RuleTable, tag="pilot_lost", kw_only=True, frozen=True):
    limit_s: Annotated[float, Meta(ge=0.2, le=10)] = 1.0


class StationLost(RuleTable, tag="station_lost", kw_only=True, frozen=True):
    limit_s: Annotated[float, Meta(ge=1, le=600)] = 5.0


class ModeUnable(RuleTable, tag="mode_unable", kw_only=True, frozen=True):
    pass


class NotFollowing(RuleTable, tag="not_following", kw_only=True, frozen=True):
    actuators: Names


class Host(RuleTable, tag="host", kw_only=True, frozen=True):
    word: Literal["bus_hung", "computer_hot", "under_voltage", "storage_full", "clock_jumped", "params_lost"]


Row = (
    NotArmed | BadCommand | Overrun | Stalled | ReadingLost | Silence | Outside | Tilted | Implausible
    | Inconsistent | Astray | PilotLost | StationLost | ModeUnable | NotFollowing | Host
)  # fmt: skip


@dataclass(frozen=True)
class Standard:
    """One row of the table as it is unless a vehicle file says otherwise; `given` are its trigger's own keys."""

    about: str
    trigger: str
    action: str
    least: str  # a vehicle may not choose a weaker action
    delay_s: float = 0.0
    clear_s: float = 0.0
    latched: bool = False
    longest_s: float = 5.0  # nor a longer delay
    given: dict[str, Any] = field(default_factory=dict)
    needs: str = ""  # keys that only the vehicle's own file can give: without them there is no such row

    def plain(self) -> dict[str, Any]:
        keys = {key: getattr(self, key) for key in ("trigger", "action", "delay_s", "clear_s", "latched")}
        return keys | self.given


TABLE: dict[str, Standard] = {
    "not_armed": Standard("nobody has armed it", "not_armed", "disarm", "disarm", longest_s=0.0),
    "bad_command": Standard(
        "the controller asked for no number", "bad_command", "neutral", "neutral", latched=True, longest_s=0.0
    ),
    "overrun": Standard("ticks start late", "overrun", "neutral", "warn", 0.05, 1.0, longest_s=1.0),
    "stalled": Standard("the loop stood still for half a second", "stalled", "hold", "hold", 0.0, 2.0, longest_s=1.0),
    "wire_lost": Standard(
        "no sensor says anything: bench wire or all buses lost", "silence", "neutral", "neutral", 0.25, 0.5,
        longest_s=2.0,
    ),
    "bus_hung": Standard("a bus does not answer", "host", "surface", "hold", 0.0, 1.0, given={"word": "bus_hung"}),
    "attitude_lost": Standard("no attitude", "reading_lost", "neutral", "hold", 0.2, 0.5),
    "attitude_wrong": Standard("an angle contradicts its rate", "implausible", "surface", "hold", 0.1, 2.0),
    "depth_lost": Standard("no depth", "reading_lost", "surface", "warn", 1.0, 2.0),
    "estimate_wrong": Standard(
        "the estimator's innovations are too large", "inconsistent", "hold", "warn", 1.0, 5.0
    ),
    "capsized": Standard("it lies on its side or back", "tilted", "neutral", "warn", 1.0, 2.0),
    "too_deep": Standard("below its maximum depth", "outside", "surface", "surface", 0.5, 2.0),
    "out_of_bounds": Standard(
        "outside the volume it may swim in", "astray", "hold", "warn", 0.5, 2.0, needs="low_m and high_m"
    ),
    "mode_unable": Standard("the mode needs what it does not know", "mode_unable", "surface", "hold", 1.0, 1.0),
    "pilot_lost": Standard("no sticks in mode manual", "pilot_lost", "hold", "hold"),
    "station_lost": Standard("the ground station has gone silent", "station_lost", "hold", "warn"),
    "battery_low": Standard("the battery is low", "outside", "slow", "warn", 2.0, 5.0, needs="low"),
    "battery_critical": Standard(
        "the battery is nearly empty", "outside", "surface", "surface", 1.0, 5.0, latched=True, needs="low"
    ),
    "leak": Standard(
        "water in the housing", "outside", "surface", "surface", 0.1, 1.0, latched=True, longest_s=1.0,
        given={"high": 0.5},
    ),
    "housing_pressure": Standard(
        "the housing's pressure is wrong", "outside", "surface", "surface", 1.0, 2.0, latched=True,
        given={"low": 40e3, "high": 120e3},
    ),
    "housing_temperature": Standard(
        "the housing is hot", "outside", "slow", "warn", 2.0, 10.0, given={"high": 343.15}
    ),
    "servo_stalled": Standard("a servo does not follow", "not_following", "warn", "warn", 0.0, 1.0),
    "thruster_dead": Standard("a thruster does not follow", "not_following", "warn", "warn", 0.0, 1.0),
    "valve_stuck": Standard("a valve or its chamber does not follow", "not_following", "warn", "warn", 0.0, 1.0),
    "over_pressure": Standard(
        "a chamber has more pressure than it may", "outside", "neutral", "neutral", 0.2, 1.0, longest_s=1.0
    ),
    "computer_hot": Standard("the computer is hot", "host", "slow", "warn", 1.0, 10.0, given={"word": "computer_hot"}),
    "under_voltage": Standard(
        "the computer's supply is low", "host", "slow", "warn", 1.0, 10.0, given={"word": "under_voltage"}
    ),
    "storage_full": Standard(
        "nothing can be recorded", "host", "warn", "warn", 0.0, 1.0, given={"word": "storage_full"}
    ),
    "clock_jumped": Standard(
        "the calendar's clock jumped", "host", "warn", "warn", 0.0, 10.0, given={"word": "clock_jumped"}
    ),
    "params_lost": Standard(
        "parameters are not as they were kept, or are not kept", "host", "warn", "warn", 0.0, 1.0,
        given={"word": "params_lost"},
    ),
}  # fmt: skip

OF_OTHERS = ("host", "pilot_lost", "station_lost")  # triggers whose cause somebody else tells
AFLOAT_SHARE = 0.9  # of what a depth sensor can read: the deepest it may go, unless the file says so
OVER_SHARE = 1.15  # of a chamber's highest pressure


def read(
    file: VehicleFile,
    estimate: Any,
    actuators: dict[str, Any],
    sensors: dict[str, Any],
) -> list[RuleTable]:
    """The vehicle's rules in the table's order; then those of its own."""
    told = file.tables.get("failsafe", {})
    if not isinstance(told, dict) or not all(isinstance(table, dict) for table in told.values()):
        raise file.error("failsafe", "holds tables, one a row: [failsafe.leak], [failsafe.too_deep], ...")
    rows = {}
    for name, standard in TABLE.items():
        parts = _parts(name, estimate, actuators, sensors)
        own = told.get(name, {})
        if parts is None and not own:
            continue
        if standard.needs and not own:
            continue
        if own.get("trigger", standard.trigger) != standard.trigger:
            problem = f'this row\'s trigger is "{standard.trigger}"; give a row of your own another name'
            raise file.error(f"failsafe.{name}.trigger", problem)
        plain = {**standard.plain(), **(parts or {}), **own}
        row: Any = file.make(f"failsafe.{name}", plain, Row)  # type: ignore[arg-type]
        _bind(file, name, row, standard)
        rows[name] = row
    for name, table in told.items():
        if name not in TABLE:
            if "trigger" not in table:
                known = ", ".join(TABLE)
                raise file.error(
                    f"failsafe.{name}", f"is no standard row and has no trigger; standard are {known}"
                )
            rows[name] = file.make(f"failsafe.{name}", table, Row)  # type: ignore[arg-type]
    for name, row in rows.items():
        _check(file, f"failsafe.{name}", row, actuators, sensors)
    return named(rows)


def _bind(file: VehicleFile, name: str, row: Any, standard: Standard) -> None:
    """A vehicle may have a row act otherwise, but not so late or so weakly that it is none."""
    if ACTIONS[row.action] < ACTIONS[standard.least]:
        problem = f'"{row.action}" is weaker than this row allows; at least "{standard.least}"'
        raise file.error(f"failsafe.{name}.action", problem)
    if row.delay_s > standard.longest_s:
        problem = f"{row.delay_s:g} is longer than this row may wait; at most {standard.longest_s:g}"
        raise file.error(f"failsafe.{name}.delay_s", problem)
    if name == "not_armed" and (row.latched or row.clear_s):
        raise file.error(
            f"failsafe.{name}", "whoever arms it clears this row, at once: no clear_s, not latched"
        )
    if row.latched < standard.latched:
        raise file.error(
            f"failsafe.{name}.latched", "this row stays until a person has taken note of it: true"
        )


def _parts(
    name: str, estimate: Any, actuators: dict[str, Any], sensors: dict[str, Any]
) -> dict[str, Any] | None:
    """What the vehicle itself gives a standard row to look at; None: it has no such part."""
    if name == "attitude_lost":
        keys = ("heading", "turn_rate", "roll", "pitch")
        return _some("sensors", [getattr(estimate, key) for key in keys if getattr(estimate, key)])
    if name == "attitude_wrong":
        angles = (("heading", "turn_rate"), ("roll", "roll_rate"), ("pitch", "pitch_rate"))
        named = [(getattr(estimate, angle), getattr(estimate, rate)) for angle, rate in angles]
        return _some("pairs", [list(pair) for pair in named if all(pair)])
    if name in ("depth_lost", "too_deep"):
        if not estimate.depth:
            return None
        known = name == "too_deep" and estimate.depth in sensors
        deepest = {"high": AFLOAT_SHARE * _reach(sensors[estimate.depth])[1]} if known else {}
        return {"sensors": [estimate.depth], **deepest}
    if name == "estimate_wrong":
        return {} if estimate.filter else None
    if name == "capsized":
        return _some("sensors", [key for key in (estimate.roll, estimate.pitch) if key])
    if name in ("battery_low", "battery_critical"):
        return {"sensors": ["battery"]} if "battery" in sensors else None
    if name in ("leak", "housing_pressure", "housing_temperature"):
        return {"sensors": [name]} if name in sensors else None
    if name in ("servo_stalled", "thruster_dead", "valve_stuck"):
        kind = name.split("_")[0]
        return _some("actuators", [a for a, s in actuators.items() if s["map"] == kind and s["feedback"]])
    if name == "over_pressure":
        valves = [s for s in actuators.values() if s["map"] == "valve" and s["pressure"]]
        if not valves:
            return None
        most = max(s["max_pa"] for s in valves)
        return {"sensors": [s["pressure"] for s in valves], "high": OVER_SHARE * most}
    return {}


def _some(key: str, names: list[Any]) -> dict[str, Any] | None:
    return {key: names} if names else None


def _reach(sensor: dict[str, Any]) -> tuple[float, float]:
    """The lowest and the highest value that a sensor can read."""
    if sensor["map"] == "table":
        return min(sensor["values"]), max(sensor["values"])
    ends = [(sensor[key] - sensor["zero_count"]) * sensor["per_count"] for key in ("low_count", "high_count")]
    return min(ends), max(ends)


def _check(
    file: VehicleFile,
    key: str,
    row: Any,
    actuators: dict[str, Any],
    sensors: dict[str, Any],
) -> None:
    pairs = [sensor for pair in getattr(row, "pairs", ()) for sensor in pair]
    for where, kind, names, present in (
        ("sensors", "sensor", getattr(row, "sensors", ()), sensors),
        ("pairs", "sensor", pairs, sensors),
        ("actuators", "actuator", getattr(row, "actuators", ()), actuators),
    ):
        for name in names:
            if name not in present:
                problem = f'there is no {kind} "{name}"; there are {", ".join(sorted(present))}'
                raise file.error(f"{key}.{where}", problem)
    if isinstance(row, Outside):
        if row.low is None and row.high is None:
            raise file.error(key, "has neither low nor high: it would never act; give one")
        if row.low is not None and row.high is not None and row.low >= row.high:
            raise file.error(f"{key}.low", f"must be below high, {row.high:g}")
        for name in row.sensors:
            least, most = _reach(sensors[name])
            if row.high is not None and row.high >= most:
                raise file.error(f"{key}.high", f"would never act: sensor {name} reads {most:g} at most")
            if row.low is not None and row.low <= least:
                raise file.error(f"{key}.low", f"would never act: sensor {name} reads {least:g} at least")
    if isinstance(row, Astray):
        for k, (low_m, high_m) in enumerate(zip(row.low_m, row.high_m, strict=True)):
            if low_m >= high_m:
                raise file.error(f"{key}.low_m.{k}", f"must be below high_m.{k}, {high_m:g}")
    if row.action == "drop" and not file.tables.get("surface", {}).get("drop"):
        raise file.error(f"{key}.action", "there is nothing to drop: [surface] has no `drop`")
