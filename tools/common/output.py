"""Output of the commands: progress while they work, a short table at the end, JSON on request."""

import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from caudal.hal.errors import CaudalError


class UsageError(CaudalError):
    """A request that cannot be carried out; its text is the message for the user."""


LINE_WIDTH = 78  # characters of a progress line
ESTIMATE_AFTER_S = 3.0  # before that, the remaining time cannot be estimated


class Progress:
    """A progress line on stderr: redrawn in place on a terminal, printed every 5 s elsewhere."""

    def __init__(self, what: str, total: float | None, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._start_s = self._printed_s = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._drawn = False

    def at(self, done: float) -> None:
        """Reports how much is done, in the unit of the total; prints only when a line is due."""
        now_s = time.monotonic()
        if now_s - self._printed_s < (0.2 if self._terminal else 5.0):
            return
        self._printed_s = now_s
        passed_s = max(now_s - self._start_s, 1e-9)
        rate = done / passed_s
        line = f"{self._what}: {done:.0f}"
        if self._total is not None:
            line += f" of {self._total:.0f}"
        line += f" {self._unit}, {rate:.{0 if rate >= 10 else 1}f} per second"
        if self._total and done and passed_s > ESTIMATE_AFTER_S:
            line += f", {_span(passed_s * (self._total - done) / done)} left"
        sys.stderr.write(f"\r{line:<{LINE_WIDTH}}" if self._terminal else line + "\n")
        sys.stderr.flush()
        self._drawn = True

    def end(self) -> None:
        """Clears the line."""
        if self._terminal and self._drawn:
            sys.stderr.write("\r" + " " * LINE_WIDTH + "\r")
            sys.stderr.flush()


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


@contextmanager
def slow_notice(text: str, after_s: float = 1.0) -> Iterator[None]:
    """Context manager that prints `text` when its block takes longer than `after_s` seconds."""
    timer = threading.Timer(after_s, note, [text])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def note(text: str) -> None:
    """Prints a message for the user to stderr."""
    print(text, file=sys.stderr)


def table(rows: Sequence[Sequence[Any]], head: Sequence[str] = ()) -> None:
    """Prints aligned columns to stdout."""
    lines = [[_cell(cell) for cell in row] for row in ([head] if head else []) + list(rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))] if lines else []
    for line in lines:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)


def as_json(result: dict[str, Any]) -> None:
    """Prints a result to stdout as one JSON object."""
    print(json.dumps(result, allow_nan=False))
