"""The loop: orders, sense, estimate, monitor, guide, control, gate, act, at a fixed rate, given its time from outside.

Whoever owns the clock calls `tick(late_us)`: a real clock on the vehicle, a plant in lockstep, a recording.
Stages run in order, each every n-th tick. The same orders, readings and lateness give the same commands, to the bit.
An exception anywhere ends in the safe state: the reason stays in `fault`, and every later tick only says
"safe" again. Portable: CPython and MicroPython.
"""

from caudal.onboard.core.failsafe import NEUTRAL


class Stage:
    """One step of the stack, run every `every` ticks: `step(state)`.

    `account`: has `fields` and, after each tick, `values`: how the step got there, for whoever records.
    """

    def __init__(self, name, every, step, account=None):
        self.name = name
        self.every = every
        self.step = step
        self.account = account


ORDERS_WAITING = 64  # more are not taken: whoever sends them goes on too fast
ORDERS_A_TICK = 16


class Loop:
    """`estimators` run before the failsafe table is looked at (`watch`), `stages` after it."""

    def __init__(self, board, state, estimators, monitor, stages, limiter, handler, rate_hz):
        self.board = board
        self.state = state
        self.estimators = estimators
        self.monitor = monitor
        self.stages = stages
        self.limiter = limiter
        self.handler = handler
        self.rate_hz = rate_hz
        self.period_us = 1000000 // rate_hz
        self.ticks = 0
        self.overruns = 0
        self.worst_late_us = 0
        self.fault = None
        self.taken = []  # this tick's orders: kind, values, ticket, and why it was refused or None
        self._orders = []
        self._undone = []  # arms that a disarm came behind

    def send(self, kind, *values, ticket=None):
        """Give an order (onboard/core/command_handler.py); it is taken at the start of a tick. False: too many wait
        already.

        A disarm goes before all that wait, however many they are, and undoes each arm among them.
        """
        if kind == "disarm":
            self._undone += [order for order in self._orders if order[0] == "arm"]
            self._orders = [order for order in self._orders if order[0] != "arm"]
            if (
                ticket is not None or not self._orders or self._orders[0][0] != "disarm"
            ):  # else that one is enough
                self._orders.insert(0, (kind, values, ticket))
            return True
        if len(self._orders) + len(self._undone) >= ORDERS_WAITING:
            return False
        self._orders.append((kind, values, ticket))
        return True

    def arm(self):
        self.send("arm")

    def disarm(self):
        self.send("disarm")

    def tick(self, late_us=0):
        """One tick; `late_us` is how late it started."""
        state = self.state
        state.tick = self.ticks
        state.late_us = late_us
        if late_us > self.worst_late_us:
            self.worst_late_us = late_us
        if late_us > self.period_us:
            self.overruns += 1
        if self.taken:
            self.taken = []
        if self._orders:
            self._take_orders()
        if self.fault is None:
            stage_name = "sense"
            try:
                self.handler.step()
                self.board.sense()
                for stage in self.estimators:
                    stage_name = stage.name
                    if self.ticks % stage.every == 0:
                        stage.step(state)
                stage_name = "monitor"
                self.monitor.step(state)
                for stage in self.stages:
                    stage_name = stage.name
                    if self.ticks % stage.every == 0:
                        stage.step(state)
                stage_name = "limiter"
                self.limiter.step(state)
                stage_name = "act"
                self.board.act(state.outputs)
            except Exception as error:
                self.fail(f"{stage_name}: {type(error).__name__}: {error}")
        else:
            self.fail(self.fault)
        self.ticks += 1

    def _take_orders(self):
        for kind, values, ticket in self._undone:
            self.taken.append((kind, values, ticket, "not armed: a disarm came in between"))
        self._undone = []
        count = 0
        while self._orders and count < ORDERS_A_TICK:
            kind, values, ticket = self._orders.pop(0)
            if self.fault is None:
                refusal = self.handler.take(kind, values)
            else:
                refusal = f"{kind}: the loop has stopped safe: {self.fault}"
            self.taken.append((kind, values, ticket, refusal))
            count += 1

    def fail(self, reason):
        """The safe state, for good: only a new loop swims again."""
        self.fault = reason
        self.state.armed = False
        self.state.free = False
        self.state.action = NEUTRAL
        for i, actuator in enumerate(self.board.actuators):
            self.state.outputs[i] = actuator.safe
        try:
            self.board.safe()
        except Exception as error:
            if "; and safe state:" not in reason:
                self.fault = f"{reason}; and safe state: {type(error).__name__}: {error}"
