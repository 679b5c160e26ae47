"""MAVLink 2 signing: who may say something. One state for all links, kept on disk.

A frame is taken if its signature is right and it is newer than every frame of its stream (link id, system, component)
that was taken before, over whichever link. A stream nobody knows yet must not lie a minute behind. The package's own
check is not used: it moves a stream's time before it has looked at the signature, so that one forged frame would lock
a station out; and it keeps streams by connection, so that a frame could be heard again over another one.

Times are tens of microseconds since 2015. A stream's time is written once a second and counts as GRACE later after a
restart, so that nothing of the last, unwritten second is heard twice. What is written is the time itself: it does not
move by starts alone.
"""

import hashlib
import hmac
import json
import os
import time
from collections import Counter
from pathlib import Path

from caudal.hal.errors import CaudalError
from caudal.onboard.station.dialect import mavlink

EPOCH_2015_S = 1420070400
SECOND = 100_000
MINUTE = 60 * SECOND
GRACE = 2 * SECOND
MOST_STREAMS = 256
UNSIGNED = {
    mavlink.MAVLINK_MSG_ID_RADIO_STATUS
}  # made by radios, which have no key; nothing is done on its word

_BLOCK = 13  # link id, six bytes of time, six of signature


class KeyFileError(CaudalError):
    """What is wrong with a key, or the place where times are kept: a sentence."""


class Signing:
    """Also what the package signs by: secret_key, sign_outgoing, link_id, timestamp."""

    def __init__(self, key: bytes, kept: Path | None) -> None:
        self.secret_key = key
        self.sign_outgoing = True
        self.link_id = 0
        self.refused: Counter[str] = Counter()  # by reason
        self._kept = kept
        self._sent = 0
        self._least = 0  # for the first frame that is sent; an earlier run may have sent all that lie before
        self._streams: dict[tuple[int, int, int], int] = {}
        self._earlier: set[tuple[int, int, int]] = set()  # streams of an earlier run, not heard in this one
        self._written: dict | None = None
        self._load()

    @classmethod
    def from_file(cls, path: Path) -> "Signing":
        """A key of 32 bytes, or a passphrase, which is hashed as MAVProxy and QGroundControl do."""
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
            signing.keep()
        except OSError as error:
            raise KeyFileError(
                f"the times of signed frames are kept beside the key, and {path.parent} refuses: {error.strerror}"
            ) from error
        return signing

    @property
    def timestamp(self) -> int:
        """For the next frame that is sent: never the same twice, and by the calendar if that is further on."""
        return max(self._sent + 1, self._least, _now())

    @timestamp.setter
    def timestamp(self, value: int) -> None:
        self._sent = value

    def refusal(self, frame: bytes, message: int, system: int, component: int) -> str | None:
        """Why a frame is not taken, or None. `frame` is whole, its checksum right."""
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

    def keep(self) -> None:
        """Write the times down if they have changed. A disk that refuses is told by the caller, once."""
        if self._kept is None:
            return
        now = {"sent": self._sent, "streams": [[*stream, stamp] for stream, stamp in self._streams.items()]}
        if now == self._written:
            return
        fresh = self._kept.with_name(self._kept.name + ".new")
        fresh.write_text(json.dumps(now))
        os.replace(fresh, self._kept)
        self._written = now

    def _load(self) -> None:
        if self._kept is None or not self._kept.exists():
            return
        try:
            then = json.loads(self._kept.read_text())
            self._sent = int(then["sent"])
            self._least = self._sent + GRACE
            for link, system, component, stamp in then["streams"]:
                self._streams[int(link), int(system), int(component)] = int(stamp)
            self._earlier = set(self._streams)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise KeyFileError(
                f"the times of earlier frames in {self._kept} cannot be read ({error}); without them old frames "
                "could be played again. Remove the file if you want to begin anew with another key"
            ) from error


def _now() -> int:
    return time.time_ns() // 10_000 - EPOCH_2015_S * SECOND
