"""Writes one self-contained page for a log: plots that suit its vehicle, loop timing, events, parameters changed.

caudal report LOG           a page beside the log
caudal report LOG OTHER     both on one page, side by side, with what their figures differ by
"""

import argparse
import html
from pathlib import Path
from typing import Any

from caudal.onboard.log.reader import Log
from caudal.tools.common import options, output
from caudal.tools.report import (
    chain as report_chain,
)
from caudal.tools.report import (
    comparison,
    roll,
    tail_beat,
    vehicle_run,
)
from caudal.tools.report import (
    html as report_page,
)
from caudal.tools.report import (
    motion as report_motion,
)
from caudal.tools.report import (
    path as report_path,
)
from caudal.tools.report import (
    pose as report_pose,
)
from caudal.tools.report import (
    trial as report_trial,
)
from caudal.tools.report.plot import HALF_IN, WIDE_IN, Plot, Reported
from caudal.tools.summary import summarize
from caudal.tools.summary.trial import is_trial
from caudal.tools.summary.vehicle_run import is_aboard


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
        raise output.UsageError(
            f"a page shows one log or two side by side, not {len(args.log)}; leave some out"
        )
    results = [summarize.summarise(Log(path)) | {"log": str(path)} for path in args.log]
    page = write_report(args.log[0], args.page) if len(args.log) == 1 else write_pair(*args.log, args.page)
    if args.json:
        output.as_json(
            results[0] | {"report": str(page)}
            if len(results) == 1
            else {"logs": results, "report": str(page)}
        )
    elif len(results) == 1:
        summarize.show(results[0] | {"report": str(page)})
    else:
        rows = comparison.differences(*results)
        output.table(
            [[report_page.said(cell) for cell in row] for row in rows], ("", "first", "second", "difference")
        )
        output.table([("report", str(page))])
    return 0


def write_report(log_path: Path, page_path: Path | None = None) -> Path:
    told = Reported(Log(log_path), WIDE_IN)
    result = summarize.summarise(told.log)
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
    results = [summarize.summarise(one.log) | extra_facts(one) for one in told]
    heads = [f"{path.name}: {_title(result)}" for path, result in zip((first, second), results, strict=True)]
    rows = comparison.differences(*results)
    parts = [
        report_page.section(
            "Figures", report_page.table(("figure", first.name, second.name, "second minus first"), rows)
        ),
        *comparison.columns((heads[0], heads[1]), figures(told[0]), figures(told[1])),
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
    page_path = page_path or comparison.beside(first, second)
    report_page.write(page_path, report_page.page(f"{first.name} and {second.name}", parts, two=True))
    return page_path


def figures(told: Reported) -> list[Plot]:
    """Whatever its log holds."""
    if is_trial(told.log):
        return report_trial.figures(told)
    plots = vehicle_run.figures(told) + tail_beat.figures(told) if is_aboard(told.log) else _simulated(told)
    timing = report_motion.timing(told)
    return [*plots, timing] if timing else plots


def _simulated(told: Reported) -> list[Plot]:
    plots = [
        report_path.trajectory(told),
        report_motion.speed(told),
        *tail_beat.figures(told),
        *roll.figures(told),
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
    return tail_beat.facts(told) | ({} if is_aboard(told.log) else roll.facts(told))


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
