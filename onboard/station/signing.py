"""MAVLink 2 signing: accepts only frames of stations that have the key. One state for all links, stored on disk.

It accepts a frame if its signature is right and it is newer than every accepted frame of its stream (link id, system,
component), over any link. A new stream must not be more than a minute behind. pymavlink's own check is not used: it
advances a stream's time before it checks the signature, so that one forged frame would lock a station out; and it
stores streams per connection, so that a frame could be replayed over another one.

Times are tens of microseconds since 2015. The file stores each stream's time once a second; after a restart it counts
as GRACE later, so that frames of the last, unsaved second cannot be replayed. The stored time itself does not change by
a restart.
"""

import hashlib
import hmac
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

from caudal.hal.errors import CaudalError
from caudal.onboard.station.dialect import mavlink

EPOCH_2015_S = 1420070400
SECOND = 100_000
MINUTE = 60 * SECOND
GRACE = 2 * SECOND
MOST_STREAMS = 256
UNSIGNED = {mavlink.MAVLINK_MSG_ID_RADIO_STATUS}  # from radios, which have no key; it has no effect

_BLOCK = 13  # link id, six bytes of time, six of signature


class KeyFileError(CaudalError):
    """What is wrong with a key or the file of times; one sentence."""


class Signing:
    """Checks received frames; pymavlink signs with its secret_key, sign_outgoing, link_id and timestamp."""

    def __init__(self, key: bytes, path: Path | None) -> None:
        self.secret_key = key
        self.sign_outgoing = True
        self.link_id = 0
        self.refused: Counter[str] = Counter()  # by reason
        self._path = path
        self._sent = 0
        self._least = 0  # for the first frame sent; an earlier run may have used all times before
        self._streams: dict[tuple[int, int, int], int] = {}
        self._earlier: set[tuple[int, int, int]] = (
            set()
        )  # streams of an earlier run without a frame in this one
        self._written: dict[str, Any] | None = None
        self._load()

    @classmethod
    def from_file(cls, path: Path) -> "Signing":
        """From a file with a key of 32 bytes or a passphrase, hashed as in MAVProxy and QGroundControl."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise KeyFileError(f"cannot read the key {path}: {error.strerror}") from error
        if path.stat().st_mode & 0o077:
            raise KeyFileError(f"others may read the key {path}; chmod 600 it first")
        passphrase = content.strip()
        if len(content) != 32 and len(passphrase) < 8:
            raise KeyFileError(
                f"the key {path} holds neither 32 bytes nor a passphrase of 8 characters or more"
            )
        key = content if len(content) == 32 else hashlib.sha256(passphrase).digest()
        signing = cls(key, path.with_name(path.name + ".times"))
        try:
            signing.save()
        except OSError as error:
            raise KeyFileError(
                f"the times of signed frames are stored next to the key, but {path.parent} is not writable: "
                f"{error.strerror}"
            ) from error
        return signing

    @property
    def timestamp(self) -> int:
        """Of the next frame sent: never the same twice, and the calendar time if that is later."""
        return max(self._sent + 1, self._least, _now())

    @timestamp.setter
    def timestamp(self, value: int) -> None:
        self._sent = value

    def refusal(self, frame: bytes, message: int, system: int, component: int) -> str | None:
        """Why a frame is rejected, or None. `frame` is complete, its checksum right."""
        reason = self._refusal(frame, message, system, component)
        if reason:
            self.refused[reason] += 1
        return reason

    def _refusal(self, frame: bytes, message: int, system: int, component: int) -> str | None:
        signed = frame[0] == mavlink.PROTOCOL_MARKER_V2 and frame[2] & mavlink.MAVLINK_IFLAG_SIGNED
        if not signed:
            return None if message in UNSIGNED else "unsigned"
        right = hashlib.sha256(self.secret_key + frame[:-6]).digest()[:6]
        if not hmac.compare_digest(right, frame[-6:]):
            return "wrongly signed"
        stream = frame[-_BLOCK], system, component
        stamp = int.from_bytes(frame[-12:-6], "little")
        last = self._streams.get(stream)
        if last is None:
            if stamp + MINUTE < self.timestamp or len(self._streams) >= MOST_STREAMS:
                return "too old"
        elif stamp <= last + (GRACE if stream in self._earlier else 0):
            return "replayed"
        self._streams[stream] = stamp
        self._earlier.discard(stream)
        self._sent = max(self._sent, stamp)
        return None

    def save(self) -> None:
        """Writes the times if they have changed; raises OSError if it cannot."""
        if self._path is None:
            return
        now = {"sent": self._sent, "streams": [[*stream, stamp] for stream, stamp in self._streams.items()]}
        if now == self._written:
            return
        fresh = self._path.with_name(self._path.name + ".new")
        fresh.write_text(json.dumps(now))
        os.replace(fresh, self._path)
        self._written = now

    def _load(self) -> None:
        if self._path is None or not self._path.exists():
            return
        try:
            then = json.loads(self._path.read_text())
            self._sent = int(then["sent"])
            self._least = self._sent + GRACE
            for link, system, component, stamp in then["streams"]:
                self._streams[int(link), int(system), int(component)] = int(stamp)
            self._earlier = set(self._streams)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise KeyFileError(
                f"the times of earlier frames in {self._path} cannot be read ({error}); without them old frames "
                "could be replayed. To start with another key, remove the file"
            ) from error


def _now() -> int:
    return time.time_ns() // 10_000 - EPOCH_2015_S * SECOND
