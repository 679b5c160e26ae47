"""Shows the parameters that may be set while a vehicle runs, with their ranges; with --params, the values in a file.

caudal params VEHICLE NAME=VALUE ... --params FILE      sets values in the file, for the next run that uses it
caudal params VEHICLE --reset [NAME ...] --params FILE  resets some or all to the values of the vehicle file
"""

import argparse
from typing import Any

from msgspec.structs import asdict

from caudal.onboard.params.store import ParamStore, StoreError
from caudal.onboard.params.update import checked
from caudal.onboard.run.config import Controlled, open_controlled
from caudal.onboard.run.param_keeper import open_store
from caudal.onboard.tables.params import Param
from caudal.tools.common import options, output
from caudal.tools.common.run_options import add_params
from caudal.tools.config.known_tables import known_tables

HEAD = ("name", "value", "default", "low", "high", "unit", "set", "description")


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal params`."""
    options.add_vehicle(command)
    command.add_argument(
        "change", nargs="*", metavar="NAME=VALUE", help="a new value, written to the file of --params"
    )
    command.add_argument(
        "--reset", nargs="*", metavar="NAME", help="reset these, or without a name all, to their defaults"
    )
    add_params(command, "the parameter file")
    command.add_argument(
        "--scenario", metavar="NAME", help="with the settings of this scenario (default: its first)"
    )
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Changes the parameter file if asked, and prints the parameters."""
    vehicle, _, _ = open_controlled(args.vehicle, args.set, args.scenario, known_tables())
    params = vehicle.settings.params
    to_change = bool(args.change) or args.reset is not None
    if to_change and args.params is None:
        raise output.UsageError(
            "no file to change; give --params FILE (for a running vehicle, use its ground station)"
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
    rows = [asdict(param) | {"value": values.get(param.name, param.default)} for param in params]
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
    """The values after the requested changes; an invalid one raises, and changes nothing."""
    declared = {param.name: param for param in vehicle.settings.params}
    if args.reset is not None:
        forgotten = store.forget(args.reset)
        for name in args.reset:
            if name not in declared and name not in forgotten:
                raise output.UsageError(
                    f"{vehicle.name} has no parameter {name}; caudal params {args.vehicle} lists them"
                )
        values = {name: value for name, value in values.items() if args.reset and name not in args.reset}
    values = dict(values)
    for word in args.change:
        name, equals, text = word.partition("=")
        if not equals:
            raise output.UsageError(f"{word}: there is no =; write NAME=VALUE")
        try:
            number: Any = float(text)
        except ValueError:
            number = text
        values[name], refusal = checked(declared, name, number)
        if refusal:
            raise output.UsageError(refusal)
        store.forget(
            [name]
        )  # an unused value of this name: a default is not stored, so it would not replace it
    return values


def _save(store: ParamStore, values: dict[str, float], params: list[Param]) -> None:
    defaults = {param.name: param.default for param in params}
    try:
        store.save({name: value for name, value in values.items() if value != defaults[name]})
    except StoreError as error:
        raise output.UsageError(str(error)) from error
