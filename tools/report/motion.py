"""Figures of any vehicle: speed, joints, attitude, clearance, and the loop's timing."""

import numpy as np

from caudal.tools.report.plot import LIMIT, Plot, Reported, beat_hz, look, thin
from caudal.tools.summary.summarize import aligned

WINDOW_BEATS = 5  # of the joints
WINDOW_S = 10.0  # where nothing beats


def speed(told: Reported) -> Plot:
    figure, axes = told.axes()
    for k, name in enumerate(told.names):
        axes.plot(*told.series("truth", "speed_m_s", name), linewidth=0.9, label=name, **look(k))
    # a bench's plant end does not know what the controller believes; who follows a schedule estimates no speed
    estimated = told.has("state", "is_speed_m_s")
    if estimated:
        axes.plot(
            *told.series("state", "is_speed_m_s"), "k--", linewidth=0.7, label=f"{told.name}'s estimate"
        )
    axes.set(xlabel="time, s", ylabel="speed ahead, m/s")
    told.legend(figure)
    return Plot(
        "Speed",
        figure,
        "Look for how fast it becomes, how steadily it keeps that"
        + (", and whether its estimate agrees." if estimated else "."),
    )


def clearance(told: Reported) -> Plot | None:
    if not np.isfinite(told.column("truth", "clearance_m")).all():
        return None
    figure, axes = told.axes()
    for k, name in enumerate(told.names):
        axes.plot(*told.series("truth", "clearance_m", name), linewidth=0.9, label=name, **look(k))
    axes.axhline(0, color=LIMIT, linewidth=1, label="touch")
    axes.set(xlabel="time, s", ylabel="hull to the nearest thing, m")
    told.legend(figure)
    return Plot(
        "Clearance",
        figure,
        "The lowest point is how near it came to walls, obstacles and others; at the red line it touches.",
    )


def attitude(told: Reported) -> Plot | None:
    """None for one that swims in a plane."""
    if not told.has("truth", "roll_rad"):
        return None
    figure, axes = told.axes()
    for k, (field, label) in enumerate(
        (("roll_rad", "roll, right side down"), ("pitch_rad", "pitch, nose down"))
    ):
        time_s, angle_rad = told.series("truth", field)
        axes.plot(time_s, np.degrees(angle_rad), linewidth=0.9, label=label, **look(k))
    axes.set(xlabel="time, s", ylabel="angle, deg")
    depth = axes.twinx()
    depth.plot(*told.series("truth", "depth_m"), "k:", linewidth=0.9, label="depth (right scale)")
    depth.invert_yaxis()
    depth.set_ylabel("depth, m")
    depth.ticklabel_format(useOffset=False)
    told.legend(figure)
    return Plot(
        "Attitude and depth", figure, f"Look whether {told.name} lies level, and whether its depth drifts."
    )


def joints(told: Reported) -> Plot | None:
    """The last seconds: reached, and asked where that is recorded. The gait's joints, and below them the others."""
    truth = told.log.topics[f"/{told.name}/truth"]
    named = [j for j in told.log.topics[f"/{told.name}/outputs"].fields if f"{j}_rad" in truth.fields]
    if not named:
        return None
    wave = [joint for joint in named if joint in ((told.settings["gait"] or {}).get("joints") or ())]
    rest = [joint for joint in named if joint not in wave]
    panels = [panel for panel in (wave, rest) if panel]
    time_s = told.time_s("truth")
    beat = beat_hz(told, late=True)
    late = time_s >= time_s[-1] - (WINDOW_BEATS / beat if beat else WINDOW_S)
    figure, all_axes = told.axes(0.8 + 2.8 * len(panels), rows=len(panels))
    for axes, panel in zip(np.atleast_1d(all_axes), panels, strict=True):
        for joint in panel:
            style = look(named.index(joint))
            reached = np.degrees(told.column("truth", f"{joint}_rad"))
            axes.plot(thin(time_s[late]), thin(reached[late]), linewidth=1.1, label=joint, **style)
            if told.has("commands", joint):
                asked = np.degrees(told.column("commands", joint))
                at_s, asked, shown = aligned(time_s, asked, late)
                axes.plot(
                    thin(at_s[shown]), thin(asked[shown]), color=style["color"], ls=":", lw=1.6, alpha=0.5
                )
        axes.set_ylabel("angle, deg")
    axes.set_xlabel("time, s")
    if told.has("commands"):
        axes.plot([], [], ":", color="0.5", label="asked")
    told.legend(figure)
    what = ", the gait's joints above, the others below" if len(panels) > 1 else ""
    return Plot(
        "Joint angles",
        figure,
        "Look for joints that lag or miss the dotted line, which was asked of them: the last seconds of "
        f"{told.name}{what}.",
    )


def timing(told: Reported) -> Plot | None:
    """None of a run whose ticks were timed by nobody: in lockstep with a board that has no time to tell."""
    if not any(
        told.column("loop", field, name).any() for name in told.names for field in ("cost_us", "late_us")
    ):
        return None
    figure, axes = told.axes()
    for k, name in enumerate(told.names):
        cost = np.sort(told.column("loop", "cost_us", name))
        late = np.sort(told.column("loop", "late_us", name))
        share = np.linspace(0, 100, len(cost))  # of the ticks, cheapest first
        colour = look(k)["color"]
        axes.plot(thin(share), thin(cost) + 1, color=colour, label=f"{name}: cost")
        if late[-1] > 0:
            axes.plot(thin(share), thin(late) + 1, "--", color=colour, label=f"{name}: lateness")
    period_us = 1e6 / told.settings["rate_hz"]
    axes.axhline(period_us, color=LIMIT, linewidth=1, label="a tick's period")
    axes.set(xlabel="share of ticks, %", ylabel="at most, us", yscale="log")
    told.legend(figure)
    return Plot(
        "Loop timing",
        figure,
        "Nearly all ticks should cost far less, and begin far less late, than the red line; the right end may rise.",
    )
