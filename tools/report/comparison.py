"""Two logs beside each other: plots of the same name at the same limits, and how far their figures are apart."""

import html
from pathlib import Path
from typing import Any

from caudal.tools.report import html as report_page
from caudal.tools.report.html import NOTHING
from caudal.tools.report.plot import Plot

MANY = 10
NOT_COMPARED = ("vehicle", "scenario", "seed", "complete")


def columns(titles: tuple[str, str], first: list[Plot], second: list[Plot]) -> list[str]:
    """A section a plot, in the order of the first log; those that only the second has come last."""
    of_first, of_second = ({plot.title: plot for plot in plots} for plots in (first, second))
    sections = []
    for name in dict.fromkeys([*of_first, *of_second]):
        a, b = of_first.get(name), of_second.get(name)
        if a and b and a.alike and b.alike:
            level(a.figure, b.figure)
        cells = [
            f"<h3>{html.escape(title)}</h3>"
            + (report_page.figure(plot) if plot else "<p>This log has no such figure.</p>")
            for title, plot in zip(titles, (a, b), strict=True)
        ]
        sections.append(report_page.section(name, report_page.pair(*cells)))
    return sections


def level(first: Any, second: Any) -> None:
    """The same height and, axes by axes where they say the same, the same limits; a downward axis stays so."""
    height_in = max(first.get_figheight(), second.get_figheight())
    for figure in (first, second):
        figure.set_figheight(height_in)
    if len(first.axes) != len(second.axes):
        return
    for a, b in zip(first.axes, second.axes, strict=True):
        if (
            a.get_aspect() != "auto"
        ):  # one scale in x and y: limits give way to it, so both are shown the data of both
            corners = [axes.dataLim.get_points() for axes in (a, b)]
            for axes in (a, b):
                axes.update_datalim([corner for pair in corners for corner in pair])
                axes.autoscale_view()
            continue
        for which in ("x", "y"):
            if getattr(a, f"get_{which}label")() == getattr(b, f"get_{which}label")():
                _level(a, b, which)


def _level(a: Any, b: Any, which: str) -> None:
    spans = [getattr(axes, f"get_{which}lim")() for axes in (a, b)]
    low, high = min(map(min, spans)), max(map(max, spans))
    falling = spans[0][0] > spans[0][1]
    for axes in (a, b):
        getattr(axes, f"set_{which}lim")((high, low) if falling else (low, high))


def differences(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, Any, Any, str]]:
    """(figure, of the first, of the second, second minus first) of all that is a number, a word or yes and no."""
    rows = []
    for key in [*first, *(key for key in second if key not in first)]:
        a, b = first.get(key), second.get(key)
        if any(isinstance(value, dict) for value in (a, b)) or key in ("vehicles", "speeds", "turn_rates"):
            continue
        rows.append((key, a, b, _apart(key, a, b)))
    return rows


def _apart(key: str, a: Any, b: Any) -> str:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (a, b))
    if not numbers or key in NOT_COMPARED:
        return "same" if a == b else "differs"
    if abs(b - a) < NOTHING:
        return "0"
    tells = a * b > 0 and abs(b) < MANY * abs(
        a
    )  # of figures that lie near zero or change sign a share says nothing
    return f"{b - a:+.4g}" + (f" ({100 * (b - a) / abs(a):+.0f} %)" if tells else "")


def beside(first: Path, second: Path) -> Path:
    """Where the page of two logs goes: beside the first, named after both."""
    return first.with_name(f"{first.stem}-and-{second.stem}.html")
