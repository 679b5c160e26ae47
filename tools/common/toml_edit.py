"""Changes keys of a TOML file and leaves comments, layout and the order of keys as they are.

tomlkit makes the new text. tomllib reads both texts to check that only the requested keys changed. The file is replaced
atomically.
"""

import copy
import os
import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from caudal.onboard.params.store import sync_folder
from caudal.tools.common.options import as_toml
from caudal.tools.common.output import UsageError


def set_keys(path: str | os.PathLike[str], values: Mapping[str, Any], head: str = "") -> None:
    """Sets values by dotted key, such as {"pi.pulses.clock_hz": 26300000}; `head` starts a new or empty file."""
    file = Path(os.path.realpath(path))  # keeps a symbolic link
    try:
        before = file.read_bytes().decode() if file.exists() else ""
        after = changed(before or head, values, str(path))
        _replace(file, after)
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; it was not changed") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); it was not changed") from error


def changed(text: str, values: Mapping[str, Any], label: str) -> str:
    """Returns the text with these keys changed or added, after a check that nothing else differs."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    mark = "\ufeff" if text.startswith("\ufeff") else ""
    plain = text.removeprefix(mark)
    try:
        wanted = tomllib.loads(plain)
        document = tomlkit.parse(plain)
    except (ValueError, TOMLKitError) as error:
        raise UsageError(f"{label} is not valid TOML ({error}); it was not changed") from None
    for key, value in values.items():
        _put(wanted, key.split("."), copy.deepcopy(value), label)
    try:
        for key, value in values.items():
            _edit(document, key.split("."), value)
        after = tomlkit.dumps(document)
        correct = tomllib.loads(after) == wanted
    except (ValueError, TOMLKitError):
        correct = False
    if not correct:
        lines = ", ".join(f"{key} = {as_toml(value)}" for key, value in values.items())
        raise UsageError(f"{label} has a layout that cannot be edited safely; set by hand: {lines}")
    return mark + after


def _put(tables: dict[str, Any], path: list[str], value: Any, label: str) -> None:
    for depth, part in enumerate(path[:-1], 1):
        tables = tables.setdefault(part, {})
        if not isinstance(tables, dict):
            raise UsageError(f"{label}: {'.'.join(path[:depth])} is not a table; the file was not changed")
    tables[path[-1]] = value


def _edit(document: Any, path: list[str], value: Any) -> None:
    import tomlkit
    from tomlkit.items import InlineTable, Table

    table = document
    for depth, part in enumerate(path[:-1]):
        if part not in table:
            inline = isinstance(table, InlineTable)
            above = depth < len(path) - 2
            table[part] = tomlkit.inline_table() if inline else tomlkit.table(is_super_table=above)
        table = table[part]
    key = path[-1]
    if key in table:
        table[key] = value
        return
    item = tomlkit.item(value)
    if isinstance(table, InlineTable):
        if table.as_string().endswith(" }"):
            item.trivia.trail = " "
        table[key] = item
    elif isinstance(table, Table) and (last := _last_key(table)):
        # After the last key, not at the end: a comment at the end belongs to the next table.
        table.value._insert_after(last, key, item)
        item.trivia.trail = "\n"
    else:
        table[key] = item


def _last_key(table: Any) -> Any:
    """Returns the last key of a table with its own heading, ignoring sub-tables."""
    from tomlkit.items import AoT, Table

    keys = [key for key, item in table.value.body if key is not None and not isinstance(item, AoT | Table)]
    return keys[-1] if keys else None


def _replace(file: Path, text: str) -> None:
    """Replaces the file atomically, also across a power loss: the new file is synced before it is renamed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(text.encode())
            new.flush()
            os.fsync(new.fileno())
        if file.exists():
            shutil.copymode(file, name)
            old = file.stat()
            if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                try:
                    os.chown(name, old.st_uid, old.st_gid)
                except PermissionError:  # only root may change the owner
                    pass
        else:
            os.chmod(name, 0o644)  # another user may run the vehicle
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise
    sync_folder(file.parent)
