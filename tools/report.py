"""Writes one self-contained page for a log: plots that suit its vehicle, loop timing, events, parameters changed.

caudal report LOG           a page beside the log
caudal report LOG OTHER     both on one page, side by side, with what their figures differ by
"""

import argparse
import html
from pathlib import Path
from typing import Any

from onboard.log import Log
from tools import (
    options,
    report_aboard,
    report_beat,
    report_chain,
    report_motion,
    report_page,
    report_pair,
    report_path,
    report_pose,
    report_roll,
    report_trial,
    say,
    summary,
)
from tools.report_plot import HALF_IN, WIDE_IN, Plot, Reported
from tools.summary_aboard import is_aboard
from tools.summary_trial import is_trial


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "log", type=Path, nargs="+", help="a log that caudal run wrote; a second one is shown beside it"
    )
    command.add_argument(
        "--page", metavar="FILE", type=Path, help="where the page goes (default: beside the log)"
    )
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    if len(args.log) > 2:
        raise say.Refused(f"a page shows one log or two side by side, not {len(args.log)}; leave some out")
    results = [summary.summarise(Log(path)) | {"log": str(path)} for path in args.log]
    page = write_report(args.log[0], args.page) if len(args.log) == 1 else write_pair(*args.log, args.page)
    if args.json:
        say.as_json(
            results[0] | {"report": str(page)}
            if len(results) == 1
            else {"logs": results, "report": str(page)}
        )
    elif len(results) == 1:
        summary.show(results[0] | {"report": str(page)})
    else:
        rows = report_pair.differences(*results)
        say.table(
            [[report_page.said(cell) for cell in row] for row in rows], ("", "first", "second", "difference")
        )
        say.table([("report", str(page))])
    return 0


def write_report(log_path: Path, page_path: Path | None = None) -> Path:
    told = Reported(Log(log_path), WIDE_IN)
    result = summary.summarise(told.log)
    parts = [
        _facts(told, result),
        *(report_page.section(plot.title, report_page.figure(plot)) for plot in figures(told)),
        report_page.section("Parameters changed", report_page.parameters(told)),
        report_page.section("Events", report_page.events(told)),
        report_page.section("Vehicle file", report_page.vehicle_text(told)),
    ]
    page_path = page_path or log_path.with_suffix(".html")
    report_page.write(page_path, report_page.page(_title(result), parts))
    return page_path


def write_pair(first: Path, second: Path, page_path: Path | None = None) -> Path:
    told = [Reported(Log(path), HALF_IN) for path in (first, second)]
    results = [summary.summarise(one.log) | extra_facts(one) for one in told]
    heads = [f"{path.name}: {_title(result)}" for path, result in zip((first, second), results, strict=True)]
    rows = report_pair.differences(*results)
    parts = [
        report_page.section(
            "Figures", report_page.table(("figure", first.name, second.name, "second minus first"), rows)
        ),
        *report_pair.columns((heads[0], heads[1]), figures(told[0]), figures(told[1])),
        *(
            report_page.section(
                title,
                report_page.pair(
                    *(f"<h3>{html.escape(h)}</h3>{show(one)}" for h, one in zip(heads, told, strict=True))
                ),
            )
            for title, show in (
                ("Parameters changed", report_page.parameters),
                ("Events", report_page.events),
            )
        ),
    ]
    page_path = page_path or report_pair.beside(first, second)
    report_page.write(page_path, report_page.page(f"{first.name} and {second.name}", parts, two=True))
    return page_path


def figures(told: Reported) -> list[Plot]:
    """Whatever its log holds."""
    if is_trial(told.log):
        return report_trial.figures(told)
    plots = (
        report_aboard.figures(told) + report_beat.figures(told) if is_aboard(told.log) else _simulated(told)
    )
    timing = report_motion.timing(told)
    return [*plots, timing] if timing else plots


def _simulated(told: Reported) -> list[Plot]:
    plots = [
        report_path.trajectory(told),
        report_motion.speed(told),
        *report_beat.figures(told),
        *report_roll.figures(told),
        *report_chain.figures(told),
        *report_pose.figures(told),
        report_motion.joints(told),
        report_pose.thrusters(told),
        report_motion.attitude(told),
        report_motion.clearance(told),
    ]
    return [plot for plot in plots if plot]


def extra_facts(told: Reported) -> dict[str, Any]:
    """What the page reckons beyond the summary."""
    if is_trial(told.log):
        return {}
    return report_beat.facts(told) | ({} if is_aboard(told.log) else report_roll.facts(told))


def _title(result: dict[str, Any]) -> str:
    return f"{result['vehicle']}: {result['scenario']}"


def _facts(told: Reported, result: dict[str, Any]) -> str:
    keys = ("name", "mean_speed_m_s", "top_speed_m_s", "min_clearance_m", "collisions")
    each = result.get("vehicles", [])  # of a run aboard and of a trial nobody knows these
    vehicles = report_page.table(keys, [[vehicle[key] for key in keys] for vehicle in each]) if each else ""
    plain = {
        k: v
        for k, v in (result | extra_facts(told)).items()
        if k not in ("vehicles", "speeds", "turn_rates", "readings_hz")
    }
    plain |= {key: told.log.run[key] for key in ("version", "vehicle_digest", "on") if told.log.run.get(key)}
    tables = [vehicles, report_page.table(("", ""), list(plain.items()))]
    if "readings_hz" in result:
        tables.append(report_page.table(("sensor", "readings a second"), list(result["readings_hz"].items())))
    for key in ("speeds", "turn_rates"):
        if key in result:
            tables.append(
                report_page.table(tuple(result[key][0]), [list(row.values()) for row in result[key]])
            )
    return "".join(tables)
