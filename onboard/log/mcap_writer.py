"""An MCAP file that every MCAP reader can open after each single write to it. CPython only.

It uses the mcap package's records; that package's Writer can neither flush on demand nor leave a file that opens
after a kill.
"""

import contextlib
import os
import struct
import zlib
from importlib import metadata as distribution
from pathlib import Path

import zstandard
from mcap import records as mcap
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode

MAGIC = b"\x89MCAP0\r\n"
FORMAT = 2  # of names of topics, fields and events; logs of format 1 had no number
LIBRARY = "caudal"  # also the name of the metadata record
MESSAGE = int(Opcode.MESSAGE)

_MESSAGE_KEY = struct.Struct("<9xH4xQ")  # the channel and the log time of a packed message
_PAGE_BYTES = 4096
_HIDDEN = 0x80  # opcodes from here on are an application's own, and readers skip such records
_HEAD_BYTES = 9  # opcode and length of a record
_BARE_END = struct.pack("<BQQQI", Opcode.FOOTER, 20, 0, 0, 0) + MAGIC
_END_BYTES = len(_BARE_END)
_PADDING = struct.pack("<BQ32x", _HIDDEN, 32)
_CHUNK_HEAD = struct.Struct(
    "<BQQQQI4x4sQ"
)  # opcode, length, first and last time, size, CRC, "zstd", packed size
_INDEX_HEAD = struct.Struct("<BQH")  # of a message index: opcode, length, channel


class McapFile:
    """A log on disk. It always ends in a tail: end of data, summary, footer.

    Until `finish` the summary has no chunk index (readers then scan), so that a flush costs the same late in a long
    run.
    """

    def __init__(self, path: Path, run: dict[str, str]) -> None:
        for key, value in run.items():
            if not isinstance(value, str):
                raise ValueError(f"{path}: run[{key!r}] is {value!r}; give each fact of a run as text.")
        head = MAGIC + packed(mcap.Header(profile="", library=f"{LIBRARY} {_version()}"))
        about = packed(mcap.Metadata(name=LIBRARY, metadata=run | {"format": str(FORMAT)}))
        self._metadata_index = packed(mcap.MetadataIndex(len(head), len(about), LIBRARY))
        self._schemas = b""
        self._channels = b""
        self._start = 0  # of the data
        self._chunks = 0
        self._counts: dict[int, int] = {}  # messages by channel
        self._first_ns: int | None = None
        self._last_ns = 0
        self._compressor = zstandard.ZstdCompressor(level=1)
        head += about
        while _straddles(len(head), _HEAD_BYTES):
            head += _PADDING
        self._start = self._end = len(head)  # of the data; at its end the tail begins
        self._tail = self._compose_tail(self._end)
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            self._write(head + self._tail, 0)
        except OSError as error:
            os.close(self.fd)
            raise OSError(error.errno, error.strerror, str(path)) from None

    def append(self, records: list[bytes]) -> None:
        """Appends one chunk."""
        index: dict[int, list[int]] = {}
        offset = 0
        for record in records:
            if record[0] == MESSAGE:
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
        squeezed = self._compressor.compress(plain)
        chunk = packed(mcap.Chunk("zstd", squeezed, last_ns, first_ns, zlib.crc32(plain), len(plain)))
        body = bytearray(chunk)
        for channel, entries in index.items():
            # Not the package's MessageIndex: one pack for all entries is ten times faster, so it blocks the
            # control thread, which shares the interpreter, for less time.
            body += struct.pack(
                "<BQHI", Opcode.MESSAGE_INDEX, 6 + 8 * len(entries), channel, 8 * len(entries)
            )
            body += struct.pack(f"<{len(entries)}Q", *entries)
            self._counts[channel] += len(entries) // 2
        if index:
            self._first_ns = first_ns if self._first_ns is None else min(first_ns, self._first_ns)
            self._last_ns = max(last_ns, self._last_ns)
        self._chunks += 1
        self._commit(body)

    def finish(self) -> None:
        """Writes the full summary, with the chunk index."""
        self._commit(bytearray(), self._chunk_indexes())
        os.fdatasync(self.fd)

    def close(self) -> None:
        """Closes the file; its content does not change."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _chunk_indexes(self) -> bytes:
        """Reads the indexes from the file; in memory they would grow during the whole run."""
        indexes = bytearray()
        chunk: mcap.ChunkIndex | None = None  # the message indexes that follow are of this chunk
        at = self._start
        while at < self._end:
            head = os.pread(self.fd, _CHUNK_HEAD.size, at)
            opcode, length = struct.unpack_from("<BQ", head)
            if opcode == Opcode.CHUNK:
                indexes += packed(chunk) if chunk else b""
                _, _, first_ns, last_ns, size, _, _, squeezed = _CHUNK_HEAD.unpack(head)
                whole = _HEAD_BYTES + length
                chunk = mcap.ChunkIndex(whole, at, "zstd", squeezed, last_ns, 0, {}, first_ns, size)
            elif opcode == Opcode.MESSAGE_INDEX and chunk:
                chunk.message_index_offsets[_INDEX_HEAD.unpack_from(head)[2]] = at
                chunk.message_index_length += _HEAD_BYTES + length
            at += _HEAD_BYTES + length
        return bytes(indexes + packed(chunk)) if chunk else b""

    def _compose_tail(self, at: int, chunk_indexes: bytes | None = None) -> bytes:
        finished = chunk_indexes is not None
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
            Opcode.STATISTICS: packed(statistics),
            Opcode.METADATA_INDEX: self._metadata_index,
            Opcode.CHUNK_INDEX: chunk_indexes or b"",
        }
        data_end = packed(mcap.DataEnd(0))
        summary, offsets = b"", b""
        start = at + len(data_end)
        for opcode, group in groups.items():
            if group:
                offsets += packed(mcap.SummaryOffset(opcode, start + len(summary), len(group)))
                summary += group
        # Only a finished log has summary offsets; a truncated log has none.
        offset_start = start + len(summary) if finished else 0
        if finished:
            summary += offsets
        crc = zlib.crc32(struct.pack("<BQQQ", Opcode.FOOTER, 20, start, offset_start), zlib.crc32(summary))
        return data_end + summary + packed(mcap.Footer(start, offset_start, crc)) + MAGIC

    def _commit(self, body: bytearray, chunk_indexes: bytes | None = None) -> None:
        """Replaces the old tail by `body` and a new tail.

        A kill can cut a write between two pages, never within one. So this writes the new end first, after the old
        tail; then it hides everything before the end in a record that readers skip, fills that in, and makes it
        visible with one last write of nine bytes. These short writes do not cross page boundaries.
        """
        at = self._end
        tail = self._compose_tail(at + len(body), chunk_indexes)
        while _straddles(at + len(body), _HEAD_BYTES) or _straddles(at + len(body) + len(tail), -_END_BYTES):
            body += _PADDING
            tail = self._compose_tail(at + len(body), chunk_indexes)
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

    def _write(self, data: bytes | bytearray | memoryview, at: int) -> None:
        left = memoryview(data)
        while left:  # a full disk writes only a part
            written = os.pwrite(self.fd, left, at)
            left, at = left[written:], at + written


def packed(record: mcap.McapRecord) -> bytes:
    """The record as its bytes in a file."""
    builder = RecordBuilder()
    record.write(builder)
    data: bytes = builder.end()
    return data


def _straddles(at: int, size: int) -> bool:
    """True if the `size` bytes from `at` on (before it, if negative) are on two pages."""
    low, high = min(at, at + size), max(at, at + size)
    return low // _PAGE_BYTES != (high - 1) // _PAGE_BYTES


def _version() -> str:
    try:
        return distribution.version("caudal")
    except distribution.PackageNotFoundError:  # run from a bare checkout
        return "unknown"
