"""Sliders of a gait: amplitude and wavelength in metres or radians, whatever parameters the vehicle file offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from caudal.onboard.tables.read import Settings
from caudal.onboard.tables.stack import TailGait, UndulationGait

LONGEST = 4.0  # longest wavelength of a slider in body lengths, where the file allows a straight body

Values = Mapping[str, float]  # of parameters, by name
Changes = list[tuple[str, float]]  # values to set, by parameter


@dataclass(frozen=True)
class Quantity:
    """A quantity with a slider; by default one parameter."""

    label: str
    low: float
    high: float
    description: str
    names: tuple[str, ...]

    def value(self, params: Values) -> float:
        """Returns the quantity for these parameters."""
        return params[self.names[0]]

    def changes(self, value: float, params: Values) -> Changes:
        """Returns the parameters to set for a value of the quantity."""
        return [(self.names[0], value)]


@dataclass(frozen=True)
class Wavelength(Quantity):
    """The wavelength of a gait whose parameter is the number of waves along a length."""

    length_m: float = 1.0

    def value(self, params: Values) -> float:
        """Returns the wavelength, m."""
        return self.length_m / max(params[self.names[0]], self.length_m / self.high)

    def changes(self, value: float, params: Values) -> Changes:
        """Returns the number of waves to set."""
        return [(self.names[0], self.length_m / value)]


@dataclass(frozen=True)
class TailAmplitude(Quantity):
    """The amplitude at the end of a tail, c1 x + c2 x2; a change scales both, so the wave keeps its shape."""

    length_m: float = 1.0
    limits: tuple[tuple[float, float], ...] = ()

    def value(self, params: Values) -> float:
        """Returns the amplitude at the end of the tail, m."""
        c1, c2 = (params[name] for name in self.names)
        return c1 * self.length_m + c2 * self.length_m**2

    def changes(self, value: float, params: Values) -> Changes:
        """Returns c1 and c2 to set, within their limits."""
        factor = value / self.value(params)
        return [
            (name, min(max(factor * params[name], low), high))
            for name, (low, high) in zip(self.names, self.limits, strict=True)
        ]


def quantities(settings: Settings) -> list[Quantity]:
    """Returns the quantities of the gait that the file lets a user change; the frequency only without sticks."""
    gait = settings.gait
    params = {param.key: param for param in settings.params}
    found: list[Quantity] = []

    def add(key: str, label: str) -> None:
        if key in params:
            param = params[key]
            found.append(Quantity(label, param.low, param.high, param.description, (param.name,)))

    if not settings.sticks:
        add("gait.frequency_hz", "Frequency (Hz)")
    add("gait.amplitude_rad", "Amplitude (rad)")
    if isinstance(gait, TailGait) and "gait.c1" in params and "gait.c2_per_m" in params:
        parts = [params["gait.c1"], params["gait.c2_per_m"]]
        limits = tuple((float(part.low), float(part.high)) for part in parts)
        names, length_m = tuple(part.name for part in parts), sum(gait.links_m)
        low, high = ((c1 * length_m + c2 * length_m**2) for c1, c2 in zip(*limits, strict=True))
        found.append(
            TailAmplitude(
                "Amplitude (m)", low, high, "amplitude at the end of the tail", names, length_m, limits
            )
        )
    add("gait.wavelength_m", "Wavelength (m)")
    if isinstance(gait, UndulationGait) and "gait.waves" in params:
        param, length_m = params["gait.waves"], float(gait.length_m)
        low, high = length_m / param.high, length_m / max(param.low, 1 / LONGEST)
        about = f"wavelength on a length of {length_m:g} m"
        found.append(Wavelength("Wavelength (m)", low, high, about, (param.name,), length_m))
    return found
