"""A report as HTML: headings, tables, figures with their captions, in one column or in two; nothing is fetched."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from caudal.tools.common import output, pyplot
from caudal.tools.log.notable_events import Tellable
from caudal.tools.report.params import HEAD, changes
from caudal.tools.report.plot import Plot, Reported

EVENTS = 500
NOTHING = 1e-12  # below is rounding
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68em; margin: 2em auto; padding: 0 1em; color: #223 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em .9em .2em 0; text-align: left }
tr { border-bottom: 1px solid #dde } svg { width: 100%; height: auto } h2 { margin-top: 2em }
figure { margin: 0 } figcaption { color: #556; max-width: 60em }
td { vertical-align: top } td:first-child { white-space: nowrap }
body.two { max-width: 112em } .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2em }
.pair > * { min-width: 0 } .pair td + td { overflow-wrap: anywhere }
.pair h3 { margin: .3em 0; font-size: 1em; color: #556 }
.bad { color: #b00 }
"""


def page(title: str, parts: Sequence[str], two: bool = False) -> str:
    head = f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{html.escape(title)}</title>"
    body = f"<style>{STYLE}</style><body{' class=two' if two else ''}><h1>{html.escape(title)}</h1>"
    return "\n".join([head + body, *parts])


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = f"{error.strerror}; choose another place with --page"
        raise output.UsageError(f"cannot write {path}: {reason}") from error


def section(title: str, *parts: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2>{''.join(parts)}</section>"


def figure(plot: Plot, caption: bool = True) -> str:
    words = f"<figcaption>{html.escape(plot.caption)}</figcaption>" if caption else ""
    return f"<figure data-title='{html.escape(plot.title, quote=True)}'>{pyplot.as_svg(plot.figure)}{words}</figure>"


def pair(*columns: str) -> str:
    return f"<div class=pair>{''.join(f'<div>{part}</div>' for part in columns)}</div>"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = ["<tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in head) + "</tr>"] if any(head) else []
    lines += [
        "<tr>" + "".join(f"<td>{html.escape(said(value))}</td>" for value in row) + "</tr>" for row in rows
    ]
    return "<table>" + "".join(lines) + "</table>"


def said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(said(one) for one in value) or "none"
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) >= NOTHING else "0"
    return str(value)


def events(told: Reported) -> str:
    """What happened, but for sets of parameters, which have a table of their own, and sticks that are held on."""
    rows = []
    for event in filter(Tellable(), told.log.events):
        if event.kind == "order" and event.details.get("kind") in ("set", "load"):
            continue
        details = dict(event.details)
        whose = details.pop("vehicle", "")
        tick = details.pop("tick", "")
        rows.append(
            (f"{(event.time_ns - told.start_ns) / 1e9:.2f} s", tick, whose, event.kind, _details(details))
        )
    if not rows:
        return "<p>Nothing happened that is worth a line.</p>"
    more = f"<p>The first {EVENTS} of {len(rows)}; the log has them all.</p>" if len(rows) > EVENTS else ""
    return table(("time", "tick", "vehicle", "event", "details"), rows[:EVENTS]) + more


def _details(details: dict[str, Any]) -> str:
    """An order's word and values as they were given; anything else by its names."""
    if "values" in details:
        values = " ".join(map(str, details.pop("values") or []))
        details = {"order": f"{details.pop('kind', '')} {values}".strip()} | details
    return ", ".join(f"{key}: {said(value)}" for key, value in details.items())


def parameters(told: Reported) -> str:
    rows = changes(told)
    if not rows:
        return "<p>All parameters were at their defaults, from the start to the end.</p>"
    return table(HEAD, rows)


def vehicle_text(told: Reported) -> str:
    text = html.escape(told.log.run["vehicle_file"])
    return f"<details><summary>as recorded</summary><pre>{text}</pre></details>"
