"""Puts what other settings would have built into a loop that runs, and leaves what running has made of it.

Two fresh builds, one from the settings before and one from those after, are walked beside the living parts, as a merge
of three walks a base and two changes of it:

    before and after agree           the settings' change does not concern it: it stays
    they differ, living is `before`  nothing but settings made it (a gain, a limit, a table): it becomes `after`
    they differ, living is neither   running has moved it on (an integral, a phase, an estimate): it stays

So a changed gain does not forget an integral, and nobody has to list what each part reads of its settings. Two words
let a part say more: `STATE` names attributes that belong to running even while they stand where they started (a lag's
value), and `changed()` is called when something in it, or below it, has become another. CPython only.
"""

from types import FunctionType, MethodType
from typing import Any

from msgspec import Struct

PLAIN = (bool, int, float, str, bytes, type(None))


def hot_update(living: Any, before: Any, after: Any, started: bool = True) -> bool:
    """Changes `living` in place; true if anything did. `started`: has it run, so that STATE counts."""
    return _Graft(started).into(living, before, after)


class _Graft:
    def __init__(self, started: bool) -> None:
        self._started = started
        self._seen: dict[int, Any] = {}  # parts know each other in circles

    def into(self, living: Any, before: Any, after: Any) -> bool:
        """Of a part that itself stays the same one."""
        if before is after or id(living) in self._seen:
            return False
        if not type(living) is type(before) is type(after):
            return False
        self._seen[id(living)] = living
        if isinstance(living, list):
            return self._entries(living, before, after, range(len(living)))
        if isinstance(living, dict):
            return self._entries(living, before, after, [key for key in living if key in before])
        if isinstance(living, MethodType):
            return self.into(living.__self__, before.__self__, after.__self__)
        if isinstance(living, FunctionType):
            return self._cells(living, before, after)
        if not hasattr(living, "__dict__") or isinstance(living, type):
            return False
        return self._attributes(living, before, after)

    def _attributes(self, living: Any, before: Any, after: Any) -> bool:
        keeps = getattr(living, "STATE", ()) if self._started else ()
        mine, old, new = vars(living), vars(before), vars(after)
        changed = False
        for name in [name for name in mine if name in old and name in new and name not in keeps]:
            value, inner = self._merged(mine[name], old[name], new[name])
            if value is not mine[name]:
                setattr(living, name, value)
            changed = changed or inner
        if changed and hasattr(living, "changed"):
            living.changed()
        return changed

    def _entries(self, living: Any, before: Any, after: Any, keys: Any) -> bool:
        if len(living) != len(before) or len(before) != len(after):
            return False
        changed = False
        for key in keys:
            value, inner = self._merged(living[key], before[key], after[key])
            if value is not living[key]:
                living[key] = value
            changed = changed or inner
        return changed

    def _cells(self, living: Any, before: Any, after: Any) -> bool:
        """What a function that was made by another remembers: the causes of the failsafe table are such."""
        changed = False
        for mine, old, new in zip(
            living.__closure__ or (), before.__closure__ or (), after.__closure__ or (), strict=True
        ):
            value, inner = self._merged(mine.cell_contents, old.cell_contents, new.cell_contents)
            if value is not mine.cell_contents:
                mine.cell_contents = value
            changed = changed or inner
        return changed

    def _merged(self, living: Any, before: Any, after: Any) -> tuple[Any, bool]:
        """(what stands in the place from now on, did it or something below it change)."""
        if before is after:
            return living, False
        if living is before:  # settings themselves, which nobody changes in place
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

    def _tuple(self, living: Any, before: Any, after: Any) -> tuple[Any, bool]:
        if not (isinstance(living, tuple) and isinstance(after, tuple)):
            return living, False
        if not len(living) == len(before) == len(after):
            return living, False
        merged = [self._merged(*three) for three in zip(living, before, after, strict=True)]
        changed = any(inner for _, inner in merged)
        same = all(value is mine for (value, _), mine in zip(merged, living, strict=True))
        return (living if same else tuple(value for value, _ in merged)), changed


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if hasattr(one, "tolist"):  # arrays
        return _same(one.tolist(), other.tolist())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, Struct):
        return all(_same(getattr(one, key), getattr(other, key)) for key in one.__struct_fields__)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other) or (one != one and other != other)
