"""The reader of vehicle files (TOML): typed tables, and errors that are one sentence. CPython only.

Each package reads its own tables with its own msgspec Structs. A Struct says what a table may hold; the
walk below holds the table against it and names the first problem in file order: the file, the key, what
was found, what is allowed. msgspec's own messages name neither the key of a dict nor the value found.
"""

from __future__ import annotations

import difflib
import errno
import hashlib
import json
import math
import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from msgspec import inspect as schema

T = TypeVar("T")
Path = tuple[str, ...]

# The suffix of a key -> its unit as it stands in a sentence. No `min`: that is the least value of something.
UNITS = {
    "us": "us", "ms": "ms", "s": "s", "m": "m", "mm": "mm", "cm": "cm", "m2": "m2", "m3": "m3", "rad": "rad",
    "deg": "deg", "g": "g", "kg": "kg", "rpm": "rpm", "bar": "bar", "mbar": "mbar", "counts": "counts",
    "hz": "Hz", "khz": "kHz", "n": "N", "n_m": "N m", "n_s": "N s", "pa": "Pa", "kpa": "kPa", "hpa": "hPa",
    "a": "A", "ma": "mA", "ua": "uA", "mah": "mAh", "v": "V", "mv": "mV", "w": "W", "wh": "Wh", "c": "degC",
    "m_s": "m/s", "mm_s": "mm/s", "cm_s": "cm/s", "m_s2": "m/s2", "rad_s": "rad/s", "rad_s2": "rad/s2",
    "deg_s": "deg/s", "deg_s2": "deg/s2", "n_s_m": "N s/m", "kg_m2": "kg m2", "kg_m3": "kg/m3",
}  # fmt: skip

LARGEST_BYTES = 4 << 20
DEEPEST = 32  # levels of tables and lists; deeper text is a mistake, and would exhaust Python's stack

# How tomllib's reasons begin -> the same in plain words.
TOML_REASONS = {
    "Invalid value": "a value is missing or is not TOML; text stands in quotes, as in \"table\"",
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


class VehicleFileError(ValueError):
    """What is wrong with a vehicle file: one complete sentence that begins with the file's name."""


@dataclass(frozen=True)
class VehicleFile:
    """One vehicle file: its text as read, and its tables with the overrides of `--set` applied."""

    label: str  # the path as the user gave it
    text: str
    overrides: list[str]  # KEY=VALUE, in the order applied
    tables: dict[str, Any]

    @classmethod
    def open(cls, path: str | os.PathLike[str], overrides: Iterable[str] = ()) -> VehicleFile:
        """Read a file; every way in which that can fail is a VehicleFileError."""
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
        raise VehicleFileError(_full_stop(f"{label} {reason}"))

    @classmethod
    def parse(cls, text: str, label: str, overrides: Iterable[str] = ()) -> VehicleFile:
        """Read text that is already in hand, such as a vehicle file kept in a log."""
        try:
            tables = tomllib.loads(text.removeprefix("\ufeff"))
        except RecursionError:
            raise VehicleFileError(f"{label} has brackets nested too deeply to be a vehicle file.") from None
        except ValueError as problem:  # TOMLDecodeError, and int() on thousands of digits
            raise VehicleFileError(_full_stop(f"{label}: {_toml_problem(text, problem)}")) from None
        if not tables:
            raise VehicleFileError(f"{label} is empty; copy a vehicle file that works and change that.")
        file = cls(label, text, list(overrides), tables)
        for override in file.overrides:
            file._override(override)
        file._check_size((), tables)
        return file

    def read(self, key: str, kind: type[T]) -> T:
        """The table or value at a dotted key, checked against `kind` and built as one.

        What is not in the file reads as empty, if an empty table or list is allowed.
        """
        expected, path = schema.type_info(kind), _path(key)
        value: Any = self.tables
        for depth, part in enumerate(path):
            if not isinstance(value, dict | list):
                raise self._wrong(path[:depth], f" is {_short(value)}; allowed is a table with {part}")
            index = _index(value, part)
            if index is None:
                for empty in _empty(expected):
                    return self._build(path, empty, kind)
                allowed = _allowed(expected, _unit(part)) if depth == len(path) - 1 else "a table"
                raise self._lacks(path[:depth], part, allowed)
            value = value[index]
        _check(self, path, value, expected, _unit(path[-1]))
        return self._build(path, value, kind)

    def error(self, key: str, problem: str) -> VehicleFileError:
        """The error for a problem that a package finds across its own tables."""
        return self._wrong(_path(key), f": {problem}")

    def expect_tables(self, known: Iterable[str]) -> None:
        """Refuse what stands at the file's top level and belongs to nobody."""
        known = list(known)
        for key, value in self.tables.items():
            if key not in known:
                what = "table" if isinstance(value, dict | list) else "key"
                hint = _did_you_mean(key, known) or f"; known are {_listed(known)}"
                raise self._wrong((key,), f" is not a {what} of a vehicle file{hint}")

    def digest(self) -> str:
        """sha256 (hex) of the tables after overrides: layout, comments and the order of keys do not count."""
        canonical = json.dumps(_canonical(self.tables), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def _override(self, override: str) -> None:
        def refuse(reason: str) -> VehicleFileError:
            return VehicleFileError(_full_stop(f"{self.label}: --set {_plain(override)}: {reason}"))

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
                hint = _did_you_mean(part, node) or f"; there is {_listed(node) or 'nothing'}"
                raise refuse(f"there is no table {_name(path[: depth + 1])}{hint}")
            elif isinstance(node, list):
                entries = f"{len(node)} entries, counted from 0"
                raise refuse(f"{_name(path[:depth])} has {entries}; {_plain(part)} is none of them")
            else:
                raise refuse(f"{_name(path[:depth])} is {_short(node)}, which has no keys")

    def _check_size(self, path: Path, value: Any) -> None:
        """TOML has integers of 64 bits (tomllib does not mind), and some depth is enough for everybody."""
        if len(path) > DEEPEST:
            raise self._wrong(path[:2], f" is nested more than {DEEPEST} levels deep; make it flatter")
        if isinstance(value, dict | list):
            for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
                self._check_size((*path, str(key)), entry)
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise self._wrong(path, " is a whole number of more than 64 bits; allowed is up to 2^63 - 1")

    def _wrong(self, path: Path, ending: str) -> VehicleFileError:
        name = f": {_name(path)}" if path else ""
        changed = (_path(override.partition("=")[0]) for override in self.overrides)
        origin = " (from --set)" if any(path[: len(key)] == key for key in changed) else ""
        return VehicleFileError(_full_stop(f"{self.label}{name}{origin}{ending}"))

    def _lacks(self, path: Path, key: str, allowed: str) -> VehicleFileError:
        return self._wrong(path, f" has no {_name((key,))}, which is required ({allowed})")

    def _build(self, path: Path, value: Any, kind: Any) -> Any:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as problem:  # only a Struct's __post_init__ can still object
            raise self._wrong(path, f": {str(problem).partition(' - at `')[0]}") from None


# -- The walk: a value beside the type that msgspec knows for it ------------------------------------------


def _check(file: VehicleFile, path: Path, value: Any, kind: schema.Type, unit: str) -> None:
    """Raise the first problem of `value`, in file order; `unit` is that of the nearest key that has one."""
    member = _tagged(file, path, value, kind) or _fitting(value, kind)
    if member is None:
        raise file._wrong(path, _refusal(value, kind, unit))
    bare = _bare(member)
    if isinstance(bare, schema.StructType):
        _check_struct(file, path, value, bare)
    elif not _within(value, bare):
        allowed = _allowed(member, unit)
        if isinstance(bare, schema.IntType | schema.FloatType):
            finite = math.isfinite(value)
            allowed = _range(bare, unit) if finite else allowed.replace("a number", "a finite number")
        raise file._wrong(path, f" is {_short(value)}; allowed is {allowed}")
    elif isinstance(bare, schema.DictType):
        for key, entry in value.items():
            if _fitting(key, bare.key_type) is None or not _within(key, _bare(bare.key_type)):
                raise file._wrong((*path, key), f": the name{_refusal(key, bare.key_type, '')}")
            _check(file, (*path, key), entry, bare.value_type, unit or _unit(key))
    elif isinstance(bare, schema.ListType | schema.TupleType | schema.VarTupleType):
        for i, entry in enumerate(value):
            _check(file, (*path, str(i)), entry, _item(bare, i), unit)


def _check_struct(file: VehicleFile, path: Path, table: dict[str, Any], kind: schema.StructType) -> None:
    fields = {field.encode_name: field for field in kind.fields}
    for key, value in table.items():
        if key in fields:
            _check(file, (*path, key), value, fields[key].type, _unit(key))
        elif key != kind.tag_field:
            raise file._wrong((*path, key), _unknown_key(key, path, list(fields)))
    for name, field in fields.items():
        if field.required and name not in table:
            raise file._lacks(path, name, _allowed(field.type, _unit(name)))
    if hasattr(kind.cls, "__post_init__"):  # here, where the key is known
        file._build(path, table, kind.cls)


def _tagged(file: VehicleFile, path: Path, value: Any, kind: schema.Type) -> schema.Type | None:
    """The Struct that a table's tag chooses; None where no tag has a say."""
    members = [_bare(member) for member in _members(kind)]
    structs = [m for m in members if isinstance(m, schema.StructType) and m.tag_field]
    if not structs or not isinstance(value, dict):
        return None
    field = str(structs[0].tag_field)
    choices = schema.LiteralType(tuple(struct.tag for struct in structs))
    if field not in value:
        if len(structs) == 1:
            return structs[0]
        raise file._lacks(path, field, _allowed(choices, ""))
    if _fitting(value[field], choices) is None:
        raise file._wrong((*path, field), _refusal(value[field], choices, ""))
    return next(struct for struct in structs if struct.tag == value[field])


def _fitting(value: Any, kind: schema.Type) -> schema.Type | None:
    """The member of a union that the value's TOML type points at, the narrowest first."""
    for member in sorted(_members(kind), key=lambda m: isinstance(_bare(m), schema.FloatType)):
        bare = _bare(member)
        match bare:
            case schema.LiteralType() | schema.EnumType():
                fits = any(type(value) is type(choice) and value == choice for choice in _choices(bare))
            case schema.BoolType():
                fits = isinstance(value, bool)
            case schema.IntType():
                fits = isinstance(value, int) and not isinstance(value, bool)
            case schema.FloatType():
                fits = isinstance(value, int | float) and not isinstance(value, bool)
            case schema.StrType():
                fits = isinstance(value, str)
            case schema.ListType() | schema.TupleType() | schema.VarTupleType():
                fits = isinstance(value, list)
            case schema.DictType() | schema.StructType():
                fits = isinstance(value, dict)
            case schema.AnyType():
                fits = True
            case _:
                raise TypeError(f"a vehicle file's schema has no place for {bare}")
        if fits:
            return member
    return None


def _within(value: Any, kind: Any) -> bool:
    """Is a value of the right type within the bounds that Meta sets."""
    if isinstance(kind, schema.IntType | schema.FloatType):
        return bool(
            math.isfinite(value)
            and (kind.ge is None or value >= kind.ge)
            and (kind.gt is None or value > kind.gt)
            and (kind.le is None or value <= kind.le)
            and (kind.lt is None or value < kind.lt)
            and (kind.multiple_of is None or math.fmod(value, kind.multiple_of) == 0)
        )
    if isinstance(kind, schema.TupleType):
        return len(value) == len(kind.item_types)
    if isinstance(kind, schema.StrType) and kind.pattern and not re.search(kind.pattern, value):
        return False
    low, high = getattr(kind, "min_length", None), getattr(kind, "max_length", None)
    return (low is None or len(value) >= low) and (high is None or len(value) <= high)


# -- The sentences ----------------------------------------------------------------------------------------


def _allowed(kind: schema.Type, unit: str) -> str:
    """What a key takes, in words: type, range with unit, choices."""
    members = _members(kind)
    bare, note = _bare(members[0]), _note(kind) or (_note(members[0]) if len(members) == 1 else "")
    match bare:
        case schema.StructType() if bare.tag_field:
            tags = [b.tag for b in map(_bare, members) if isinstance(b, schema.StructType)]
            text = f"a table with {bare.tag_field} = {_listed(tags, ' or ')}"
        case _ if len(members) > 1:
            text = " or ".join(_allowed(member, unit) for member in members)
        case schema.LiteralType() | schema.EnumType():
            text = ("one of " if len(_choices(bare)) > 1 else "") + _listed(_choices(bare))
        case schema.BoolType():
            text = "true or false"
        case schema.IntType() | schema.FloatType():
            text = "a whole number" if isinstance(bare, schema.IntType) else "a number"
            bounds = _range(bare, unit)
            text += f", {bounds}" if bounds else f" in {unit}" if unit else ""
        case schema.StrType():
            text = (
                "text"
                + _length(bare, "characters")
                + (f" that matches {bare.pattern}" if bare.pattern else "")
            )
        case schema.TupleType():
            text = (
                f"a list of {len(bare.item_types)}: {', '.join(_allowed(t, unit) for t in bare.item_types)}"
            )
        case schema.ListType() | schema.VarTupleType():
            text = f"a list{_length(bare, 'entries')}, each {_allowed(bare.item_type, unit)}"
        case schema.StructType():
            needed = [f.encode_name for f in bare.fields if f.required]
            text = f"a table with {_listed(needed)}" if needed else "a table"
        case schema.DictType():
            text = f"a table{_length(bare, 'entries')}, each {_allowed(bare.value_type, unit)}"
        case _:
            text = "any value"
    return f"{text}: {note}" if note else text


def _range(kind: Any, unit: str) -> str:
    """The bounds of a number with their unit, or '' if it has none: `500 to 2500 us`."""
    words = {"at least": kind.ge, "more than": kind.gt, "at most": kind.le, "less than": kind.lt}
    bounds = [f"{word} {bound:.15g}" for word, bound in words.items() if bound is not None]
    text = " and ".join(bounds)
    if kind.ge is not None and kind.le is not None:
        text = f"{kind.ge:.15g} to {kind.le:.15g}"
    if kind.multiple_of is not None:
        text += f"{', ' if text else ''}a multiple of {kind.multiple_of:.15g}"
    return f"{text} {unit}" if text and unit else text


def _length(kind: Any, things: str) -> str:
    low, high = kind.min_length, kind.max_length
    if low is None and high is None:
        return ""
    if low == high:
        return f" of {low} {things}"
    if high is None:
        return f" of {low} or more {things}"
    return f" of {low or 0} to {high} {things}"


def _refusal(value: Any, kind: schema.Type, unit: str) -> str:
    """The end of the sentence for a value of the wrong type, or not among the choices."""
    choices = [c for m in _members(kind) for c in _choices(_bare(m))]
    only_choices = len(choices) > 1 and all(_choices(_bare(m)) for m in _members(kind))
    allowed = f"choose one of {_listed(choices)}" if only_choices else f"allowed is {_allowed(kind, unit)}"
    hint = _did_you_mean(value, choices) if isinstance(value, str) else ""
    return f" is {_short(value)}; {allowed}{hint}"


def _unknown_key(key: str, path: Path, known: list[str]) -> str:
    stem, suffix = _split_unit(key)
    same = [name for name in known if suffix and _split_unit(name)[1] and _split_unit(name)[0] == stem]
    if same:
        return f": this key takes {_unit(same[0])}, not {_unit(key)}; write {same[0]}"
    bare = [f"; did you mean {name}?" for name in known if _split_unit(name)[0] == key]
    hint = bare[0] if bare else _did_you_mean(key, known)
    keys = f"; its keys are {_listed(known)}" if known else ", which has none"
    return f" is not a key of {_name(path)}{hint or keys}"


def _toml_problem(text: str, problem: ValueError) -> str:
    """tomllib's reason in plain words, after its position."""
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


def _did_you_mean(word: str, known: Iterable[Any]) -> str:
    near = difflib.get_close_matches(word, [k for k in known if isinstance(k, str)], n=1)
    return f"; did you mean {_name((near[0],))}?" if near else ""


def _short(value: Any) -> str:
    """A value as TOML would have it, on one line and cut to a readable length."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        tables = any(isinstance(entry, dict | list) for entry in value)
        text = f"a list of {len(value)}" if tables else f"[{', '.join(_short(v) for v in value[:9])}]"
    elif isinstance(value, str):
        text = json.dumps(value[:60], ensure_ascii=not value.isprintable())
    elif isinstance(value, bool):
        text = str(value).lower()
    else:
        text = str(value)
    return text if len(text) <= 48 else f"{text[:45]}..."


def _plain(text: str) -> str:
    """A text of the user's own on one line of a sentence."""
    text = text if text.isprintable() else json.dumps(text)[1:-1]
    return text if len(text) <= 60 else f"{text[:57]}..."


def _name(path: Path) -> str:
    """A dotted key as TOML writes it; entries of lists are counted from 0, as for `--set`."""
    return ".".join(part if re.fullmatch(r"[\w-]+", part, re.ASCII) else _short(part) for part in path)


def _listed(words: Iterable[Any], between: str = ", ") -> str:
    names = [_name((word,)) if isinstance(word, str) else _short(word) for word in words]
    return between.join(names if len(names) <= 16 else names[:15] + ["..."])


def _full_stop(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


# -- Keys, values and types, taken apart ------------------------------------------------------------------


def _path(key: str) -> Path:
    return tuple(part.strip() for part in key.split("."))


def _index(node: Any, part: str) -> Any:
    """How a part of a key enters a table or a list: the key, the index, or None where there is no way in."""
    if isinstance(node, list) and re.fullmatch("[0-9]{1,9}", part) and int(part) < len(node):
        return int(part)
    return part if isinstance(node, dict) and part in node else None


def _toml_value(text: str) -> Any:
    """The value of a `--set`: as TOML if it is that, otherwise the plain text."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text.strip()
    return parsed["value"] if len(parsed) == 1 else text.strip()


def _split_unit(key: str) -> tuple[str, str]:
    """The stem of a key and the suffix that is its unit: centre_us -> centre, us."""
    parts = key.split("_")
    for i in range(1, len(parts)):
        suffix = "_".join(parts[i:])
        if suffix in UNITS or ("_per_" in suffix and all(u in UNITS for u in suffix.split("_per_"))):
            # A unit before the unit (n_m_s_rad) makes one that the table does not know: claim nothing.
            unclear = parts[i - 1] == "per" or (i > 1 and parts[i - 1] in UNITS)
            return (key, "") if unclear else ("_".join(parts[:i]), suffix)
    return key, ""


def _unit(key: str) -> str:
    suffix = _split_unit(key)[1]
    return "/".join(UNITS[part] for part in suffix.split("_per_")) if suffix else ""


def _canonical(value: Any) -> Any:
    """1 and 1.0 are one number to every schema, and must be one to the digest."""
    if isinstance(value, dict):
        return {key: _canonical(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_canonical(entry) for entry in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53:
        return float(value)
    return value if isinstance(value, str | int | float) else {type(value).__name__: value.isoformat()}


def _bare(kind: schema.Type) -> schema.Type:
    return kind.type if isinstance(kind, schema.Metadata) else kind


def _note(kind: schema.Type) -> str:
    """The description that Meta gives to a type, or ''."""
    extra = kind.extra_json_schema if isinstance(kind, schema.Metadata) else None
    return str((extra or {}).get("description", "")).rstrip(".")


def _members(kind: schema.Type) -> list[schema.Type]:
    """The members of a union, or the type alone. None is left out: TOML cannot write it."""
    bare = _bare(kind)
    if not isinstance(bare, schema.UnionType):
        return [kind]
    return [member for member in bare.types if not isinstance(member, schema.NoneType)]


def _choices(kind: schema.Type) -> list[Any]:
    if isinstance(kind, schema.EnumType):
        return [choice.value for choice in kind.cls]
    return [v for v in kind.values if v is not None] if isinstance(kind, schema.LiteralType) else []


def _item(kind: Any, i: int) -> schema.Type:
    return kind.item_types[i] if isinstance(kind, schema.TupleType) else kind.item_type


def _empty(kind: schema.Type) -> list[Any]:
    """What a key that is not in the file reads as: a list of one value, or of none if the key is required."""
    bare = _bare(kind)
    if isinstance(bare, schema.UnionType):
        return [None] if any(isinstance(member, schema.NoneType) for member in bare.types) else []
    if isinstance(bare, schema.StructType):
        return [] if any(field.required for field in bare.fields) else [{}]
    if isinstance(bare, schema.DictType | schema.ListType | schema.VarTupleType):
        empty: Any = {} if isinstance(bare, schema.DictType) else []
        return [empty] if _within(empty, bare) else []
    return []
