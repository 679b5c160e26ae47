"""Options that several commands share, said once."""

import argparse


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 0")
    return value


def add_vehicle(command: argparse.ArgumentParser) -> None:
    command.add_argument("vehicle", help="a vehicle's name (caudal list) or the path of a vehicle file")


def add_set(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="another value for any key of the vehicle file, such as gait.source=table; may be repeated",
    )


def add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON object on stdout, for machines")
