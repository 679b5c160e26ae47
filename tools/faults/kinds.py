"""Kinds of faults, and a fault as a line of text: KIND:TARGET[@AT][+FOR][/PERIOD][*SIZE], times in seconds.

    stuck:depth@12+3              the sensor keeps its count from second 12 on, for 3 s
    silent:heading@5+4/0.5        intermittent: half a second on, half a second off
    shifted:depth@5*0.3           a bias of 0.3 m, until the end
    jammed:tail_2                 from now on

Without AT it begins at once; without FOR it lasts as long as its kind does by default. KINDS lists them all.
"""

from __future__ import annotations

import collections
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from caudal.hal.core.build import build_sensor_map
from caudal.hal.emulated.faults import KINDS as CHIP_KINDS
from caudal.hal.tables import pi as pi_spec
from caudal.tools.common.output import UsageError

if TYPE_CHECKING:
    from caudal.tools.config.vehicle import Vehicle

FOREVER_S = float("inf")
LATEST_S = 1e9  # no run lasts as long
PI_CHIPS = "chips"  # what a kind needs: --on emulated, or ...
WIRE = "wire"  # ... a controller on a HIL link
LASTS_S = {"brown-out": 0.01}  # of chips: it is over at once, its consequences are not


@dataclass(frozen=True)
class Kind:
    """A kind of fault: its family, its name, and the size and duration it may have."""

    family: str
    name: str
    description: str
    size: str = ""  # what its size is; "": it has none
    default: float = 0.0  # size; of sensors a share of their range
    low: float = -1e9
    high: float = 1e9
    lasts_s: float = FOREVER_S  # without FOR
    needs: str = ""


def _share(family: str, name: str, description: str, default: float, needs: str = "") -> Kind:
    return Kind(family, name, description, "share", default, 0.0, 1.0, needs=needs)


KINDS = (
    Kind("sensor", "silent", "no readings"),
    Kind("sensor", "stuck", "keeps its last count"),
    Kind("sensor", "noisy", "added noise", "standard deviation, in its unit", 0.02, 0.0),
    Kind("sensor", "shifted", "a constant bias", "in its unit", 0.1),
    Kind("sensor", "drifting", "a growing bias", "in its unit per second", 0.05),
    Kind("sensor", "spikes", "an error in one of ten readings", "in its unit", 0.3),
    Kind("sensor", "scaled", "a wrong scale", "factor", 1.5, -100.0, 100.0),
    Kind("sensor", "delayed", "readings come late", "s", 0.3, 0.0, 5.0),
    Kind("sensor", "reads", "one fixed value", "in its unit"),
    Kind("actuator", "jammed", "stays in its position"),
    Kind("actuator", "dead", "off, whatever its set-point"),
    _share("actuator", "weak", "reaches a share of its set-point", 0.5),
    Kind("actuator", "slow", "follows with a lag", "s", 0.5, 0.01, 10.0),
    Kind("actuator", "reversed", "mounted or wired the wrong way around"),
    _share("actuator", "leaking", "its chamber loses a share of the pressure", 0.5),
    Kind("bus", "silent", "none of its chips responds"),
    Kind("bus", "hung", "none of its chips responds, and the computer reports it"),
    Kind("wire", "cut", "no frame gets through", lasts_s=0.5, needs=WIRE),
    _share("wire", "lossy", "frames are lost", 0.3, needs=WIRE),
    _share("wire", "corrupt", "frames are corrupted", 0.3, needs=WIRE),
    _share("wire", "repeated", "frames are duplicated", 0.3, needs=WIRE),
    Kind("process", "killed", "is killed, and restarts after FOR", lasts_s=0.5, needs=WIRE),
    Kind("process", "exception", "raises an exception"),
    Kind("process", "nan", "outputs NaN"),
    Kind("process", "stalled", "stops for FOR", lasts_s=0.7),
    Kind("power", "sags", "its voltage drops", "V", 2.0, 0.0, 100.0),
    Kind("power", "undervoltage", "the computer's supply voltage is low"),
    Kind("power", "brown-out", "no pulses", lasts_s=0.1),
    Kind("clock", "jumped", "the wall clock jumps", lasts_s=1.0),
    Kind("clock", "late", "ticks start late", "s", 0.03, 0.0, 0.45),
    Kind("host", "hot", "the processor overheats"),
    Kind("host", "full", "no space for the log"),
    Kind("host", "fails", "writes to the disk fail"),
    Kind("station", "silent", "a station, or a pilot in mode manual, times out"),
    Kind("station", "floods", "more commands than a tick takes"),
    Kind("station", "nonsense", "invalid commands"),
    Kind("station", "rearms", "disarms, and arms after FOR", lasts_s=0.2),
    *(
        Kind("chip", name, "see hal/emulated/faults.py", lasts_s=LASTS_S.get(name, 0.5), needs=PI_CHIPS)
        for name in CHIP_KINDS
    ),
)
FAMILIES = tuple(dict.fromkeys(kind.family for kind in KINDS))
TARGETS = {  # that every vehicle has, by kind or family
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
    """One fault of a run: a kind, its target, when it is on, and its size."""

    kind: Kind
    target: str
    at_s: float = 0.0
    for_s: float = FOREVER_S
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
        """KIND:TARGET."""
        return f"{self.kind.name}:{self.target}"

    @property
    def until_s(self) -> float:
        """When it ends."""
        return self.at_s + self.for_s

    def on(self, time_s: float) -> bool:
        """Is it on at this time of the run?"""
        if not self.at_s <= time_s < self.until_s:
            return False
        return self.period_s is None or (time_s - self.at_s) / self.period_s % 2 < 1


def possible_faults(vehicle: Vehicle) -> dict[tuple[str, str], Kind]:
    """All faults that a vehicle can have: the kind by its name and target."""
    for known, found in _CACHE:
        if known is vehicle:
            return found
    _CACHE.append((vehicle, _possible_faults(vehicle)))
    return _CACHE[-1][1]


_CACHE: collections.deque[tuple[Vehicle, dict[tuple[str, str], Kind]]] = collections.deque(maxlen=4)


def _possible_faults(vehicle: Vehicle) -> dict[tuple[str, str], Kind]:
    settings, chips = vehicle.settings, chips_or_none(vehicle)
    sensors = [s.name for s in settings.sensors]
    targets = {"sensor": sensors, "bus": ["bus"], "chip": []}
    found: dict[tuple[str, str], Kind] = {}
    if chips:
        from caudal.hal.emulated.wiring import fault_targets

        targets["chip"] = fault_targets(chips)
    for kind in KINDS:
        if kind.family == "actuator":
            names = [a.name for a in settings.actuators if _able(kind.name, a.map)]
        elif kind.name == "sags":
            names = ["battery"] if "battery" in sensors or vehicle.plant.battery else []
        elif (kind.family, kind.name) == ("station", "silent"):
            manual = bool(settings.sticks) or settings.control.kind == "wrench"
            names = ["station", *(["pilot"] if manual else [])]
        elif kind.family in targets:
            names = targets[kind.family]
        else:
            names = list(TARGETS.get(kind.name) or TARGETS[kind.family])
        for name in names:
            found.setdefault((kind.name, name), kind)  # of a chip's kind and the plant's, the plant's
    return found


def _able(name: str, map: str) -> bool:
    return {"leaking": map == "valve", "reversed": map != "valve"}.get(name, True)


def chips_or_none(vehicle: Vehicle) -> pi_spec.Pi | None:
    """The vehicle's [pi] table, if it has one."""
    return pi_spec.read(vehicle.file, vehicle.settings) if "pi" in vehicle.file.tables else None


_NUMBER = r"([0-9.]+(?:e[-+]?[0-9]+)?)"
_TEXT = re.compile(
    rf"([a-z-]+):([a-z0-9_]+)(?:@{_NUMBER})?(?:\+({_NUMBER}|inf))?(?:/{_NUMBER})?(?:\*(-?{_NUMBER}))?"
)


def read_fault(text: str, vehicle: Vehicle, now_s: float = 0.0) -> Fault:
    """A fault from its text; a UsageError if this vehicle cannot have it. Without AT it begins at `now_s`."""
    match = _TEXT.fullmatch(text)
    try:
        if not match:
            raise ValueError
        at_s, for_s, period_s, size = (float(match[k]) if match[k] else None for k in (3, 4, 6, 7))
    except ValueError:
        raise UsageError(
            f"fault {text}: write KIND:TARGET@AT+FOR/PERIOD*SIZE (only the first two are required), "
            "such as stuck:depth@12+3"
        ) from None
    known = possible_faults(vehicle)
    name, target = match[1], match[2]
    kind = known.get((name, target))
    if kind is None:
        able = [place for kind_name, place in known if kind_name == name]
        if able:
            raise UsageError(f"fault {text}: {target} cannot have {name}; only {', '.join(able)} can")
        names = ", ".join(dict.fromkeys(kind_name for kind_name, _ in known))
        raise UsageError(f"fault {text}: there is no kind {name}; there are {names}")
    if size is not None and not (kind.size and kind.low <= size <= kind.high):
        takes = f"a size ({kind.size}) from {kind.low:g} to {kind.high:g}" if kind.size else "no size"
        raise UsageError(f"fault {text}: {name} takes {takes}")
    if for_s == 0 or period_s == 0:
        raise UsageError(f"fault {text}: FOR and PERIOD must be more than 0 s; raise it or leave it out")
    at_s = now_s if at_s is None else at_s
    if not at_s < LATEST_S:
        raise UsageError(f"fault {text}: no run reaches second {at_s:g}; give an earlier one")
    fault = Fault(kind, target, at_s, kind.lasts_s if for_s is None else for_s, period_s)
    return replace(fault, size=default_size(kind, target, vehicle) if size is None else size)


def default_size(kind: Kind, target: str, vehicle: Vehicle) -> float:
    """The size of a fault whose text gives none; of a sensor's in its unit a share of its range."""
    if kind.family != "sensor" or kind.size in ("s", "factor"):
        return kind.default
    return float(f"{kind.default * range_of(target, vehicle):.3g}")


def range_of(sensor: str, vehicle: Vehicle) -> float:
    """From the lowest to the highest value that a sensor can read, in its SI unit."""
    settings = next(s for s in vehicle.settings.sensors if s.name == sensor)
    if settings.map == "table":
        values: list[float] = settings.values
        return max(values) - min(values)
    map = build_sensor_map(settings)
    return abs(float(map.to_si(settings.high_count) - map.to_si(settings.low_count)))
