"""The points of a sweep: every combination of the varied keys' values, with every seed."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from caudal.tools.common.output import UsageError

MOST_POINTS = 1_000_000
Number = int | float


def _plain(value: float) -> float:
    """Rounded to 12 digits: 0.3, not 0.30000000000000004."""
    return float(f"{value:.12g}")


@dataclass(frozen=True)
class Varied:
    """A key of the vehicle file and the values it takes."""

    key: str
    values: tuple[Number, ...]


@dataclass(frozen=True)
class Point:
    """One run: its place in grid order, the varied keys' values, its seed."""

    index: int
    values: tuple[Number, ...]
    seed: int


def read_varied(text: str) -> Varied:
    """Reads KEY=A:B:N, N values from A to B, ends included; they are integers if all of them are whole."""
    key, equals, span = text.partition("=")
    parts = span.split(":")
    if not equals or not key.strip() or len(parts) != 3:
        raise UsageError(f"--vary {text}: write KEY=FROM:TO:COUNT, such as gait.wavelength_m=0.3:0.6:7")
    try:
        first, last, count = float(parts[0]), float(parts[1]), int(parts[2])
    except ValueError:
        raise UsageError(
            f"--vary {text}: {span} is not two numbers and a whole number, FROM:TO:COUNT"
        ) from None
    if not (math.isfinite(first) and math.isfinite(last)) or not 1 <= count <= MOST_POINTS:
        raise UsageError(f"--vary {text}: FROM and TO must be finite and COUNT from 1 to {MOST_POINTS}")
    if count == 1 and first != last:
        raise UsageError(
            f"--vary {text}: one value cannot be both {parts[0]} and {parts[1]}; give a COUNT of 2 or more"
        )
    values: tuple[Number, ...] = tuple(
        last if k == count - 1 else _plain(first + (last - first) * k / max(1, count - 1))
        for k in range(count)
    )
    whole = all("." not in part and "e" not in part.lower() for part in parts)
    if whole and all(value == int(value) for value in values):
        values = tuple(int(value) for value in values)
    return Varied(key.strip(), values)


def read_all_varied(texts: list[str]) -> list[Varied]:
    """Reads all --vary options; no key may be given twice."""
    varied = [read_varied(text) for text in texts]
    for k, one in enumerate(varied):
        if one.key in [other.key for other in varied[:k]]:
            raise UsageError(f"--vary {one.key} is given twice; give each key one range")
    return varied


def grid(varied: list[Varied], seeds: int) -> list[Point]:
    """All points in grid order: seeds vary fastest, then the last key."""
    count = math.prod(len(one.values) for one in varied) * seeds
    if count > MOST_POINTS:
        raise UsageError(f"the grid has {count} points; at most {MOST_POINTS} make one sweep")
    combinations = itertools.product(itertools.product(*(one.values for one in varied)), range(seeds))
    return [Point(k, values, seed) for k, (values, seed) in enumerate(combinations)]


def overrides(varied: list[Varied], point: Point) -> list[str]:
    """A point's values as KEY=VALUE of --set."""
    return [f"{one.key}={value!r}" for one, value in zip(varied, point.values, strict=True)]


def place(varied: list[Varied], point: Point, seeds: int) -> dict[str, Number]:
    """A point's values by key, with its seed if there are several."""
    at: dict[str, Number] = {one.key: value for one, value in zip(varied, point.values, strict=True)}
    return at | ({"seed": point.seed} if seeds > 1 else {})
