"""What the figures of a report share: the log they are of, how wide they are, their legends, their captions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.onboard.vehicles import read
from caudal.tools.common import pyplot
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.log.columns import column
from caudal.tools.summary.summarize import aligned, vehicles_of

POINTS = 2500  # a line on a page needs no more
WIDE_IN = 10.0
HALF_IN = 6.4  # of two side by side
LIMIT = "#b00"
COLOURS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#444444",
)  # fmt: skip
STYLES = ("-", "--", "-.")


class Plot(NamedTuple):
    """A figure with its heading and the sentence below it. `alike`: beside another log it has the same limits."""

    title: str
    figure: Any
    caption: str
    alike: bool = True


@dataclass
class Reported:
    """A log as its page looks at it; the first vehicle is the one whose insides are shown."""

    log: Log
    width_in: float = WIDE_IN
    _columns: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)

    @cached_property
    def settings(self) -> dict[str, Any]:
        return read(vehicle_file(self.log))

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """Empty of a trial, which is none."""
        return self.settings["scenarios"].get(self.log.run.get("scenario"), {})

    @cached_property
    def names(self) -> list[str]:
        return vehicles_of(self.log)

    @property
    def name(self) -> str:
        return self.names[0]

    @cached_property
    def start_ns(self) -> int:
        """A vehicle's own log has calendar times; its page counts from the first tick."""
        loop = self.log.topics.get(f"/{self.names[0]}/loop") if self.names else None
        return loop.time_ns[0] if self.log.run.get("on") == "pi" and loop else 0

    def has(self, kind: str, field: str = "") -> bool:
        """Whether a topic of the first vehicle, or a field of it, holds anything at all."""
        topic = self.log.topics.get(f"/{self.name}/{kind}")
        if topic is None or not len(topic) or (field and field not in topic.fields):
            return False
        return not field or bool(np.isfinite(self.column(kind, field)).any())

    def column(self, kind: str, field: str, name: str = "") -> np.ndarray:
        """Unpacked once: many figures look at the same ones."""
        which = f"/{name or self.name}/{kind}", field
        if which not in self._columns:
            self._columns[which] = column(self.log, *which)
        return self._columns[which]

    def time_s(self, kind: str, name: str = "") -> np.ndarray:
        return (np.array(self.log.topics[f"/{name or self.name}/{kind}"].time_ns) - self.start_ns) / 1e9

    def series(self, kind: str, field: str, name: str = "") -> tuple[np.ndarray, np.ndarray]:
        """(time, values), as many as a line needs."""
        time_s, values = aligned(self.time_s(kind, name), self.column(kind, field, name))
        return thin(time_s), thin(values)

    def axes(self, height_in: float = 3.2, rows: int = 1) -> tuple[Any, Any]:
        return pyplot.pyplot().subplots(
            rows, 1, figsize=(self.width_in, height_in), layout="constrained", sharex=rows > 1
        )

    def legend(self, figure: Any, of: Sequence[Any] = ()) -> None:
        """Beside the data, or below where the page is narrow; of these axes, or of all."""
        lines: dict[str, Any] = {}
        for axes in of or figure.axes:
            handles, labels = axes.get_legend_handles_labels()
            for handle, label in zip(handles, labels, strict=True):
                lines.setdefault(label, handle)
        if not lines:
            return
        narrow = self.width_in < WIDE_IN
        figure.legend(
            lines.values(),
            lines.keys(),
            loc="outside lower center" if narrow else "outside right upper",
            ncols=3 if narrow else 1,
            fontsize=9,
            frameon=False,
        )


def thin(values: np.ndarray) -> np.ndarray:
    return values[:: max(1, len(values) // POINTS)]


def look(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th line of a figure: thirty that differ."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k // len(COLOURS) % len(STYLES)]}


def beat_hz(told: Reported, late: bool = False) -> float | None:
    """The beat that was asked for the most of the time, or late: the last one; None where none was."""
    if not told.has("state", "want_frequency_hz"):
        return None
    asked = np.abs(told.column("state", "want_frequency_hz"))
    asked = np.round(asked[np.isfinite(asked) & (asked > 0)], 3)
    if not len(asked):
        return None
    if late:
        return float(asked[-1])
    values, counts = np.unique(asked, return_counts=True)
    return float(values[counts.argmax()])
