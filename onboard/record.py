"""Recording of all that crosses the board, as MCAP, off the control thread.

The control thread packs a message and appends it to a bounded queue; a writer thread gathers what is
queued into chunks. Every flush leaves a complete file behind, so a run killed at any instant opens in
Foxglove, PlotJuggler and every other MCAP reader up to its last flush. Messages are ROS 2 CDR with one
field a channel; an absent reading is ABSENT in an integer field and NaN in a float field.

The file is composed from the mcap package's records, as its own Writer cannot flush on demand.
"""

import atexit
import contextlib
import itertools
import os
import re
import struct
import threading
import time
import zlib
from collections import deque
from importlib import metadata as distribution
from pathlib import Path

import msgspec
import zstandard
from mcap import records as mcap
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode

ABSENT = -(2**31)
CODES = {"float64": "d", "int64": "q", "float32": "f", "int32": "i"}  # no smaller integer holds ABSENT
MAGIC = b"\x89MCAP0\r\n"
LIBRARY = "caudal"  # also the name of the metadata record
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

_MESSAGE = int(Opcode.MESSAGE)
_MESSAGE_HEAD = "<BQHIQQ"  # opcode, length, channel, sequence, log time, publish time
_MESSAGE_KEY = struct.Struct("<9xH4xQ")  # the channel and the log time of a packed message
_CDR_HEAD = b"\x00\x01\x00\x00"  # little endian; alignment counts from behind it

_CHUNK_BYTES = 1 << 20
_SYNC_S = 1.0
_PAGE_BYTES = 4096
_HIDDEN = 0x80  # opcodes from here on are an application's own, and readers skip such records
_HEAD_BYTES = 9  # opcode and length of a record
_BARE_END = struct.pack("<BQQQI", Opcode.FOOTER, 20, 0, 0, 0) + MAGIC
_END_BYTES = len(_BARE_END)
_PADDING = struct.pack("<BQ32x", _HIDDEN, 32)


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
            record = self._pack(_MESSAGE, *head, *(self._fill(values) if self._sparse else values))
        except (struct.error, OverflowError):
            self._sparse = True  # from now on look for None first: an exception a message is dear
            try:
                record = self._pack(_MESSAGE, *head, *self._fill(values))
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
        self._file = _File(self._path, run)
        self._define(1, EVENTS, "json", "caudal.Event", "jsonschema", msgspec.json.encode(_EVENTS_SCHEMA))
        self._threads = [
            threading.Thread(target=self._write_chunks, name="record", daemon=True),
            threading.Thread(target=self._sync, name="record-sync", daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        atexit.register(self.close)

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
            head = struct.pack(_MESSAGE_HEAD, _MESSAGE, 22 + len(data), 1, count, time_ns, time_ns)
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
                metadata={"offered_qos_profiles": ""},  # the ros2 profile asks for the key
            ),
        ):
            self._queue.append(_packed(record))

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

    def _write_chunks(self) -> None:
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
        self._lose(sum(record[0] == _MESSAGE for record in gathered))

    def _sync(self) -> None:
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


class _File:
    """The MCAP file: readable as it lies on the disk after every single write to it.

    It always ends in a tail: the end of the data, a summary, the footer. Until it is finished the summary
    leaves out the chunk index (readers then scan), so that a flush costs the same late in a long run.
    """

    def __init__(self, path: Path, run: dict[str, str]):
        for key, value in run.items():
            if not isinstance(value, str):
                raise ValueError(
                    f"{path}: run[{key!r}] is {value!r}; the facts of a run are recorded as text."
                )
        head = MAGIC + _packed(mcap.Header(profile="ros2", library=f"{LIBRARY} {_version()}"))
        about = _packed(mcap.Metadata(name=LIBRARY, metadata=run))
        self._metadata_index = _packed(mcap.MetadataIndex(len(head), len(about), LIBRARY))
        self._schemas = b""
        self._channels = b""
        self._chunk_indexes = bytearray()
        self._chunks = 0
        self._counts: dict[int, int] = {}  # messages by channel
        self._first_ns: int | None = None
        self._last_ns = 0
        self._compressor = zstandard.ZstdCompressor(level=1)
        head += about
        while _straddles(len(head), _HEAD_BYTES):
            head += _PADDING
        self._end = len(head)  # of the data; here the tail begins
        self._tail = self._compose_tail(self._end, finished=False)
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            self._write(head + self._tail, 0)
        except OSError as error:
            os.close(self.fd)
            raise OSError(error.errno, error.strerror, str(path)) from None

    def append(self, records: list[bytes]) -> None:
        """Add one chunk."""
        index: dict[int, list[int]] = {}
        offset = 0
        for record in records:
            if record[0] == _MESSAGE:
                channel, time_ns = _MESSAGE_KEY.unpack_from(record)
                index.setdefault(channel, []).extend((time_ns, offset))
            elif record[0] == Opcode.SCHEMA:
                self._schemas += record
            else:
                self._channels += record
                self._counts[int.from_bytes(record[9:11], "little")] = 0
            offset += len(record)
        first_ns = min((min(entries[::2]) for entries in index.values()), default=0)
        last_ns = max((max(entries[::2]) for entries in index.values()), default=0)
        plain = b"".join(records)
        packed = self._compressor.compress(plain)
        chunk = _packed(mcap.Chunk("zstd", packed, last_ns, first_ns, zlib.crc32(plain), len(plain)))
        body = bytearray(chunk)
        offsets: dict[int, int] = {}
        for channel, entries in index.items():
            offsets[channel] = self._end + len(body)
            # Not the package's MessageIndex: one pack for all entries is ten times faster, and holds the
            # interpreter, which the control thread shares, for less.
            body += struct.pack(
                "<BQHI", Opcode.MESSAGE_INDEX, 6 + 8 * len(entries), channel, 8 * len(entries)
            )
            body += struct.pack(f"<{len(entries)}Q", *entries)
            self._counts[channel] += len(entries) // 2
        if index:
            self._first_ns = first_ns if self._first_ns is None else min(first_ns, self._first_ns)
            self._last_ns = max(last_ns, self._last_ns)
        self._chunks += 1
        self._chunk_indexes += _packed(
            mcap.ChunkIndex(
                chunk_length=len(chunk),
                chunk_start_offset=self._end,
                compression="zstd",
                compressed_size=len(packed),
                message_end_time=last_ns,
                message_index_length=len(body) - len(chunk),
                message_index_offsets=offsets,
                message_start_time=first_ns,
                uncompressed_size=len(plain),
            )
        )
        self._commit(body, finished=False)

    def finish(self) -> None:
        """Write the full summary, with the chunk index."""
        self._commit(bytearray(), finished=True)
        os.fdatasync(self.fd)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _compose_tail(self, at: int, finished: bool) -> bytes:
        statistics = mcap.Statistics(
            attachment_count=0,
            channel_count=len(self._counts),
            channel_message_counts=self._counts,
            chunk_count=self._chunks,
            message_count=sum(self._counts.values()),
            message_end_time=self._last_ns,
            message_start_time=self._first_ns or 0,
            metadata_count=1,
            schema_count=len(self._counts),
        )
        groups = {
            Opcode.SCHEMA: self._schemas,
            Opcode.CHANNEL: self._channels,
            Opcode.STATISTICS: _packed(statistics),
            Opcode.METADATA_INDEX: self._metadata_index,
            Opcode.CHUNK_INDEX: self._chunk_indexes if finished else b"",
        }
        data_end = _packed(mcap.DataEnd(0))
        summary, offsets = b"", b""
        start = at + len(data_end)
        for opcode, group in groups.items():
            if group:
                offsets += _packed(mcap.SummaryOffset(opcode, start + len(summary), len(group)))
                summary += group
        # Only a finished log has summary offsets; that is how one is told from a log cut short.
        offset_start = start + len(summary) if finished else 0
        if finished:
            summary += offsets
        crc = zlib.crc32(struct.pack("<BQQQ", Opcode.FOOTER, 20, start, offset_start), zlib.crc32(summary))
        return data_end + summary + _packed(mcap.Footer(start, offset_start, crc)) + MAGIC

    def _commit(self, body: bytearray, finished: bool) -> None:
        """Put `body` and a new tail in the place of the old tail.

        A kill can cut a write between two pages, never within one. So the new end is set up first, far
        behind the old tail; then everything before it is hidden in a record that readers skip, filled in,
        and shown by one last write of nine bytes. Those short writes are kept off page boundaries.
        """
        at = self._end
        tail = self._compose_tail(at + len(body), finished)
        while _straddles(at + len(body), _HEAD_BYTES) or _straddles(at + len(body) + len(tail), -_END_BYTES):
            body += _PADDING
            tail = self._compose_tail(at + len(body), finished)
        block = memoryview(body + tail)
        end = at + len(block) - _END_BYTES
        try:
            self._write(_BARE_END, end)
            self._write(struct.pack("<BQ", _HIDDEN, end - at - _HEAD_BYTES), at)
            self._write(block[_HEAD_BYTES:-_END_BYTES], at + _HEAD_BYTES)
            self._write(block[-_END_BYTES:], end)
            self._write(block[:_HEAD_BYTES], at)
        except OSError:
            with contextlib.suppress(OSError):  # the first error is the one to report
                self._write(self._tail, at)
                os.ftruncate(self.fd, at + len(self._tail))
            raise
        self._end += len(body)
        self._tail = tail

    def _write(self, data, at: int) -> None:
        left = memoryview(data)
        while left:  # a disk that fills up takes a part
            written = os.pwrite(self.fd, left, at)
            left, at = left[written:], at + written


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


def _packed(record) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return builder.end()


def _straddles(at: int, size: int) -> bool:
    """Whether the `size` bytes from `at` on (before it, if negative) lie on two pages."""
    low, high = min(at, at + size), max(at, at + size)
    return low // _PAGE_BYTES != (high - 1) // _PAGE_BYTES


def _version() -> str:
    try:
        return distribution.version("caudal")
    except distribution.PackageNotFoundError:  # run from a bare checkout
        return "unknown"
