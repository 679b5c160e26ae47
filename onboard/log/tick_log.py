"""The tick log: records all inputs and outputs of one loop, tick by tick. CPython only.

    /NAME/counts     raw sensor counts                       /NAME/commands   SI, after the output limiter (NaN: off)
    /NAME/outputs    device units                            /NAME/state      estimates and set-points
    /NAME/loop       tick, lateness, armed, failsafe rules   /NAME/STAGE      diagnostics of a stage, if it has any
    /events          events; every command

A loop depends only on counts, lateness and commands, so a replay of them gives the same outputs.
"""

from caudal.hal.core.fixed_point import ONE
from caudal.onboard.core.loop import Loop
from caudal.onboard.core.modes import AUTO, NAMES
from caudal.onboard.core.state import Estimate, Setpoint
from caudal.onboard.log.recorder import LogWriter

LOOP_FIELDS = ("tick", "late_us", "cost_us", "armed", "failsafes", "action", "mode")


class TickLog:
    """Records one loop under a vehicle's name."""

    def __init__(self, recorder: LogWriter, name: str, loop: Loop) -> None:
        board = loop.board
        self._recorder = recorder
        self._name = name
        self._loop = loop
        self._counts = recorder.topic(f"/{name}/counts", [("int32", s.name) for s in board.sensors])
        self._commands = recorder.topic(f"/{name}/commands", [("float64", a.name) for a in board.actuators])
        self._outputs = recorder.topic(f"/{name}/outputs", [("int32", a.name) for a in board.actuators])
        fields = [f"is_{field}" for field in Estimate.FIELDS] + [
            f"setpoint_{field}" for field in Setpoint.FIELDS
        ]
        self._state = recorder.topic(f"/{name}/state", [("float64", field) for field in fields])
        self._timing = recorder.topic(f"/{name}/loop", [("int32", field) for field in LOOP_FIELDS])
        self._diagnostics = [
            (
                recorder.topic(f"/{name}/{stage.name}", [("float64", f) for f in stage.diagnostics.fields]),
                stage.diagnostics,
            )
            for stage in (*loop.estimators, *loop.stages)
            if stage.diagnostics
        ]
        self._armed = False
        self._active = 0
        self._mode = AUTO
        self._fault: str | None = None

    def write(self, time_ns: int, cost_us: int = 0) -> None:
        """Records a tick; call it after each one."""
        loop, state = self._loop, self._loop.state
        board, estimate, setpoint = loop.board, state.estimate, state.setpoint
        self._counts.write(time_ns, board.counts)
        self._commands.write(time_ns, [None if c is None else c / ONE for c in state.outputs])
        self._outputs.write(time_ns, board.outputs)
        self._state.write(
            time_ns,
            [getattr(estimate, f) for f in Estimate.FIELDS] + [getattr(setpoint, f) for f in Setpoint.FIELDS],
        )
        for topic, diagnostics in self._diagnostics:
            topic.write(time_ns, diagnostics.values)
        self._timing.write(
            time_ns,
            (state.tick, state.late_us, cost_us, state.armed, state.active_rules, state.action, state.mode),
        )
        for kind, values, _, refusal in loop.taken:
            details = {"kind": kind, "values": values} | ({"refused": refusal} if refusal else {})
            self._recorder.event(time_ns, "command", vehicle=self._name, tick=state.tick, **details)
        if state.armed != self._armed or state.active_rules != self._active or loop.fault != self._fault:
            self._record_changes(time_ns)
        if state.mode != self._mode:
            self._mode = state.mode
            self._recorder.event(time_ns, "mode", vehicle=self._name, tick=state.tick, mode=NAMES[state.mode])

    def _record_changes(self, time_ns: int) -> None:
        loop, tick = self._loop, self._loop.state.tick
        if loop.state.armed != self._armed:
            self._armed = loop.state.armed
            self._recorder.event(
                time_ns, "armed" if self._armed else "disarmed", vehicle=self._name, tick=tick
            )
        changed = loop.state.active_rules ^ self._active
        for bit, rule in enumerate(loop.monitor.rules):
            if changed >> bit & 1:
                kind = "failsafe" if rule.active else "failsafe cleared"
                self._recorder.event(time_ns, kind, vehicle=self._name, tick=tick, row=rule.name)
        self._active = loop.state.active_rules
        if loop.fault != self._fault:
            self._fault = loop.fault
            self._recorder.event(time_ns, "fault", vehicle=self._name, tick=tick, reason=loop.fault)
