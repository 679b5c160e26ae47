"""The bridge: the only interface between the control thread and the stations' thread.

    control thread     before() sends at most COMMANDS_A_TICK queued commands to the loop; after() publishes a snapshot
                       and the answers
    stations' thread   submit(), slot(), fail() and note() queue something here; it reads `snapshot` and answers()

Neither thread waits: there is no lock, only deques, dictionaries and one reference, whose single operations are atomic
in CPython. The control thread's work per tick is bounded. A disarm goes before all other commands; of manual control
and set-points only the latest counts; each station has a short queue of its own, served in turn. Setting a parameter
rebuilds parts of the controller, which takes much of a tick: sets have queues of their own, and only some a second are
executed.
"""

import itertools
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from caudal.onboard.core.loop import Loop
from caudal.onboard.core.state import Estimate

COMMANDS_A_TICK = 8  # from the queues; the loop executes 16, so it executes them in the same tick
SETS_A_SECOND = 20
QUEUE = 16  # commands of one station that may wait, and as many sets
SLOTS = ("station", "goto", "sticks")  # only the latest counts; there is no answer unless it is rejected

Done = Callable[[str | None], None]  # called with None, or why a command was rejected
Answer = tuple[Done | None, str, str | None]  # ticket, kind of the command, why it was rejected or None
Queued = tuple[int, str, tuple[Any, ...], Done | None]  # number, kind, values, ticket
Note = tuple[str, dict[str, Any]]  # kind and details of an event
InjectFault = Callable[
    [str], str | None
]  # a request in words (fault_requests.py); None, or why it was rejected
Item = TypeVar("Item")

FIELDS = tuple(field for field in Estimate.FIELDS if not field.endswith("_nis"))


class Snapshot:
    """A tick as stations see it: made after each tick and never changed."""

    __slots__ = (
        "action", "active_rules", "armed", "arming_refusal", "battery_v", "estimate", "fault", "goto_pose",
        "mission_completed", "mission_count", "mission_index", "mode", "overruns", "requested_mode", "tick",
        "worst_late_us",
    )  # fmt: skip

    def __init__(self, loop: Loop, battery: int | None) -> None:
        state = loop.state
        self.tick = state.tick
        self.armed = state.armed
        self.mode = state.mode
        self.requested_mode = state.requested_mode
        self.action = state.action
        self.active_rules = state.active_rules
        self.fault = loop.fault
        self.arming_refusal = None if state.armed else loop.handler.arming_refusal()
        self.estimate = {field: getattr(state.estimate, field) for field in FIELDS}
        self.battery_v = None if battery is None else loop.board.reading(battery)
        self.goto_pose = state.goto_pose
        self.mission_index = state.mission_index
        self.mission_count = len(state.mission)
        self.mission_completed = state.mission_completed
        self.overruns = loop.overruns
        self.worst_late_us = loop.worst_late_us


class Bridge:
    """The bridge of one loop. `inject` injects a fault into a simulation, in the control thread between ticks."""

    def __init__(self, loop: Loop, inject: InjectFault | None = None) -> None:
        self._loop = loop
        self._inject = inject
        self._fault_requests: deque[tuple[str, Done]] = deque()
        names = [sensor.name for sensor in loop.board.sensors]
        self._battery = names.index("battery") if "battery" in names else None
        self.snapshot = Snapshot(loop, self._battery)
        self._number = itertools.count(1)
        self._last_disarm = 0  # number of the last disarm sent to the loop
        self._disarms: deque[tuple[int, Done | None]] = deque()
        self._slots: dict[str, tuple[Any, ...]] = {}
        self._commands, self._sets = FairQueue(), FairQueue()
        self._set_period = max(1, loop.rate_hz // SETS_A_SECOND)  # ticks between two sets
        self._ticks_since_set = self._set_period
        self._answers: deque[Answer] = deque(maxlen=1000)
        self._notes: deque[Note] = deque(maxlen=100)

    # ---- stations' thread

    def submit(self, sender: object, kind: str, *values: Any, ticket: Done | None = None) -> bool:
        """Queues a command; its answer has the ticket. False: this sender's queue is full."""
        if kind == "disarm":  # any number of them is one command to the loop
            self._disarms.append((next(self._number), ticket))
            return True
        queue = self._sets if kind == "set" else self._commands
        return queue.add(sender, (next(self._number), kind, values, ticket))

    def slot(self, kind: str, *values: Any) -> None:
        """Stores a command of which only the latest counts."""
        self._slots[kind] = values

    def fail(self, request: str, ticket: Done) -> bool:
        """Queues a request for fault injection. False: the queue is full."""
        if len(self._fault_requests) >= QUEUE:
            return False
        self._fault_requests.append((request, ticket))
        return True

    def forget(self, sender: object) -> None:
        """Drops the queued commands of a station that is gone."""
        self._commands.forget(sender)
        self._sets.forget(sender)

    def note(self, kind: str, **details: Any) -> None:
        """Queues an event for the log."""
        self._notes.append((kind, details))

    def answers(self) -> list[Answer]:
        """The answers since the last call."""
        return _drain(self._answers)

    # ---- control thread

    def before(self) -> None:
        """Sends queued commands to the loop; call it right before a tick."""
        loop = self._loop
        disarms = _drain(self._disarms)
        if disarms:
            self._last_disarm = disarms[-1][0]
            loop.send("disarm", ticket=[ticket for _, ticket in disarms])
        for kind in SLOTS:
            values = self._slots.pop(kind, None)
            if values is None or (kind == "goto" and list(values) == loop.state.goto_pose):
                continue  # stations repeat a position many times a second
            loop.send(kind, *values, ticket=[None])
        if self._fault_requests and self._inject:
            request, done = self._fault_requests.popleft()
            self._answers.append((done, "fail", self._inject(request)))
        self._ticks_since_set += 1
        if self._ticks_since_set >= self._set_period and (queued := self._sets.pop()):
            self._ticks_since_set = 0
            self._send(*queued[1:])
        for _ in range(COMMANDS_A_TICK):
            if not (queued := self._commands.pop()):
                break
            number, kind, values, ticket = queued
            if kind == "arm" and number < self._last_disarm:
                self._answers.append((ticket, kind, "not armed: a disarm came in between"))
            else:
                self._send(kind, values, ticket)

    def _send(self, kind: str, values: tuple[Any, ...], ticket: Done | None) -> None:
        if not self._loop.send(kind, *values, ticket=[ticket]):
            self._answers.append((ticket, kind, f"{kind}: too many commands are waiting"))

    def after(self) -> list[Note]:
        """Publishes a snapshot and the answers; the events to log. Call it right after a tick."""
        for kind, _, tickets, refusal in self._loop.taken:
            if isinstance(tickets, list):
                for ticket in tickets:
                    if ticket is not None or refusal:
                        self._answers.append((ticket, kind, refusal))
        self.snapshot = Snapshot(self._loop, self._battery)
        return _drain(self._notes) if self._notes else []


class FairQueue:
    """A short queue for each sender; `pop` serves the senders in turn."""

    def __init__(self) -> None:
        self._queues: dict[object, deque[Queued]] = {}
        self._turn = 0

    def add(self, sender: object, command: Queued) -> bool:
        """Appends to the sender's queue; False if it is full."""
        queue = self._queues.setdefault(sender, deque())
        if len(queue) >= QUEUE:
            return False
        queue.append(command)
        return True

    def forget(self, sender: object) -> None:
        """Removes the sender's queue."""
        self._queues.pop(sender, None)

    def pop(self) -> Queued | None:
        """The next sender's first command."""
        queues = list(self._queues.values())
        for _ in queues:
            self._turn += 1
            queue = queues[self._turn % len(queues)]
            if queue:
                return queue.popleft()
        return None


def _drain(queue: deque[Item]) -> list[Item]:
    """Removes the items that are there now; items added meanwhile stay."""
    return [queue.popleft() for _ in range(len(queue))]
