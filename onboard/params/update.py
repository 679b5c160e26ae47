"""Parameters: numbers of a vehicle that may be set while the loop runs. Each set is checked, then applied as a whole.

A set is a command (onboard/core/command_handler.py), executed at the start of a tick. onboard/params/hot_update.py
applies the changed settings in that tick, so a replay of the same commands gives the same outputs. A parameter that is
not `live` keeps its value for the next start, where the stored values come as one command in the first tick.
CPython only: a microcontroller gets no such commands.
"""

from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from caudal.onboard.core.failsafe import FailsafeRule
from caudal.onboard.core.loop import Loop
from caudal.onboard.params.hot_update import hot_update
from caudal.onboard.tables.params import Param, changed
from caudal.onboard.tables.read import Settings


class Params:
    """The parameters of a loop. `build(settings)` builds a second loop, `build_rules(settings)` only its rules."""

    def __init__(
        self,
        settings: Settings,
        loop: Loop,
        build: Callable[[Settings], Loop],
        build_rules: Callable[[Settings], list[FailsafeRule]],
    ) -> None:
        self.names = [param.name for param in settings.params]
        self.declared = {param.name: param for param in settings.params}
        self._values = {param.name: param.default for param in settings.params}
        self._settings = settings
        self._loop = loop
        self._build = build
        self._build_rules = build_rules
        self._fresh: Loop | None = None  # built of the present settings; made at the first set

    def value(self, name: str) -> float:
        """The present value; of one that is not live, that of the next start."""
        return self._values[name]

    def differing(self) -> dict[str, float]:
        """Values that differ from their defaults: those to store."""
        return {name: value for name, value in self._values.items() if value != self.declared[name].default}

    def set(self, name: str, value: object, armed: bool) -> str | None:
        """Sets a parameter; the refusal, or None. A refused set changes nothing."""
        number, refusal = checked(self.declared, name, value)
        if refusal:
            return refusal
        if armed and not self.declared[name].armed:
            return f"set {name}: not while the vehicle is armed; disarm it first"
        return self._take({name: number})

    def load(self, pairs: Iterable[tuple[str, object]]) -> str | None:
        """Sets stored values, all at once; only before the first tick has read the sensors."""
        if self._loop.ticks or self._loop.state.armed:
            return "load: is for the first tick; later, parameters are set one by one"
        values = {}
        for name, value in pairs:
            values[name], refusal = checked(self.declared, name, value)
            if refusal:
                return refusal
        return self._take(values)

    def _take(self, values: Mapping[str, float]) -> str | None:
        values = {name: value for name, value in values.items() if value != self._values[name]}
        settings = self._settings
        started = self._loop.ticks > 0
        live = [name for name in values if self.declared[name].live or not started]
        for name in live:
            settings = changed(settings, self.declared[name], values[name])
        if live:
            rules_only = all(self.declared[name].key.startswith("failsafe.") for name in live)
            try:
                self._apply(settings, rules_only, started)
            except (ArithmeticError, ValueError) as error:
                return f"set {', '.join(live)}: the controller cannot be built with it ({error}); nothing changed"
        self._settings = settings
        self._values.update(values)
        return None

    def _apply(self, settings: Settings, rules_only: bool, started: bool) -> None:
        """Builds everything before it changes anything."""
        loop = self._loop
        if rules_only:
            rules = self._build_rules(self._settings), self._build_rules(settings)
            hot_update(loop.monitor.rules, *rules, started)
            return
        before = self._fresh or self._build(self._settings)
        after = self._build(settings)
        for part in ("board", "estimators", "monitor", "stages", "limiter"):
            hot_update(getattr(loop, part), getattr(before, part), getattr(after, part), started)
        self._fresh = after


def without_params(settings: Settings) -> Settings:
    """Settings of a loop without parameters."""
    return replace(settings, params=[])


def checked(declared: Mapping[str, Param], name: str, value: object) -> tuple[float, str | None]:
    """(the value in the parameter's type, the refusal or None)."""
    if name not in declared:
        return 0, f"set: there is no parameter {name!r}; caudal params lists them"
    param = declared[name]
    unit = f" {param.unit}" if param.unit else ""
    allowed = f"allowed is {param.low:.15g} to {param.high:.15g}{unit}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0, f"set {name}: {value!r} is not a number; {allowed}"
    if not param.low <= value <= param.high:  # not-a-number is outside of every range
        return 0, f"set {name}: {value!r} is out of range; {allowed}"
    if param.kind == "int":
        if value != int(value):
            return 0, f"set {name}: {value!r} is not a whole number; {allowed}"
        return int(value), None
    return float(value), None
