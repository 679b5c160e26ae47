"""Plots of any vehicle: speed, joints, attitude, clearance, and the timing of the loop."""

import numpy as np

from caudal.tools.report.plot import LIMIT, Plot, ReportData, beat_hz, decimated, draw, on_right_scale, style
from caudal.tools.summary.summarize import aligned

WINDOW_BEATS = 5  # of joint angles
WINDOW_S = 10.0  # of joint angles without a beat


def speed(data: ReportData) -> Plot:
    """Plots the speed of all vehicles, with the estimate of the first where one is recorded."""
    figure, axes = data.axes()
    draw(axes, ((name, *data.series("truth", "speed_m_s", name)) for name in data.names))
    estimated = data.has("state", "is_speed_m_s")
    if estimated:
        axes.plot(*data.series("state", "is_speed_m_s"), "k--", linewidth=0.7, label=f"{data.name}, estimate")
    axes.set(xlabel="time, s", ylabel="forward speed, m/s")
    agrees = ", and how well the estimate agrees" if estimated else ""
    return data.plot("Speed", figure, f"Check how fast the vehicle becomes, how steady its speed is{agrees}.")


def clearance(data: ReportData) -> Plot | None:
    """Plots the distance to the nearest object; None where there is nothing to collide with."""
    if not np.isfinite(data.column("truth", "clearance_m")).all():
        return None
    return data.over_time(
        "Clearance",
        "hull to nearest object, m",
        ((name, *data.series("truth", "clearance_m", name)) for name in data.names),
        "Distance of the hull to the nearest wall, obstacle or vehicle; at the red line it collides.",
        limit=(0.0, "collision"),
    )


def attitude(data: ReportData) -> Plot | None:
    """Plots roll, pitch and depth; None for a vehicle that moves in a plane."""
    if not data.has("truth", "roll_rad"):
        return None
    roll_deg, pitch_deg = (np.degrees(data.column("truth", field)) for field in ("roll_rad", "pitch_rad"))
    caption = f"Check whether {data.name} stays level, and whether its depth drifts."
    return attitude_plot(
        data, data.time_s("truth"), roll_deg, pitch_deg, data.column("truth", "depth_m"), caption
    )


def attitude_plot(
    data: ReportData, time_s: np.ndarray, roll_deg: np.ndarray, pitch_deg: np.ndarray, depth_m: np.ndarray,
    caption: str,
) -> Plot:  # fmt: skip
    """Plots roll and pitch (deg), and depth (m) on a scale of its own."""
    figure, axes = data.axes()
    draw(axes, (("roll, right side down", time_s, roll_deg), ("pitch, nose down", time_s, pitch_deg)))
    axes.set(xlabel="time, s", ylabel="angle, deg")
    on_right_scale(axes, "depth", "depth, m", time_s, depth_m).invert_yaxis()
    return data.plot("Attitude and depth", figure, caption)


def joints(data: ReportData) -> Plot | None:
    """Plots true and commanded joint angles of the last seconds: joints of the gait above, others below."""
    truth = data.log.topics[f"/{data.name}/truth"]
    named = [j for j in data.log.topics[f"/{data.name}/outputs"].fields if f"{j}_rad" in truth.fields]
    if not named:
        return None
    gait = data.settings.gait
    wave = [joint for joint in named if gait and joint in gait.joints]
    rest = [joint for joint in named if joint not in wave]
    groups = [group for group in (wave, rest) if group]
    time_s = data.time_s("truth")
    beat = beat_hz(data, last=True)
    late = time_s >= time_s[-1] - (WINDOW_BEATS / beat if beat else WINDOW_S)
    figure, panels = data.panels(len(groups), 0.8 + 2.8 * len(groups))
    for axes, group in zip(panels, groups, strict=True):
        for joint in group:
            looks = style(named.index(joint))
            angle_deg = np.degrees(data.column("truth", f"{joint}_rad"))
            axes.plot(
                decimated(time_s[late]), decimated(angle_deg[late]), linewidth=1.1, label=joint, **looks
            )
            if data.has("commands", joint):
                commanded_deg = np.degrees(data.column("commands", joint))
                at_s, commanded_deg, shown = aligned(time_s, commanded_deg, late)
                axes.plot(
                    decimated(at_s[shown]), decimated(commanded_deg[shown]), color=looks["color"], ls=":", lw=1.6,
                    alpha=0.5,
                )  # fmt: skip
        axes.set_ylabel("angle, deg")
    panels[-1].set_xlabel("time, s")
    if data.has("commands"):
        panels[-1].plot([], [], ":", color="0.5", label="set-point")
    split = ", joints of the gait above, others below" if len(groups) > 1 else ""
    return data.plot(
        "Joint angles",
        figure,
        f"Check for joints that lag behind their dotted set-points in the last seconds of {data.name}{split}.",
    )


def timing(data: ReportData) -> Plot | None:
    """Plots cost and lateness of all ticks, sorted; None where they were not measured, as in lockstep with a board."""
    if not any(
        data.column("loop", field, name).any() for name in data.names for field in ("cost_us", "late_us")
    ):
        return None
    figure, axes = data.axes()
    for k, name in enumerate(data.names):
        cost = np.sort(data.column("loop", "cost_us", name))
        late = np.sort(data.column("loop", "late_us", name))
        share = np.linspace(0, 100, len(cost))  # of the ticks, cheapest first
        colour = style(k)["color"]
        axes.plot(decimated(share), decimated(cost) + 1, color=colour, label=f"{name}: cost")
        if late[-1] > 0:
            axes.plot(decimated(share), decimated(late) + 1, "--", color=colour, label=f"{name}: lateness")
    period_us = 1e6 / data.settings.rate_hz
    axes.axhline(period_us, color=LIMIT, linewidth=1, label="period of a tick")
    axes.set(xlabel="share of ticks, %", ylabel="time, us", yscale="log")
    return data.plot(
        "Loop timing",
        figure,
        "Ticks sorted by cost and by lateness: nearly all should lie far below the red line.",
    )
