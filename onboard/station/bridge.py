"""The bridge: where the control thread and the stations' thread meet, and the only place where they do.

    control thread     before(): at most COMMANDS_A_TICK commands go to the loop; after(): a snapshot and answers return
    stations' thread   order(), slot(), fail(), note() leave something here;  `snapshot` and answers() are read

Nobody waits for anybody: there is no lock, only deques, dictionaries and one reference, whose single operations are
whole in CPython. The control thread's work is bounded whatever stations do. A disarm is first, whoever else is loud;
sticks and set-points are only ever the latest; each station has a short queue of its own, and they take turns. A set of
a parameter builds parts of the controller anew, which takes a good share of a tick: these stand in queues of their own,
and only some a second are taken.
"""

import itertools
from collections import deque
from collections.abc import Callable
from typing import Any

from caudal.onboard.core.loop import Loop
from caudal.onboard.core.state import Estimate

COMMANDS_A_TICK = 8  # of queues; the loop takes 16, so what is handed over is taken in the same tick
SETS_A_SECOND = 20
QUEUE = 16  # orders of one station that may wait, and as many sets
SLOTS = ("station", "goto", "sticks")  # only the latest counts, and nobody hears of it unless it is refused

Answer = tuple[Any, str, str | None]  # ticket, kind of the order, why it was refused or None


class Snapshot:
    """What stations may know of one tick. Made anew each time and never changed."""

    __slots__ = (
        "action",
        "active",
        "armed",
        "asked",
        "bars",
        "battery_v",
        "estimate",
        "fault",
        "mission_completed",
        "mission_count",
        "mission_index",
        "mode",
        "overruns",
        "place",
        "tick",
        "worst_late_us",
    )  # fmt: skip

    def __init__(self, loop: Loop, battery: int | None) -> None:
        state = loop.state
        estimate = state.estimate
        self.tick = state.tick
        self.armed = state.armed
        self.mode = state.mode
        self.asked = state.requested_mode
        self.action = state.action
        self.active = state.active_rules
        self.fault = loop.fault
        self.bars = None if state.armed else loop.handler.arming_refusal()  # why it could not be armed now
        self.estimate = {field: getattr(estimate, field) for field in FIELDS}
        self.battery_v = None if battery is None else loop.board.reading(battery)
        self.place = state.goto_pose
        self.mission_index = state.mission_index
        self.mission_count = len(state.mission)
        self.mission_completed = state.mission_completed
        self.overruns = loop.overruns
        self.worst_late_us = loop.worst_late_us


FIELDS = tuple(field for field in Estimate.FIELDS if not field.endswith("_nis"))


Rehearse = Callable[[str], str | None]  # what is asked for, in words (rehearsals.py): None, or why not


class Bridge:
    """`rehearse` breaks something in a simulation; it is called between ticks, in the control thread."""

    def __init__(self, loop: Loop, rehearse: Rehearse | None = None) -> None:
        self._loop = loop
        self._rehearse = rehearse
        self._failures: deque[tuple[str, Any]] = deque()
        names = [sensor.name for sensor in loop.board.sensors]
        self._battery = names.index("battery") if "battery" in names else None
        self.snapshot = Snapshot(loop, self._battery)
        self._number = itertools.count(1)
        self._disarmed = 0  # number of the last disarm that was handed over
        self._disarms: deque[tuple[int, Any]] = deque()
        self._slots: dict[str, tuple] = {}
        self._orders, self._sets = Turns(), Turns()
        self._rest = max(1, loop.rate_hz // SETS_A_SECOND)  # ticks between two sets
        self._rested = self._rest
        self._answers: deque[Answer] = deque(maxlen=1000)
        self._notes: deque[tuple[str, dict[str, Any]]] = deque(maxlen=100)

    # ---- stations' thread

    def order(self, sender: Any, kind: str, *values: Any, ticket: Any = None) -> bool:
        """Leave an order; its answer comes with the ticket. False: this sender has too many waiting."""
        if kind == "disarm":  # however many are waiting, they are one
            self._disarms.append((next(self._number), ticket))
            return True
        turns = self._sets if kind == "set" else self._orders
        return turns.add(sender, (next(self._number), kind, values, ticket))

    def slot(self, kind: str, *values: Any) -> None:
        """Leave an order of which only the latest counts."""
        self._slots[kind] = values

    def fail(self, asked: str, ticket: Any) -> bool:
        """Break something, for practice. False: too many wait already."""
        if len(self._failures) >= QUEUE:
            return False
        self._failures.append((asked, ticket))
        return True

    def forget(self, sender: Any) -> None:
        """A station has gone; what it had asked for is dropped."""
        self._orders.forget(sender)
        self._sets.forget(sender)

    def note(self, kind: str, **details: Any) -> None:
        """Something for the recording's events."""
        self._notes.append((kind, details))

    def answers(self) -> list[Answer]:
        return _all_of(self._answers)

    # ---- control thread

    def before(self) -> None:
        """Right before a tick: hand the loop what waits here."""
        loop = self._loop
        disarms = _all_of(self._disarms)
        if disarms:
            self._disarmed = disarms[-1][0]
            loop.send("disarm", ticket=[ticket for _, ticket in disarms])
        for kind in SLOTS:
            values = self._slots.pop(kind, None)
            if values is None or (kind == "goto" and list(values) == loop.state.goto_pose):
                continue  # stations repeat a place many times a second
            loop.send(kind, *values, ticket=[None])
        if self._failures and self._rehearse:
            failure, ticket = self._failures.popleft()
            self._answers.append((ticket, "fail", self._rehearse(failure)))
        self._rested += 1
        if self._rested >= self._rest and (waits := self._sets.take()):
            self._rested = 0
            self._hand_over(*waits[1:])
        for _ in range(COMMANDS_A_TICK):
            if not (waits := self._orders.take()):
                break
            number, kind, values, ticket = waits
            if kind == "arm" and number < self._disarmed:
                self._answers.append((ticket, kind, "not armed: a disarm came in between"))
            else:
                self._hand_over(kind, values, ticket)

    def _hand_over(self, kind: str, values: tuple, ticket: Any) -> None:
        if not self._loop.send(kind, *values, ticket=[ticket]):  # others have heaped up orders there
            self._answers.append((ticket, kind, f"{kind}: too many orders wait"))

    def after(self) -> list[tuple[str, dict[str, Any]]]:
        """Right after a tick: publish it. Gives what stations want recorded."""
        for kind, _, tickets, refusal in self._loop.taken:
            if isinstance(tickets, list):
                for ticket in tickets:
                    if ticket is not None or refusal:
                        self._answers.append((ticket, kind, refusal))
        self.snapshot = Snapshot(self._loop, self._battery)
        return _all_of(self._notes) if self._notes else []


class Turns:
    """A short queue for each sender; whoever takes from them takes from one after the other."""

    def __init__(self) -> None:
        self._queues: dict[Any, deque[tuple[int, str, tuple, Any]]] = {}
        self._turn = 0

    def add(self, sender: Any, order: tuple[int, str, tuple, Any]) -> bool:
        queue = self._queues.setdefault(sender, deque())
        if len(queue) >= QUEUE:
            return False
        queue.append(order)
        return True

    def forget(self, sender: Any) -> None:
        self._queues.pop(sender, None)

    def take(self) -> tuple[int, str, tuple, Any] | None:
        queues = list(self._queues.values())
        for _ in queues:
            self._turn += 1
            queue = queues[self._turn % len(queues)]
            if queue:
                return queue.popleft()
        return None


def _all_of(queue: deque) -> list:
    """Takes what is there now; whatever is added meanwhile is for the next time."""
    return [queue.popleft() for _ in range(len(queue))]
