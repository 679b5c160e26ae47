"""Parameters: the numbers of a vehicle that may be set while it runs. Each set is checked, then taken as a whole.

A set is an order (onboard/core/command_handler.py), taken at the start of a tick. What the changed settings would
have built is put into the loop by onboard/params/hot_update.py, in that tick, so the same orders give the same
commands again. A parameter that is not `live` keeps its value for the next start, where all that was kept comes as
one order in the first tick. CPython only: it walks parts in ways that MicroPython has not, and nobody gives a
microcontroller orders.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from caudal.onboard.params.hot_update import hot_update


class Params:
    """`build(settings)` gives a fresh loop, `build_rows(settings)` its failsafe rows alone, which cost little."""

    def __init__(self, settings: dict[str, Any], loop: Any, build: Any, build_rows: Any) -> None:
        self.names = [param["name"] for param in settings["params"]]
        self.about = {param["name"]: param for param in settings["params"]}
        self._values = {param["name"]: param["default"] for param in settings["params"]}
        self._settings = settings
        self._loop = loop
        self._build = build
        self._build_rows = build_rows
        self._fresh: Any = None  # what the settings of now would build; made when it is first needed

    def value(self, name: str) -> float:
        return self._values[name]

    def differing(self) -> dict[str, float]:
        """What is not at its default: what a store keeps."""
        return {name: value for name, value in self._values.items() if value != self.about[name]["default"]}

    def set(self, name: str, value: Any, armed: bool) -> str | None:
        """None, or the sentence that says why not; then nothing has changed."""
        number, refusal = checked(self.about, name, value)
        if refusal:
            return refusal
        if armed and not self.about[name]["armed"]:
            return f"set {name}: not while the vehicle is armed; disarm it first"
        return self._take({name: number})

    def load(self, pairs: Any) -> str | None:
        """Many at once, as a store has them; only before the first tick has sensed anything."""
        if self._loop.ticks or self._loop.state.armed:
            return "load: is for the first tick; later, parameters are set one by one"
        values = {}
        for name, value in pairs:
            values[name], refusal = checked(self.about, name, value)
            if refusal:
                return refusal
        return self._take(values)

    def _take(self, values: dict[str, Any]) -> str | None:
        values = {name: value for name, value in values.items() if value != self._values[name]}
        settings = self._settings
        started = self._loop.ticks > 0
        alive = [name for name in values if self.about[name]["live"] or not started]
        for name in alive:
            settings = changed(settings, self.about[name], values[name])
        if alive:
            rows_alone = all(self.about[name]["key"].startswith("failsafe.") for name in alive)
            try:
                self._put(settings, rows_alone, started)
            except (ArithmeticError, ValueError) as error:
                return f"set {', '.join(alive)}: the controller cannot be built with it ({error}); nothing changed"
        self._settings = settings
        self._values.update(values)
        return None

    def _put(self, settings: dict[str, Any], rows_alone: bool, started: bool) -> None:
        """Everything is built before anything is changed."""
        loop = self._loop
        if rows_alone:
            before, after = self._build_rows(self._settings), self._build_rows(settings)
            hot_update(loop.monitor.rules, before, after, started)
            return
        before = self._fresh or self._build(self._settings)
        after = self._build(settings)
        for part in ("board", "estimators", "monitor", "stages", "limiter"):
            hot_update(getattr(loop, part), getattr(before, part), getattr(after, part), started)
        self._fresh = after


def without_params(settings: Any) -> Any:
    """Settings of a loop that nobody tunes."""
    return replace(settings, params=[])


def checked(about: dict[str, dict[str, Any]], name: str, value: Any) -> tuple[Any, str | None]:
    """(the value as its parameter has it, why it is refused or None)."""
    if name not in about:
        return None, f"set: there is no parameter {name!r}; caudal params lists them"
    param = about[name]
    unit = f" {param['unit']}" if param["unit"] else ""
    allowed = f"allowed is {param['low']:.15g} to {param['high']:.15g}{unit}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, f"set {name}: {value!r} is no number; {allowed}"
    if not param["low"] <= value <= param["high"]:  # not-a-number is outside of everything
        return None, f"set {name}: {value!r} is out of range; {allowed}"
    if param["kind"] == "int":
        if value != int(value):
            return None, f"set {name}: {value!r} is no whole number; {allowed}"
        return int(value), None
    return float(value), None


def changed(settings: Any, param: Any, value: float) -> Any:
    """The settings with one number another; what does not hold it is shared, not copied."""
    for path, factor in param["places"]:
        settings = _with(settings, path, value if factor == 1 else factor * value)
    return settings


def _with(node: Any, path: list[Any], value: Any) -> Any:
    if isinstance(node, Struct):
        key = path[0]
        return replace(node, **{key: value if len(path) == 1 else _with(getattr(node, key), path[1:], value)})
    copy = node.copy()
    copy[path[0]] = value if len(path) == 1 else _with(node[path[0]], path[1:], value)
    return copy
