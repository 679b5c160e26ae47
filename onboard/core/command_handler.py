"""The helm: every order that a person, a link or the computer gives a running loop ends here, done or refused.

    arm | disarm                          mode NAME BY         sticks AHEAD PORT UP TURN
    goto X_M Y_M DEPTH_M HEADING_RAD      mission ITEMS        begin K
    station                               host WORD VALUE      set NAME VALUE
    load [[NAME, VALUE], ...]

A refusal is a sentence. Orders are all that a loop depends on besides counts and lateness, so they are recorded and a
replay gives them again. Portable: CPython and MicroPython.
"""

from caudal.hal.core.board import NEVER
from caudal.onboard.core import modes

HOST_WORDS = ("bus_hung", "computer_hot", "under_voltage", "storage_full", "clock_jumped", "params_lost")
MOST_ITEMS = 500
FAR = 1e6  # metres, and anything else that is a number


class CommandHandler:
    """`surface`: has the vehicle anything that could bring it up. `params`: what `set` is for, if anything is."""

    def __init__(self, state, available, rows, surface, params=None):
        self.available = available  # modes this vehicle has, with what they need
        self.modes = [modes.NAMES[mode] for mode in sorted(available)]
        self._state = state
        self._rows = rows
        self._surface = surface
        self._by = modes.PILOT  # who asked for the mode
        self.params = params
        self._orders = {
            "arm": self._arm,
            "disarm": self._disarm,
            "mode": self._mode,
            "sticks": self._sticks,
            "goto": self._goto,
            "mission": self._mission,
            "begin": self._begin,
            "station": self._station,
            "host": self._host,
            "set": self._set,
            "load": self._load,
        }

    def step(self):
        """Once a tick: what was heard grows old, and a mission may ask for a mode."""
        state = self._state
        if state.manual_input_age < NEVER:
            state.manual_input_age += 1
        if state.station_age < NEVER:
            state.station_age += 1
        if state.mission_mode is not None:
            refusal = self._mode(state.mission_mode, modes.MISSION_ITEM)
            if (
                refusal is None or state.requested_mode != modes.MISSION
            ):  # a pilot has just said something else
                state.mission_mode = None

    def execute(self, kind, values):
        """Do an order: None, or the sentence that says why not."""
        order = self._orders.get(kind) if isinstance(kind, str) else None
        if order is None:
            return f"there is no order {kind!r}; there are " + ", ".join(sorted(self._orders))
        try:
            return order(*values)  # type: ignore[operator]
        except (TypeError, ValueError, KeyError, IndexError):
            return f"order {kind}: {values!r} are not the values it takes"

    def arming_refusal(self):
        """Why it may not be armed now, or None."""
        state = self._state
        if not self._surface:
            return (
                "not armed: nothing in the vehicle could bring it to the surface; its file needs a [surface]"
            )
        active = [row.name for row in self._rows if row.blocks_arming()]
        if active:
            return f"not armed: {', '.join(active)}; see to it, then disarm to take note and arm again"
        if state.tick:  # before the first tick nothing can be known yet
            unknown = modes.missing(state.requested_mode, self.available, state.estimate)
            if unknown:
                return f"not armed: mode {modes.NAMES[state.requested_mode]} needs {', '.join(unknown)}"
        return None

    def _arm(self):
        if self._state.armed:
            return None
        refusal = self.arming_refusal()
        if refusal is None:
            self._state.armed = True
        return refusal

    def _disarm(self):
        """A person has taken note: latched rows whose cause is gone are cleared."""
        self._state.armed = False
        for row in self._rows:
            row.acknowledge()
        return None

    def _mode(self, name, by=modes.PILOT):
        state = self._state
        if name not in modes.NAMES:
            return f"there is no mode {name!r}; there are " + ", ".join(self.modes)
        mode = modes.NAMES.index(name)
        if mode not in self.available:
            return f"mode {name} is not there in this vehicle and scenario; there are " + ", ".join(
                self.modes
            )
        if name not in modes.MAY_REQUEST.get(by, ()):
            return f"mode {name} is not for {by} to ask for"
        if by != modes.PILOT and self._by == modes.PILOT and state.requested_mode != modes.MISSION:
            return f"mode {name}: the pilot has the vehicle"
        unknown = modes.missing(mode, self.available, state.estimate)
        if unknown and state.tick:
            return f"mode {name} needs {', '.join(unknown)}"
        if mode == modes.MISSION and not state.mission:
            return "mode mission: there is no mission; upload one first"
        if mode == modes.GOTO and state.goto_pose is None:
            return "mode goto: there is no place to go to; give one"
        state.requested_mode = mode
        self._by = by
        return None

    def _sticks(self, ahead, port, up, turn):
        if modes.MANUAL not in self.available:
            return "sticks: this vehicle has no manual mode"
        values = (ahead, port, up, turn)
        for value in values:
            if not -1 <= value <= 1:
                return f"sticks: {value!r} is not within -1 to 1"
        sticks = self._state.manual_input
        for k in range(4):
            sticks[k] = float(values[k])
        self._state.manual_input_age = 0
        return None

    def _goto(self, x_m, y_m, depth_m, heading_rad):
        if modes.GOTO not in self.available:
            return "goto: this vehicle cannot go to a place in this scenario"
        place = [x_m, y_m, depth_m, heading_rad]
        for value in place:
            if not (value is None or -FAR <= value <= FAR):
                return f"goto: {value!r} is not a number within {FAR:g}"
        if depth_m is not None and depth_m < 0:
            return f"goto: a depth of {depth_m!r} m lies above the water"
        self._state.goto_pose = place
        return None

    def _mission(self, items):
        if modes.MISSION not in self.available:
            return "mission: this vehicle cannot follow way-points in this scenario"
        if len(items) > MOST_ITEMS:
            return f"mission: {len(items)} items are too many; it takes {MOST_ITEMS}"
        for k, item in enumerate(items):
            if isinstance(item, str):
                if item not in modes.MAY_REQUEST[modes.MISSION_ITEM]:
                    return f"mission: item {k} asks for mode {item!r}, which is not for a mission to ask for"
                continue
            _, _, depth_m, hold_s = item
            for value in item:
                if not -FAR <= value <= FAR:
                    return f"mission: item {k} holds {value!r}, which is not a number within {FAR:g}"
            if depth_m < 0 or hold_s < 0:
                return f"mission: item {k} asks for a negative depth or time"
        state = self._state
        state.mission = [
            item if isinstance(item, str) else [float(value) for value in item] for item in items
        ]
        state.mission_index = 0
        state.mission_mode = None
        if state.requested_mode == modes.MISSION and not items:
            state.requested_mode = modes.HOLD
        return None

    def _begin(self, k):
        if not (isinstance(k, int) and 0 <= k < len(self._state.mission)):
            return f"begin: there is no item {k!r}; the mission has {len(self._state.mission)}"
        self._state.mission_index = k
        self._state.mission_mode = None
        return None

    def _station(self):
        self._state.station_age = 0
        return None

    def _host(self, word, value):
        if word not in HOST_WORDS:
            return f"host: there is no word {word!r}; there are " + ", ".join(HOST_WORDS)
        self._state.host[word] = bool(value)
        return None

    def _set(self, name, value):
        if self.params is None:
            return "set: this vehicle's file marks no parameter as tunable"
        return self.params.set(name, value, self._state.armed)

    def _load(self, pairs):
        """What a store has kept, in the first tick."""
        if self.params is None:
            return "load: this vehicle's file marks no parameter as tunable"
        return self.params.load(pairs)
