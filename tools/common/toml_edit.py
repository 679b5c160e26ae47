"""Changes keys of a TOML file and nothing else: comments, layout and the order of keys stay.

tomlkit makes the new text; tomllib, which knows nothing of tomlkit, reads both texts and says whether the keys that
were asked for are all that changed. The file is replaced as a whole or not at all.
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
    """`values` by dotted keys, such as {"pi.pulses.clock_hz": 26300000}. `head` begins a file that is new or empty."""
    file = Path(os.path.realpath(path))  # a link stays a link
    try:
        before = file.read_bytes().decode() if file.exists() else ""
        after = changed(before or head, values, str(path))
        _replace(file, after)
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text and was left as it is") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); nothing was changed") from error


def changed(text: str, values: Mapping[str, Any], label: str) -> str:
    """The text with these keys changed or added, proved to differ in nothing else."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    mark = "\ufeff" if text.startswith("\ufeff") else ""
    plain = text.removeprefix(mark)
    try:
        wanted = tomllib.loads(plain)
        document = tomlkit.parse(plain)
    except (ValueError, TOMLKitError) as error:
        raise UsageError(f"{label} is no TOML ({error}) and was left as it is") from None
    for key, value in values.items():
        _put(wanted, key.split("."), copy.deepcopy(value), label)
    try:
        for key, value in values.items():
            _edit(document, key.split("."), value)
        after = tomlkit.dumps(document)
        proved = tomllib.loads(after) == wanted
    except (ValueError, TOMLKitError):
        proved = False
    if not proved:
        lines = ", ".join(f"{key} = {as_toml(value)}" for key, value in values.items())
        raise UsageError(f"{label} is laid out so that it was left as it is; write there by hand: {lines}")
    return mark + after


def _put(tables: dict[str, Any], path: list[str], value: Any, label: str) -> None:
    for depth, part in enumerate(path[:-1], 1):
        tables = tables.setdefault(part, {})
        if not isinstance(tables, dict):
            raise UsageError(f"{label}: {'.'.join(path[:depth])} is no table and was left as it is")
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
        # Behind the last key, not at the end: the comment down there is the next table's.
        table.value._insert_after(last, key, item)
        item.trivia.trail = "\n"
    else:
        table[key] = item


def _last_key(table: Any) -> Any:
    """The last key of a table that stands under its own heading: neither a table nor part of a dotted key."""
    from tomlkit.items import AoT, Table

    keys = [key for key, item in table.value.body if key is not None and not isinstance(item, AoT | Table)]
    return keys[-1] if keys else None


def _replace(file: Path, text: str) -> None:
    """All or nothing, also when the power goes: the new file is on the disk before it takes the old one's place."""
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
                except PermissionError:  # a user may not give files away; the folder let them write, so be it
                    pass
        else:
            os.chmod(name, 0o644)  # whoever runs the vehicle is another user
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise
    sync_folder(file.parent)
