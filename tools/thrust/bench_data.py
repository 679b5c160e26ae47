"""Reads and checks bench data of a thruster: a CSV file with several voltages."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from caudal.tools.common.output import UsageError

N_PER_KGF = 9.80665
LOWEST_US, HIGHEST_US = 400, 2600  # pulses that a vehicle file allows
FEWEST = 20  # points per voltage
FEWEST_PUSHING = (
    8  # of them with thrust, in each direction: five terms of a polynomial, an edge, and a margin
)
CROOKED = 0.03  # of the greatest force: by how much forces may fall while the pulse grows (rms)
IDLE = 0.03  # of the greatest force: below this there is no thrust

Row = tuple[float, float, float, float | None]  # V, us, N, A


@dataclass(frozen=True)
class Bench:
    """Forces of one motor at one voltage, by increasing pulses; repeated pulses are averaged."""

    volts: float
    pulses_us: np.ndarray
    forces_n: np.ndarray
    currents_a: np.ndarray | None
    neutral_us: int

    def force_n(self, pulses_us: npt.ArrayLike) -> np.ndarray:
        """The force at any pulse, linear between measured points."""
        return np.asarray(np.interp(np.asarray(pulses_us, float), self.pulses_us, self.forces_n))

    @property
    def rising_n(self) -> np.ndarray:
        """The nearest forces that never fall while the pulse grows."""
        return never_falling(self.forces_n)

    @property
    def decimals(self) -> int:
        """Decimals of forces in N: 3 for tens of newtons, more for a small motor."""
        return max(4 - math.floor(math.log10(np.abs(self.forces_n).max())), 0)


def read(path: Path, neutral_us: int) -> list[Bench]:
    """The bench data of a file, by increasing voltage."""
    rows = _rows(path)
    benches = []
    for volts in sorted({row[0] for row in rows}):
        bench = _averaged(volts, [row for row in rows if row[0] == volts], neutral_us)
        _check(path, bench)
        benches.append(bench)
    return benches


def _rows(path: Path) -> list[Row]:
    """Voltage in V, pulse in us, force in N and current in A of every line."""
    lines = [(k, line) for k, line in enumerate(_text(path).splitlines(), 1) if _is_data(line)]
    if not lines:
        raise UsageError(f"{path} is empty; give a CSV file with the columns voltage_V, pwm_us and force_kgf")
    head = [name.strip() for name in next(csv.reader([lines[0][1]]))]
    columns = _columns(path, head)
    unit_n = N_PER_KGF if head[columns[2]].lower() == "force_kgf" else 1.0
    rows: list[Row] = []
    for number, line in lines[1:]:
        cells = next(csv.reader([line]))
        volts, pulse_us, force = (_number(path, number, head, cells, column) for column in columns[:3])
        current_a = None if columns[3] is None else _number(path, number, head, cells, columns[3])
        if volts <= 0:
            raise UsageError(f"{path}, line {number}: voltage_V is {volts:g}; it must be above 0")
        if not LOWEST_US <= pulse_us <= HIGHEST_US:
            allowed = f"{LOWEST_US} to {HIGHEST_US} us"
            raise UsageError(
                f"{path}, line {number}: pwm_us is {pulse_us:g}; pulses must be within {allowed}"
            )
        rows.append((volts, pulse_us, force * unit_n, current_a))
    if not rows:
        raise UsageError(f"{path} has a header but no measurements; add a line for each")
    return rows


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; save the table as CSV") from None
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist; give the CSV file of a thruster's bench data") from None
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        reason = getattr(problem, "strerror", None) or problem
        raise UsageError(f"{path} cannot be read ({reason}); give a CSV file") from None


def _is_data(line: str) -> bool:
    return bool(line.strip(" \t,;")) and not line.lstrip().startswith("#")


def _columns(path: Path, head: list[str]) -> tuple[int, int, int, int | None]:
    """The columns of voltage, pulse, force and current; names are not case-sensitive."""
    names = [name.lower() for name in head]
    force = "force_n" if "force_n" in names else "force_kgf"
    wanted = {"voltage_v": "voltage_V", "pwm_us": "pwm_us", force: "force_kgf (or force_n)"}
    missing = [said for name, said in wanted.items() if name not in names]
    if missing:
        there = ", ".join(head)
        raise UsageError(f"{path} has no column {' and no column '.join(missing)}; its columns are {there}")
    volts, pulse, push = (names.index(name) for name in wanted)
    return volts, pulse, push, names.index("current_a") if "current_a" in names else None


def _number(path: Path, line: int, head: list[str], cells: list[str], column: int) -> float:
    text = cells[column].strip() if column < len(cells) else ""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        found = f'"{text[:40]}"' if text else "empty"
        raise UsageError(
            f"{path}, line {line}, column {head[column]}: {found} is not a number; correct the line"
        )
    return value


def _averaged(volts: float, rows: list[Row], neutral_us: int) -> Bench:
    pulses_us, where = np.unique([row[1] for row in rows], return_inverse=True)
    count = np.bincount(where)
    forces_n = np.bincount(where, [row[2] for row in rows]) / count
    currents = [row[3] for row in rows if row[3] is not None]
    currents_a = np.bincount(where, currents) / count if len(currents) == len(rows) else None
    return Bench(volts, pulses_us, forces_n, currents_a, neutral_us)


def _check(path: Path, bench: Bench) -> None:
    """A UsageError if no thruster map can be made from the data."""
    at = f"{path} at {bench.volts:g} V"
    pulses_us, forces_n, neutral_us = bench.pulses_us, bench.forces_n, bench.neutral_us
    if len(pulses_us) < FEWEST:
        raise UsageError(f"{at}: {len(pulses_us)} different pulses are too few; a fit needs {FEWEST} or more")
    greatest_n = np.abs(forces_n).max()
    crooked_n = np.sqrt(np.mean((forces_n - bench.rising_n) ** 2))
    if greatest_n == 0 or crooked_n > CROOKED * greatest_n:
        k = int(np.argmin(np.diff(forces_n)))
        steps = f"{forces_n[k]:.3g} N at {pulses_us[k]:g} us, then {forces_n[k + 1]:.3g} N at {pulses_us[k + 1]:g} us"
        hint = "force_kgf must be positive for pulses longer than neutral"
        raise UsageError(f"{at}: the force does not grow with the pulse ({steps}); {hint}")
    for side, words in ((1, "forward (above neutral"), (-1, "backward (below neutral")):
        pushes = (side * (pulses_us - neutral_us) > 0) & (side * forces_n > IDLE * greatest_n)
        if pushes.sum() < FEWEST_PUSHING:
            found = f"only {pushes.sum()} points have thrust" if pushes.any() else "no point has thrust"
            hint = f"a thruster's map needs both directions, {FEWEST_PUSHING} points each"
            raise UsageError(f"{at}: {found} {words}, {neutral_us} us); {hint}")
    neutral_n = float(bench.force_n(neutral_us))
    if abs(neutral_n) > IDLE * greatest_n:
        raise UsageError(
            f"{at}: the thrust at neutral, {neutral_us} us, is {neutral_n:.3g} N; give --neutral US"
        )


def never_falling(values: np.ndarray) -> np.ndarray:
    """The nearest sequence (least squares) that never falls: falling neighbours are pooled to their mean."""
    means: list[float] = []
    counts: list[int] = []
    for value in values:
        means.append(float(value))
        counts.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            total = counts[-2] + counts[-1]
            means[-2:] = [(means[-2] * counts[-2] + means[-1] * counts[-1]) / total]
            counts[-2:] = [total]
    return np.repeat(means, counts)
