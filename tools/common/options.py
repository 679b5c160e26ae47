"""Options that several commands share, said once."""

import argparse
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from caudal.tools.common.output import UsageError


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def not_negative(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0")
    return value


def natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 0")
    return value


def whole(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1")
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
    command.add_argument(
        "--with",
        dest="set",
        metavar="FILE",
        action=With,
        help="all keys of a TOML file, as by --set: a trajectory, an identified model; may be repeated",
    )


class With(argparse.Action):
    """Turns a TOML file into --set lines, so that a log holds them and a replay has them."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, path: Any, option: Any = None) -> None:
        try:
            tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"--with {path}: {error.strerror}") from error
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(
                f"--with {path}: no TOML ({error}); give a file such as caudal excite writes"
            ) from error
        lines = [f"{key}={as_toml(value)}" for key, value in leaves(tables)]
        namespace.set = [*(namespace.set or []), *lines]


def leaves(table: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of nested tables with its dotted key."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def as_toml(value: Any) -> str:
    """A value as it would stand behind a key."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {as_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(as_toml(one) for one in value) + "]"
    if isinstance(value, str):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{quoted}"'
    return repr(value)


def toml_line(override: str) -> str:
    """KEY=VALUE of --set as a line of TOML; a bare word becomes a string."""
    key, _, value = override.partition("=")
    line = f"{key.strip()} = {value.strip()}"
    try:
        tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return f"{key.strip()} = {as_toml(value.strip())}"
    return line


def add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON object on stdout, for machines")
