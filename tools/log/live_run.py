"""A run that still goes on, seen over its stream (onboard/log/stream.py): the newest of each topic, events, orders
back."""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from typing import Any

import msgspec
import numpy as np

from caudal.onboard.log.reader import Event
from caudal.onboard.log.stream import packed, unpacked
from caudal.tools.common.output import UsageError
from caudal.tools.log.notable_events import Tellable
from caudal.tools.log.recorded_run import BASE, Snapshot

TRAIL_POINTS = 3000
PATIENCE_S = 10.0


class Hello(msgspec.Struct):
    """What a run says first."""

    run: dict[str, str]
    topics: list[tuple[str, list[str]]]
    controls: list[str]
    rehearses: bool


class LiveSource:
    """`address` of the stream. A thread of its own listens; `newest` is what the run is at."""

    def __init__(self, address: tuple[str, int], patience_s: float = PATIENCE_S) -> None:
        self._where = f"{address[0]}:{address[1]}"
        self._heard = bytearray()
        self.events: list[Event] = []
        self._tellable = Tellable()
        self.gone = False
        self._lock = threading.Lock()
        self._socket = self._connect(address, patience_s)
        hello, with_it = self._first()
        self.about = hello.run
        self.fields = dict(hello.topics)
        self.controls = hello.controls
        self.rehearses = hello.rehearses
        self._topics = [name for name, _ in hello.topics]
        self._rows: dict[str, Any] = {}
        self._paths: dict[str, deque] = {}
        self._truths: dict[str, deque] = {}
        self.start_ns = 0
        self._newest = Snapshot(0.0, {})
        self.updates = 0
        self._thread = threading.Thread(target=self._listen, args=(with_it,), name="watch", daemon=True)
        self._thread.start()

    @property
    def newest(self) -> Snapshot:
        return self._newest

    def send(self, vehicle: str, kind: str, *values: Any) -> None:
        """An order for a vehicle; what became of it stands among the events."""
        self._send(["tell", vehicle, kind, *values])

    def rehearse(self, vehicle: str, fault: str) -> None:
        self._send(["rehearse", vehicle, fault])

    def trail(self, vehicle: str, until_s: float, seconds: float) -> np.ndarray:
        path = list(self._paths.get(vehicle, ()))
        return np.array([point for time_s, point in path if until_s - seconds <= time_s]).reshape(-1, 3)

    def beside(self, topic: str, time_s: float) -> tuple[np.ndarray, list[Any], int]:
        """The last row up to an instant and two before it: (times (s) by the run's own clock, rows, which of them it
        is). What comes after it is not known yet."""
        until_ns = self.start_ns + round(time_s * 1e9)
        last = [(at_ns, row) for at_ns, row in tuple(self._truths.get(topic, ())) if at_ns <= until_ns][-3:]
        return np.array([at_ns / 1e9 for at_ns, _ in last]), [row for _, row in last], len(last) - 1

    def seconds(self, time_ns: int) -> float:
        return (time_ns - self.start_ns) / 1e9

    def close(self) -> None:
        self.gone = True
        self._socket.close()

    def _connect(self, address: tuple[str, int], patience_s: float) -> socket.socket:
        give_up = time.monotonic() + patience_s
        while True:
            try:
                return socket.create_connection(address, timeout=patience_s)
            except OSError as error:
                if time.monotonic() > give_up or not isinstance(error, ConnectionRefusedError):
                    raise UsageError(
                        f"nothing to look at on {self._where} ({error.strerror or error}); start a run with --view or "
                        f"--stream, or name a log"
                    ) from None
                time.sleep(0.1)

    def _first(self) -> tuple[Hello, list[Any]]:
        """And what came with it."""
        try:
            while True:
                if found := self._read():
                    return msgspec.convert(found[0], Hello), found[1:]
        except (OSError, ValueError):
            self._socket.close()
            raise UsageError(f"what answers on {self._where} is no run of caudal") from None

    def _read(self) -> list[Any]:
        came = self._socket.recv(1 << 16)
        if not came:
            raise OSError("gone")
        self._heard += came
        return unpacked(self._heard)

    def _listen(self, came: list[Any]) -> None:
        try:
            self._socket.settimeout(None)
            while not self.gone:
                for message in came:
                    self._take(message)
                came = self._read()
        except (OSError, ValueError, TypeError, AttributeError, LookupError):  # ended, or no run of ours
            self.gone = True

    def _take(self, message: dict[str, Any]) -> None:
        for time_ns, kind, details in message.get("events", ()):
            if self._tellable(event := Event(time_ns, kind, details)):
                self.events.append(event)
        if "at" not in message:
            return
        newest_ns = 0
        for k, time_ns, values in message["at"]:
            self._rows[self._topics[k]] = values
            self._keep(self._topics[k], time_ns, values)
            newest_ns = max(newest_ns, time_ns)
        if not self.updates:
            self.start_ns = self.events[0].time_ns if self.events else newest_ns
        time_s = (newest_ns - self.start_ns) / 1e9
        self._newest = Snapshot(time_s, dict(self._rows))
        self.updates += 1
        for topic, values in self._rows.items():
            if topic.endswith("/truth") and "depth_m" in self.fields[topic]:
                at = [values[self.fields[topic].index(field)] for field in BASE[:3]]
                if None in at:
                    continue
                path = self._paths.setdefault(topic.split("/")[1], deque(maxlen=TRAIL_POINTS))
                path.append((time_s, (at[0], at[1], -at[2])))

    def _keep(self, topic: str, time_ns: int, values: Any) -> None:
        """The last of a truth's rows: three that are shown, and what comes while they are."""
        if topic.endswith("/truth"):
            last = self._truths.setdefault(topic, deque(maxlen=8))
            if not last or time_ns > last[-1][0]:
                last.append((time_ns, values))

    def _send(self, message: list[Any]) -> None:
        with self._lock:
            try:
                self._socket.sendall(packed(message))
            except OSError:
                self.gone = True
