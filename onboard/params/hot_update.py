"""Applies changed parameters to a running loop without resetting integrators, phases or estimates.

Two fresh builds, one of the settings before and one of those after, are compared with the living parts, as in a
three-way merge of a base and two changes of it:

    before and after agree           the change does not concern it: it stays
    they differ, living is `before`  it comes from settings alone (a gain, a limit, a table): it becomes `after`
    they differ, living is neither   running has changed it (an integral, a phase, an estimate): it stays

So a changed gain keeps the integral, and no part declares which settings it reads. Two names let a part say more:
`STATE` lists attributes that belong to running even while they have their first value (a lag's value), and `changed()`
is called after something in the part, or below it, has changed. CPython only.
"""

from collections.abc import Iterable
from types import FunctionType, MethodType
from typing import Any

from msgspec import Struct

PLAIN = (bool, int, float, str, bytes, type(None))


def hot_update(living: object, before: object, after: object, started: bool = True) -> bool:
    """Changes `living` in place; true if anything did. `started`: whether it has run, so that STATE applies."""
    return _Merge(started).into(living, before, after)


class _Merge:
    def __init__(self, started: bool) -> None:
        self._started = started
        self._seen: dict[int, object] = {}  # parts refer to each other in circles

    def into(self, living: object, before: object, after: object) -> bool:
        """Merges into a part that itself stays the same object."""
        if before is after or id(living) in self._seen:
            return False
        if not type(living) is type(before) is type(after):
            return False
        self._seen[id(living)] = living
        if isinstance(living, list) and isinstance(before, list) and isinstance(after, list):
            return self._entries(living, before, after, range(len(living)))
        if isinstance(living, dict) and isinstance(before, dict) and isinstance(after, dict):
            return self._entries(living, before, after, [key for key in living if key in before])
        if (
            isinstance(living, MethodType)
            and isinstance(before, MethodType)
            and isinstance(after, MethodType)
        ):
            return self.into(living.__self__, before.__self__, after.__self__)
        if isinstance(living, FunctionType):
            return self._cells(_cells(living), _cells(before), _cells(after))
        if not hasattr(living, "__dict__") or isinstance(living, type):
            return False
        return self._attributes(living, before, after)

    def _attributes(self, living: object, before: object, after: object) -> bool:
        keeps = getattr(living, "STATE", ()) if self._started else ()
        mine, old, new = vars(living), vars(before), vars(after)
        changed = False
        for name in [name for name in mine if name in old and name in new and name not in keeps]:
            value, inner = self._merged(mine[name], old[name], new[name])
            if value is not mine[name]:
                setattr(living, name, value)
            changed = changed or inner
        notify = getattr(living, "changed", None)
        if changed and notify:
            notify()
        return changed

    def _entries(self, living: Any, before: Any, after: Any, keys: Iterable[object]) -> bool:
        """Of lists or dictionaries."""
        if len(living) != len(before) or len(before) != len(after):
            return False
        changed = False
        for key in keys:
            value, inner = self._merged(living[key], before[key], after[key])
            if value is not living[key]:
                living[key] = value
            changed = changed or inner
        return changed

    def _cells(self, living: tuple[Any, ...], before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
        """Of closures: the conditions of failsafe rules are such."""
        changed = False
        for mine, old, new in zip(living, before, after, strict=True):
            value, inner = self._merged(mine.cell_contents, old.cell_contents, new.cell_contents)
            if value is not mine.cell_contents:
                mine.cell_contents = value
            changed = changed or inner
        return changed

    def _merged(self, living: object, before: object, after: object) -> tuple[object, bool]:
        """(the new value, whether it or something below it changed)."""
        if before is after:
            return living, False
        if living is before:  # part of the settings themselves, which no part changes in place
            return (after, True) if not _same(before, after) else (living, False)
        if isinstance(before, (*PLAIN, Struct)) or isinstance(after, PLAIN) or hasattr(before, "tolist"):
            if _same(before, after) or not _same(living, before):
                return living, False
            return after, True
        if isinstance(before, tuple):
            return self._tuple(living, before, after)
        if isinstance(before, list) and isinstance(after, list) and len(before) != len(after):
            return (after, True) if _same(living, before) else (living, False)
        return living, self.into(living, before, after)

    def _tuple(self, living: object, before: tuple[object, ...], after: object) -> tuple[object, bool]:
        if not (isinstance(living, tuple) and isinstance(after, tuple)):
            return living, False
        if not len(living) == len(before) == len(after):
            return living, False
        merged = [self._merged(*three) for three in zip(living, before, after, strict=True)]
        changed = any(inner for _, inner in merged)
        same = all(value is mine for (value, _), mine in zip(merged, living, strict=True))
        return (living if same else tuple(value for value, _ in merged)), changed


def _cells(function: object) -> tuple[Any, ...]:
    """The variables that a closure holds."""
    return getattr(function, "__closure__", None) or ()


def _same(one: object, other: object) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, Struct):
        return all(_same(getattr(one, key), getattr(other, key)) for key in one.__struct_fields__)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    values, others = getattr(one, "tolist", None), getattr(other, "tolist", None)
    if values and others:  # arrays
        return _same(values(), others())
    return bool(one == other) or (one != one and other != other)
