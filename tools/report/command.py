"""Writes one self-contained HTML page for a log: plots that suit its vehicle, loop timing, events, parameters changed.

With two logs, the page compares them side by side and lists the differences of their metrics.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from caudal.onboard.log.reader import Log
from caudal.tools.common import options, output
from caudal.tools.report import (
    chain,
    comparison,
    html,
    motion,
    path,
    pose,
    roll,
    tail_beat,
    trial,
    vehicle_run,
)
from caudal.tools.report.plot import HALF_IN, WIDE_IN, Plot, ReportData
from caudal.tools.summary import summarize
from caudal.tools.summary.trial import is_trial
from caudal.tools.summary.vehicle_run import is_vehicle_run

TABLES: tuple[tuple[str, Callable[[ReportData], str]], ...] = (
    ("Parameters changed", html.parameters),
    ("Events", html.events),
)


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of `caudal report`."""
    command.add_argument("log", type=Path, nargs="+", help="a log from caudal run; give two to compare them")
    command.add_argument(
        "--page", metavar="FILE", type=Path, help="path of the page (default: next to the log)"
    )
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Runs `caudal report`."""
    if len(args.log) > 2:
        raise output.UsageError(f"a page shows one log, or two side by side; {len(args.log)} were given")
    results = [summarize.summarise(Log(log)) | {"log": str(log)} for log in args.log]
    if len(args.log) == 1:
        page = write_report(args.log[0], args.page)
        result = results[0] | {"report": str(page)}
        if args.json:
            output.as_json(result)
        else:
            summarize.show(result)
        return 0
    page = write_pair(args.log[0], args.log[1], args.page)
    if args.json:
        output.as_json({"logs": results, "report": str(page)})
    else:
        rows = comparison.differences(*results)
        output.table(
            [[html.as_text(cell) for cell in row] for row in rows], ("", "first", "second", "difference")
        )
        output.table([("report", str(page))])
    return 0


def write_report(log_path: Path, page_path: Path | None = None) -> Path:
    """Writes the page of a log and returns its path."""
    data = ReportData(Log(log_path), WIDE_IN)
    result = summarize.summarise(data.log)
    parts = [
        _metrics(data, result),
        *(html.section(plot.title, html.figure(plot)) for plot in figures(data)),
        *(html.section(title, table(data)) for title, table in TABLES),
        html.section("Vehicle file", html.vehicle_text(data)),
    ]
    page_path = page_path or log_path.with_suffix(".html")
    html.write(page_path, html.page(_title(result), parts))
    return page_path


def write_pair(first: Path, second: Path, page_path: Path | None = None) -> Path:
    """Writes the page that compares two logs and returns its path."""
    data = [ReportData(Log(log), HALF_IN) for log in (first, second)]
    results = [summarize.summarise(one.log) | page_metrics(one) for one in data]
    titles = [f"{log.name}: {_title(result)}" for log, result in zip((first, second), results, strict=True)]
    head = ("metric", first.name, second.name, "second minus first")
    parts = [
        html.section("Metrics", html.table(head, comparison.differences(*results))),
        *comparison.plots(titles, figures(data[0]), figures(data[1])),
        *(html.section(title, html.pair(titles, [table(one) for one in data])) for title, table in TABLES),
    ]
    page_path = page_path or comparison.page_path(first, second)
    html.write(page_path, html.page(f"{first.name} and {second.name}", parts, two=True))
    return page_path


def figures(data: ReportData) -> list[Plot]:
    """Returns all plots that suit what the log records."""
    if is_trial(data.log):
        return trial.figures(data)
    on_vehicle = is_vehicle_run(data.log)
    plots = vehicle_run.figures(data) + tail_beat.figures(data) if on_vehicle else _simulated(data)
    timing = motion.timing(data)
    return [*plots, timing] if timing else plots


def _simulated(data: ReportData) -> list[Plot]:
    plots = [
        path.trajectory(data),
        motion.speed(data),
        *tail_beat.figures(data),
        *roll.figures(data),
        *chain.figures(data),
        *pose.figures(data),
        motion.joints(data),
        pose.thrusters(data),
        motion.attitude(data),
        motion.clearance(data),
    ]
    return [plot for plot in plots if plot]


def page_metrics(data: ReportData) -> dict[str, Any]:
    """Returns the metrics that a page shows in addition to the summary."""
    if is_trial(data.log):
        return {}
    return tail_beat.metrics(data) | ({} if is_vehicle_run(data.log) else roll.metrics(data))


def _title(result: dict[str, Any]) -> str:
    return f"{result['vehicle']}: {result['scenario']}"


def _metrics(data: ReportData, result: dict[str, Any]) -> str:
    keys = ("name", "mean_speed_m_s", "top_speed_m_s", "min_clearance_m", "collisions")
    each = result.get("vehicles", [])  # only simulated runs have them
    vehicles = html.table(keys, [[vehicle[key] for key in keys] for vehicle in each]) if each else ""
    plain = {
        k: v
        for k, v in (result | page_metrics(data)).items()
        if k not in ("vehicles", "speeds", "turn_rates", "readings_hz")
    }
    plain |= {key: data.log.run[key] for key in ("version", "vehicle_digest", "on") if data.log.run.get(key)}
    tables = [vehicles, html.table(("", ""), list(plain.items()))]
    if "readings_hz" in result:
        tables.append(html.table(("sensor", "readings per second"), list(result["readings_hz"].items())))
    for key in ("speeds", "turn_rates"):
        if key in result:
            tables.append(html.table(tuple(result[key][0]), [list(row.values()) for row in result[key]]))
    return "".join(tables)
