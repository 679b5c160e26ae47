"""A run that is still in progress, read from its stream (onboard/log/stream.py): newest rows, events, commands back."""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from caudal.onboard.log.reader import Event
from caudal.onboard.log.stream import packed, unpacked
from caudal.tools.common.output import UsageError
from caudal.tools.log.notable_events import EventFilter
from caudal.tools.log.recorded_run import BASE, Row, Snapshot

TRAIL_POINTS = 3000
CONNECT_TIMEOUT_S = 10.0


class Handshake(msgspec.Struct):
    """The first message of a stream."""

    run: dict[str, str]
    topics: list[tuple[str, list[str]]]
    controls: list[str]
    rehearses: bool


class LiveSource:
    """The client of a stream: a thread keeps `newest` and `events` up to date."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = f"{address[0]}:{address[1]}"
        self._buffer = bytearray()
        self.events: list[Event] = []
        self._notable = EventFilter()
        self.ended = False
        self._lock = threading.Lock()
        self._socket = self._connect(address)
        handshake, rest = self._handshake()
        self.metadata = handshake.run
        self.fields = dict(handshake.topics)
        self.controls = handshake.controls
        self.injects_faults = handshake.rehearses
        self._topics = [name for name, _ in handshake.topics]
        self._rows: dict[str, Row] = {}
        self._trails: dict[str, deque[tuple[float, tuple[float, float, float]]]] = {}
        self._truths: dict[str, deque[tuple[int, Row]]] = {}
        self.start_ns = 0
        self._newest = Snapshot(0.0, {})
        self.updates = 0
        self._thread = threading.Thread(target=self._receive, args=(rest,), name="watch", daemon=True)
        self._thread.start()

    @property
    def newest(self) -> Snapshot:
        """The newest row of each topic."""
        return self._newest

    def send(self, vehicle: str, kind: str, *values: Any) -> None:
        """Sends a command to a vehicle; its result appears among the events."""
        self._send(["tell", vehicle, kind, *values])

    def inject_fault(self, vehicle: str, fault: str) -> None:
        """Requests a fault by its text (docs/faults.md); its result appears among the events."""
        self._send(["rehearse", vehicle, fault])

    def trail(self, vehicle: str, until_s: float, seconds: float) -> np.ndarray:
        """Returns recent positions (point, 3) in world axes, m."""
        trail = list(self._trails.get(vehicle, ()))
        return np.array([point for time_s, point in trail if until_s - seconds <= time_s]).reshape(-1, 3)

    def neighbours(self, topic: str, time_s: float) -> tuple[np.ndarray, Sequence[Row], int]:
        """Returns the last row up to an instant and the two before it: (times (s) of the run's clock, rows, its index).

        Rows after it are not known yet.
        """
        until_ns = self.start_ns + round(time_s * 1e9)
        last = [(at_ns, row) for at_ns, row in tuple(self._truths.get(topic, ())) if at_ns <= until_ns][-3:]
        return np.array([at_ns / 1e9 for at_ns, _ in last]), [row for _, row in last], len(last) - 1

    def close(self) -> None:
        """Closes the connection."""
        self.ended = True
        self._socket.close()

    def _connect(self, address: tuple[str, int]) -> socket.socket:
        give_up_s = time.monotonic() + CONNECT_TIMEOUT_S
        while True:
            try:
                return socket.create_connection(address, timeout=CONNECT_TIMEOUT_S)
            except OSError as error:
                if time.monotonic() > give_up_s or not isinstance(error, ConnectionRefusedError):
                    raise UsageError(
                        f"no run to view at {self._address} ({error.strerror or error}); start a run with --view or "
                        f"--stream, or name a log"
                    ) from None
                time.sleep(0.1)

    def _handshake(self) -> tuple[Handshake, list[Any]]:
        """Returns the first message and the messages that arrived with it."""
        try:
            while True:
                if messages := self._read():
                    return msgspec.convert(messages[0], Handshake), messages[1:]
        except (OSError, ValueError):
            self._socket.close()
            raise UsageError(f"{self._address} does not answer as a caudal run") from None

    def _read(self) -> list[Any]:
        received = self._socket.recv(1 << 16)
        if not received:
            raise OSError("closed")
        self._buffer += received
        return unpacked(self._buffer)

    def _receive(self, messages: list[Any]) -> None:
        try:
            self._socket.settimeout(None)
            while not self.ended:
                for message in messages:
                    self._apply(message)
                messages = self._read()
        except (OSError, ValueError, TypeError, AttributeError, LookupError):  # closed, or not our protocol
            self.ended = True

    def _apply(self, message: dict[str, Any]) -> None:
        for time_ns, kind, details in message.get("events", ()):
            if self._notable(event := Event(time_ns, kind, details)):
                self.events.append(event)
        if "at" not in message:
            return
        newest_ns = 0
        for k, time_ns, values in message["at"]:
            self._rows[self._topics[k]] = values
            self._keep_truth(self._topics[k], time_ns, values)
            newest_ns = max(newest_ns, time_ns)
        if not self.updates:
            self.start_ns = self.events[0].time_ns if self.events else newest_ns
        time_s = (newest_ns - self.start_ns) / 1e9
        self._newest = Snapshot(time_s, dict(self._rows))
        self.updates += 1
        for topic, values in self._rows.items():
            if topic.endswith("/truth") and "depth_m" in self.fields[topic]:
                x_m, y_m, depth_m = (values[self.fields[topic].index(field)] for field in BASE[:3])
                if x_m is None or y_m is None or depth_m is None:
                    continue
                trail = self._trails.setdefault(topic.split("/")[1], deque(maxlen=TRAIL_POINTS))
                trail.append((time_s, (x_m, y_m, -depth_m)))

    def _keep_truth(self, topic: str, time_ns: int, values: Row) -> None:
        """Keeps the last rows of a truth topic: the three that `neighbours` returns and some that arrive meanwhile."""
        if topic.endswith("/truth"):
            last = self._truths.setdefault(topic, deque(maxlen=8))
            if not last or time_ns > last[-1][0]:
                last.append((time_ns, values))

    def _send(self, message: list[Any]) -> None:
        with self._lock:
            try:
                self._socket.sendall(packed(message))
            except OSError:
                self.ended = True
