"""Parameter store: one small file that keeps the values for the next start; a kill at any time leaves the old one or
the new one.

    {"caudal_params": 1, "vehicle": NAME, "crc32": "5b3c9f02", "values": {"BEAT_MAX": 2.5}}

It holds the values that differ from the vehicle file. A new file is written next to the old one, synced to the disk
and renamed over it; then its folder is synced. A problem with the file is one message, and the vehicle uses the valid
values. A file of a newer version is never overwritten. A path that is not a regular file (a device, a pipe, a folder)
is neither read nor replaced; of a symbolic link, its target is replaced. CPython only.
"""

import contextlib
import json
import os
import stat
import threading
import zlib
from pathlib import Path
from typing import Any

from caudal.hal.errors import CaudalError
from caudal.onboard.core.loop import Loop
from caudal.onboard.params.update import checked
from caudal.onboard.tables.params import Param

VERSION = 1
LARGEST_BYTES = 1 << 20


class StoreError(CaudalError):
    """Why the parameters were not stored."""


class ParamStore:
    """The file of a vehicle's parameters. `notes`: what is wrong with it, in sentences."""

    def __init__(self, path: Path, vehicle: str, params: list[Param]) -> None:
        self.path = path
        self.notes: list[str] = []
        self.no_file = ""  # why no file can be written there
        self._vehicle = vehicle
        self._about = {param.name: param for param in params}
        self._unused: dict[str, Any] = {}  # values that this vehicle file refuses; kept for another one
        self._foreign = ""  # why the present file may not be overwritten
        self._broken = False

    def load(self) -> dict[str, float]:
        """The stored values that this vehicle file allows; `notes` on the others."""
        self.notes, self._unused, self._foreign, self._broken = [], {}, "", False
        self.no_file = no_file(self.path)
        values = {}
        for name, value in self._read().items():
            number, refusal = checked(self._about, name, value)
            if refusal:
                self._unused[name] = value
                self.notes.append(f"{self.path}: {_why(name, refusal)}; its default is used")
            else:
                values[name] = number
        return values

    def forget(self, names: list[str]) -> list[str]:
        """Drop stored values that this vehicle file refuses, of these names or, without names, all; their names."""
        dropped = [name for name in self._unused if name in names or not names]
        for name in dropped:
            del self._unused[name]
        return dropped

    def save(self, values: dict[str, float]) -> None:
        """Writes the file, or raises StoreError and leaves it as it was."""
        if self._foreign:
            raise StoreError(f"{self.path}: parameters are not stored: {self._foreign}")
        self.no_file = no_file(self.path)  # it may have become one since
        if self.no_file:
            raise StoreError(self.no_file)
        text = _text(self._vehicle, {**self._unused, **values})
        try:
            self._behind.parent.mkdir(parents=True, exist_ok=True)
            if self._broken:
                self._set_aside()
            write_atomic(self._behind, text.encode())
        except OSError as error:
            raise StoreError(f"{self.path}: parameters are not stored: {error.strerror}") from None

    def _read(self) -> dict[str, Any]:
        if self.no_file:
            self._foreign = "they need a regular file"
            self.notes.append(f"{self.no_file}; defaults are used")
            return {}
        try:
            with open(self.path, "rb") as file:
                content = file.read(LARGEST_BYTES + 1)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            self._foreign = "it could not be read"
            reason = getattr(error, "strerror", None) or str(error)
            self.notes.append(f"{self.path}: cannot be read: {reason}; defaults are used")
            return {}
        try:
            return self._understood(json.loads(content.decode()))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            self._broken = True
            reason = str(error) if str(error).startswith("its") else "it is no parameter file"
            self.notes.append(
                f"{self.path}: is broken, {reason}; defaults are used; the next file moves it to {self._aside.name}"
            )
            return {}

    def _understood(self, held: Any) -> dict[str, Any]:
        version = held["caudal_params"]
        if isinstance(version, int) and version > VERSION:  # the rest may have any format
            self._foreign = f"the file is of version {version}, this program of {VERSION}"
            self.notes.append(
                f"{self.path}: written by a newer caudal (version {version}, here {VERSION}); defaults are used, and "
                "it is not written over; update, or give another file"
            )
            return {}
        vehicle, values = held["vehicle"], held["values"]
        if held["crc32"] != _crc32(vehicle, values) or not isinstance(values, dict):
            raise ValueError("its checksum is wrong")
        if vehicle != self._vehicle:
            self._foreign = f"the file is of another vehicle, {vehicle}"
            self.notes.append(
                f"{self.path}: is of another vehicle, {vehicle}; defaults are used; give its own file"
            )
            return {}
        return values

    def _set_aside(self) -> None:
        """Renames a broken file, so that it can be examined."""
        with contextlib.suppress(OSError):
            os.replace(self._behind, self._aside)
        self._broken = False

    @property
    def _behind(self) -> Path:
        """The file that the path leads to; a symbolic link stays."""
        return Path(os.path.realpath(self.path))

    @property
    def _aside(self) -> Path:
        return self._behind.with_name(self._behind.name + ".broken")


KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def no_file(path: Path) -> str:
    """Why there can be no file, in a sentence; "" if there is or could be one. Does not open it: a pipe would block."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # opening it gives the error
        return ""
    if stat.S_ISREG(mode):
        return ""
    kind = KINDS.get(stat.S_IFMT(mode), "something else")
    return f"{path}: parameters are not stored: it is {kind}, and they need a regular file; give another path"


def write_atomic(path: Path, content: bytes) -> None:
    """Replaces a file's content; if the computer stops, the file has the old or the new one."""
    new_path = path.with_name(path.name + ".new")
    try:
        with open(new_path, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new_path, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(new_path)
        raise
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Syncs a folder's entries, such as a rename, to the disk."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class ParamWriter:
    """Stores a loop's accepted sets in a thread of its own: a slow or full disk never delays a tick.

    Sets during a write are stored together in the next one.
    """

    def __init__(self, store: ParamStore) -> None:
        self.store = store
        self.saved = 0  # how many times
        self.failing = bool(store.notes)  # whether the file lacks values
        self._pending: dict[str, float] | None = None
        self._news: list[str] = []
        self._changed = threading.Condition()
        self._ending = False
        self._thread = threading.Thread(target=self._work, name="params", daemon=True)
        self._thread.start()

    def update(self, loop: Loop) -> None:
        """After each tick."""
        for kind, _, _, refusal in loop.taken:
            params = loop.handler.params
            if kind == "set" and refusal is None and params:
                with self._changed:
                    self._pending = params.differing()
                    self._changed.notify()
                return

    def news(self) -> list[str]:
        """Why values could not be stored, since the last call."""
        if not self._news:
            return []
        with self._changed:
            news, self._news = self._news, []
        return news

    def close(self) -> None:
        """Ends the thread, after the last write."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        self._thread.join(10.0)

    def _work(self) -> None:
        while True:
            with self._changed:
                while self._pending is None and not self._ending:
                    self._changed.wait()
                values, self._pending = self._pending, None
            if values is None:
                return
            try:
                self.store.save(values)
                self.saved += 1
                self.failing = False
            except StoreError as error:
                self.failing = True
                with self._changed:
                    self._news.append(f"{error}; they are lost at the next start")


def _why(name: str, refusal: str) -> str:
    """A refusal, worded for a file instead of a command."""
    if refusal.startswith("set: "):
        return f"{name} is no parameter of this vehicle any more"
    return refusal.removeprefix("set ")


def _text(vehicle: str, values: dict[str, Any]) -> str:
    head = {"caudal_params": VERSION, "vehicle": vehicle, "crc32": _crc32(vehicle, values), "values": values}
    return json.dumps(head, indent=1, sort_keys=True) + "\n"


def _crc32(vehicle: Any, values: Any) -> str:
    return f"{zlib.crc32(json.dumps([vehicle, values], sort_keys=True).encode()):08x}"
