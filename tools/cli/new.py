"""Creates a vehicle file as a copy of one that comes with Caudal, with its comments, channels, plant and scenarios.

The copy passes `caudal check` and runs as it is, so that you can try every change at once. Its first lines list what to
change first, with line numbers. In its folder you can use its name: `caudal run NAME`.
"""

import argparse
import re
import shlex
from pathlib import Path

from caudal.onboard import vehicles
from caudal.tools.common import options, output
from caudal.tools.config.vehicle import open_vehicle

NAME = re.compile(r"[a-z](_?[a-z0-9])*")
# What to change first, by control.kind: a key as it is written in the file, and its meaning.
FIRST = {
    "tail": (
        ("joints =", "the servos of the tail, front to back"),
        ("links_m =", "the length of the link behind each joint"),
        ("wavelength_m =", "the wave of the tail"),
        ("[actuator", "pulses of your servos, from their data sheets; trims"),
        ("[sensor", "the sensors and their counts"),
        ("[plant.strouhal]", "mass and wetted area of the simulated vehicle"),
        ("[[plant.tree.body]]", "or its bodies: masses, sizes, hulls"),
        ("[pi.chip]", "the chip of each channel, once there is hardware"),
    ),
    "undulate": (
        ("joints =", "the servos along the body, front to back"),
        ("joint_positions_m =", "their positions along the body"),
        ("[actuator", "pulses of your servos, from their data sheets; trims"),
        ("[sensor", "the sensors and their counts"),
        ("[[plant.tree.body]]", "masses, sizes and hulls of the bodies"),
        ("[pi.chip]", "the chip of each channel, once there is hardware"),
    ),
    "wrench": (
        ("[control.thruster]", "position and direction of each thruster"),
        ("[control.model]", "inertia and drag, from `caudal excite` and `caudal identify`"),
        ("[motor.", "the thrust curve, from bench data by `caudal thrust`"),
        ("[sensor", "the sensors and their counts"),
        ("[[plant.tree.body]]", "mass, size and drag of the simulated vehicle"),
        ("[pi.chip]", "the chip of each channel, once there is hardware"),
    ),
    "chain": (
        ("[[control.module]]", "the rigid modules, starting at the base"),
        ("[[control.soft]]", "the soft joints between them"),
        ("[control.thruster]", "position and direction of each thruster"),
        ("[motor.", "the thrust curve, from bench data by `caudal thrust`"),
        ("[[plant.tree.body]]", "masses, sizes and hulls of the bodies"),
    ),
}


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal new`."""
    command.add_argument("what", choices=["vehicle"], help="create a vehicle file")
    command.add_argument(
        "name", help="the new vehicle's name: lower-case letters, digits, single underscores"
    )
    command.add_argument(
        "--like", metavar="VEHICLE", default="fish", help="the vehicle to copy (default: fish)"
    )
    command.add_argument(
        "--output",
        metavar="FOLDER",
        type=Path,
        default=Path(),
        help="where to write it (default: this folder)",
    )
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Writes the new vehicle file, and prints the next commands."""
    if not NAME.fullmatch(args.name):
        raise output.UsageError(
            f'"{args.name}" is not a valid name; use lower-case letters, digits and single underscores'
        )
    if args.name in vehicles.names():
        raise output.UsageError(
            f'"{args.name}" is the name of a vehicle that comes with Caudal; choose another'
        )
    like = open_vehicle(args.like)
    path = args.output / f"{args.name}.toml"
    text = started(args.name, like.name, like.file.text, like.settings.control.kind)
    try:
        if path.exists():
            raise output.UsageError(f"{path} already exists; choose another name, or remove it first")
        args.output.mkdir(parents=True, exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        problem = f"cannot write {path}: {error.strerror}"
        raise output.UsageError(f"{problem}; choose another folder with --output") from None
    vehicle = open_vehicle(str(path))
    scenario = next(iter(vehicle.settings.scenarios))
    result = {"vehicle": args.name, "file": str(path), "like": like.name, "lines": text.count("\n")}
    if args.json:
        output.as_json(result)
        return 0
    asked = args.name if args.output == Path() else shlex.quote(str(path))
    print(f"{path} is a copy of {like.name}. Its first lines list what to change. Next:")
    print(f"  caudal check {asked}")
    print(f"  caudal run {asked} --scenario {scenario} --report")
    return 0


def started(name: str, like: str, text: str, kind: str) -> str:
    """The file's text with its new name, and a list of what to change at its top."""
    text = re.sub(r'(?m)^name = "[^"]*"$', f'name = "{name}"', text, count=1)
    text = re.sub(
        r'(?m)^description = "(.*)"$', f'description = "copy of {like}: describe your vehicle"', text, count=1
    )
    lines = text.split("\n")
    first = sorted((first_line(lines, key), key.strip("[]= ."), about) for key, about in FIRST[kind])
    first = [found for found in first if found[0]]
    down = len(first) + 3  # lines of the list
    guide = [
        f"# {name}: a copy of Caudal's {like}. What to change first:",
        *(f"#   line {line + down:4}  {key}: {about}" for line, key, about in first),
        f"# After each change: caudal check {name}; caudal run {name} --report",
        "",
    ]
    return "\n".join(guide + lines)


def first_line(lines: list[str], key: str) -> int:
    """The number of the first line that starts with `key`, from 1; 0 if there is none."""
    return next((k for k, line in enumerate(lines, 1) if line.startswith(key)), 0)
