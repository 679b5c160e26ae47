"""Exports a vehicle's bodies and joints for other tools: URDF (Pinocchio, ROS) or MJCF (MuJoCo)."""

import argparse
from pathlib import Path

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.sim_plant.loader import load
from caudal.sim_plant.tree.model import Model, read
from caudal.tools.common import options, output
from caudal.tools.export.mjcf import mjcf
from caudal.tools.export.urdf import urdf

WRITERS = {"urdf": (urdf, ".urdf"), "mjcf": (mjcf, ".xml")}


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of `caudal export`."""
    options.add_vehicle(command)
    command.add_argument("format", choices=WRITERS, help="file format: urdf, or mjcf for MuJoCo")
    command.add_argument(
        "--out", metavar="FILE", type=Path, help="path of the file (default: NAME.urdf or NAME.xml)"
    )
    command.add_argument(
        "--carried",
        action="store_true",
        help="include added inertia as rigid bodies; an error where this is not exact",
    )
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Runs `caudal export`."""
    model = open_tree(args.vehicle, args.set)
    name = Path(model.label).stem
    write, suffix = WRITERS[args.format]
    text = write(model.spec, name, args.carried)
    out = args.out or Path(f"{name}{suffix}")
    try:
        out.write_text(text)
    except OSError as error:
        raise output.UsageError(
            f"cannot write {out}: {error.strerror}; choose another path with --out"
        ) from error
    result = {
        "vehicle": name,
        "bodies": len(model.bodies),
        "joints": len(model.joints),
        "file": str(out),
    }
    if args.json:
        output.as_json(result)
    else:
        output.table(list(result.items()))
    return 0


def open_tree(name_or_path: str, overrides: list[str] | None = None) -> Model:
    """Loads the tree of bodies of a vehicle file; other tables are not read."""
    file = VehicleFile.open(vehicles.find(name_or_path), overrides or [])
    plant = file.tables.get("plant")
    if not isinstance(plant, dict) or "tree" not in plant:
        raise file.error("plant.tree", "this table is missing; the command needs a vehicle with bodies in it")
    for closure in read(file).closure:
        raise output.UsageError(
            f"{file.label}: {closure.name} closes a chain of bodies; only trees can be exported"
        )
    with output.slow_notice("loading the plant; the first time, compilation takes up to a minute"):
        return load(file)
