"""Page of `caudal bend`: its table, and the axis of the vehicle from above for each shape and model."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from caudal.tools.common.pyplot import as_svg, pyplot
from caudal.tools.report import html as report_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Lines = dict[str, np.ndarray]  # the vehicle's axis (point, 3) in m, in still water and by model

LINE_STYLES = {"still water": "k:", "suj": "-", "cc": "--", "pcc": "-."}


def write(
    path: Path,
    title: str,
    inputs: dict[str, Any],
    table: tuple[Sequence[str], Sequence[Sequence[str]]],
    lines: dict[str, Lines],
) -> None:
    """Writes the page with its inputs, table and figure."""
    values = ", ".join(f"{key} {value:g}" for key, value in inputs.items())
    parts = [
        f"<p>{html.escape(values)}</p>",
        report_page.table(*table),
        report_page.section("From above", as_svg(_figure(lines))),
    ]
    report_page.write(path, report_page.page(title, parts))


def _figure(lines: dict[str, Lines]) -> Figure:
    figure: Figure
    figure, all_axes = pyplot().subplots(
        1, len(lines), figsize=(11, 3.6), sharex=True, sharey=True, layout="constrained", squeeze=False
    )
    for axes, (shape, drawn) in zip(all_axes[0], lines.items(), strict=True):
        for name, line in drawn.items():
            axes.plot(line[:, 0], line[:, 1], LINE_STYLES[name], linewidth=1.2, label=name)
        axes.set(title=shape, xlabel="x, m", aspect="equal")
        axes.grid(alpha=0.3)
    all_axes[0][0].set_ylabel("y, in the direction of the flow, m")
    all_axes[0][0].legend()
    return figure
