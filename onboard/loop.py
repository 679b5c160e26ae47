"""The loop: sense, estimate, guide, control, safety gate, act, at a fixed rate, given its time from outside.

Whoever owns the clock calls `tick(late_us)`: a real clock on the vehicle, a plant in lockstep, a recording.
Stages run in order, each every n-th tick. The same readings and lateness give the same commands, to the bit.
An exception anywhere ends in the safe state: the reason stays in `fault`, and every later tick only says
"safe" again. Portable: CPython and MicroPython.
"""

from onboard.state import State


class Stage:
    """One step of the stack, run every `every` ticks: `step(state)`.

    `account`: has `fields` and, after each tick, `values`: how the step got there, for whoever records.
    """

    def __init__(self, name, every, step, account=None):
        self.name = name
        self.every = every
        self.step = step
        self.account = account


class Loop:
    def __init__(self, board, stages, gate, rate_hz):
        self.board = board
        self.stages = stages
        self.gate = gate
        self.rate_hz = rate_hz
        self.period_us = 1000000 // rate_hz
        self.state = State(board, self.period_us)
        self.ticks = 0
        self.overruns = 0
        self.worst_late_us = 0
        self.fault = None
        self._request = None

    def arm(self):
        self._request = True

    def disarm(self):
        self._request = False

    def tick(self, late_us=0):
        """One tick; `late_us` is how late it started."""
        state = self.state
        state.tick = self.ticks
        state.late_us = late_us
        if late_us > self.worst_late_us:
            self.worst_late_us = late_us
        if late_us > self.period_us:
            self.overruns += 1
        if self._request is not None:
            state.armed = self._request
            self._request = None
        if self.fault is None:
            stage_name = "sense"
            try:
                self.board.sense()
                for stage in self.stages:
                    stage_name = stage.name
                    if self.ticks % stage.every == 0:
                        stage.step(state)
                stage_name = "gate"
                self.gate.step(state)
                stage_name = "act"
                self.board.act(state.outputs)
            except Exception as error:
                self.fail(f"{stage_name}: {type(error).__name__}: {error}")
        else:
            self.fail(self.fault)
        self.ticks += 1

    def fail(self, reason):
        """The safe state, for good: only a new loop swims again."""
        self.fault = reason
        self.state.armed = False
        self.state.free = False
        for i, actuator in enumerate(self.board.actuators):
            self.state.outputs[i] = actuator.safe
        try:
            self.board.safe()
        except Exception as error:
            if "; and safe state:" not in reason:
                self.fault = f"{reason}; and safe state: {type(error).__name__}: {error}"
