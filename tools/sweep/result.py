"""The result of a sweep: a table as CSV or Parquet, a plot, and the extremes with their points."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np

from caudal.tools.common.output import UsageError
from caudal.tools.sweep.grid import Point, Varied, place

Table = dict[str, list[Any]]  # columns by name


def check_out(out: Path) -> None:
    """A UsageError if the table cannot be written in this format. Call it before the runs."""
    if out.suffix not in (".csv", ".parquet"):
        raise UsageError(f"--out {out}: the table is written as .csv or .parquet")
    if out.suffix == ".parquet":
        _parquet()


def _parquet() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise UsageError("writing Parquet needs pyarrow; pip install pyarrow, or name a .csv") from None
    return pyarrow


def columns(
    varied: list[Varied], points: list[Point], metrics: list[str], rows: dict[int, dict[str, Any]]
) -> Table:
    """The table in grid order: the varied keys, the seed, the metrics, and the error of a point that failed."""
    table: Table = {one.key: [p.values[k] for p in points] for k, one in enumerate(varied)}
    table["seed"] = [point.seed for point in points]
    for k, name in enumerate(metrics):
        values = [rows[point.index]["values"] for point in points]
        table[name] = [None if each is None else each[k] for each in values]
    table["error"] = [rows[point.index]["error"] for point in points]
    return table


def write_table(out: Path, table: Table) -> None:
    """Writes the table as CSV or Parquet, by the file's suffix."""
    part = out.with_name(f"{out.name}.new")  # if killed, an earlier table stays whole
    try:
        if out.suffix == ".parquet":
            arrow = _parquet()
            arrow.parquet.write_table(arrow.table(table), part)
        else:
            with part.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(table)
                writer.writerows(zip(*table.values(), strict=True))
        part.replace(out)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}; choose another file with --out") from error


def extremes(
    varied: list[Varied], points: list[Point], seeds: int, metrics: list[str], table: Table
) -> dict[str, dict[str, Any]]:
    """Minimum, mean and maximum of each metric, and at which point; None where no point has it."""
    result = {}
    for name in metrics:
        known = [
            (float(value), point)
            for value, point in zip(table[name], points, strict=True)
            if value is not None and math.isfinite(value)
        ]
        if not known:
            result[name] = dict.fromkeys(("min", "min_at", "mean", "max", "max_at"))
            continue
        least, most = min(known, key=lambda k: k[0]), max(known, key=lambda k: k[0])
        result[name] = {
            "min": least[0],
            "min_at": place(varied, least[1], seeds),
            "mean": sum(value for value, _ in known) / len(known),
            "max": most[0],
            "max_at": place(varied, most[1], seeds),
        }
    return result


def draw(path: Path, varied: list[Varied], seeds: int, metrics: list[str], table: Table) -> bool:
    """Plots the mean over seeds: a line for one varied key, a heat map for two; False, and no plot, for more."""
    varied = [one for one in varied if len(one.values) > 1]
    if not 1 <= len(varied) <= 2:
        return False
    from caudal.tools.common.pyplot import pyplot

    plt = pyplot()
    shape = [len(one.values) for one in varied]
    figure, all_axes = plt.subplots(
        1, len(metrics), figsize=(5.5 * len(metrics), 4), layout="constrained", squeeze=False
    )
    for axes, name in zip(all_axes[0], metrics, strict=True):
        values = np.array([np.nan if v is None else float(v) for v in table[name]]).reshape(*shape, seeds)
        known = np.isfinite(values)
        sums = np.where(known, values, 0.0).sum(axis=-1)
        mean = np.divide(sums, known.sum(axis=-1), out=np.full(shape, np.nan), where=known.any(axis=-1))
        if len(varied) == 1:
            x = varied[0].values
            if seeds > 1:
                axes.plot(x, values, ".", color="tab:blue", alpha=0.35)
            axes.plot(x, mean, "o-", markersize=3, color="tab:blue")
            axes.set(xlabel=varied[0].key, ylabel=name)
            axes.grid(alpha=0.3)
        else:
            colours = axes.pcolormesh(varied[1].values, varied[0].values, mean, shading="nearest")
            figure.colorbar(colours, ax=axes, label=name)
            axes.set(xlabel=varied[1].key, ylabel=varied[0].key)
    figure.savefig(path)
    plt.close(figure)
    return True
