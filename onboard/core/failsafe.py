"""Safety: one table of failsafes that is looked at before anything is decided, and a gate that is last.

Each row of the table has a cause (onboard/core/failsafe_triggers.py), a delay, an action, and whether it clears by
itself. The strongest active action wins:

    warn      recorded and told, nothing else
    slow      a share of the speed: half the tail-beat, half the thrust
    hold      the vehicle stays as well as it can (mode hold), unless it was asked to surface
    surface   up, by what [surface] says (mode surface)
    drop      the same, and the ballast goes
    neutral   each actuator's safe state
    disarm    no pulse, no current, and somebody has to arm it again

Then the gate binds every channel to its limits and slew, whatever was asked, not-a-number and infinities included.
Portable: CPython and MicroPython.
"""

from caudal.onboard.core import modes
from caudal.onboard.core.failsafe_triggers import TRIGGERS

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
    """One line of the failsafe table: active once its cause has lasted, until it has been gone long enough.

    A cause counts whether the vehicle is armed or not. One of which nothing is known any more (None: its sensor has
    fallen silent) neither makes a row active nor clears it. A latched row stays until a person takes note of it:
    disarms the vehicle, or disarms it once more, after the cause has gone.
    """

    def __init__(self, settings, board, rate_hz, available):
        self.name = settings["name"]
        self.trigger = settings["trigger"]
        self.action = ACTIONS[settings["action"]]
        self.latched = settings["latched"]
        self.bars = self.trigger != "not_armed"  # does it bar arming, if it is strong enough
        self.active = False
        self.seen = False  # is its cause there now, however long it may still last before the row is active
        self._cause = TRIGGERS[self.trigger](settings, board, rate_hz, available)
        self.delay_ticks = int(settings["delay_s"] * rate_hz + 0.5)
        self._clear_ticks = int(settings["clear_s"] * rate_hz + 0.5)
        self._count = 0  # ticks for which the cause has disagreed with `active`

    def step(self, state):
        seen = self._cause(state)
        self.seen = self.active if seen is None else seen
        if seen is None:
            pass
        elif seen == self.active:
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

    def blocks_arming(self):
        """While it is active, and while it may soon be: its cause is there. But one late tick is nothing."""
        return (
            self.bars and self.action >= HOLD and (self.active or (self.seen and self.trigger != "overrun"))
        )

    def acknowledge(self):
        """Somebody has taken note: a latched row whose cause has been gone long enough is cleared."""
        if self.latched and self.active and self._count > self._clear_ticks:
            self.active = False
            self._count = 0


class FailsafeMonitor:
    """The table, looked at once a tick, behind the estimates and before anything is decided."""

    def __init__(self, rows, available):
        self.rows = rows
        self._holds = modes.HOLD in available

    def step(self, state):
        action = NONE
        active = 0
        bit = 1
        for row in self.rows:
            if row.step(state):
                active |= bit
                if row.action > action:
                    action = row.action
            bit <<= 1
        state.active_rules = active
        state.action = action
        if action == DISARM:
            state.armed = False
        if SURFACE <= action <= DROP or (action == HOLD and not self._holds):
            state.mode = modes.SURFACE
        elif action == HOLD and state.requested_mode != modes.SURFACE:  # what is stronger goes on
            state.mode = modes.HOLD
        else:
            state.mode = state.requested_mode
