"""What can go wrong with a vehicle, as a line of text: KIND:TARGET[@AT][+FOR][/PERIOD][*SIZE], times in seconds.

    stuck:depth@12+3              a sensor stays at its count, from second 12 on, for 3 s
    silent:heading@5+4/0.5        on and off, every half second
    shifted:depth@5*0.3           by 0.3 m, until the end
    jammed:tail_2                 from now on

Without AT it begins at once; without FOR it lasts as long as its kind does by itself. KINDS says what there is.
"""

import collections
import re
from dataclasses import dataclass, replace
from typing import Any

from caudal.hal.core.build import build_sensor_map
from caudal.hal.emulated.faults import KINDS as CHIP_KINDS
from caudal.hal.tables import pi as pi_spec
from caudal.tools.common.output import UsageError

EVER = float("inf")
NEVER_S = 1e9  # nothing swims for so long
PI_CHIPS = "chips"  # what a kind needs: --on emulated, or ...
WIRE = "wire"  # ... a controller behind a wire
LASTS_S = {"brown-out": 0.01}  # of chips: it is over at once, what it leaves is not


@dataclass(frozen=True)
class Kind:
    family: str
    name: str
    about: str
    size: str = ""  # what its size is; "": it has none
    usual: float = 0.0  # its size by itself; of sensors a share of what they can read
    low: float = -1e9
    high: float = 1e9
    lasts_s: float = EVER  # without FOR
    needs: str = ""


def _share(family: str, name: str, about: str, usual: float, **more: Any) -> Kind:
    return Kind(family, name, about, "share", usual, 0.0, 1.0, **more)


KINDS = (
    Kind("sensor", "silent", "no readings"),
    Kind("sensor", "stuck", "the same count for ever"),
    Kind("sensor", "noisy", "noise on top", "standard deviation, in its unit", 0.02, 0.0),
    Kind("sensor", "shifted", "a bias", "in its unit", 0.1),
    Kind("sensor", "drifting", "a bias that grows", "in its unit, a second", 0.05),
    Kind("sensor", "spikes", "every tenth reading is off", "in its unit", 0.3),
    Kind("sensor", "scaled", "counts for too much or too little", "factor", 1.5, -100.0, 100.0),
    Kind("sensor", "delayed", "readings come late", "s", 0.3, 0.0, 5.0),
    Kind("sensor", "reads", "one value, whatever is true", "in its unit"),
    Kind("actuator", "jammed", "stays where it is"),
    Kind("actuator", "dead", "off, whatever it is told"),
    _share("actuator", "weak", "does a share of what it is told", 0.5),
    Kind("actuator", "slow", "follows with a lag", "s", 0.5, 0.01, 10.0),
    Kind("actuator", "reversed", "mounted or wired the wrong way round"),
    _share("actuator", "leaking", "its chamber loses a share of the pressure", 0.5),
    Kind("bus", "silent", "no chip of it answers"),
    Kind("bus", "hung", "the same, and the computer has noticed"),
    Kind("wire", "cut", "nothing gets through", lasts_s=0.5, needs=WIRE),
    _share("wire", "lossy", "frames lost", 0.3, needs=WIRE),
    _share("wire", "corrupt", "frames damaged", 0.3, needs=WIRE),
    _share("wire", "repeated", "frames come twice", 0.3, needs=WIRE),
    Kind("process", "killed", "dead, and started anew after FOR", lasts_s=0.5, needs=WIRE),
    Kind("process", "exception", "raises one"),
    Kind("process", "nan", "gives what is no number"),
    Kind("process", "stalled", "stands still for FOR", lasts_s=0.7),
    Kind("power", "sags", "gives less", "V", 2.0, 0.0, 100.0),
    Kind("power", "undervoltage", "the computer's supply is low"),
    Kind("power", "brown-out", "no pulses", lasts_s=0.1),
    Kind("clock", "jumped", "the calendar's clock", lasts_s=1.0),
    Kind("clock", "late", "ticks start late", "s", 0.03, 0.0, 0.45),
    Kind("host", "hot", "the processor"),
    Kind("host", "full", "no room for the log"),
    Kind("host", "fails", "the disk takes no more"),
    Kind("station", "silent", "a station, or a pilot in mode manual, was there and is no more"),
    Kind("station", "floods", "more orders than a tick takes"),
    Kind("station", "nonsense", "orders that make no sense"),
    Kind("station", "rearms", "disarms, and arms after FOR", lasts_s=0.2),
    *(
        Kind("chip", name, "see hal/emulated/faults.py", lasts_s=LASTS_S.get(name, 0.5), needs=PI_CHIPS)
        for name in CHIP_KINDS
    ),
)
FAMILIES = tuple(dict.fromkeys(kind.family for kind in KINDS))
WORDS = {  # targets that every vehicle has
    "wire": ("wire",),
    "killed": ("controller",),
    "exception": ("driver", "estimator", "guide", "controller"),
    "nan": ("estimator", "controller"),
    "stalled": ("loop",),
    "undervoltage": ("computer",),
    "brown-out": ("pulses",),
    "jumped": ("clock",),
    "late": ("loop",),
    "hot": ("computer",),
    "full": ("storage",),
    "fails": ("recorder",),
    "floods": ("station",),
    "nonsense": ("station",),
    "rearms": ("pilot",),
}


@dataclass(frozen=True)
class Fault:
    kind: Kind
    target: str
    at_s: float = 0.0
    for_s: float = EVER
    period_s: float | None = None  # of an intermittent one: on for so long, off for so long
    size: float = 0.0

    def __str__(self) -> str:
        parts = f"{self.name}@{self.at_s:g}"
        if self.for_s != self.kind.lasts_s:
            parts += f"+{self.for_s:g}"
        if self.period_s:
            parts += f"/{self.period_s:g}"
        return parts + (f"*{self.size:g}" if self.kind.size else "")

    @property
    def name(self) -> str:
        return f"{self.kind.name}:{self.target}"

    @property
    def until_s(self) -> float:
        return self.at_s + self.for_s

    def on(self, time_s: float) -> bool:
        if not self.at_s <= time_s < self.until_s:
            return False
        return self.period_s is None or (time_s - self.at_s) / self.period_s % 2 < 1


def upsets_of(vehicle: Any) -> dict[tuple[str, str], Kind]:
    """All that can befall a vehicle: by name of the kind and target."""
    for known, found in _FOUND:
        if known is vehicle:
            return found
    _FOUND.append((vehicle, _upsets_of(vehicle)))
    return _FOUND[-1][1]


_FOUND: collections.deque = collections.deque(maxlen=4)  # of the vehicles asked for last


def _upsets_of(vehicle: Any) -> dict[tuple[str, str], Kind]:
    settings, chips = vehicle.settings, chips_or_none(vehicle)
    sensors = {s["name"]: s for s in settings["sensors"]}
    targets: dict[str, Any] = {"sensor": list(sensors), "bus": ["bus"], "chip": []}
    found: dict[tuple[str, str], Kind] = {}
    if chips:
        from caudal.hal.emulated.wiring import fault_targets

        targets["chip"] = fault_targets(chips)
    for kind in KINDS:
        if kind.family == "actuator":
            names = [a["name"] for a in settings["actuators"] if _able(kind.name, a["map"])]
        elif kind.name == "sags":
            names = ["battery"] if "battery" in sensors or vehicle.plant.battery else []
        elif (kind.family, kind.name) == ("station", "silent"):
            manual = bool(settings["sticks"]) or settings["control"]["kind"] == "wrench"
            names = ["station", *(["pilot"] if manual else [])]
        else:
            names = targets.get(kind.family) or WORDS.get(kind.name) or WORDS.get(kind.family, ())
            names = [] if kind.family == "chip" and not chips else names
        for name in names:
            found.setdefault((kind.name, name), kind)  # what a chip and the plant both can is the plant's
    return found


def _able(name: str, map: str) -> bool:
    return {"leaking": map == "valve", "reversed": map != "valve"}.get(name, True)


def chips_or_none(vehicle: Any) -> dict[str, Any] | None:
    """The vehicle's [pi] table, if it has one."""
    return pi_spec.read(vehicle.file, vehicle.settings) if "pi" in vehicle.file.tables else None


_NUMBER = r"([0-9.]+(?:e[-+]?[0-9]+)?)"
_TEXT = re.compile(
    rf"([a-z-]+):([a-z0-9_]+)(?:@{_NUMBER})?(?:\+({_NUMBER}|inf))?(?:/{_NUMBER})?(?:\*(-?{_NUMBER}))?"
)


def read_fault(text: str, vehicle: Any, now_s: float = 0.0) -> Fault:
    """Refuses in a sentence what makes no sense for this vehicle. Without AT it begins at `now_s`."""
    match = _TEXT.fullmatch(text)
    try:
        if not match:
            raise ValueError
        at_s, for_s, period_s, size = (float(match[k]) if match[k] else None for k in (3, 4, 6, 7))
    except ValueError:
        raise UsageError(
            f"fault {text}: write KIND:TARGET@AT+FOR/PERIOD*SIZE (only the first two are a must), "
            "such as stuck:depth@12+3"
        ) from None
    known = upsets_of(vehicle)
    name, target = match[1], match[2]
    kind = known.get((name, target))
    if kind is None:
        able = [place for kind_name, place in known if kind_name == name]
        if able:
            raise UsageError(f"fault {text}: {name} is nothing for {target}; it is for {', '.join(able)}")
        names = ", ".join(dict.fromkeys(kind_name for kind_name, _ in known))
        raise UsageError(f"fault {text}: there is no kind {name}; there are {names}")
    if size is not None and not (kind.size and kind.low <= size <= kind.high):
        takes = f"a size ({kind.size}) from {kind.low:g} to {kind.high:g}" if kind.size else "no size"
        raise UsageError(f"fault {text}: {name} takes {takes}")
    if for_s == 0 or period_s == 0:
        raise UsageError(f"fault {text}: a time of 0 s is none; leave it out, or give more")
    at_s = now_s if at_s is None else at_s
    if not at_s < NEVER_S:
        raise UsageError(f"fault {text}: second {at_s:g} never comes; give an earlier one")
    fault = Fault(kind, target, at_s, kind.lasts_s if for_s is None else for_s, period_s)
    return replace(fault, size=usual_size(kind, target, vehicle) if size is None else size)


def usual_size(kind: Kind, target: str, vehicle: Any) -> float:
    """Where none is given. Of a sensor's, but for times and factors, a share of all that it can read."""
    if kind.family != "sensor" or kind.size in ("s", "factor"):
        return kind.usual
    return float(f"{kind.usual * span_of(target, vehicle):.3g}")


def span_of(sensor: str, vehicle: Any) -> float:
    """From the lowest to the highest value that a sensor can read."""
    settings = next(s for s in vehicle.settings["sensors"] if s["name"] == sensor)
    if settings["map"] == "table":
        return abs(max(settings["values"]) - min(settings["values"]))
    map = build_sensor_map(settings)
    return abs(map.to_si(settings["high_count"]) - map.to_si(settings["low_count"]))
