"""Failsafe rules and the monitor that checks them once a tick, before anything is decided.

Each rule has a trigger condition (onboard/core/failsafe_triggers.py), a delay, an action, and whether it clears by
itself. The strongest active action wins:

    warn      recorded and reported, nothing else
    slow      half the tail-beat, half the thrust
    hold      station keeping as well as the vehicle can (mode hold), unless `surface` was requested
    surface   up, as [surface] says (mode surface)
    drop      the same, and the ballast is released
    neutral   each actuator's safe state
    disarm    no pulse, no current, until a person arms the vehicle again

The output limiter (onboard/core/limiter.py) comes last. Portable: CPython and MicroPython.
"""

from caudal.onboard.core import modes
from caudal.onboard.core.failsafe_triggers import TRIGGERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board
    from caudal.onboard.core.modes import Needs
    from caudal.onboard.core.state import State
    from caudal.onboard.tables.failsafe import RuleTable

NONE, WARN, SLOW, HOLD, SURFACE, DROP, NEUTRAL, DISARM = 0, 1, 2, 3, 4, 5, 6, 7
ACTIONS = {
    "warn": WARN,
    "slow": SLOW,
    "hold": HOLD,
    "surface": SURFACE,
    "drop": DROP,
    "neutral": NEUTRAL,
    "disarm": DISARM,
}


class FailsafeRule:
    """One rule: active once its condition has lasted for the delay, until it has been gone long enough.

    The condition counts whether the vehicle is armed or not. While it is unknown (None: its sensor has timed out) the
    rule stays as it is. A latched rule stays active until a person acknowledges it: disarms the vehicle, or disarms it
    once more, after the condition has gone.
    """

    def __init__(self, table: "RuleTable", board: "Board", rate_hz: int, available: "Needs") -> None:
        self.name = table.name
        self.trigger = table.trigger
        self.action = ACTIONS[table.action]
        self.latched = table.latched
        self.can_block_arming = self.trigger != "not_armed"
        self.active = False
        self.present = False  # whether the condition holds now, the delay apart
        self._condition = TRIGGERS[self.trigger](table, board, rate_hz, available)
        self.delay_ticks = int(table.delay_s * rate_hz + 0.5)
        self._clear_ticks = int(table.clear_s * rate_hz + 0.5)
        self._count = 0  # ticks for which the condition has disagreed with `active`

    def step(self, state: "State") -> bool:
        """One tick; whether the rule is active."""
        present = self._condition(state)
        self.present = self.active if present is None else present
        if present is None:
            pass
        elif present == self.active:
            self._count = 0
        elif self.active:
            self._count += 1
            if self._count > self._clear_ticks and not self.latched:
                self.active = False
                self._count = 0
        else:
            self._count += 1
            if self._count > self.delay_ticks:
                self.active = True
                self._count = 0
        return self.active

    def blocks_arming(self) -> bool:
        """Whether it is active, or its condition present; a single late tick does not count."""
        return (
            self.can_block_arming
            and self.action >= HOLD
            and (self.active or (self.present and self.trigger != "overrun"))
        )

    def acknowledge(self) -> None:
        """Clears a latched rule whose condition has been gone long enough."""
        if self.latched and self.active and self._count > self._clear_ticks:
            self.active = False
            self._count = 0


class FailsafeMonitor:
    """Steps all rules once a tick, after the estimators; sets `state.action` and the mode in effect."""

    def __init__(self, rules: "list[FailsafeRule]", available: "Needs") -> None:
        self.rules = rules
        self._holds = modes.HOLD in available

    def step(self, state: "State") -> None:
        """One tick."""
        action = NONE
        active = 0
        bit = 1
        for rule in self.rules:
            if rule.step(state):
                active |= bit
                if rule.action > action:
                    action = rule.action
            bit <<= 1
        state.active_rules = active
        state.action = action
        if action == DISARM:
            state.armed = False
        if SURFACE <= action <= DROP or (action == HOLD and not self._holds):
            state.mode = modes.SURFACE
        elif action == HOLD and state.requested_mode != modes.SURFACE:  # surfacing goes on
            state.mode = modes.HOLD
        else:
            state.mode = state.requested_mode
