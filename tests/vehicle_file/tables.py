"""A small vehicle file and its tables, for tests of the reader."""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError


class Table(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What all tables of this test have in common."""


class Servo(Table, tag_field="map", tag="servo"):
    """A hobby servo."""

    centre_us: Annotated[float, Meta(ge=500, le=2500)]
    port: Annotated[int, Meta(ge=0, le=15)] = 0
    slew_rad_s: Annotated[float, Meta(gt=0)] | None = None


class Thruster(Table, tag_field="map", tag="thruster"):
    most_n: Annotated[float, Meta(gt=0, lt=100)]
    curve: list[tuple[float, float]] = msgspec.field(default_factory=list)


class Valve(Table, tag_field="map", tag="valve"):
    step_ua: Annotated[int, Meta(ge=0, multiple_of=50)] = 100


class Burst(Table):
    length_s: Annotated[float, Meta(gt=0)]


class Gait(Table):
    frequency_hz: Annotated[float, Meta(gt=0, le=10, description="tail beats a second")]
    source: Literal["wave", "table"] = "wave"
    ceiling_m: float | Literal["off"] = "off"
    amplitude_rad: dict[Annotated[str, Meta(pattern="^[a-z_0-9]+$")], Annotated[float, Meta(ge=0)]] = {}
    lead: bool = msgspec.field(default=False, name="lead-in")
    label: Annotated[str, Meta(min_length=1, max_length=12)] = "swim"
    burst: Burst | None = None


class Link(Table):
    length_m: Annotated[float, Meta(gt=0)]
    mount_m: Annotated[list[float], Meta(min_length=3, max_length=3)] = msgspec.field(
        default_factory=lambda: [0.0, 0.0, 0.0]
    )


class Plant(Table):
    link: Annotated[list[Link], Meta(min_length=1)]


class Battery(Table):
    empty_v: float = 9.0
    full_v: float = 12.6

    def __post_init__(self) -> None:
        if self.full_v <= self.empty_v:
            raise ValueError(f"full_v is {self.full_v:g} V, which is not above empty_v")


Actuators = dict[str, Servo | Thruster | Valve]

SOUND = """\
# A small vehicle.
[gait]
frequency_hz = 2
amplitude_rad = { tail_1 = 0.2 }

[actuator.tail_1]
map = "servo"
centre_us = 1500

[[plant.link]]
length_m = 0.2
[[plant.link]]
length_m = 0.3
mount_m = [0.1, 0, 0]
"""


def sound(*overrides: str) -> VehicleFile:
    return VehicleFile.parse(SOUND, "fish.toml", overrides)


def sentence(text: str, key: str, kind: Any, *overrides: str) -> str:
    with pytest.raises(VehicleFileError) as caught:
        VehicleFile.parse(text, "fish.toml", overrides).read(key, kind)
    return str(caught.value)


def in_gait(line: str) -> str:
    return sentence(f"[gait]\nfrequency_hz = 2\n{line}\n", "gait", Gait)


def in_servo(line: str) -> str:
    return sentence(f'[actuator.tail_1]\nmap = "servo"\n{line}\n', "actuator", Actuators)


def not_opened(path: str | Path) -> str:
    with pytest.raises(VehicleFileError) as caught:
        VehicleFile.open(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))
