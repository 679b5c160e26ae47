"""Starts a vehicle file of your own from one that comes with Caudal: comments, channels, plant, scenarios and all.

The copy passes `caudal check` and swims as it is, so that every change you make can be tried at once. At its top stands
what to change first, and in which line. In the folder where it lies it has a name: `caudal run NAME`.
"""

import argparse
import re
import shlex
from pathlib import Path

from caudal.onboard import vehicles
from caudal.tools.common import options, output
from caudal.tools.config.vehicle import open_vehicle

NAME = re.compile(r"[a-z](_?[a-z0-9])*")
# What to change first, by control.kind: a key as it stands in the file, and what it is.
FIRST = {
    "tail": (
        ("joints =", "the servos of the tail, front to back"),
        ("links_m =", "how long each link behind a joint is"),
        ("wavelength_m =", "the wave that the tail swims"),
        ("[actuator", "pulses: what your servos' data sheets say, trims"),
        ("[sensor", "what is aboard, and its counts"),
        ("[plant.strouhal]", "mass and wetted area of the simulated vehicle"),
        ("[[plant.tree.body]]", "or its bodies, one by one: masses, sizes, hulls"),
        ("[pi.chip]", "which chip each channel is on, once there is hardware"),
    ),
    "undulate": (
        ("joints =", "the servos along the body, front to back"),
        ("places_m =", "where along the body they are"),
        ("[actuator", "pulses: what your servos' data sheets say, trims"),
        ("[sensor", "what is aboard, and its counts"),
        ("[[plant.tree.body]]", "masses, sizes and hulls of the bodies"),
        ("[pi.chip]", "which chip each channel is on, once there is hardware"),
    ),
    "wrench": (
        ("[control.thruster]", "where each thruster is and which way it pushes"),
        ("[control.model]", "inertia and drag; `caudal excite` and `caudal identify` find them"),
        ("[motor.", "what a thruster pushes; `caudal thrust` makes it from bench data"),
        ("[sensor", "what is aboard, and its counts"),
        ("[[plant.tree.body]]", "mass, size and drag of the simulated vehicle"),
        ("[pi.chip]", "which chip each channel is on, once there is hardware"),
    ),
    "chain": (
        ("[[control.module]]", "the rigid modules, from the base on"),
        ("[[control.soft]]", "the soft joints between them"),
        ("[control.thruster]", "where each thruster is and which way it pushes"),
        ("[motor.", "what a thruster pushes; `caudal thrust` makes it from bench data"),
        ("[[plant.tree.body]]", "masses, sizes and hulls of the bodies"),
    ),
}


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", choices=["vehicle"], help="a vehicle file")
    command.add_argument("name", help="of the vehicle: small letters, digits, single underscores")
    command.add_argument(
        "--like", metavar="VEHICLE", default="fish", help="which one to start from (default: fish)"
    )
    command.add_argument(
        "--output", metavar="FOLDER", type=Path, default=Path(), help="where to put it (default: here)"
    )
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    if not NAME.fullmatch(args.name):
        raise output.UsageError(
            f'"{args.name}" is no name for a vehicle; use small letters, digits, underscores'
        )
    if args.name in vehicles.names():
        raise output.UsageError(f'"{args.name}" comes with Caudal; choose a name of your own')
    like = open_vehicle(args.like)
    path = args.output / f"{args.name}.toml"
    text = started(args.name, like.name, like.file.text, like.settings["control"]["kind"])
    try:
        if path.exists():
            raise output.UsageError(f"{path} is there already; choose another name, or remove it first")
        args.output.mkdir(parents=True, exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        problem = f"cannot write {path}: {error.strerror}"
        raise output.UsageError(f"{problem}; choose another folder with --output") from None
    vehicle = open_vehicle(str(path))
    scenario = next(iter(vehicle.settings["scenarios"]))
    result = {"vehicle": args.name, "file": str(path), "like": like.name, "lines": text.count("\n")}
    if args.json:
        output.as_json(result)
        return 0
    asked = args.name if args.output == Path() else shlex.quote(str(path))
    print(f"{path} swims as the {like.name} does. Its first lines say what to change. Next:")
    print(f"  caudal check {asked}")
    print(f"  caudal run {asked} --scenario {scenario} --report")
    return 0


def started(name: str, like: str, text: str, kind: str) -> str:
    """The file's text under its new name, with a guide of what to change on top of it."""
    text = re.sub(r'(?m)^name = "[^"]*"$', f'name = "{name}"', text, count=1)
    text = re.sub(
        r'(?m)^about = "(.*)"$', f'about = "started from the {like}: say what yours is"', text, count=1
    )
    lines = text.split("\n")
    first = sorted((first_line(lines, key), key.strip("[]= ."), about) for key, about in FIRST[kind])
    first = [found for found in first if found[0]]
    down = len(first) + 3  # lines of the guide
    guide = [
        f"# {name}: started from Caudal's {like}, and swims as it does until you change it. What to change first:",
        *(f"#   line {line + down:4}  {key}: {about}" for line, key, about in first),
        f"# After each change: caudal check {name}; caudal run {name} --report",
        "",
    ]
    return "\n".join(guide + lines)


def first_line(lines: list[str], key: str) -> int:
    """Counted from 1; 0 if no line begins like that."""
    return next((k for k, line in enumerate(lines, 1) if line.startswith(key)), 0)
