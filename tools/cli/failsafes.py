"""Shows a vehicle's failsafe table; or, without a vehicle, the table that all of them are made from."""

import argparse
from typing import Any

from caudal.onboard.core.failsafe import ACTIONS
from caudal.onboard.tables.failsafe import TABLE
from caudal.tools.common import options, output
from caudal.tools.vehicle_run.config import open_controlled

KEYS = ("name", "trigger", "delay_s", "action", "clear_s", "latched")
HEAD = """# Failsafes

What a vehicle does when something goes wrong, as one table. A row has a cause, which has to last for its delay; an
action; and a rule by which it clears: its cause is gone for so long, or (latched) somebody has taken note of it by
disarming. Of all active rows the strongest action counts. From weak to strong:

| action | what happens |
|---|---|
| warn | it is recorded and told |
| slow | half the tail-beat, half the thrust |
| hold | it stays as well as it can; what was asked to surface goes on |
| surface | it goes up, by what `[surface]` in its file says: buoyancy, thrust or gait |
| drop | the same, and the ballast goes |
| neutral | every actuator's safe state |
| disarm | no pulse, no current; somebody has to arm it again |

A cause counts whether the vehicle is armed or not. A row of `hold` or stronger bars arming while it is active, and as
soon as its cause is there (one late tick apart); a vehicle whose file has no `[surface]` is not armed at all. Disarmed,
nothing gets through the gate, whatever the rows say.

Of a sensor that was heard and has fallen silent nothing is known: a row that holds its reading against a limit
(outside, tilted) stays as it is until it is heard again, active or not, and neither its delay nor its clearing goes on.
A leak that has been found stays one, though its probe dies of it.

A vehicle has the rows that its parts allow (`caudal failsafes VEHICLE`). Its file may change a row with
`[failsafe.NAME]`, but not to an action weaker than `at least` nor to a delay longer than `at most`, nor unlatch it, nor
set a limit that its sensors never reach; and may add its own.

Times are the standard ones. Every row is executed by the tests, in the plant and over the bench wire
(`tests/failsafes/test_rows.py`), and acts within its delay and two ticks of its cause. An actuator does not follow once
it has been off by `off_rad`, `off_n` or `off_pa` for `found_s` in all, by the sensor that hears it (`feedback`,
`pressure`); one that is not asked to move by so much is not judged.

| row | cause | trigger | delay | at most | action | at least | clears after | needs of the file | tests |
|---|---|---|---|---|---|---|---|---|---|
"""


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("vehicle", nargs="?", help="a vehicle's name, or the path of its file")
    command.add_argument(
        "--scenario", metavar="NAME", help="as this scenario changes it (default: its first)"
    )
    command.add_argument(
        "--markdown", action="store_true", help="the standard table, as docs/failsafes.md has it"
    )
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
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
    vehicle, _, _ = open_controlled(args.vehicle, args.set, args.scenario)
    return vehicle.settings["failsafes"]


def standard() -> list[dict[str, Any]]:
    return [{"name": name, **row.plain(), "about": row.about} for name, row in TABLE.items()]


def markdown() -> str:
    """The whole document."""
    lines = []
    for name, row in TABLE.items():
        clears = "disarming" if row.latched else f"{row.clear_s:g} s"
        cells = (
            *(
                name,
                row.about,
                row.trigger,
                f"{row.delay_s:g} s",
                f"{row.longest_s:g} s",
                row.action,
                row.least,
                clears,
                row.needs or "-",
            ),
            f"`[{name}-sim]` `[{name}-hil]`",
        )
        lines.append("| " + " | ".join(cells) + " |\n")
    return HEAD + "".join(lines)
