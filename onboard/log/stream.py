"""A run that may be looked on at: what is recorded is also shown, and what is asked comes back as orders. CPython only.

    recorder -> StreamServer -> a stream of bytes on a socket -> caudal view (any number of them)

It takes a recorder's place: topics and events go to both. The control thread only leaves each topic's newest values
where a thread of this file finds them; whoever looks on slowly misses some, and nothing waits. Between two ticks it
calls `take`: orders are taken there, and stand in the log as all orders do; and thirty times a second the thread is
given its turn there, when a tick is done and the next not due, as the two share the interpreter's lock.

It listens on this machine alone unless told otherwise. From beyond it a run may be looked at; to steer, too, has to be
allowed: nobody is asked for a password here. A message is its length in four bytes, most significant first, and
MessagePack.
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
from caudal.onboard.log.recorder import Recorder, Topic

PORT = 9360
SHOWS_A_SECOND = 30
IDLE_S = 0.1  # between two looks while nobody ticks
EVENTS_KEPT = 2000
LARGEST_BYTES = 64 << 20  # of a message; anything longer is no message of ours
LARGEST_ORDER_BYTES = 64 << 10  # of one to a run, which decodes it beside its loop
ASKED_KEPT = 64

_LENGTH = struct.Struct(">I")
_PACK = msgspec.msgpack.Encoder(enc_hook=lambda value: value.item() if hasattr(value, "item") else str(value))

Tell = Callable[..., object]
Rehearse = Callable[[str, str], str | None]


def packed(message: Any) -> bytes:
    body = _PACK.encode(message)
    return _LENGTH.pack(len(body)) + body


def unpacked(buffer: bytearray, largest_bytes: int = LARGEST_BYTES) -> list[Any]:
    """The whole messages at the start of a buffer, which are taken from it; ValueError if there can be none."""
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


class LiveView:
    """A recorder's topic whose newest values are left for the lookers-on."""

    def __init__(self, live: "StreamServer", topic: Topic, place: int) -> None:
        self._live = live
        self._write = topic.write
        self._place = place

    def write(self, time_ns: int, values: Any) -> None:
        self._write(time_ns, values)
        if self._live.watched:
            self._live.newest[self._place] = (time_ns, tuple(values))  # a list may be used again next tick


class Looker:
    """One who looks on."""

    def __init__(self, peer: socket.socket, may_control: bool, first: bytes) -> None:
        self.peer = peer
        self.may_control = may_control
        self.heard = bytearray()
        self.unsent = bytearray(first)
        self.events = 0  # how many it has been sent


def is_order(message: Any) -> bool:
    """["tell", VEHICLE, KIND, VALUE ...] or ["rehearse", VEHICLE, FAULT]: what the control thread may be given."""
    return (
        isinstance(message, list)
        and len(message) >= 3
        and all(isinstance(word, str) for word in message[:3])
        and (message[0] == "tell" or (message[0] == "rehearse" and len(message) == 3))
        and all(is_value(value) for value in message[3:])
    )


def is_value(value: Any, deep: int = 2) -> bool:
    """A word, a number, nothing, or a list of them: a mission's is two deep. What is deeper might not be recorded."""
    if isinstance(value, list):
        return deep > 0 and all(is_value(one, deep - 1) for one in value)
    return value is None or isinstance(value, str | int | float)


class StreamServer:
    """`about` is what the log says of its run. Close it before the recorder."""

    def __init__(
        self,
        recorder: Recorder,
        about: dict[str, str],
        address: tuple[str, int] = ("127.0.0.1", PORT),
        allow_control: bool = False,
    ) -> None:
        self.watched = False
        self.newest: list[tuple[int, tuple] | None] = []
        self.rehearse: Rehearse | None = None
        self._recorder = recorder
        self._about = about
        self._allow_control = allow_control
        self._topics: list[tuple[str, list[str]]] = []
        self._events: deque[tuple[int, str, dict]] = deque(maxlen=EVENTS_KEPT)
        self._event_count = 0
        self._helms: dict[str, Tell] = {}
        self._asked: deque[list] = deque(maxlen=ASKED_KEPT)
        self._lookers: list[Looker] = []
        self._closing = threading.Event()
        self._turn = threading.Event()
        self._due_s = 0.0
        self._socket = socket.create_server(address)
        self._socket.setblocking(False)
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        self._thread = threading.Thread(target=self._show, name="live", daemon=True)

    def start(self) -> None:
        """Once every topic and helm is there."""
        self._thread.start()

    def topic(self, name: str, fields: list[tuple[str, str]]) -> LiveView:
        topic = self._recorder.topic(name, fields)
        self._topics.append((name, [field for _, field in fields]))
        self.newest.append(None)
        return LiveView(self, topic, len(self.newest) - 1)

    def event(self, time_ns: int, kind: str, /, **details: Any) -> None:
        self._recorder.event(time_ns, kind, **details)
        self._events.append((time_ns, kind, details))
        self._event_count += 1

    @property
    def descriptor(self) -> int:
        """The log's own file."""
        return self._recorder.descriptor

    def handler(self, vehicle: str, tell: Tell) -> None:
        """Orders for this vehicle go there."""
        self._helms[vehicle] = tell

    def take(self, time_ns: int) -> None:
        """Do what was asked, and let it be shown; on the control thread, when a tick is done."""
        while self._asked:
            what, vehicle, *rest = self._asked.popleft()
            if what == "tell" and vehicle in self._helms:
                self._helms[vehicle](*rest)
            elif what == "rehearse" and self.rehearse:
                refusal = self.rehearse(vehicle, rest[0])
                details = {"refused": refusal} if refusal else {}
                self.event(time_ns, "rehearsal", vehicle=vehicle, fault=rest[0], **details)
        now_s = time.monotonic()
        if now_s >= self._due_s:
            self._due_s = max(self._due_s + 1 / SHOWS_A_SECOND, now_s)
            self._turn.set()

    def close(self) -> None:
        self._closing.set()
        self._turn.set()
        if self._thread.ident is not None:
            self._thread.join()
        for looker in self._lookers:
            looker.peer.close()
        self._socket.close()

    def _show(self) -> None:
        # a thread that is kept from the processor keeps the interpreter's lock, too
        first_in_line(RECORD_PRIORITY)
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            while not self._closing.is_set():
                self._turn.wait(IDLE_S)
                self._turn.clear()
                for key, _ in selector.select(0):
                    if key.data is None:
                        self._meet(selector)
                    else:
                        self._hear(selector, key.data)
                if self._lookers:
                    now = [(k, *new) for k, new in enumerate(self.newest) if new is not None]
                    told = packed({"at": now}) if now else b""
                    for looker in list(self._lookers):
                        self._tell(selector, looker, told)

    def _meet(self, selector: selectors.BaseSelector) -> None:
        try:
            peer, (host, *_) = self._socket.accept()
        except OSError:
            return
        peer.setblocking(False)
        may_control = self._allow_control or host in ("127.0.0.1", "::1")
        handshake = {
            "run": self._about,
            "topics": self._topics,
            "controls": sorted(self._helms) if may_control else [],
            "rehearses": may_control and self.rehearse is not None,
        }
        looker = Looker(peer, may_control, packed(handshake))
        selector.register(peer, selectors.EVENT_READ, looker)
        self._lookers.append(looker)
        self.watched = True

    def _hear(self, selector: selectors.BaseSelector, looker: Looker) -> None:
        try:
            came = looker.peer.recv(65536)
            if not came:
                raise ValueError("gone")
            if not looker.may_control:
                return  # whatever it says
            looker.heard += came
            for message in unpacked(looker.heard, LARGEST_ORDER_BYTES):
                if not is_order(message):
                    raise ValueError("no order")
                self._asked.append(message)
        except BlockingIOError:
            pass
        except (OSError, ValueError):
            self._part(selector, looker)

    def _tell(self, selector: selectors.BaseSelector, looker: Looker, told: bytes) -> None:
        if not looker.unsent:  # else it is slow, and misses this one
            news = self._event_count - looker.events
            if news:
                kept = list(self._events)
                looker.unsent += packed({"events": kept[max(0, len(kept) - news) :]})
                looker.events += news
            looker.unsent += told
        try:
            sent = looker.peer.send(looker.unsent)
            del looker.unsent[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self._part(selector, looker)

    def _part(self, selector: selectors.BaseSelector, looker: Looker) -> None:
        with contextlib.suppress(KeyError, ValueError):
            selector.unregister(looker.peer)
        looker.peer.close()
        if looker in self._lookers:
            self._lookers.remove(looker)
        self.watched = bool(self._lookers)
