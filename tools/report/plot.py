"""What the plots of a report share: the data of the log, the width of the page, legends, styles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.onboard.tables.read import Scenario, Settings
from caudal.tools.common import pyplot
from caudal.tools.config.from_log import recorded_settings
from caudal.tools.log.columns import column
from caudal.tools.summary.summarize import aligned, vehicles_of
from caudal.tools.summary.vehicle_run import is_vehicle_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 2500  # at least so many points of a line are drawn
WIDE_IN = 10.0
HALF_IN = 6.4  # width of a plot that stands next to another
LIMIT = "#b00"
COLOURS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#444444",
)  # fmt: skip
STYLES = ("-", "--", "-.")

Line = tuple[str, np.ndarray, np.ndarray]  # label, x, y


class Plot(NamedTuple):
    """A figure with its heading and caption; `same_limits`: it shares its axis limits with that of a second log."""

    title: str
    figure: Figure
    caption: str
    same_limits: bool = True


@dataclass
class ReportData:
    """A log as the plots of its page read it; details are shown of the first vehicle."""

    log: Log
    width_in: float = WIDE_IN
    _columns: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)

    @cached_property
    def settings(self) -> Settings:
        """The settings of the recorded vehicle file."""
        return recorded_settings(self.log)

    @cached_property
    def scenario(self) -> Scenario | None:
        """The settings of the scenario; None for an open-loop trial."""
        return self.settings.scenarios.get(self.log.run.get("scenario", ""))

    @cached_property
    def names(self) -> list[str]:
        """The names of all vehicle instances."""
        return vehicles_of(self.log)

    @property
    def name(self) -> str:
        """The name of the first vehicle instance."""
        return self.names[0]

    @cached_property
    def start_ns(self) -> int:
        """The time that counts as 0: the first tick of an on-vehicle log, which records calendar time."""
        loop = self.log.topics.get(f"/{self.names[0]}/loop") if self.names else None
        return loop.time_ns[0] if is_vehicle_run(self.log) and loop else 0

    def has(self, kind: str, field: str = "") -> bool:
        """Returns whether a topic of the first vehicle, or a field of it, holds any value."""
        topic = self.log.topics.get(f"/{self.name}/{kind}")
        if topic is None or not len(topic) or (field and field not in topic.fields):
            return False
        return not field or bool(np.isfinite(self.column(kind, field)).any())

    def column(self, kind: str, field: str, name: str = "") -> np.ndarray:
        """Returns a column of a vehicle's topic, unpacked once for all plots."""
        which = f"/{name or self.name}/{kind}", field
        if which not in self._columns:
            self._columns[which] = column(self.log, *which)
        return self._columns[which]

    def time_s(self, kind: str, name: str = "") -> np.ndarray:
        """Returns the times of a vehicle's topic, s."""
        return (np.array(self.log.topics[f"/{name or self.name}/{kind}"].time_ns) - self.start_ns) / 1e9

    def series(self, kind: str, field: str, name: str = "") -> tuple[np.ndarray, np.ndarray]:
        """Returns (times (s), values) of a column, decimated for drawing."""
        time_s, values = aligned(self.time_s(kind, name), self.column(kind, field, name))
        return decimated(time_s), decimated(values)

    def axes(self, height_in: float = 3.2) -> tuple[Figure, Axes]:
        """Makes a figure with one pair of axes."""
        figure, (axes,) = self.panels(1, height_in)
        return figure, axes

    def panels(self, count: int, height_in: float) -> tuple[Figure, list[Axes]]:
        """Makes a figure with panels below each other that share their x axis."""
        figure, axes = pyplot.pyplot().subplots(
            count,
            1,
            figsize=(self.width_in, height_in),
            layout="constrained",
            sharex=count > 1,
            squeeze=False,
        )
        return figure, list(axes[:, 0])

    def plot(self, title: str, figure: Figure, caption: str) -> Plot:
        """Completes a figure with a legend of all its axes: at the right, or below where the page is narrow."""
        lines: dict[str, Any] = {}
        for axes in figure.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                lines.setdefault(label, handle)
        if lines:
            narrow = self.width_in < WIDE_IN
            figure.legend(
                lines.values(),
                lines.keys(),
                loc="outside lower center" if narrow else "outside right upper",
                ncols=3 if narrow else 1,
                fontsize=9,
                frameon=False,
            )
        return Plot(title, figure, caption)

    def over_time(
        self,
        title: str,
        ylabel: str,
        lines: Iterable[Line],
        caption: str,
        limit: tuple[float, str] | None = None,
    ) -> Plot:
        """Plots lines over time (s), with a red line at a limit (value, label)."""
        figure, axes = self.axes()
        draw(axes, lines)
        if limit:
            axes.axhline(limit[0], color=LIMIT, linewidth=1, label=limit[1])
        axes.set(xlabel="time, s", ylabel=ylabel)
        return self.plot(title, figure, caption)


def draw(axes: Axes, lines: Iterable[Line]) -> None:
    """Draws lines, each in a style of its own."""
    for k, (label, x, y) in enumerate(lines):
        axes.plot(decimated(x), decimated(y), linewidth=0.9, label=label, **style(k))


def on_right_scale(axes: Axes, label: str, ylabel: str, x: np.ndarray, y: np.ndarray) -> Axes:
    """Adds a dotted line with a scale of its own at the right; returns the axes of that scale."""
    right: Axes = axes.twinx()
    right.plot(decimated(x), decimated(y), "k:", linewidth=0.9, label=f"{label} (right scale)")
    right.set_ylabel(ylabel)
    right.ticklabel_format(useOffset=False)
    return right


def decimated(values: np.ndarray) -> np.ndarray:
    """Returns every n-th value, as many as a line on a page needs."""
    return values[:: max(1, len(values) // POINTS)]


def style(k: int) -> dict[str, Any]:
    """Returns colour and dashes of the k-th line of a figure: thirty that differ."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k // len(COLOURS) % len(STYLES)]}


def beat_hz(data: ReportData, last: bool = False) -> float | None:
    """Returns the most frequent set-point of the tail beat, or the last one; None without any."""
    if not data.has("state", "setpoint_frequency_hz"):
        return None
    wanted = np.abs(data.column("state", "setpoint_frequency_hz"))
    wanted = np.round(wanted[np.isfinite(wanted) & (wanted > 0)], 3)
    if not len(wanted):
        return None
    if last:
        return float(wanted[-1])
    values, counts = np.unique(wanted, return_counts=True)
    return float(values[counts.argmax()])
