"""Command line options that several commands share."""

import argparse
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from caudal.tools.common.output import UsageError

Number = TypeVar("Number", int, float)


def positive(text: str) -> float:
    """Parses a number above 0 (an argparse type)."""
    return _parsed(float, text, lambda value: 0 < value < 1e9, "a number above 0")


def not_negative(text: str) -> float:
    """Parses a number of 0 or more (an argparse type)."""
    return _parsed(float, text, lambda value: 0 <= value < 1e9, "a number of 0 or more")


def natural(text: str) -> int:
    """Parses a whole number of 0 or more (an argparse type)."""
    return _parsed(int, text, lambda value: value >= 0, "a whole number of 0 or more")


def whole(text: str) -> int:
    """Parses a whole number of 1 or more (an argparse type)."""
    return _parsed(int, text, lambda value: value >= 1, "a whole number of 1 or more")


def _parsed(kind: type[Number], text: str, allowed: Callable[[Number], bool], what: str) -> Number:
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not allowed(value):
        raise argparse.ArgumentTypeError(f"{text} is not {what}")
    return value


def add_vehicle(command: argparse.ArgumentParser) -> None:
    """Adds the argument that names the vehicle."""
    command.add_argument("vehicle", help="name of a vehicle (see caudal list) or path of a vehicle file")


def add_set(command: argparse.ArgumentParser) -> None:
    """Adds --set and --with, which change keys of the vehicle file."""
    command.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="set any key of the vehicle file, such as gait.source=table; may be repeated",
    )
    command.add_argument(
        "--with",
        dest="set",
        metavar="FILE",
        action=With,
        help="set all keys of a TOML file, such as a trajectory or an identified model; may be repeated",
    )


class With(argparse.Action):
    """Turns a TOML file into --set lines, so that the log records them and a replay applies them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        path: str | Sequence[Any] | None,
        option: str | None = None,
    ) -> None:
        """Appends the lines of the file at `path` to `namespace.set`."""
        namespace.set = [*(namespace.set or []), *lines_of(Path(str(path)), "--with")]


def lines_of(path: Path, option: str) -> list[str]:
    """All keys of a TOML file as overrides (KEY=VALUE); `option` named the file."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{option} {path} is not valid TOML ({error})") from error
    return [f"{key}={as_toml(value)}" for key, value in leaves(tables)]


def leaves(table: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every value of nested tables with its dotted key."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def as_toml(value: Any) -> str:
    """Formats a value as TOML source text."""
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
    """Adds --json."""
    command.add_argument("--json", action="store_true", help="print one JSON object to stdout")
