"""The failsafe table: standard rules of every vehicle that has the parts, and how a vehicle file changes them.

`[failsafe.NAME]` with the name of a standard rule overrides keys of it, within the rule's bounds: an action not weaker
than `least`, a delay not longer than `longest_s`, latched if it is, limits that its sensors can reach. A table with
another name and a `trigger` is a rule of the vehicle's own. CPython only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta

from caudal.hal.tables.channels import Actuator, Points, Sensor, Servo, Thruster, Valve
from caudal.hal.tables.types import Named, Number, Wide, named, tag_of
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.core.failsafe import ACTIONS
from caudal.onboard.tables.stack import EstimateTable

Action = Literal["warn", "slow", "hold", "surface", "drop", "neutral", "disarm"]
Names = Annotated[list[str], Meta(min_length=1)]


class RuleTable(Named, tag_field="trigger", kw_only=True, frozen=True):
    """Keys of every failsafe rule."""

    action: Action
    delay_s: Annotated[float, Meta(ge=0, le=600)] = (
        0.0  # the condition lasts so long before the rule is active
    )
    clear_s: Annotated[float, Meta(ge=0, le=3600)] = 0.0  # and is gone so long before the rule clears
    latched: bool = False  # stays active until a person acknowledges it

    @property
    def trigger(self) -> str:
        """The word that selects the trigger condition."""
        return tag_of(self)


class NotArmed(RuleTable, tag="not_armed", kw_only=True, frozen=True):
    """The vehicle is not armed."""


class BadCommand(RuleTable, tag="bad_command", kw_only=True, frozen=True):
    """A command of the controller is not a number."""


class Overrun(RuleTable, tag="overrun", kw_only=True, frozen=True):
    """A tick starts late, by a share of the period."""

    limit_ticks: Annotated[float, Meta(gt=0, le=20)] = 1.0


class Stalled(RuleTable, tag="stalled", kw_only=True, frozen=True):
    """A tick starts very late."""

    limit_s: Annotated[float, Meta(gt=0, le=5)] = 0.5


class ReadingLost(RuleTable, tag="reading_lost", kw_only=True, frozen=True):
    """A reading is absent or too old."""

    sensors: Names


class Silence(RuleTable, tag="silence", kw_only=True, frozen=True):
    """No sensor has a new reading."""


class Outside(RuleTable, tag="outside", kw_only=True, frozen=True):
    """A reading is below `low` or above `high`."""

    sensors: Names
    low: Wide | None = None  # in the sensors' unit
    high: Wide | None = None


class Tilted(RuleTable, tag="tilted", kw_only=True, frozen=True):
    """Roll or pitch exceeds a limit."""

    sensors: Names
    limit_deg: Annotated[float, Meta(ge=5, le=179)] = 100.0


class Implausible(RuleTable, tag="implausible", kw_only=True, frozen=True):
    """An angle and its rate contradict each other."""

    pairs: Annotated[list[tuple[str, str]], Meta(min_length=1)]  # an angle's sensor and its rate's
    limit_rad: Annotated[float, Meta(ge=0.05, le=3)] = 0.8


class Inconsistent(RuleTable, tag="inconsistent", kw_only=True, frozen=True):
    """The innovations of the filter are too large on average."""

    limit_nis: Annotated[float, Meta(ge=2, le=50)] = 12.0
    average_s: Annotated[float, Meta(ge=0.1, le=60)] = 2.0


class OutOfBounds(RuleTable, tag="out_of_bounds", kw_only=True, frozen=True):
    """The vehicle is outside a volume."""

    low_m: Annotated[list[Number], Meta(min_length=3, max_length=3)]  # x, y, depth
    high_m: Annotated[list[Number], Meta(min_length=3, max_length=3)]


class PilotLost(RuleTable, tag="pilot_lost", kw_only=True, frozen=True):
    """No manual input in mode manual."""

    limit_s: Annotated[float, Meta(ge=0.2, le=10)] = 1.0


class StationLost(RuleTable, tag="station_lost", kw_only=True, frozen=True):
    """The ground station has timed out."""

    limit_s: Annotated[float, Meta(ge=1, le=600)] = 5.0


class ModeUnable(RuleTable, tag="mode_unable", kw_only=True, frozen=True):
    """The requested mode needs an estimate that is unknown."""


class NotFollowing(RuleTable, tag="not_following", kw_only=True, frozen=True):
    """An actuator does not follow its command."""

    actuators: Names


class Host(RuleTable, tag="host", kw_only=True, frozen=True):
    """A condition that the computer reports."""

    word: Literal["bus_hung", "computer_hot", "under_voltage", "storage_full", "clock_jumped", "params_lost"]


AnyRule = (
    NotArmed | BadCommand | Overrun | Stalled | ReadingLost | Silence | Outside | Tilted | Implausible
    | Inconsistent | OutOfBounds | PilotLost | StationLost | ModeUnable | NotFollowing | Host
)  # fmt: skip


@dataclass(frozen=True)
class Standard:
    """A standard rule: its defaults and its bounds; `given` are its trigger's own keys."""

    description: str
    trigger: str
    action: str
    least: str  # a vehicle may not choose a weaker action
    delay_s: float = 0.0
    clear_s: float = 0.0
    latched: bool = False
    longest_s: float = 5.0  # nor a longer delay
    given: dict[str, Any] = field(default_factory=dict)
    needs: str = ""  # keys that only the vehicle file can give: without them there is no such rule

    def keys(self) -> dict[str, Any]:
        """The rule as a table of a vehicle file."""
        keys = {key: getattr(self, key) for key in ("trigger", "action", "delay_s", "clear_s", "latched")}
        return keys | self.given


TABLE: dict[str, Standard] = {
    "not_armed": Standard("the vehicle is not armed", "not_armed", "disarm", "disarm", longest_s=0.0),
    "bad_command": Standard(
        "a command of the controller is not a number", "bad_command", "neutral", "neutral", latched=True, longest_s=0.0
    ),
    "overrun": Standard("ticks start late", "overrun", "neutral", "warn", 0.05, 1.0, longest_s=1.0),
    "stalled": Standard("the loop stood still for half a second", "stalled", "hold", "hold", 0.0, 2.0, longest_s=1.0),
    "wire_lost": Standard(
        "no sensor has a new reading: HIL link or all buses lost", "silence", "neutral", "neutral", 0.25, 0.5,
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
        "outside its allowed volume", "out_of_bounds", "hold", "warn", 0.5, 2.0, needs="low_m and high_m"
    ),
    "mode_unable": Standard("the mode needs an estimate that is unknown", "mode_unable", "surface", "hold", 1.0, 1.0),
    "pilot_lost": Standard("no manual input in mode manual", "pilot_lost", "hold", "hold"),
    "station_lost": Standard("the ground station has timed out", "station_lost", "hold", "warn"),
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
        "a chamber's pressure is too high", "outside", "neutral", "neutral", 0.2, 1.0, longest_s=1.0
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
        "stored parameters were not taken, or cannot be stored", "host", "warn", "warn", 0.0, 1.0,
        given={"word": "params_lost"},
    ),
}  # fmt: skip

OF_OTHERS = ("host", "pilot_lost", "station_lost")  # triggers of a pilot, a station or an operating system
AFLOAT_SHARE = 0.9  # of a depth sensor's range: the default of the maximum depth
OVER_SHARE = 1.15  # of a chamber's highest pressure


def read(
    file: VehicleFile,
    estimate: EstimateTable,
    actuators: Mapping[str, Actuator],
    sensors: Mapping[str, Sensor],
) -> list[RuleTable]:
    """The vehicle's rules: standard ones in the table's order, then those of its own."""
    given = file.tables.get("failsafe", {})
    if not isinstance(given, dict) or not all(isinstance(table, dict) for table in given.values()):
        raise file.error("failsafe", "holds one table a rule: [failsafe.leak], [failsafe.too_deep], ...")
    rules: dict[str, RuleTable] = {}
    for name, standard in TABLE.items():
        parts = _parts(name, estimate, actuators, sensors)
        own = given.get(name, {})
        if parts is None and not own:
            continue
        if standard.needs and not own:
            continue
        if own.get("trigger", standard.trigger) != standard.trigger:
            problem = f'the trigger of this rule is "{standard.trigger}"; give your own rule another name'
            raise file.error(f"failsafe.{name}.trigger", problem)
        keys = {**standard.keys(), **(parts or {}), **own}
        rule: RuleTable = file.make(f"failsafe.{name}", keys, AnyRule)  # type: ignore[arg-type]
        _check_bounds(file, name, rule, standard)
        rules[name] = rule
    for name, table in given.items():
        if name not in TABLE:
            if "trigger" not in table:
                known = ", ".join(TABLE)
                raise file.error(
                    f"failsafe.{name}", f"is no standard rule and has no trigger; standard rules: {known}"
                )
            rules[name] = file.make(f"failsafe.{name}", table, AnyRule)  # type: ignore[arg-type]
    for name, rule in rules.items():
        _check(file, f"failsafe.{name}", rule, actuators, sensors)
    return named(rules)


def _check_bounds(file: VehicleFile, name: str, rule: RuleTable, standard: Standard) -> None:
    """A vehicle may change a standard rule, but not weaken it beyond its bounds."""
    if ACTIONS[rule.action] < ACTIONS[standard.least]:
        problem = f'"{rule.action}" is weaker than this rule allows; at least "{standard.least}"'
        raise file.error(f"failsafe.{name}.action", problem)
    if rule.delay_s > standard.longest_s:
        problem = f"{rule.delay_s:g} is longer than this rule may wait; at most {standard.longest_s:g}"
        raise file.error(f"failsafe.{name}.delay_s", problem)
    if name == "not_armed" and (rule.latched or rule.clear_s):
        raise file.error(
            f"failsafe.{name}", "arming clears this rule at once: give no clear_s, and not latched"
        )
    if rule.latched < standard.latched:
        raise file.error(
            f"failsafe.{name}.latched", "this rule stays active until a person acknowledges it: true"
        )


def _parts(
    name: str, estimate: EstimateTable, actuators: Mapping[str, Actuator], sensors: Mapping[str, Sensor]
) -> dict[str, Any] | None:
    """The vehicle's parts that a standard rule monitors, as keys of it; None: it has no such part."""
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
        kind = {"servo_stalled": Servo, "thruster_dead": Thruster, "valve_stuck": Valve}[name]
        return _some("actuators", [a for a, s in actuators.items() if isinstance(s, kind) and s.feedback])
    if name == "over_pressure":
        valves = [s for s in actuators.values() if isinstance(s, Valve) and s.pressure]
        if not valves:
            return None
        most = max(valve.max_pa for valve in valves)
        return {"sensors": [valve.pressure for valve in valves], "high": OVER_SHARE * most}
    return {}


def _some(key: str, names: list[Any]) -> dict[str, Any] | None:
    return {key: names} if names else None


def _reach(sensor: Sensor) -> tuple[float, float]:
    """The lowest and the highest value that a sensor can read."""
    if isinstance(sensor, Points):
        return min(sensor.values), max(sensor.values)
    ends = [
        (count - sensor.zero_count) * sensor.si_per_count for count in (sensor.low_count, sensor.high_count)
    ]
    return min(ends), max(ends)


def _check(
    file: VehicleFile,
    key: str,
    rule: RuleTable,
    actuators: Mapping[str, Actuator],
    sensors: Mapping[str, Sensor],
) -> None:
    pairs = [sensor for pair in getattr(rule, "pairs", ()) for sensor in pair]
    present: Mapping[str, Actuator | Sensor]
    for where, kind, names, present in (
        ("sensors", "sensor", getattr(rule, "sensors", ()), sensors),
        ("pairs", "sensor", pairs, sensors),
        ("actuators", "actuator", getattr(rule, "actuators", ()), actuators),
    ):
        for name in names:
            if name not in present:
                problem = f'there is no {kind} "{name}"; there are {", ".join(sorted(present))}'
                raise file.error(f"{key}.{where}", problem)
    if isinstance(rule, Outside):
        if rule.low is None and rule.high is None:
            raise file.error(key, "has neither low nor high; give at least one")
        if rule.low is not None and rule.high is not None and rule.low >= rule.high:
            raise file.error(f"{key}.low", f"must be below high, {rule.high:g}")
        for name in rule.sensors:
            least, most = _reach(sensors[name])
            if rule.high is not None and rule.high >= most:
                raise file.error(f"{key}.high", f"would never act: sensor {name} reads {most:g} at most")
            if rule.low is not None and rule.low <= least:
                raise file.error(f"{key}.low", f"would never act: sensor {name} reads {least:g} at least")
    if isinstance(rule, OutOfBounds):
        for k, (low_m, high_m) in enumerate(zip(rule.low_m, rule.high_m, strict=True)):
            if low_m >= high_m:
                raise file.error(f"{key}.low_m.{k}", f"must be below high_m.{k}, {high_m:g}")
    if rule.action == "drop" and not file.tables.get("surface", {}).get("drop"):
        raise file.error(f"{key}.action", "there is nothing to drop: [surface] has no `drop`")
