"""Two logs on one page: plots of the same title with the same limits, and the differences of their metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caudal.tools.report import html as report_page
from caudal.tools.report.html import NOTHING
from caudal.tools.report.plot import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MANY = 10  # times the first value: beyond it a percentage is not shown
NOT_COMPARED = ("vehicle", "scenario", "seed", "complete")


def plots(titles: Sequence[str], first: list[Plot], second: list[Plot]) -> list[str]:
    """Returns a section per plot in the order of the first log, then those that only the second log has."""
    of_first, of_second = ({plot.title: plot for plot in plots} for plots in (first, second))
    sections = []
    for name in dict.fromkeys([*of_first, *of_second]):
        a, b = of_first.get(name), of_second.get(name)
        if a and b and a.same_limits and b.same_limits:
            share_limits(a.figure, b.figure)
        parts = [report_page.figure(plot) if plot else "<p>This log has no such plot.</p>" for plot in (a, b)]
        sections.append(report_page.section(name, report_page.pair(titles, parts)))
    return sections


def share_limits(first: Figure, second: Figure) -> None:
    """Gives two figures the same height and, for axes with the same label, the same limits and direction."""
    height_in = max(first.get_figheight(), second.get_figheight())
    for figure in (first, second):
        figure.set_figheight(height_in)
    if len(first.axes) != len(second.axes):
        return
    for a, b in zip(first.axes, second.axes, strict=True):
        if a.get_aspect() != "auto":  # limits follow from the scale, so both get the data limits of both
            corners = [axes.dataLim.get_points() for axes in (a, b)]
            for axes in (a, b):
                axes.update_datalim([corner for pair in corners for corner in pair])
                axes.autoscale_view()
            continue
        for which in ("x", "y"):
            if getattr(a, f"get_{which}label")() == getattr(b, f"get_{which}label")():
                _share_axis(a, b, which)


def _share_axis(a: Axes, b: Axes, which: str) -> None:
    spans = [getattr(axes, f"get_{which}lim")() for axes in (a, b)]
    low, high = min(map(min, spans)), max(map(max, spans))
    falling = spans[0][0] > spans[0][1]
    for axes in (a, b):
        getattr(axes, f"set_{which}lim")((high, low) if falling else (low, high))


def differences(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, Any, Any, str]]:
    """Returns (metric, first value, second value, second minus first) of all metrics but tables."""
    rows = []
    for key in [*first, *(key for key in second if key not in first)]:
        a, b = first.get(key), second.get(key)
        if any(isinstance(value, dict) for value in (a, b)) or key in ("vehicles", "speeds", "turn_rates"):
            continue
        rows.append((key, a, b, _difference(key, a, b)))
    return rows


def _difference(key: str, a: Any, b: Any) -> str:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (a, b))
    if not numbers or key in NOT_COMPARED:
        return "same" if a == b else "differs"
    if abs(b - a) < NOTHING:
        return "0"
    # a percentage of a value near zero, or one that changes sign, has no meaning
    meaningful = a * b > 0 and abs(b) < MANY * abs(a)
    return f"{b - a:+.4g}" + (f" ({100 * (b - a) / abs(a):+.0f} %)" if meaningful else "")


def page_path(first: Path, second: Path) -> Path:
    """Returns the path of the page of two logs: next to the first, named after both."""
    return first.with_name(f"{first.stem}-and-{second.stem}.html")
