"""Compares tables with their schema: finds the first fault, in file sequence, and what is allowed.

msgspec's own messages name neither the key of a dict nor the value. CPython only; used by hal/vehicle_file/reader.py.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import inspect as schema

from caudal.hal.vehicle_file.wording import Path, did_you_mean, dotted, listed, short, split_unit, unit_of

if TYPE_CHECKING:
    from caudal.hal.vehicle_file.reader import VehicleFile


FILLED_IN = "("  # first character of names that a key of a file cannot have


def filled_in(name: str, default: Any) -> Any:
    """A field that a reader fills in; a vehicle file has no such key."""
    return msgspec.field(default=default, name=f"{FILLED_IN}{name})")


def check(file: VehicleFile, path: Path, value: Any, kind: schema.Type, unit: str) -> None:
    """Raises the first fault of a value, in file sequence; `unit` is that of the nearest key that has one."""
    member = _tagged(file, path, value, kind) or _fitting(value, kind)
    if member is None:
        raise file.wrong(path, _refusal(value, kind, unit))
    bare = _bare(member)
    if isinstance(bare, schema.StructType):
        _check_struct(file, path, value, bare)
    elif not _within(value, bare):
        allowed = allowed_by(member, unit)
        if isinstance(bare, schema.IntType | schema.FloatType):
            finite = math.isfinite(value)
            allowed = _range(bare, unit) if finite else allowed.replace("a number", "a finite number")
        raise file.wrong(path, f" is {short(value)}; allowed is {allowed}")
    elif isinstance(bare, schema.DictType):
        for key, entry in value.items():
            if _fitting(key, bare.key_type) is None or not _within(key, _bare(bare.key_type)):
                raise file.wrong((*path, key), f": the name{_refusal(key, bare.key_type, '')}")
            check(file, (*path, key), entry, bare.value_type, unit or unit_of(key))
    elif isinstance(bare, schema.ListType | schema.TupleType | schema.VarTupleType):
        for i, entry in enumerate(value):
            check(file, (*path, str(i)), entry, _item(bare, i), unit)


def _check_struct(file: VehicleFile, path: Path, table: dict[str, Any], kind: schema.StructType) -> None:
    fields = {f.encode_name: f for f in kind.fields if not f.encode_name.startswith(FILLED_IN)}
    for key, value in table.items():
        if key in fields:
            check(file, (*path, key), value, fields[key].type, unit_of(key))
        elif key != kind.tag_field:
            raise file.wrong((*path, key), _unknown_key(key, path, list(fields)))
    for name, field in fields.items():
        if field.required and name not in table:
            raise file.lacks(path, name, allowed_by(field.type, unit_of(name)))
    if hasattr(kind.cls, "__post_init__"):  # here, where the key is known
        file.build(path, table, kind.cls)


def _tagged(file: VehicleFile, path: Path, value: Any, kind: schema.Type) -> schema.Type | None:
    """The Struct that a table's tag chooses; None without a tag."""
    members = [_bare(member) for member in _members(kind)]
    structs = [m for m in members if isinstance(m, schema.StructType) and m.tag_field]
    if not structs or not isinstance(value, dict):
        return None
    field = str(structs[0].tag_field)
    choices = schema.LiteralType(tuple(struct.tag for struct in structs))
    if field not in value:
        if len(structs) == 1:
            return structs[0]
        raise file.lacks(path, field, allowed_by(choices, ""))
    if _fitting(value[field], choices) is None:
        raise file.wrong((*path, field), _refusal(value[field], choices, ""))
    return next(struct for struct in structs if struct.tag == value[field])


def _fitting(value: Any, kind: schema.Type) -> schema.Type | None:
    """The member of a union for the value's TOML type, the narrowest first."""
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
    """Whether a value of the right type is within the bounds of Meta."""
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


def allowed_by(kind: schema.Type, unit: str) -> str:
    """What a key may be, as text: type, range with unit, choices."""
    members = _members(kind)
    bare, note = _bare(members[0]), _note(kind) or (_note(members[0]) if len(members) == 1 else "")
    match bare:
        case schema.StructType() if bare.tag_field:
            tags = [b.tag for b in map(_bare, members) if isinstance(b, schema.StructType)]
            text = f"a table with {bare.tag_field} = {listed(tags, ' or ')}"
        case _ if len(members) > 1:
            text = " or ".join(allowed_by(member, unit) for member in members)
        case schema.LiteralType() | schema.EnumType():
            text = ("one of " if len(_choices(bare)) > 1 else "") + listed(_choices(bare))
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
                f"a list of {len(bare.item_types)}: {', '.join(allowed_by(t, unit) for t in bare.item_types)}"
            )
        case schema.ListType() | schema.VarTupleType():
            text = f"a list{_length(bare, 'entries')}, each {allowed_by(bare.item_type, unit)}"
        case schema.StructType():
            needed = [f.encode_name for f in bare.fields if f.required]
            text = f"a table with {listed(needed)}" if needed else "a table"
        case schema.DictType():
            text = f"a table{_length(bare, 'entries')}, each {allowed_by(bare.value_type, unit)}"
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
    allowed = f"choose one of {listed(choices)}" if only_choices else f"allowed is {allowed_by(kind, unit)}"
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    return f" is {short(value)}; {allowed}{hint}"


def _unknown_key(key: str, path: Path, known: list[str]) -> str:
    stem, suffix = split_unit(key)
    same = [name for name in known if suffix and split_unit(name)[1] and split_unit(name)[0] == stem]
    if same:
        return f": this key takes {unit_of(same[0])}, not {unit_of(key)}; write {same[0]}"
    bare = [f"; did you mean {name}?" for name in known if split_unit(name)[0] == key]
    hint = bare[0] if bare else did_you_mean(key, known)
    keys = f"; its keys are {listed(known)}" if known else ", which has none"
    return f" is not a key of {dotted(path)}{hint or keys}"


def _bare(kind: schema.Type) -> schema.Type:
    return kind.type if isinstance(kind, schema.Metadata) else kind


def _note(kind: schema.Type) -> str:
    """The description that Meta gives to a type, or ''."""
    extra = kind.extra_json_schema if isinstance(kind, schema.Metadata) else None
    return str((extra or {}).get("description", "")).rstrip(".")


def _members(kind: schema.Type) -> list[schema.Type]:
    """The members of a union, or the type itself; without None, which TOML cannot write."""
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


def empty_of(kind: schema.Type) -> list[Any]:
    """The value of a key that is not in the file, in a list; an empty list if the key is required."""
    bare = _bare(kind)
    if isinstance(bare, schema.UnionType):
        return [None] if any(isinstance(member, schema.NoneType) for member in bare.types) else []
    if isinstance(bare, schema.StructType):
        return [] if any(field.required for field in bare.fields) else [{}]
    if isinstance(bare, schema.DictType | schema.ListType | schema.VarTupleType):
        empty: Any = {} if isinstance(bare, schema.DictType) else []
        return [empty] if _within(empty, bare) else []
    return []
