"""Command handler: executes or refuses every command that a person, a link or the computer sends to the loop.

    arm | disarm                          mode NAME BY         sticks AHEAD PORT UP TURN
    goto X_M Y_M DEPTH_M HEADING_RAD      mission ITEMS        begin K
    station                               host WORD VALUE      set NAME VALUE
    load [[NAME, VALUE], ...]

A refusal is a sentence. Commands are, with sensor counts and lateness, the only inputs of a loop: they are recorded,
and a replay sends them again. Portable: CPython and MicroPython.
"""

from caudal.hal.core.board import NEVER
from caudal.onboard.core import modes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from caudal.onboard.core.failsafe import FailsafeRule
    from caudal.onboard.core.modes import Needs
    from caudal.onboard.core.state import State
    from caudal.onboard.params.update import Params
    from caudal.onboard.tables.modes import Surface

HOST_WORDS = ("bus_hung", "computer_hot", "under_voltage", "storage_full", "clock_jumped", "params_lost")
MOST_ITEMS = 500
FAR = 1e6  # metres, or any other number of a command


class CommandHandler:
    """`available`: modes of this vehicle. `surface`: how it surfaces; without it the vehicle is not armed."""

    def __init__(
        self, state: "State", available: "Needs", rules: "list[FailsafeRule]", surface: "Surface | None"
    ) -> None:
        self.available = available
        self.modes = [modes.NAMES[mode] for mode in sorted(available)]
        self._state = state
        self._rules = rules
        self._surface = surface
        self._by = modes.PILOT  # who requested the mode
        self.params: Params | None = None  # what `set` changes
        self._commands: dict[str, Callable[..., str | None]] = {
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

    def step(self) -> None:
        """Once a tick: ages the inputs, and executes the mode request of a mission."""
        state = self._state
        if state.manual_input_age < NEVER:
            state.manual_input_age += 1
        if state.station_age < NEVER:
            state.station_age += 1
        if state.mission_mode is not None:
            refusal = self._mode(state.mission_mode, modes.MISSION_ITEM)
            if refusal is None or state.requested_mode != modes.MISSION:  # the pilot has the vehicle
                state.mission_mode = None

    def execute(self, kind: str, values: "Sequence[object]") -> "str | None":
        """Execute a command; the refusal, or None."""
        command = self._commands.get(kind) if isinstance(kind, str) else None
        if command is None:
            return f"there is no order {kind!r}; there are " + ", ".join(sorted(self._commands))
        try:
            return command(*values)
        except (TypeError, ValueError, KeyError, IndexError):
            return f"order {kind}: {values!r} are not the values it takes"

    def arming_refusal(self) -> "str | None":
        """Why the vehicle may not be armed now, or None."""
        state = self._state
        if not self._surface:
            return (
                "not armed: nothing in the vehicle could bring it to the surface; its file needs a [surface]"
            )
        active = [rule.name for rule in self._rules if rule.blocks_arming()]
        if active:
            return f"not armed: {', '.join(active)}; see to it, then disarm to take note and arm again"
        if state.tick:  # before the first tick nothing is known
            unknown = modes.missing(state.requested_mode, self.available, state.estimate)
            if unknown:
                return f"not armed: mode {modes.NAMES[state.requested_mode]} needs {', '.join(unknown)}"
        return None

    def _arm(self) -> "str | None":
        if self._state.armed:
            return None
        refusal = self.arming_refusal()
        if refusal is None:
            self._state.armed = True
        return refusal

    def _disarm(self) -> None:
        """It also acknowledges: latched rules whose condition is gone are cleared."""
        self._state.armed = False
        for rule in self._rules:
            rule.acknowledge()

    def _mode(self, name: str, by: str = modes.PILOT) -> "str | None":
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

    def _sticks(self, ahead: float, port: float, up: float, turn: float) -> "str | None":
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

    def _goto(
        self,
        x_m: "float | None",
        y_m: "float | None",
        depth_m: "float | None",
        heading_rad: "float | None",
    ) -> "str | None":
        if modes.GOTO not in self.available:
            return "goto: this vehicle cannot go to a place in this scenario"
        pose = [x_m, y_m, depth_m, heading_rad]
        for value in pose:
            if not (value is None or -FAR <= value <= FAR):
                return f"goto: {value!r} is not a number within {FAR:g}"
        if depth_m is not None and depth_m < 0:
            return f"goto: a depth of {depth_m!r} m lies above the water"
        self._state.goto_pose = pose
        return None

    def _mission(self, items: "Sequence[str | Sequence[float]]") -> "str | None":
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

    def _begin(self, k: int) -> "str | None":
        if not (isinstance(k, int) and 0 <= k < len(self._state.mission)):
            return f"begin: there is no item {k!r}; the mission has {len(self._state.mission)}"
        self._state.mission_index = k
        self._state.mission_mode = None
        return None

    def _station(self) -> None:
        self._state.station_age = 0

    def _host(self, word: str, value: object) -> "str | None":
        if word not in HOST_WORDS:
            return f"host: there is no word {word!r}; there are " + ", ".join(HOST_WORDS)
        self._state.host[word] = bool(value)
        return None

    def _set(self, name: str, value: object) -> "str | None":
        if self.params is None:
            return "set: this vehicle's file marks no parameter as tunable"
        return self.params.set(name, value, self._state.armed)

    def _load(self, pairs: "Sequence[tuple[str, object]]") -> "str | None":
        """The stored parameters, in the first tick."""
        if self.params is None:
            return "load: this vehicle's file marks no parameter as tunable"
        return self.params.load(pairs)
