"""Reads a log, complete or truncated.

A log truncated by a kill or a power cut opens with every chunk that is intact on the disk; the reader ignores the
rest, and `complete` is False. Values stay packed until they are used, so that a long log opens fast and a single
column costs little memory.
"""

import contextlib
import os
import struct
import zlib
from array import array
from collections.abc import Callable, Iterator
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
import zstandard
from mcap import records as mcap
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.stream_reader import get_chunk_data_stream

from caudal.hal.errors import CaudalError
from caudal.onboard.log.mcap_writer import FORMAT, LIBRARY, MAGIC
from caudal.onboard.log.recorder import ABSENT, CODES, EVENTS

_RECORD = struct.Struct("<BQ")  # opcode, length
_MESSAGE = struct.Struct("<HIq8x")  # channel, sequence, log time; the publish time is the same
_MESSAGE_OPCODE = int(Opcode.MESSAGE)  # a comparison with the enum is slow, and this is the hot loop
_END = struct.Struct("<BQQQI8s")  # the footer (opcode, length, summary, summary offsets, CRC) and the magic
_CDR_BYTES = 4
_READ = {Opcode.HEADER, Opcode.METADATA, Opcode.CHUNK, Opcode.FOOTER}
# Errors that the package raises on damaged records.
_DAMAGE = (McapError, ValueError, struct.error, zstandard.ZstdError, MemoryError)


Row = tuple[Any, ...]  # one message; a value is None where its reading was absent


class LogError(CaudalError, ValueError):
    """The file is not a log that caudal wrote; one sentence."""


class Event(NamedTuple):
    """An event of a run."""

    time_ns: int
    kind: str
    details: dict[str, Any]


class Columns:
    """The messages of one topic. A value is None where its reading was absent."""

    def __init__(self, fields: list[str], types: list[str]) -> None:
        self.fields = fields
        self.types = types
        self.time_ns = array("q")
        self.lost = 0  # missing messages, by gaps in the sequence
        self._codes = "".join(CODES[kind] for kind in types)
        self._size = struct.calcsize("<" + self._codes)
        self._packed = bytearray()
        self._next = 0

    def __len__(self) -> int:
        return len(self.time_ns)

    @property
    def packed(self) -> bytes:
        """All messages in sequence, little endian, without padding; absent values as recorded."""
        return bytes(self._packed)

    @cached_property
    def rows(self) -> list[Row]:
        """Every message as a tuple in the order of the fields."""
        return list(self.each())

    def each(self) -> Iterator[Row]:
        """The messages one at a time, so that hours of a run need not be unpacked in memory."""
        tests = [_is_absent(code) for code in self._codes]
        for row in struct.iter_unpack("<" + self._codes, self._packed):
            total = sum(row)
            if total != total or ABSENT in row:  # rare: a NaN makes the sum a NaN
                row = tuple(
                    None if absent(value) else value for absent, value in zip(tests, row, strict=True)
                )
            yield row

    def column(self, field: str) -> list[Any]:
        """All values of one field, in the order of recording."""
        if field not in self.fields:
            raise KeyError(f"There is no field {field!r} here; there are {', '.join(self.fields)}.")
        index = self.fields.index(field)
        before = struct.calcsize("<" + self._codes[:index])
        after = struct.calcsize("<" + self._codes[index + 1 :])
        absent = _is_absent(self._codes[index])
        unpacked = struct.iter_unpack(f"<{before}x{self._codes[index]}{after}x", self._packed)
        return [None if absent(value) else value for (value,) in unpacked]

    def _append(self, sequence: int, time_ns: int, data: bytes) -> None:
        self.lost += (sequence - self._next) & 0xFFFFFFFF  # the count wraps at 32 bits
        self._next = sequence + 1
        self.time_ns.append(time_ns)
        self._packed += data


class Log:
    """One recorded run: `run` has the facts of its start, `topics` and `events` its messages.

    `only`: read only topics whose last word is one of these; with an empty tuple read `run` alone.
    """

    def __init__(self, path: Path | str, only: tuple[str, ...] | None = None) -> None:
        self.path = Path(path)
        self._only = only
        self.run: dict[str, str] = {}
        self.events: list[Event] = []
        self.topics: dict[str, Columns] = {}
        self.complete = False  # its recorder closed it, and no chunk is damaged
        self._schemas: dict[int, mcap.Schema] = {}
        self._columns: dict[int, Columns] = {}
        self._events_channel = 0
        try:
            with open(self.path, "rb") as file:
                self._read(file)
        except FileNotFoundError:
            raise LogError(f"There is no log {self.path}; check the path.") from None
        except IsADirectoryError:
            raise LogError(f"{self.path} is a folder; give the .mcap file in it.") from None
        except OSError as error:
            raise LogError(f"The log {self.path} cannot be read: {error.strerror}.") from None

    def _read(self, file: BinaryIO) -> None:
        size = os.fstat(file.fileno()).st_size
        magic = file.read(len(MAGIC))
        if not magic:
            raise LogError(f"{self.path} is empty: its run ended before anything was recorded.")
        if not MAGIC.startswith(magic):
            raise LogError(f"{self.path} is not a log: it does not start as an MCAP file does.")
        library = _library(file, size)
        if library is not None and library.split(" ")[0] != LIBRARY:
            raise LogError(f"{self.path} was written by {library or 'another program'}, not by caudal.")
        self._sort(_summary(file, size))  # the topics: a damaged chunk may hold their definitions
        file.seek(len(MAGIC))
        about: dict[str, str] | None = None
        damaged = False
        for opcode, body in _records(file, size):
            chunk: bytes | None = None
            try:
                if opcode == Opcode.CHUNK and about is not None:
                    chunk = _unpack_chunk(body)
                elif opcode == Opcode.METADATA:
                    metadata = mcap.Metadata.read(_stream(body))
                    about = metadata.metadata if metadata.name == LIBRARY else about
                elif opcode == Opcode.FOOTER:
                    # A recorder writes summary offsets only when it closes.
                    closed = mcap.Footer.read(_stream(body)).summary_offset_start != 0
                    self.complete = closed and not damaged and file.read(len(MAGIC)) == MAGIC
            except _DAMAGE:
                damaged = True
                continue
            if about is not None and self._only == ():
                break
            if chunk is not None:
                self._sort(chunk)
        if about is None:
            raise LogError(f"{self.path} ends before the end of its header; it has no data.")
        found = about.pop("format", None)
        if found != str(FORMAT):
            version = "a newer version" if found else "caudal 0.1.0, the last version that reads it"
            raise LogError(f"{self.path} is a log of format {found or 1}; read it with {version}.")
        self.run = about

    def _sort(self, chunk: bytes) -> None:
        """Sorts the messages of one chunk (or of the summary, which has none) into their topics."""
        columns, unpack_record, unpack_message = self._columns, _RECORD.unpack_from, _MESSAGE.unpack_from
        at = 0
        while at < len(chunk):
            opcode, length = unpack_record(chunk, at)
            start = at + _RECORD.size
            at = start + length
            if opcode == _MESSAGE_OPCODE:
                channel, sequence, time_ns = unpack_message(chunk, start)
                data_start = start + _MESSAGE.size
                if channel in columns:
                    columns[channel]._append(sequence, time_ns, chunk[data_start + _CDR_BYTES : at])
                elif channel == self._events_channel:
                    event = msgspec.json.decode(chunk[data_start:at])
                    self.events.append(Event(time_ns, event["kind"], event["details"]))
            elif opcode == Opcode.SCHEMA:
                schema = mcap.Schema.read(_stream(chunk[start:at]))
                self._schemas[schema.id] = schema
            elif opcode == Opcode.CHANNEL:
                self._open(mcap.Channel.read(_stream(chunk[start:at])))

    def _open(self, channel: mcap.Channel) -> None:
        if channel.topic == EVENTS:
            self._events_channel = channel.id
            return
        if self._only is not None and channel.topic.split("/")[-1] not in self._only:
            return
        schema = self._schemas.get(channel.schema_id)
        if schema is None or channel.id in self._columns:  # defined in a damaged chunk; defined twice
            return
        fields = [line.split(" ") for line in schema.data.decode().split("\n")]
        for kind, name in fields:
            if kind not in CODES:
                raise LogError(
                    f"{self.path}: field {name} of topic {channel.topic} has type {kind}, which this version "
                    "of caudal does not know; read the log with the version that wrote it."
                )
        self._columns[channel.id] = Columns([name for _, name in fields], [kind for kind, _ in fields])
        self.topics[channel.topic] = self._columns[channel.id]


def _records(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """The records in `_READ`, up to the footer or the first byte that cannot be a record."""
    # Not the package's StreamReader: a third of its time goes into message indexes, which are not used here.
    at = len(MAGIC)
    while at + _RECORD.size <= size:
        opcode, length = _RECORD.unpack(file.read(_RECORD.size))
        at += _RECORD.size + length
        if at > size or not (Opcode.HEADER <= opcode <= Opcode.DATA_END or opcode >= 0x80):
            return
        if opcode in _READ:
            yield opcode, file.read(length)
        else:
            file.seek(at)
        if opcode == Opcode.FOOTER:
            return


def _library(file: BinaryIO, size: int) -> str | None:
    """The library that wrote it, from its first record; None if that is damaged."""
    with contextlib.suppress(*_DAMAGE):
        for opcode, body in _records(file, size):
            return mcap.Header.read(_stream(body)).library if opcode == Opcode.HEADER else None
    return None


def _summary(file: BinaryIO, size: int) -> bytes:
    """The summary's records; empty if the file does not end in an intact one."""
    if size < len(MAGIC) + _END.size:
        return b""
    file.seek(size - _END.size)
    end = file.read(_END.size)
    opcode, _, start, _, crc, magic = _END.unpack(end)
    if opcode != Opcode.FOOTER or magic != MAGIC or not 0 < start <= size - _END.size:
        return b""
    file.seek(start)
    summary = file.read(size - _END.size - start)
    sound = zlib.crc32(end[: -len(MAGIC) - 4], zlib.crc32(summary)) == crc
    return summary if sound else b""


def _unpack_chunk(body: bytes) -> bytes:
    chunk = mcap.Chunk.read(_stream(body))
    stream, size = get_chunk_data_stream(chunk)
    data: bytes = stream.read(size)
    if zlib.crc32(data) != chunk.uncompressed_crc:  # the package accepts a CRC of 0 unchecked
        raise McapError("the checksum of a chunk is wrong")
    return data


def _stream(body: bytes) -> ReadDataStream:
    return ReadDataStream(BytesIO(body))


def _is_absent(code: str) -> Callable[[float], bool]:
    return (lambda value: value != value) if code in "df" else (lambda value: value == ABSENT)
