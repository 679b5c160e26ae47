"""Recording of all that crosses the board, as MCAP, off the control thread.

The control thread packs a message and appends it to a bounded queue; a writer thread gathers what is
queued into chunks. Every flush leaves a complete file behind (onboard/log/mcap_writer.py), so a run killed at any
instant opens in every MCAP reader up to its last flush. Messages are ROS 2 CDR with one field a channel; an
absent reading is ABSENT in an integer field and NaN in a float field. CPython only.
"""

import atexit
import itertools
import os
import re
import struct
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any, Protocol

import msgspec
from mcap import records as mcap

from caudal.onboard.host.realtime import RECORD_PRIORITY, first_in_line
from caudal.onboard.log.mcap_writer import MESSAGE, McapFile, packed

ABSENT = -(2**31)
CODES = {"float64": "d", "int64": "q", "float32": "f", "int32": "i"}  # no smaller integer holds ABSENT
EVENTS = "/events"

_EVENTS_SCHEMA = {
    "type": "object",
    "properties": {"kind": {"type": "string"}, "details": {"type": "object"}},
    "required": ["kind", "details"],
}
_EVENT_JSON = msgspec.json.Encoder(
    enc_hook=lambda value: value.item() if hasattr(value, "item") else str(value)
)
_FIELD_NAME = re.compile(r"[a-z](_?[a-z0-9])*")  # the rule of ROS 2, and its decoders insist on it

_MESSAGE_HEAD = "<BQHIQQ"  # opcode, length, channel, sequence, log time, publish time
_CDR_HEAD = b"\x00\x01\x00\x00"  # little endian; alignment counts from behind it
_CHUNK_BYTES = 1 << 20
_SYNC_S = 1.0


class Column(Protocol):
    """What a topic is to whoever writes it."""

    def write(self, time_ns: int, values: Any) -> None: ...


class LogWriter(Protocol):
    """What a recorder is to whoever writes things down; onboard/log/stream.py takes its place where a run is shown."""

    def topic(self, name: str, fields: list[tuple[str, str]]) -> Column: ...

    def event(self, time_ns: int, kind: str, /, **details: Any) -> None: ...


class Topic:
    """One stream of messages with fixed fields; made by Recorder.topic()."""

    def __init__(self, recorder: "Recorder", channel: int, name: str, fields: list[tuple[str, str]]):
        self.name = name
        self.fields = fields
        codes = "".join(CODES[kind] for kind, _ in fields)
        self._recorder = recorder
        self._queue = recorder._queue
        self._channel = channel
        self._count = itertools.count()  # a gap in the recorded sequence is a lost message
        self._pack = struct.Struct(_MESSAGE_HEAD + "4s" + codes).pack
        self._length = 22 + 4 + struct.calcsize("<" + codes)
        self._sparse = False
        self._absent = [float("nan") if code in "df" else ABSENT for code in codes]

    def write(self, time_ns: int, values) -> None:
        """Queue one message: `values` in the order of the fields, None where a reading is absent."""
        head = self._length, self._channel, next(self._count) & 0xFFFFFFFF, time_ns, time_ns, _CDR_HEAD
        try:
            record = self._pack(MESSAGE, *head, *(self._fill(values) if self._sparse else values))
        except (struct.error, OverflowError):
            self._sparse = True  # from now on look for None first: an exception a message is dear
            try:
                record = self._pack(MESSAGE, *head, *self._fill(values))
            except (struct.error, OverflowError) as error:
                raise ValueError(
                    f"Topic {self.name} cannot record {list(values)} at {time_ns} ns: {error}. "
                    f"Give one value for each of {', '.join(' '.join(field) for field in self.fields)}."
                ) from None
        if len(self._queue) < self._recorder._half or self._recorder._has_room():
            self._queue.append(record)

    def _fill(self, values) -> list:
        if len(values) != len(self._absent):
            return values  # for the caller to refuse
        return [blank if value is None else value for value, blank in zip(values, self._absent, strict=True)]


class Recorder:
    """A log being written. `lossless` makes writes wait for the disk (simulation faster than real time);
    without it a message that finds `limit` others waiting is dropped and counted, and nothing waits."""

    def __init__(
        self, path, run: dict[str, str], *, flush_s: float = 0.5, lossless: bool, limit: int = 20000
    ):
        self.lost = 0  # messages that did not reach the file
        self.failed: str | None = None  # why recording stopped, once the disk has refused a write
        self._path = Path(path)
        self._flush_s = flush_s
        self._lossless = lossless
        self._limit = limit
        self._half = limit // 2
        self._queue: deque[bytes] = deque()
        self._topics: dict[str, Topic] = {}
        self._event_count = itertools.count()
        self._lost_lock = threading.Lock()
        self._wake = threading.Event()
        self._room = threading.Event()
        self._closing = threading.Event()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = McapFile(self._path, run)
        self._define(1, EVENTS, "json", "caudal.Event", "jsonschema", msgspec.json.encode(_EVENTS_SCHEMA))
        self._threads = [
            threading.Thread(target=self._write_chunks, name="record", daemon=True),
            threading.Thread(target=self._sync, name="record-sync", daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        atexit.register(self.close)

    @property
    def descriptor(self) -> int:
        """Of the file that it writes."""
        return self._file.fd

    def topic(self, name: str, fields: list[tuple[str, str]]) -> Topic:
        """A topic with `fields` as (type, name), e.g. [("float64", "depth_m"), ("int32", "tail_1_us")]."""
        fields = list(fields)
        if name in self._topics and self._topics[name].fields == fields:
            return self._topics[name]
        if not name.strip("/") or name == EVENTS or name in self._topics:
            raise ValueError(f"Topic {name!r} is empty or already in use; give each topic a name of its own.")
        _check_fields(name, fields)
        channel = len(self._topics) + 2
        words = re.findall(r"[a-z0-9]+", name.lower())
        schema = f"caudal/msg/T{channel}" + "".join(word.capitalize() for word in words)
        text = "\n".join(f"{kind} {field}" for kind, field in fields)
        self._define(channel, name, "cdr", schema, "ros2msg", text.encode())
        self._topics[name] = Topic(self, channel, name, fields)
        return self._topics[name]

    def event(self, time_ns: int, kind: str, /, **details) -> None:
        """Note what happened, for people and for replay. Events are kept when messages are dropped."""
        data = _EVENT_JSON.encode({"kind": kind, "details": details})
        count = next(self._event_count) & 0xFFFFFFFF
        if len(self._queue) < 2 * self._limit:
            head = struct.pack(_MESSAGE_HEAD, MESSAGE, 22 + len(data), 1, count, time_ns, time_ns)
            self._queue.append(head + data)
        else:
            self._lose(1)

    def close(self) -> None:
        """Write all that is queued, the summary and the chunk index. What is written later is lost."""
        if not self._closing.is_set():
            atexit.unregister(self.close)
            self._half = self._limit = 0
            self._closing.set()
            self._wake.set()
        for thread in self._threads:
            thread.join()
        self._file.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _define(
        self, id: int, topic: str, encoding: str, schema: str, schema_encoding: str, text: bytes
    ) -> None:
        for record in (
            mcap.Schema(id=id, name=schema, encoding=schema_encoding, data=text),
            mcap.Channel(
                id=id,
                topic=topic,
                message_encoding=encoding,
                schema_id=id,
                metadata={},
            ),
        ):
            self._queue.append(packed(record))

    def _has_room(self) -> bool:
        """Past half the limit: rouse the writer, and in lossless mode wait for it."""
        self._wake.set()
        while self._lossless and len(self._queue) >= self._limit and not self._closing.is_set():
            self._room.clear()
            self._wake.set()
            self._room.wait(0.1)
        if len(self._queue) < self._limit:
            return True
        self._lose(1)
        return False

    def _lose(self, count: int) -> None:
        with self._lost_lock:
            self.lost += count

    def _stand_in_line(self) -> None:
        """A run by the clock must not wait for a thread of this recorder that is itself kept waiting."""
        if not self._lossless:
            first_in_line(RECORD_PRIORITY)

    def _write_chunks(self) -> None:
        self._stand_in_line()
        due_s = time.monotonic() + self._flush_s
        gathered: list[bytes] = []
        while True:
            self._wake.wait(max(0.0, due_s - time.monotonic()))
            self._wake.clear()
            last = self._closing.is_set()  # before the queue is emptied, so that nothing is left in it
            size = sum(map(len, gathered))
            while self._queue:
                record = self._queue.popleft()
                gathered.append(record)
                size += len(record)
                if size >= _CHUNK_BYTES:
                    self._room.set()
                    self._flush(gathered)
                    gathered, size = [], 0
            self._room.set()
            if last or time.monotonic() >= due_s:
                self._flush(gathered, last)
                gathered = []
                due_s = time.monotonic() + self._flush_s
            if last:
                return

    def _flush(self, gathered: list[bytes], last: bool = False) -> None:
        if self.failed is None:
            try:
                if gathered:
                    self._file.append(gathered)
                if last:
                    self._file.finish()
                return
            except Exception as error:  # whatever it is, the vehicle swims on
                self._fail(error)
        self._lose(sum(record[0] == MESSAGE for record in gathered))

    def _sync(self) -> None:
        self._stand_in_line()
        # In a thread of its own: a slow card can hold a sync for seconds, and flushes must go on.
        while not self._closing.wait(_SYNC_S):
            try:
                os.fdatasync(self._file.fd)
            except OSError as error:
                self._fail(error)
                return

    def _fail(self, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) else repr(error)
        self.failed = self.failed or (
            f"Recording to {self._path} stopped: {reason}. The log is good up to there; free the disk or "
            "record elsewhere."
        )


def _check_fields(topic: str, fields: list[tuple[str, str]]) -> None:
    if not fields or len({name for _, name in fields}) < len(fields):
        raise ValueError(
            f"Topic {topic} has no field, or two of the same name; name each of its fields once."
        )
    offset = 0
    for kind, name in fields:
        if kind not in CODES:
            raise ValueError(f"Topic {topic}, field {name}: type {kind!r} is none of {', '.join(CODES)}.")
        if not _FIELD_NAME.fullmatch(name):
            raise ValueError(
                f"Topic {topic}: field name {name!r} must be lower-case letters, digits and single "
                "underscores, starting with a letter and not ending in an underscore."
            )
        size = struct.calcsize("<" + CODES[kind])
        if offset % size:
            raise ValueError(
                f"Topic {topic}: field {name} needs padding; put 64-bit fields before 32-bit ones."
            )
        offset += size
