"""The reader of vehicle files (TOML): typed tables, and errors that are one sentence. CPython only.

Each package reads its own tables with its own msgspec Structs. An error names the file, the key, the value and what is
allowed; hal/vehicle_file/schema.py finds it.
"""

from __future__ import annotations

import copy
import difflib
import errno
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from msgspec import inspect as schema

from caudal.hal.errors import CaudalError
from caudal.hal.vehicle_file.schema import allowed_by, check, empty_of
from caudal.hal.vehicle_file.wording import (
    Path,
    did_you_mean,
    dotted,
    full_stop,
    listed,
    plain,
    short,
    unit_of,
)

T = TypeVar("T")

FORMAT = 2  # of the keys' names; format 1 had no number
LAST_VERSION_OF_1 = "0.1.0"
LARGEST_BYTES = 4 << 20
DEEPEST = 32  # levels of tables and lists; deeper text is a mistake, and would exhaust Python's stack

# Start of tomllib's reason: the sentence for it.
TOML_REASONS = {
    "Invalid value": "a value is missing or is not TOML; text needs quotes, as in \"table\"",
    "Cannot overwrite a value": "{key} is given twice; keep one",
    "Duplicate inline table key": "a key is given twice in one { }; keep one",
    "Cannot declare": "the table [{names}] is declared twice or was closed above; declare it once",
    "Cannot mutate": "the table {names} was closed above; keep its keys in one place",
    "Cannot redefine": "the table {names} was closed above; keep its keys in one place",
    "Unterminated string": "a string is not closed; end it with its quote",
    "Illegal character '\\n'": "a string is not closed on its line; end it with its quote",
    "Expected \"'": "a string is not closed; end it with its quote",
    "Unclosed array": "a list is not closed, or a comma is missing in it; end it with ]",
    "Unclosed inline table": "an inline table is not closed, or a comma is missing in it; end it with }",
    "Expected newline or end": "there is more text after the value; one key = value a line, 1.5 not 1,5",
    "Expected '=' after a key": "a key needs = and a value after it",
    "Expected ']": "the name of a table is not closed; write [name], or [[name]] for a list of tables",
    "Invalid initial character for a key": "a key or a table's name is missing, or not of a-z, 0-9, _ and -",
    "Invalid statement": "this is neither key = value nor [table]",
    "Unescaped '\\' in a string": "a single backslash in a string; write it twice",
}  # fmt: skip


class VehicleFileError(CaudalError, ValueError):
    """A fault of a vehicle file: one sentence that begins with the file's name."""


@dataclass(frozen=True)
class VehicleFile:
    """One vehicle file: its text, and its tables with the overrides of `--set` applied."""

    label: str  # the path as the user gave it
    text: str
    overrides: list[str]  # KEY=VALUE, in the order applied
    tables: dict[str, Any]

    @classmethod
    def open(cls, path: str | os.PathLike[str], overrides: Iterable[str] = ()) -> VehicleFile:
        """Reads a file; every failure is a VehicleFileError."""
        label = os.fspath(path)
        try:
            with open(path, "rb") as file:
                content = file.read(LARGEST_BYTES + 1)
            if len(content) > LARGEST_BYTES:
                raise OSError(errno.EFBIG, f"larger than {LARGEST_BYTES >> 20} MiB, which no vehicle file is")
            text = content.decode()
        except UnicodeDecodeError as problem:
            where = f"byte 0x{content[problem.start]:02x} at offset {problem.start}"
            reason = f"is not UTF-8 text ({where}); save it as UTF-8"
        except FileNotFoundError:
            reason = f"does not exist; {_near_files(label)}"
        except IsADirectoryError:
            reason = "is a folder; give a vehicle file in it"
        except PermissionError:
            reason = "may not be read by this user; check the permissions of the file and its folder"
        except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
            reason = f"cannot be read ({getattr(problem, 'strerror', None) or problem}); check the path"
        else:
            return cls.parse(text, label, overrides)
        raise VehicleFileError(full_stop(f"{label} {reason}"))

    @classmethod
    def parse(cls, text: str, label: str, overrides: Iterable[str] = ()) -> VehicleFile:
        """Reads text, such as that of a vehicle file in a log."""
        try:
            tables = tomllib.loads(text.removeprefix("\ufeff"))
        except RecursionError:
            raise VehicleFileError(f"{label} has brackets nested too deeply to be a vehicle file.") from None
        except ValueError as problem:  # TOMLDecodeError, and int() on thousands of digits
            raise VehicleFileError(full_stop(f"{label}: {_toml_problem(text, problem)}")) from None
        if not tables:
            raise VehicleFileError(f"{label} is empty; copy a vehicle file that works and change that.")
        file = cls(label, text, [], tables)
        file._check_size((), tables)
        return file.overridden(overrides)

    def overridden(self, overrides: Iterable[str]) -> VehicleFile:
        """The same file with overrides (KEY=VALUE) applied after its own."""
        file = VehicleFile(self.label, self.text, [*self.overrides, *overrides], copy.deepcopy(self.tables))
        for override in file.overrides[len(self.overrides) :]:
            file._override(override)
        file._check_size((), file.tables)
        return file

    def read(self, key: str, kind: type[T]) -> T:
        """The table or value at a dotted key, checked and converted to a type.

        A key that is missing reads as empty, if an empty table or list is allowed.
        """
        expected, path = _schema(kind), _path(key)
        value: Any = self.tables
        for depth, part in enumerate(path):
            if not isinstance(value, dict | list):
                raise self.wrong(path[:depth], f" is {short(value)}; allowed is a table with {part}")
            index = _index(value, part)
            if index is None:
                for empty in empty_of(expected):
                    return self.build(path, empty, kind)
                allowed = allowed_by(expected, unit_of(part)) if depth == len(path) - 1 else "a table"
                raise self.lacks(path[:depth], part, allowed)
            value = value[index]
        check(self, path, value, expected, unit_of(path[-1]))
        return self.build(path, value, kind)

    def make(self, key: str, value: Any, kind: type[T]) -> T:
        """A value that is not in the file as such, checked and converted; errors name the key."""
        path = _path(key)
        check(self, path, value, _schema(kind), unit_of(path[-1]))
        return self.build(path, value, kind)

    def error(self, key: str, problem: str) -> VehicleFileError:
        """The error for a problem of a key."""
        return self.wrong(_path(key), f": {problem}")

    def expect_tables(self, known: Iterable[str]) -> None:
        """Refuses unknown tables and keys at the top level, and a vehicle file of another format."""
        known = list(known)
        if "format" in known:
            self.expect_format()
        for key, value in self.tables.items():
            if key not in known:
                what = "table" if isinstance(value, dict | list) else "key"
                hint = did_you_mean(key, known) or f"; known are {listed(known)}"
                raise self.wrong((key,), f" is not a {what} of a vehicle file{hint}")

    def expect_format(self) -> None:
        """Refuses a file whose keys have the names of another format."""
        found = self.tables.get("format", 1)
        if found == 1:
            raise self.wrong(
                (),
                f" has no format = {FORMAT} at its top, so it is of format 1, whose keys had other names; "
                f"caudal {LAST_VERSION_OF_1} is the last version that reads it (new names: docs/new-vehicle.md)",
            )
        if found != FORMAT:
            raise self.wrong(("format",), f" is {short(found)}; this version of caudal reads format {FORMAT}")

    def digest(self) -> str:
        """sha256 (hex) of the tables after overrides; layout, comments and the sequence of keys do not matter."""
        canonical = json.dumps(_canonical(self.tables), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def _override(self, override: str) -> None:
        def refuse(reason: str) -> VehicleFileError:
            return VehicleFileError(full_stop(f"{self.label}: --set {plain(override)}: {reason}"))

        key, equals, value = override.partition("=")
        path = _path(key)
        if not equals:
            raise refuse("there is no = in it; write KEY=VALUE")
        if not all(path):
            raise refuse("the key is empty or has an empty part; write KEY=VALUE, with dots inside KEY")
        node: Any = self.tables
        for depth, part in enumerate(path):
            index, last = _index(node, part), depth == len(path) - 1
            if last and isinstance(node, dict):
                node[part] = _toml_value(value)
            elif last and index is not None:
                node[index] = _toml_value(value)
            elif index is not None:
                node = node[index]
            elif isinstance(node, dict):
                hint = did_you_mean(part, node) or f"; there is {listed(node) or 'nothing'}"
                raise refuse(f"there is no table {dotted(path[: depth + 1])}{hint}")
            elif isinstance(node, list):
                entries = f"{len(node)} entries, counted from 0"
                raise refuse(f"{dotted(path[:depth])} has {entries}; {plain(part)} is none of them")
            else:
                raise refuse(f"{dotted(path[:depth])} is {short(node)}, which has no keys")

    def _check_size(self, path: Path, value: Any) -> None:
        """Integers have at most 64 bits (tomllib allows more), and nesting has a limit."""
        if len(path) > DEEPEST:
            raise self.wrong(path[:2], f" is nested more than {DEEPEST} levels deep; make it flatter")
        if isinstance(value, dict | list):
            for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
                self._check_size((*path, str(key)), entry)
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise self.wrong(path, " is a whole number of more than 64 bits; allowed is up to 2^63 - 1")

    def wrong(self, path: Path, ending: str) -> VehicleFileError:
        """The error for a value or a table."""
        name = f": {dotted(path)}" if path else ""
        changed = (_path(override.partition("=")[0]) for override in self.overrides)
        origin = " (from --set)" if any(path[: len(key)] == key for key in changed) else ""
        return VehicleFileError(full_stop(f"{self.label}{name}{origin}{ending}"))

    def lacks(self, path: Path, key: str, allowed: str) -> VehicleFileError:
        """The error for a missing key."""
        return self.wrong(path, f" has no {dotted((key,))}, which is required ({allowed})")

    def build(self, path: Path, value: Any, kind: type[T]) -> T:
        """Converts a value that was checked."""
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as problem:  # only a Struct's __post_init__ can still object
            raise self.wrong(path, f": {str(problem).partition(' - at `')[0]}") from None


def _toml_problem(text: str, problem: ValueError) -> str:
    """tomllib's reason as a sentence, with its position."""
    reason, _, place = str(problem).partition(" (at ")
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    line, column, end = len(lines), len(lines[-1]) + 1, ""
    if numbers := re.match(r"line (\d+), column (\d+)", place):
        line, column = int(numbers[1]), int(numbers[2])
    elif not place:  # int() gives no place
        return "a number has thousands of digits; a whole number has at most 19"
    else:
        end = "" if reason.startswith("Cannot") else "; the file ends here: was it cut off?"
    key = re.match(r"\s*([\w.\"'-]+)\s*=", lines[line - 1])
    names = ".".join(re.findall(r"'([^']*)'", reason))
    words = next((words for start, words in TOML_REASONS.items() if reason.startswith(start)), "")
    words = words.replace("{key}", key[1] if key else "a key").replace("{names}", names)
    words = words or reason[:1].lower() + reason[1:]
    return f"line {line}, column {column}: {words}{end}"


def _near_files(label: str) -> str:
    folder, name = os.path.split(label)
    if not os.path.isdir(folder or "."):
        return f"neither does its folder {folder}"
    try:
        names = sorted(n for n in os.listdir(folder or ".") if n.endswith(".toml"))
    except OSError:
        names = []
    near = difflib.get_close_matches(name, names, n=1) or [n for n in names if n == f"{name}.toml"]
    if near:
        return f"did you mean {os.path.join(folder, near[0])}?"
    return f"its folder has {', '.join(names[:8])}" if names else "its folder has no .toml file"


_SCHEMAS: dict[Any, schema.Type] = {}


def _schema(kind: Any) -> schema.Type:
    """The schema of a type, computed once: a file is read again for each end of every parameter's range."""
    if kind not in _SCHEMAS:
        _SCHEMAS[kind] = schema.type_info(kind)
    return _SCHEMAS[kind]


def _path(key: str) -> Path:
    return tuple(part.strip() for part in key.split("."))


def _index(node: Any, part: str) -> Any:
    """The key or index of a part in a table or list; None if it has no such part."""
    if isinstance(node, list) and re.fullmatch("[0-9]{1,9}", part) and int(part) < len(node):
        return int(part)
    return part if isinstance(node, dict) and part in node else None


def _toml_value(text: str) -> Any:
    """The value of a `--set`: TOML if it parses as TOML, otherwise text."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text.strip()
    return parsed["value"] if len(parsed) == 1 else text.strip()


def _canonical(value: Any) -> Any:
    """Integers as floats: 1 and 1.0 are the same number to every schema and to the digest."""
    if isinstance(value, dict):
        return {key: _canonical(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_canonical(entry) for entry in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53:
        return float(value)
    return value if isinstance(value, str | int | float) else {type(value).__name__: value.isoformat()}
