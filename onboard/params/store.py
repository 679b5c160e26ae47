"""Parameters that outlast a run: one small file beside the vehicle, old or new after any kill, never neither.

    {"caudal_params": 1, "vehicle": NAME, "crc32": "5b3c9f02", "values": {"BEAT_MAX": 2.5}}

Only values that differ from the vehicle file's are kept. A file is written beside the old one, forced to the disk and
renamed over it; its folder is forced, too. Whatever is wrong with a file is one sentence, and the vehicle swims with
what is sound in it. What this version cannot read is never written over, and what is no regular file (a device, a
pipe, a folder) is neither read nor replaced; behind a link it is the file that is replaced. CPython only.
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
from caudal.onboard.params.update import checked

VERSION = 1
LARGEST_BYTES = 1 << 20


class StoreError(CaudalError):
    """Why nothing was kept: the text is the sentence."""


class ParamStore:
    """`params`: the settings' list. `load` gives what may be set, `notes` says in sentences what was wrong."""

    def __init__(self, path: Path, vehicle: str, params: list[dict[str, Any]]) -> None:
        self.path = path
        self.notes: list[str] = []
        self.no_file = ""  # why nothing could ever be kept there
        self._vehicle = vehicle
        self._about = {param["name"]: param for param in params}
        self._asleep: dict[
            str, Any
        ] = {}  # values that today's vehicle file does not take; kept for another day's
        self._foreign = ""  # why the file there may not be written over
        self._broken = False

    def load(self) -> dict[str, float]:
        """Today's parameters that differ from their defaults; sentences for all that is not right."""
        self.notes, self._asleep, self._foreign, self._broken = [], {}, "", False
        self.no_file = no_file(self.path)
        values = {}
        for name, value in self._read().items():
            number, refusal = checked(self._about, name, value)
            if refusal:
                self._asleep[name] = value
                self.notes.append(f"{self.path}: {_why(name, refusal)}; its default counts")
            else:
                values[name] = number
        return values

    def forget(self, names: list[str]) -> list[str]:
        """Drop what is kept but not taken today, of these names, or without one all of it; which they were."""
        dropped = [name for name in self._asleep if name in names or not names]
        for name in dropped:
            del self._asleep[name]
        return dropped

    def save(self, values: dict[str, float]) -> None:
        """All of it in one step, or a StoreError and the file as it was."""
        if self._foreign:
            raise StoreError(f"{self.path}: parameters are not kept: {self._foreign}")
        self.no_file = no_file(self.path)  # it may have become one since
        if self.no_file:
            raise StoreError(self.no_file)
        text = _text(self._vehicle, {**self._asleep, **values})
        try:
            self._behind.parent.mkdir(parents=True, exist_ok=True)
            if self._broken:
                self._set_aside()
            write_atomic(self._behind, text.encode())
        except OSError as error:
            raise StoreError(f"{self.path}: parameters are not kept: {error.strerror}") from None

    def _read(self) -> dict[str, Any]:
        if self.no_file:
            self._foreign = "they need a regular file"
            self.notes.append(f"{self.no_file}; defaults count")
            return {}
        try:
            with open(self.path, "rb") as file:
                content = file.read(LARGEST_BYTES + 1)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            self._foreign = "it could not be read"
            reason = getattr(error, "strerror", None) or str(error)
            self.notes.append(f"{self.path}: cannot be read: {reason}; defaults count")
            return {}
        try:
            return self._understood(json.loads(content.decode()))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            self._broken = True
            reason = str(error) if str(error).startswith("its") else "it is no parameter file"
            self.notes.append(
                f"{self.path}: is broken, {reason}; defaults count; the next file moves it to {self._aside.name}"
            )
            return {}

    def _understood(self, held: Any) -> dict[str, Any]:
        version = held["caudal_params"]
        if isinstance(version, int) and version > VERSION:  # whatever else it holds is not for us to judge
            self._foreign = f"the file is of version {version}, this program of {VERSION}"
            self.notes.append(
                f"{self.path}: written by a newer caudal (version {version}, here {VERSION}); defaults count, and "
                "it is not written over; update, or give another file"
            )
            return {}
        vehicle, values = held["vehicle"], held["values"]
        if held["crc32"] != _crc32(vehicle, values) or not isinstance(values, dict):
            raise ValueError("its checksum is wrong")
        if vehicle != self._vehicle:
            self._foreign = f"the file is of another vehicle, {vehicle}"
            self.notes.append(
                f"{self.path}: is of another vehicle, {vehicle}; defaults count; give its own file"
            )
            return {}
        return values

    def _set_aside(self) -> None:
        """A file that says nothing any more stays for whoever wants to see it, under another name."""
        with contextlib.suppress(OSError):
            os.replace(self._behind, self._aside)
        self._broken = False

    @property
    def _behind(self) -> Path:
        """The file itself, where the path is a link to it: the link stays."""
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
    """Why there can be no file, in a sentence; "" where one is or could be. Opens nothing: a pipe would wait."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # not there, or not to be looked at: whoever opens it says so
        return ""
    if stat.S_ISREG(mode):
        return ""
    kind = KINDS.get(stat.S_IFMT(mode), "something else")
    return f"{path}: parameters are not kept: it is {kind}, and they need a regular file; give another path"


def write_atomic(path: Path, content: bytes) -> None:
    """The file as it was or as it is to be, whenever the computer stops."""
    beside = path.with_name(path.name + ".new")
    try:
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Force what a folder says of its files to the disk: a rename is one such thing."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class ParamWriter:
    """Keeps a loop's accepted sets, in a thread of its own: a disk that is slow or full never delays a tick.

    Sets that come while it writes are kept together, the last state of them all.
    """

    def __init__(self, store: ParamStore) -> None:
        self.store = store
        self.saved = 0  # how many times
        self.troubled = bool(store.notes)  # is what should be kept not what is
        self._wanted: dict[str, float] | None = None
        self._news: list[str] = []
        self._bell = threading.Condition()
        self._ending = False
        self._thread = threading.Thread(target=self._work, name="params", daemon=True)
        self._thread.start()

    def update(self, loop: Any) -> None:
        """After each tick."""
        for kind, _, _, refusal in loop.taken:
            if kind == "set" and refusal is None:
                with self._bell:
                    self._wanted = loop.handler.params.differing()
                    self._bell.notify()
                return

    def news(self) -> list[str]:
        """Sentences since the last time: why something is not kept."""
        if not self._news:
            return []
        with self._bell:
            news, self._news = self._news, []
        return news

    def close(self) -> None:
        """When all is written, or cannot be."""
        with self._bell:
            self._ending = True
            self._bell.notify()
        self._thread.join(10.0)

    def _work(self) -> None:
        while True:
            with self._bell:
                while self._wanted is None and not self._ending:
                    self._bell.wait()
                values, self._wanted = self._wanted, None
            if values is None:
                return
            try:
                self.store.save(values)
                self.saved += 1
                self.troubled = False
            except StoreError as error:
                self.troubled = True
                with self._bell:
                    self._news.append(f"{error}; they hold until the next start")


def _why(name: str, refusal: str) -> str:
    """As it stands in a sentence about a file, not about an order."""
    if refusal.startswith("set: "):
        return f"{name} is no parameter of this vehicle any more"
    return refusal.removeprefix("set ")


def _text(vehicle: str, values: dict[str, Any]) -> str:
    head = {"caudal_params": VERSION, "vehicle": vehicle, "crc32": _crc32(vehicle, values), "values": values}
    return json.dumps(head, indent=1, sort_keys=True) + "\n"


def _crc32(vehicle: Any, values: Any) -> str:
    return f"{zlib.crc32(json.dumps([vehicle, values], sort_keys=True).encode()):08x}"
