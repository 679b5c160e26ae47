"""Records a run as MCAP in a thread of its own.

The control thread packs a message and appends it to a bounded queue; a writer thread collects the queued messages
into chunks. After every flush the file is complete (onboard/log/mcap_writer.py), so every MCAP reader opens the log
of a killed run up to its last flush. Messages are ROS 2 CDR with one field a channel; an absent reading is ABSENT in
an integer field and NaN in a float field. CPython only.
"""

import atexit
import itertools
import os
import re
import struct
import threading
import time
from collections import deque
from collections.abc import Sequence
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
_FIELD_NAME = re.compile(r"[a-z](_?[a-z0-9])*")  # the rule of ROS 2, which its decoders enforce

_MESSAGE_HEAD = "<BQHIQQ"  # opcode, length, channel, sequence, log time, publish time
_CDR_HEAD = b"\x00\x01\x00\x00"  # little endian; alignment starts after it
_CHUNK_BYTES = 1 << 20
_SYNC_S = 1.0


Values = Sequence[float | None]  # one a field, None where a reading is absent


class TopicWriter(Protocol):
    """Interface of a topic."""

    def write(self, time_ns: int, values: Values) -> None:
        """Writes one message."""


class LogWriter(Protocol):
    """Interface of a recorder; the stream server of a viewed run (onboard/log/stream.py) has it too."""

    def topic(self, name: str, fields: list[tuple[str, str]]) -> TopicWriter:
        """The topic with these fields, as (type, name)."""
        ...

    def event(self, time_ns: int, kind: str, /, **details: Any) -> None:
        """Writes an event."""


class Topic:
    """One stream of messages with fixed fields; Recorder.topic() makes it."""

    def __init__(self, recorder: "Recorder", channel: int, name: str, fields: list[tuple[str, str]]) -> None:
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

    def write(self, time_ns: int, values: Values) -> None:
        """Queues one message: `values` in the order of the fields, None where a reading is absent."""
        head = self._length, self._channel, next(self._count) & 0xFFFFFFFF, time_ns, time_ns, _CDR_HEAD
        try:
            record = self._pack(MESSAGE, *head, *(self._fill(values) if self._sparse else values))
        except (struct.error, OverflowError):
            self._sparse = True  # from now on check for None first: an exception in every message is slow
            try:
                record = self._pack(MESSAGE, *head, *self._fill(values))
            except (struct.error, OverflowError) as error:
                raise ValueError(
                    f"Topic {self.name} cannot record {list(values)} at {time_ns} ns: {error}. "
                    f"Give one value for each of {', '.join(' '.join(field) for field in self.fields)}."
                ) from None
        if len(self._queue) < self._recorder._half or self._recorder._has_room():
            self._queue.append(record)

    def _fill(self, values: Values) -> Values:
        if len(values) != len(self._absent):
            return values  # the caller rejects it
        return [blank if value is None else value for value, blank in zip(values, self._absent, strict=True)]


class Recorder:
    """Writes a log. With `lossless`, writes wait for the disk (simulation faster than real time).

    Without it no write waits: a message is dropped and counted when `limit` others are queued.
    """

    def __init__(
        self,
        path: Path | str,
        run: dict[str, str],
        *,
        flush_s: float = 0.5,
        lossless: bool,
        limit: int = 20000,
    ) -> None:
        self.lost = 0  # messages that did not reach the file
        self.failed: str | None = None  # why recording stopped, after a failed write
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
        """The log's file descriptor."""
        return self._file.fd

    def topic(self, name: str, fields: list[tuple[str, str]]) -> Topic:
        """The topic with these fields as (type, name), e.g. [("float64", "depth_m"), ("int32", "tail_1_us")]."""
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

    def event(self, time_ns: int, kind: str, /, **details: Any) -> None:
        """Queues an event, for people and for replay. Events stay when messages are dropped."""
        data = _EVENT_JSON.encode({"kind": kind, "details": details})
        count = next(self._event_count) & 0xFFFFFFFF
        if len(self._queue) < 2 * self._limit:
            head = struct.pack(_MESSAGE_HEAD, MESSAGE, 22 + len(data), 1, count, time_ns, time_ns)
            self._queue.append(head + data)
        else:
            self._lose(1)

    def close(self) -> None:
        """Writes the queue, the summary and the chunk index. Later writes are lost."""
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

    def __exit__(self, *_: object) -> None:
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
        """Above half the limit: wakes the writer and, with lossless, waits for it."""
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

    def _raise_priority(self) -> None:
        """A run in real time must not wait for a thread of this recorder that waits for a processor."""
        if not self._lossless:
            first_in_line(RECORD_PRIORITY)

    def _write_chunks(self) -> None:
        self._raise_priority()
        due_s = time.monotonic() + self._flush_s
        gathered: list[bytes] = []
        while True:
            self._wake.wait(max(0.0, due_s - time.monotonic()))
            self._wake.clear()
            last = self._closing.is_set()  # before the loop empties the queue, so that no message stays in it
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
            except Exception as error:  # the vehicle's loop must go on
                self._fail(error)
        self._lose(sum(record[0] == MESSAGE for record in gathered))

    def _sync(self) -> None:
        self._raise_priority()
        # In a thread of its own: a sync on a slow card may take seconds, and flushes must go on.
        while not self._closing.wait(_SYNC_S):
            try:
                os.fdatasync(self._file.fd)
            except OSError as error:
                self._fail(error)
                return

    def _fail(self, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) else repr(error)
        self.failed = self.failed or (
            f"Recording to {self._path} stopped: {reason}. The log is complete up to there; free the disk or "
            "record to another one."
        )


def _check_fields(topic: str, fields: list[tuple[str, str]]) -> None:
    if not fields or len({name for _, name in fields}) < len(fields):
        raise ValueError(f"Topic {topic} has no field, or two of the same name; give each field one name.")
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
