"""Shows a vehicle's failsafe table; without a vehicle, the standard table that all of them are based on."""

import argparse
from typing import Any

from msgspec.structs import asdict

from caudal.hal.tables.types import tag_of
from caudal.onboard.core.failsafe import ACTIONS
from caudal.onboard.run.config import open_controlled
from caudal.onboard.tables.failsafe import TABLE
from caudal.tools.common import options, output
from caudal.tools.config.known_tables import known_tables

KEYS = ("name", "trigger", "delay_s", "action", "clear_s", "latched")
HEAD = """# Failsafes

What a vehicle does after a fault, as one table. A rule has a trigger condition, which has to last for its delay; an
action; and a way to clear: after the condition has been absent for a time or, if the rule is latched, after a person
has acknowledged it by disarming. The strongest action of all active rules takes effect. From weak to strong:

| action | what happens |
|---|---|
| warn | it is logged and reported |
| slow | half the tail-beat, half the thrust |
| hold | the vehicle holds its position as well as it can; a commanded surfacing goes on |
| surface | it goes up by the means in `[surface]` of its file: buoyancy, thrust or gait |
| drop | the same, and it drops its ballast |
| neutral | every actuator goes to its safe state |
| disarm | no pulse, no current; only a person arms it again |

A trigger condition counts whether the vehicle is armed or not. A rule of `hold` or stronger blocks arming while it is
active, and as soon as its condition is present (except one late tick); a vehicle whose file has no `[surface]` cannot
be armed at all. While disarmed, the output limiter passes nothing, whatever the rules decide.

Nothing is known from a sensor that has timed out: a rule that compares its reading with a limit (outside, tilted) keeps
its state until there is a reading again, and neither its delay nor its clearing time runs. A detected leak stays
detected, even if its probe fails.

A vehicle has the rules that its parts allow (`caudal failsafes VEHICLE`). Its file may change a rule with
`[failsafe.NAME]`, but not to an action weaker than `at least` nor to a delay longer than `at most`, nor unlatch it, nor
set a limit outside the range of its sensors; it may add rules of its own.

Times are the standard ones. The tests run every rule, in the simulation and over a HIL link
(`tests/failsafes/test_rows.py`): it acts within its delay and two ticks of its condition. An actuator does not follow
once it has been off by `tolerance_rad`, `tolerance_n` or `tolerance_pa` for `detect_s` in all, by its feedback sensor
(`feedback`, `pressure`); an actuator whose set-point moves less than that is not checked.

| rule | condition | trigger | delay | at most | action | at least | clears after | needs in the file | tests |
|---|---|---|---|---|---|---|---|---|---|
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal failsafes`."""
    command.add_argument("vehicle", nargs="?", help="a vehicle's name, or the path of its file")
    command.add_argument(
        "--scenario", metavar="NAME", help="with the settings of this scenario (default: its first)"
    )
    command.add_argument(
        "--markdown", action="store_true", help="print the standard table as docs/failsafes.md"
    )
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Prints the table."""
    if args.markdown:
        print(markdown(), end="")
        return 0
    rows = standard() if args.vehicle is None else rows_of(args)
    if args.json:
        output.as_json({"vehicle": args.vehicle, "actions": list(ACTIONS), "rows": rows})
    else:
        output.table([[row[key] for key in KEYS] for row in rows], list(KEYS))
    return 0


def rows_of(args: argparse.Namespace) -> list[dict[str, Any]]:
    """The rules of a vehicle."""
    vehicle, _, _ = open_controlled(args.vehicle, args.set, args.scenario, known_tables())
    return [{**asdict(rule), "trigger": tag_of(rule)} for rule in vehicle.settings.failsafes]


def standard() -> list[dict[str, Any]]:
    """The rules of the standard table."""
    return [{"name": name, **row.keys(), "description": row.description} for name, row in TABLE.items()]


def markdown() -> str:
    """The text of docs/failsafes.md."""
    lines = []
    for name, row in TABLE.items():
        clears = "disarming" if row.latched else f"{row.clear_s:g} s"
        cells = (
            *(
                name,
                row.description,
                row.trigger,
                f"{row.delay_s:g} s",
                f"{row.longest_s:g} s",
                row.action,
                row.least,
            ),
            *(clears, row.needs or "-"),
            f"`[{name}-sim]` `[{name}-hil]`",
        )
        lines.append("| " + " | ".join(cells) + " |\n")
    return HEAD + "".join(lines)
