"""Knobs of a gait: amplitude and wavelength in metres or radians, whatever parameters a vehicle's file has for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LONGEST = 4.0  # wavelengths by the body's length that a slider offers, where the file lets it be straight

Values = Mapping[str, float]  # of parameters, by name
Orders = list[tuple[str, float]]


@dataclass(frozen=True)
class Knob:
    """One number of a gait that may be turned; the parameters below it are not turned singly beside it."""

    label: str
    low: float
    high: float
    about: str
    names: tuple[str, ...]

    def shown(self, values: Values) -> float:
        """What it stands at."""
        return values[self.names[0]]

    def orders(self, value: float, values: Values) -> Orders:
        """What to set so that it stands there."""
        return [(self.names[0], value)]


@dataclass(frozen=True)
class SwimInverse(Knob):
    """A wavelength, of a gait that counts waves along a length."""

    length_m: float = 1.0

    def shown(self, values: Values) -> float:
        return self.length_m / max(values[self.names[0]], self.length_m / self.high)

    def orders(self, value: float, values: Values) -> Orders:
        return [(self.names[0], self.length_m / value)]


@dataclass(frozen=True)
class Envelope(Knob):
    """The sweep of a tail's end, c1 x + c2 x2; both grow by one factor, so the wave keeps its shape."""

    length_m: float = 1.0
    ends: tuple[tuple[float, float], ...] = ()

    def shown(self, values: Values) -> float:
        c1, c2 = (values[name] for name in self.names)
        return c1 * self.length_m + c2 * self.length_m**2

    def orders(self, value: float, values: Values) -> Orders:
        factor = value / self.shown(values)
        return [
            (name, min(max(factor * values[name], low), high))
            for name, (low, high) in zip(self.names, self.ends, strict=True)
        ]


def knobs(settings: Mapping[str, Any]) -> list[Knob]:
    """Amplitude and wavelength, as far as the file lets them be set; without sticks the frequency, too."""
    gait = settings.get("gait") or {}
    params = {param["key"]: param for param in settings.get("params") or []}
    found: list[Knob] = []

    def add(key: str, label: str) -> None:
        if key in params:
            param = params[key]
            found.append(Knob(label, param["low"], param["high"], param["about"], (param["name"],)))

    if not settings.get("sticks"):
        add("gait.frequency_hz", "Frequency (Hz)")
    add("gait.amplitude_rad", "Amplitude (rad)")
    if "gait.c1" in params and "gait.c2_per_m" in params:
        parts = [params["gait.c1"], params["gait.c2_per_m"]]
        ends = tuple((float(part["low"]), float(part["high"])) for part in parts)
        names, length_m = tuple(part["name"] for part in parts), sum(gait["links_m"])
        low, high = ((c1 * length_m + c2 * length_m**2) for c1, c2 in zip(*ends, strict=True))
        about = "how far the tail's end sweeps"
        found.append(Envelope("Amplitude (m)", low, high, about, names, length_m, ends))
    add("gait.wavelength_m", "Wavelength (m)")
    if "gait.waves" in params:
        param, length_m = params["gait.waves"], float(gait["length_m"])
        low, high = length_m / param["high"], length_m / max(param["low"], 1 / LONGEST)
        about = f"of the wave along {length_m:g} m"
        found.append(SwimInverse("Wavelength (m)", low, high, about, (param["name"],), length_m))
    return found
