"""HTML of a report: headings, tables, figures with captions, in one column or two; a page loads nothing."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from caudal.tools.common import output, pyplot
from caudal.tools.log.notable_events import EventFilter
from caudal.tools.report.params import HEAD, changes
from caudal.tools.report.plot import Plot, ReportData

EVENTS = 500
NOTHING = 1e-12  # smaller numbers are rounding errors
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68em; margin: 2em auto; padding: 0 1em; color: #223 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em .9em .2em 0; text-align: left }
tr { border-bottom: 1px solid #dde } svg { width: 100%; height: auto } h2 { margin-top: 2em }
figure { margin: 0 } figcaption { color: #556; max-width: 60em }
td { vertical-align: top } td:first-child { white-space: nowrap }
body.two { max-width: 112em } .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2em }
.pair > * { min-width: 0 } .pair td + td { overflow-wrap: anywhere }
.pair h3 { margin: .3em 0; font-size: 1em; color: #556 }
"""


def page(title: str, parts: Sequence[str], two: bool = False) -> str:
    """Returns a page of these parts; `two` makes it wide enough for two columns."""
    head = f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{html.escape(title)}</title>"
    body = f"<style>{STYLE}</style><body{' class=two' if two else ''}><h1>{html.escape(title)}</h1>"
    return "\n".join([head + body, *parts])


def write(path: Path, text: str) -> None:
    """Writes a page and makes its folder where it is missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = f"{error.strerror}; choose another path with --page"
        raise output.UsageError(f"cannot write {path}: {reason}") from error


def section(title: str, *parts: str) -> str:
    """Returns a section with a heading."""
    return f"<section><h2>{html.escape(title)}</h2>{''.join(parts)}</section>"


def figure(plot: Plot) -> str:
    """Returns a plot with its caption."""
    title = html.escape(plot.title, quote=True)
    caption = f"<figcaption>{html.escape(plot.caption)}</figcaption>"
    return f"<figure data-title='{title}'>{pyplot.as_svg(plot.figure)}{caption}</figure>"


def pair(titles: Sequence[str], parts: Sequence[str]) -> str:
    """Returns two parts next to each other, each under its title."""
    columns = zip(titles, parts, strict=True)
    cells = (f"<div><h3>{html.escape(title)}</h3>{part}</div>" for title, part in columns)
    return f"<div class=pair>{''.join(cells)}</div>"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Returns a table; empty headings are left out."""
    lines = ["<tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in head) + "</tr>"] if any(head) else []
    lines += [
        "<tr>" + "".join(f"<td>{html.escape(as_text(value))}</td>" for value in row) + "</tr>" for row in rows
    ]
    return "<table>" + "".join(lines) + "</table>"


def as_text(value: Any) -> str:
    """Formats a value for a table."""
    if isinstance(value, list):
        return ", ".join(as_text(one) for one in value) or "none"
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) >= NOTHING else "0"
    return str(value)


def events(data: ReportData) -> str:
    """Returns a table of the events; parameter changes have a table of their own."""
    rows = []
    for event in filter(EventFilter(), data.log.events):
        if event.kind == "command" and event.details.get("kind") in ("set", "load"):
            continue
        details = dict(event.details)
        vehicle = details.pop("vehicle", "")
        tick = details.pop("tick", "")
        time_s = (event.time_ns - data.start_ns) / 1e9
        rows.append((f"{time_s:.2f} s", tick, vehicle, event.kind, _details(details)))
    if not rows:
        return "<p>There were no events.</p>"
    more = f"<p>These are the first {EVENTS} of {len(rows)} events; the log holds all.</p>"
    shown = table(("time", "tick", "vehicle", "event", "details"), rows[:EVENTS])
    return shown + (more if len(rows) > EVENTS else "")


def _details(details: dict[str, Any]) -> str:
    """Formats the details of an event: a command with its values, other events by name."""
    if "values" in details:
        values = " ".join(map(str, details.pop("values") or []))
        details = {"command": f"{details.pop('kind', '')} {values}".strip()} | details
    return ", ".join(f"{key}: {as_text(value)}" for key, value in details.items())


def parameters(data: ReportData) -> str:
    """Returns a table of the parameters that were changed."""
    rows = changes(data)
    if not rows:
        return "<p>All parameters were at their defaults from start to end.</p>"
    return table(HEAD, rows)


def vehicle_text(data: ReportData) -> str:
    """Returns the recorded vehicle file, folded."""
    text = html.escape(data.log.run["vehicle_file"])
    return f"<details><summary>Show the recorded vehicle file</summary><pre>{text}</pre></details>"
