"""Streams a run's topics and events over TCP to viewers, and accepts commands from them. CPython only.

    recorder -> StreamServer -> a TCP connection for each viewer (caudal view)

A StreamServer has a recorder's interface and passes topics and events to both. The control thread only stores each
topic's newest values for the server's thread; a slow viewer misses some, and no tick waits. Between two ticks the
control thread calls `poll`: it executes the viewers' commands, which the log records as all commands, and thirty
times a second it wakes the server's thread then, because both share the interpreter's lock.

By default it listens on this computer only. Viewers on other computers may watch; control needs `allow_control`,
because there is no authentication. A message is its length in four bytes, most significant first, and MessagePack.
"""

import contextlib
import selectors
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from caudal.onboard.host.realtime import RECORD_PRIORITY, first_in_line
from caudal.onboard.log.recorder import Recorder, Topic, Values

PORT = 9360
UPDATES_A_SECOND = 30
IDLE_S = 0.1  # between two checks while no tick runs
MAX_EVENTS = 2000
LARGEST_BYTES = 64 << 20  # of a message
LARGEST_COMMAND_BYTES = 64 << 10  # of a message to a run, which decodes it in the loop's process
MAX_COMMANDS = 64

_LENGTH = struct.Struct(">I")
_PACK = msgspec.msgpack.Encoder(enc_hook=lambda value: value.item() if hasattr(value, "item") else str(value))

SendCommand = Callable[..., object]  # a command's kind and values, to one vehicle's loop
InjectFault = Callable[[str, str], str | None]  # a vehicle's name and a request; None, or why it was rejected


def packed(message: Any) -> bytes:
    """A message as bytes of the stream."""
    body = _PACK.encode(message)
    return _LENGTH.pack(len(body)) + body


def unpacked(buffer: bytearray, largest_bytes: int = LARGEST_BYTES) -> list[Any]:
    """Removes the complete messages from the start of a buffer; ValueError on bytes that are no message."""
    found = []
    while len(buffer) >= _LENGTH.size:
        (length,) = _LENGTH.unpack_from(buffer)
        if length > largest_bytes:
            raise ValueError(f"a message of {length} bytes")
        end = _LENGTH.size + length
        if len(buffer) < end:
            break
        try:
            found.append(msgspec.msgpack.decode(memoryview(buffer)[_LENGTH.size : end]))
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError(str(error)) from None
        del buffer[:end]
    return found


class StreamedTopic:
    """A recorder's topic that also stores its newest values for the viewers."""

    def __init__(self, server: "StreamServer", topic: Topic, index: int) -> None:
        self._server = server
        self._write = topic.write
        self._index = index

    def write(self, time_ns: int, values: Values) -> None:
        """Records one message and stores it for the viewers."""
        self._write(time_ns, values)
        if self._server.watched:
            self._server.newest[self._index] = (time_ns, tuple(values))  # the caller may reuse a list


class Viewer:
    """A connected viewer."""

    def __init__(self, connection: socket.socket, may_control: bool, first: bytes) -> None:
        self.connection = connection
        self.may_control = may_control
        self.received = bytearray()
        self.unsent = bytearray(first)
        self.events = 0  # number of events sent


def is_command(message: Any) -> bool:
    """True for `["tell", VEHICLE, KIND, VALUE ...]` and `["rehearse", VEHICLE, FAULT]`."""
    return (
        isinstance(message, list)
        and len(message) >= 3
        and all(isinstance(word, str) for word in message[:3])
        and (message[0] == "tell" or (message[0] == "rehearse" and len(message) == 3))
        and all(is_value(value) for value in message[3:])
    )


def is_value(value: Any, deep: int = 2) -> bool:
    """True for a string, a number, None, or a list of them, at most two deep as a mission's: the recorder's limit."""
    if isinstance(value, list):
        return deep > 0 and all(is_value(one, deep - 1) for one in value)
    return value is None or isinstance(value, str | int | float)


class StreamServer:
    """`about`: the facts of the run, as in its log. Close it before the recorder."""

    def __init__(
        self,
        recorder: Recorder,
        about: dict[str, str],
        address: tuple[str, int] = ("127.0.0.1", PORT),
        allow_control: bool = False,
    ) -> None:
        self.watched = False
        self.newest: list[tuple[int, tuple[float | None, ...]] | None] = []
        self.inject: InjectFault | None = None  # in a simulation
        self._recorder = recorder
        self._about = about
        self._allow_control = allow_control
        self._topics: list[tuple[str, list[str]]] = []
        self._events: deque[tuple[int, str, dict[str, Any]]] = deque(maxlen=MAX_EVENTS)
        self._event_count = 0
        self._vehicles: dict[str, SendCommand] = {}
        self._commands: deque[list[Any]] = deque(maxlen=MAX_COMMANDS)
        self._viewers: list[Viewer] = []
        self._closing = threading.Event()
        self._update = threading.Event()
        self._due_s = 0.0
        self._socket = socket.create_server(address)
        self._socket.setblocking(False)
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        self._thread = threading.Thread(target=self._serve, name="live", daemon=True)

    def start(self) -> None:
        """Starts the thread; call it after the last `topic` and `add_vehicle`."""
        self._thread.start()

    def topic(self, name: str, fields: list[tuple[str, str]]) -> StreamedTopic:
        """The topic with these fields, recorded and streamed."""
        topic = self._recorder.topic(name, fields)
        self._topics.append((name, [field for _, field in fields]))
        self.newest.append(None)
        return StreamedTopic(self, topic, len(self.newest) - 1)

    def event(self, time_ns: int, kind: str, /, **details: Any) -> None:
        """Records and streams an event."""
        self._recorder.event(time_ns, kind, **details)
        self._events.append((time_ns, kind, details))
        self._event_count += 1

    @property
    def descriptor(self) -> int:
        """The log's file descriptor."""
        return self._recorder.descriptor

    def add_vehicle(self, vehicle: str, send: SendCommand) -> None:
        """Sends commands for this vehicle to `send`."""
        self._vehicles[vehicle] = send

    def poll(self, time_ns: int) -> None:
        """Executes received commands and wakes the thread; call it in the control thread after a tick."""
        while self._commands:
            what, vehicle, *rest = self._commands.popleft()
            if what == "tell" and vehicle in self._vehicles:
                self._vehicles[vehicle](*rest)
            elif what == "rehearse" and self.inject:
                refusal = self.inject(vehicle, rest[0])
                details = {"refused": refusal} if refusal else {}
                self.event(time_ns, "rehearsal", vehicle=vehicle, fault=rest[0], **details)
        now_s = time.monotonic()
        if now_s >= self._due_s:
            self._due_s = max(self._due_s + 1 / UPDATES_A_SECOND, now_s)
            self._update.set()

    def close(self) -> None:
        """Ends the thread and closes all connections."""
        self._closing.set()
        self._update.set()
        if self._thread.ident is not None:
            self._thread.join()
        for viewer in self._viewers:
            viewer.connection.close()
        self._socket.close()

    def _serve(self) -> None:
        # a thread that waits for a processor may hold the interpreter's lock meanwhile
        first_in_line(RECORD_PRIORITY)
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            while not self._closing.is_set():
                self._update.wait(IDLE_S)
                self._update.clear()
                for key, _ in selector.select(0):
                    if key.data is None:
                        self._accept(selector)
                    else:
                        self._receive(selector, key.data)
                if self._viewers:
                    now = [(k, *new) for k, new in enumerate(self.newest) if new is not None]
                    update = packed({"at": now}) if now else b""
                    for viewer in list(self._viewers):
                        self._send(selector, viewer, update)

    def _accept(self, selector: selectors.BaseSelector) -> None:
        try:
            connection, (host, *_) = self._socket.accept()
        except OSError:
            return
        connection.setblocking(False)
        may_control = self._allow_control or host in ("127.0.0.1", "::1")
        handshake = {
            "run": self._about,
            "topics": self._topics,
            "controls": sorted(self._vehicles) if may_control else [],
            "rehearses": may_control and self.inject is not None,
        }
        viewer = Viewer(connection, may_control, packed(handshake))
        selector.register(connection, selectors.EVENT_READ, viewer)
        self._viewers.append(viewer)
        self.watched = True

    def _receive(self, selector: selectors.BaseSelector, viewer: Viewer) -> None:
        try:
            data = viewer.connection.recv(65536)
            if not data:
                raise ValueError("the viewer has closed the connection")
            if not viewer.may_control:
                return
            viewer.received += data
            for message in unpacked(viewer.received, LARGEST_COMMAND_BYTES):
                if not is_command(message):
                    raise ValueError("the message is no command")
                self._commands.append(message)
        except BlockingIOError:
            pass
        except (OSError, ValueError):
            self._disconnect(selector, viewer)

    def _send(self, selector: selectors.BaseSelector, viewer: Viewer, update: bytes) -> None:
        if not viewer.unsent:  # else it is slow, and misses this update
            count = self._event_count - viewer.events
            if count:
                events = list(self._events)
                viewer.unsent += packed({"events": events[max(0, len(events) - count) :]})
                viewer.events += count
            viewer.unsent += update
        try:
            sent = viewer.connection.send(viewer.unsent)
            del viewer.unsent[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self._disconnect(selector, viewer)

    def _disconnect(self, selector: selectors.BaseSelector, viewer: Viewer) -> None:
        with contextlib.suppress(KeyError, ValueError):
            selector.unregister(viewer.connection)
        viewer.connection.close()
        if viewer in self._viewers:
            self._viewers.remove(viewer)
        self.watched = bool(self._viewers)
