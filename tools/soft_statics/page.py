"""The page of `caudal bend`: its table, and the vehicle's axis from above in each shape, by each model."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from caudal.tools.common.output import UsageError
from caudal.tools.common.pyplot import as_svg, pyplot
from caudal.tools.report.html import STYLE

DRAWN = {"still water": "k:", "suj": "-", "cc": "--", "pcc": "-."}


def write(
    path: Path,
    title: str,
    told: dict[str, Any],
    table: tuple[Sequence[str], Sequence[Sequence[str]]],
    lines: dict[str, dict[str, Any]],
) -> None:
    asked = ", ".join(f"{key} {value:g}" for key, value in told.items())
    page = [
        f"<!doctype html><meta charset='utf-8'><title>{html.escape(title)}</title><style>{STYLE}</style>",
        f"<h1>{html.escape(title)}</h1><p>{html.escape(asked)}</p>",
        _table(*table),
        "<h2>From above</h2>",
        as_svg(_figure(lines)),
    ]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(page), encoding="utf-8")
    except OSError as error:
        reason = f"{error.strerror}; choose another place with --page"
        raise UsageError(f"cannot write {path}: {reason}") from error


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"<tr>{''.join(f'<th>{html.escape(cell)}</th>' for cell in head)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows]
    return f"<table>{''.join(lines)}</table>"


def _figure(lines: dict[str, dict[str, Any]]) -> Any:
    figure, all_axes = pyplot().subplots(
        1, len(lines), figsize=(11, 3.6), sharex=True, sharey=True, layout="constrained", squeeze=False
    )
    for axes, (shape, drawn) in zip(all_axes[0], lines.items(), strict=True):
        for name, line in drawn.items():
            axes.plot(line[:, 0], line[:, 1], DRAWN[name], linewidth=1.2, label=name)
        axes.set(title=shape, xlabel="x, m", aspect="equal")
        axes.grid(alpha=0.3)
    all_axes[0][0].set_ylabel("y, with the flow, m")
    all_axes[0][0].legend()
    return figure
