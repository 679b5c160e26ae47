"""Shows a vehicle's parameters: what may be set while it runs, within which range; with --params, as a file keeps them.

caudal params VEHICLE NAME=VALUE ... --params FILE      sets them there, for the next run that takes the file
caudal params VEHICLE --reset [NAME ...] --params FILE  back to what the vehicle file says, all or some
"""

import argparse
from typing import Any

from caudal.onboard.params.store import ParamStore, StoreError
from caudal.onboard.params.update import checked
from caudal.tools.common import options, output
from caudal.tools.vehicle_run.config import Controlled, open_controlled
from caudal.tools.vehicle_run.param_keeper import add_params, open_store

HEAD = ("name", "value", "default", "low", "high", "unit", "set", "about")


def arguments(command: argparse.ArgumentParser) -> None:
    options.add_vehicle(command)
    command.add_argument(
        "change", nargs="*", metavar="NAME=VALUE", help="set it in the file that --params names"
    )
    command.add_argument(
        "--reset", nargs="*", metavar="NAME", help="back to the defaults; without a name, all of them"
    )
    add_params(command, "the file that keeps them")
    command.add_argument(
        "--scenario", metavar="NAME", help="as this scenario changes the vehicle (default: its first)"
    )
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    vehicle, _, _ = open_controlled(args.vehicle, args.set, args.scenario)
    params = vehicle.settings["params"]
    to_change = bool(args.change) or args.reset is not None
    if to_change and args.params is None:
        raise output.UsageError(
            "say where they are kept: --params FILE (a running vehicle is told by its ground station)"
        )
    values: dict[str, float] = {}
    notes: list[str] = []
    if args.params:
        store = open_store(args.params, vehicle)
        values, notes = store.load(), store.notes
        if store.no_file:
            raise output.UsageError(store.no_file)
        if to_change:
            values = _changed(args, vehicle, values, store)
            _save(store, values, params)
    rows = [{**param, "value": values.get(param["name"], param["default"])} for param in params]
    for row in rows:
        del row["places"]
    for note in notes:
        output.note(note)
    if args.json:
        output.as_json({"vehicle": vehicle.name, "params": rows, "notes": notes})
    elif rows:
        output.table([[_cell(row, key) for key in HEAD] for row in rows], HEAD)
    else:
        output.note(f"{vehicle.name} has no parameters; its file would need [param.NAME] tables")
    return 0


def _cell(row: dict[str, Any], key: str) -> Any:
    if key == "set":
        when = "" if row["live"] else "takes effect at the next start"
        return when or ("any time" if row["armed"] else "disarmed")
    return row[key]


def _changed(
    args: argparse.Namespace, vehicle: Controlled, values: dict[str, float], store: ParamStore
) -> dict[str, float]:
    """The values after what was asked; a wrong one changes nothing."""
    about = {param["name"]: param for param in vehicle.settings["params"]}
    if args.reset is not None:
        forgotten = store.forget(args.reset)
        for name in args.reset:
            if name not in about and name not in forgotten:
                raise output.UsageError(
                    f"{vehicle.name} has no parameter {name}; caudal params {args.vehicle} lists them"
                )
        values = {name: value for name, value in values.items() if args.reset and name not in args.reset}
    values = dict(values)
    for word in args.change:
        name, equals, text = word.partition("=")
        if not equals:
            raise output.UsageError(f"{word}: there is no = in it; write NAME=VALUE")
        try:
            number: Any = float(text)
        except ValueError:
            number = text
        values[name], refusal = checked(about, name, number)
        if refusal:
            raise output.UsageError(refusal)
        store.forget([name])  # what slept under it: a default is not kept, and would not replace it
    return values


def _save(store: ParamStore, values: dict[str, float], params: list[dict[str, Any]]) -> None:
    defaults = {param["name"]: param["default"] for param in params}
    try:
        store.save({name: value for name, value in values.items() if value != defaults[name]})
    except StoreError as error:
        raise output.UsageError(str(error)) from error
