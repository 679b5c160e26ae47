"""Writes one self-contained page for a log: plots, loop timing, events and the summary table."""

import argparse
import html
import math
from pathlib import Path
from typing import Any

import numpy as np

from onboard.log import Log
from onboard.vehicle import read
from sim_plant.spec import WorldSpec, read_worlds
from tools import options, plots, report_aboard, report_chain, report_pose, say, summary
from tools.columns import column
from tools.recorded import vehicle_file
from tools.summary_aboard import is_aboard

POINTS = 2500  # a line on a page needs no more
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68em; margin: 2em auto; padding: 0 1em; color: #223 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em .9em .2em 0; text-align: left }
tr { border-bottom: 1px solid #dde } svg { width: 100%; height: auto } h2 { margin-top: 2em }
.bad { color: #b00 }
"""


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("log", type=Path, help="a log that caudal run wrote")
    command.add_argument(
        "--page", metavar="FILE", type=Path, help="where the page goes (default: beside the log)"
    )
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    page = write_report(args.log, args.page)
    result = summary.summarise(Log(args.log)) | {"log": str(args.log), "report": str(page)}
    if args.json:
        say.as_json(result)
    else:
        summary.show(result)
    return 0


def write_report(log_path: Path, page_path: Path | None = None) -> Path:
    log = Log(log_path)
    result = summary.summarise(log)
    page_path = page_path or log_path.with_suffix(".html")
    figures = report_aboard.figures(log) if is_aboard(log) else _simulated(log)
    figures.append(("Loop timing", _timing(log)))
    sections = [f"<h2>{title}</h2>{plots.as_svg(figure)}" for title, figure in figures if figure is not None]
    title = f"{result['vehicle']}: {result['scenario']}"
    page = [
        f"<!doctype html><meta charset='utf-8'><title>{html.escape(title)}</title><style>{STYLE}</style>",
        f"<h1>{html.escape(title)}</h1>",
        _facts(log, result),
        *sections,
        _events(log),
        f"<h2>Vehicle file</h2><details><summary>as recorded</summary><pre>{html.escape(log.run['vehicle_file'])}"
        "</pre></details>",
    ]
    try:
        page_path.write_text("\n".join(page), encoding="utf-8")
    except OSError as error:
        reason = f"{error.strerror}; choose another place with --page"
        raise say.Refused(f"cannot write {page_path}: {reason}") from error
    return page_path


def _simulated(log: Log) -> list[tuple[str, Any]]:
    return [
        ("Trajectory", _trajectory(log)),
        ("Speed", _speed(log)),
        *report_chain.figures(log),
        ("Pose", report_pose.pose(log)),
        ("Joint angles", _joints(log)),
        ("Thrusters", report_pose.thrusters(log)),
        ("Attitude", _attitude(log)),
        ("Clearance", _clearance(log)),
    ]


def _facts(log: Log, result: dict[str, Any]) -> str:
    keys = ("name", "mean_speed_m_s", "top_speed_m_s", "min_clearance_m", "collisions")
    each = result.get("vehicles", [])  # of a run aboard nobody knows these
    vehicles = _table(keys, [[vehicle[key] for key in keys] for vehicle in each]) if each else ""
    plain = {k: v for k, v in result.items() if not isinstance(v, list | dict)}
    plain |= {
        key: log.run[key] for key in ("version", "overrides", "vehicle_digest", "on") if log.run.get(key)
    }
    tables = [vehicles, _table(("", ""), list(plain.items()))]
    if "readings_hz" in result:
        tables.append(_table(("sensor", "readings a second"), list(result["readings_hz"].items())))
    for key in ("speeds", "turn_rates"):
        if key in result:
            tables.append(_table(tuple(result[key][0]), [list(row.values()) for row in result[key]]))
    return "".join(tables)


def _table(head: tuple[str, ...], rows: list[Any]) -> str:
    def cell(value: Any) -> str:
        return html.escape(
            f"{value:.4g}" if isinstance(value, float) else "-" if value is None else str(value)
        )

    lines = ["<tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in head) + "</tr>"] if any(head) else []
    lines += ["<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row) + "</tr>" for row in rows]
    return "<table>" + "".join(lines) + "</table>"


def _events(log: Log) -> str:
    start_ns = report_aboard.start_ns(log) if is_aboard(log) else 0
    rows = [
        (
            f"{(event.time_ns - start_ns) / 1e9:.2f} s",
            event.kind,
            ", ".join(f"{k} {v}" for k, v in event.details.items()),
        )
        for event in log.events[:500]
    ]
    return "<h2>Events</h2>" + (_table(("", "", ""), rows) if rows else "<p>none</p>")


def _thin(length: int) -> slice:
    return slice(None, None, max(1, length // POINTS))


def _series(log: Log, topic: str, field: str) -> tuple[np.ndarray, np.ndarray]:
    values = column(log, topic, field)
    thin = _thin(len(values))
    return np.array(log.topics[topic].time_ns)[thin] / 1e9, values[thin]


def _axes(height: float = 3.2) -> tuple[Any, Any]:
    return plots.pyplot().subplots(figsize=(10, height), layout="constrained")


def _trajectory(log: Log) -> Any:
    figure, axes = _axes(6.0)
    world = _world(log)
    if world.length_m and world.width_m:
        axes.add_patch(_patches().Rectangle((0, 0), world.length_m, world.width_m, fill=False, linewidth=2))
    for cylinder in world.cylinders:
        axes.add_patch(_patches().Circle((cylinder.x_m, cylinder.y_m), cylinder.radius_m, color="0.6"))
    for name in summary.vehicles_of(log):
        _, x = _series(log, f"/{name}/truth", "x_m")
        _, y = _series(log, f"/{name}/truth", "y_m")
        (line,) = axes.plot(x, y, linewidth=0.8, label=name)
        axes.plot(x[-1], y[-1], "o", color=line.get_color())
    if "/target/truth" in log.topics:
        axes.plot(
            _series(log, "/target/truth", "x_m")[1],
            _series(log, "/target/truth", "y_m")[1],
            "k:",
            label="target",
        )
    axes.set(xlabel="x, m", ylabel="y, m", aspect="equal")
    axes.legend()
    return figure


def _world(log: Log) -> WorldSpec:
    file = vehicle_file(log)
    return read_worlds(file)[read(file)["scenarios"][log.run["scenario"]]["world"]]


def _patches() -> Any:
    plots.pyplot()
    from matplotlib import patches

    return patches


def _lines(log: Log, field: str, label: str) -> Any:
    figure, axes = _axes()
    for name in summary.vehicles_of(log):
        axes.plot(*_series(log, f"/{name}/truth", field), linewidth=0.9, label=name)
    axes.set(xlabel="time, s", ylabel=label)
    axes.legend(loc="upper right")
    return figure


def _speed(log: Log) -> Any:
    figure = _lines(log, "speed_m_s", "speed, m/s")
    axes = figure.axes[0]
    name = summary.vehicles_of(log)[0]
    if f"/{name}/state" in log.topics:  # a bench's plant end does not know what the controller believes
        time_s, estimate = _series(log, f"/{name}/state", "is_speed_m_s")
        if np.isfinite(estimate).any():  # a vehicle that only follows a schedule estimates no speed
            axes.plot(time_s, estimate, "k--", linewidth=0.7, label=f"{name}'s estimate")
            axes.legend(loc="upper right")
    return figure


def _clearance(log: Log) -> Any:
    name = summary.vehicles_of(log)[0]
    if not np.isfinite(column(log, f"/{name}/truth", "clearance_m")).all():
        return None
    figure = _lines(log, "clearance_m", "hull to the nearest thing, m")
    figure.axes[0].axhline(0, color="#b00", linewidth=1)
    return figure


def _attitude(log: Log) -> Any:
    """Roll and pitch of the first vehicle, and its depth; None for one that swims in a plane."""
    name = summary.vehicles_of(log)[0]
    truth = f"/{name}/truth"
    if "roll_rad" not in log.topics[truth].fields:
        return None
    figure, axes = _axes()
    for field in ("roll_rad", "pitch_rad"):
        time_s, angle_rad = _series(log, truth, field)
        axes.plot(time_s, np.degrees(angle_rad), linewidth=0.9, label=field.removesuffix("_rad"))
    axes.set(
        xlabel="time, s", ylabel="angle, deg", title=f"{name}: roll (right side down), pitch (nose down)"
    )
    depth = axes.twinx()
    depth.plot(*_series(log, truth, "depth_m"), "k:", linewidth=0.9)
    depth.invert_yaxis()
    depth.set_ylabel("depth, m (dotted)")
    axes.legend(loc="upper right")
    return figure


def _joints(log: Log, window_s: float = 10.0) -> Any:
    """The last seconds of the first vehicle: reached, and asked where that is recorded."""
    name = summary.vehicles_of(log)[0]
    truth, commands = log.topics[f"/{name}/truth"], log.topics.get(f"/{name}/commands")
    time_s = np.array(truth.time_ns) / 1e9
    late = time_s > time_s[-1] - window_s
    joints = [field for field in log.topics[f"/{name}/outputs"].fields if f"{field}_rad" in truth.fields]
    if not joints:
        return None
    figure, axes = _axes(3.6)
    for joint in joints:
        reached = np.degrees(column(log, f"/{name}/truth", f"{joint}_rad"))
        (line,) = axes.plot(time_s[late], reached[late], label=joint)
        if commands:
            asked = np.degrees(column(log, f"/{name}/commands", joint))
            at_s, asked, shown = summary.aligned(time_s, asked, late)
            axes.plot(at_s[shown], asked[shown], ":", color=line.get_color(), linewidth=0.8)
    axes.set(xlabel="time, s", ylabel="angle, deg", title=f"{name}: reached (dotted: asked)")
    axes.legend(loc="upper right", ncols=max(1, math.ceil(len(joints) / 2)))
    return figure


def _timing(log: Log) -> Any:
    figure, axes = _axes()
    for name in summary.vehicles_of(log):
        cost = np.sort(column(log, f"/{name}/loop", "cost_us"))
        late = np.sort(column(log, f"/{name}/loop", "late_us"))
        share = np.linspace(0, 100, len(cost))  # of the ticks, cheapest first
        thin = _thin(len(cost))
        axes.plot(share[thin], cost[thin] + 1, label=f"{name} cost of a tick")
        if late[-1] > 0:
            axes.plot(share[thin], late[thin] + 1, "--", label=f"{name} lateness")
    axes.set(xlabel="per cent of ticks", ylabel="us, at most", yscale="log")
    axes.legend(loc="upper left")
    return figure
