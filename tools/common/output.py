"""How the commands speak: progress while they work, a short table at the end, one object for machines."""

import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class UsageError(Exception):
    """What was asked cannot be done; the text is the sentence for the user."""


WIDE = 78  # characters of a line of progress
SURE_S = 3.0  # before that nobody can say how long it will take


class Progress:
    """A line on stderr: redrawn on a terminal, every few seconds elsewhere."""

    def __init__(self, what: str, total: float | None, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._start = self._said = time.monotonic()
        self._live = sys.stderr.isatty()
        self._drawn = False

    def at(self, done: float) -> None:
        now = time.monotonic()
        if now - self._said < (0.2 if self._live else 5.0):
            return
        self._said = now
        passed_s = max(now - self._start, 1e-9)
        rate = done / passed_s
        line = f"{self._what}: {done:.0f}"
        if self._total is not None:
            line += f" of {self._total:.0f}"
        line += f" {self._unit}, {rate:.{0 if rate >= 10 else 1}f} a second"
        if self._total and done and passed_s > SURE_S:
            line += f", {_span(passed_s * (self._total - done) / done)} left"
        sys.stderr.write(f"\r{line:<{WIDE}}" if self._live else line + "\n")
        sys.stderr.flush()
        self._drawn = True

    def end(self) -> None:
        if self._live and self._drawn:
            sys.stderr.write("\r" + " " * WIDE + "\r")
            sys.stderr.flush()


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


@contextmanager
def slow_notice(text: str, after_s: float = 1.0) -> Iterator[None]:
    """Says why nothing seems to happen, if that lasts."""
    timer = threading.Timer(after_s, note, [text])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def note(text: str) -> None:
    """Something a person wants to know while they wait."""
    print(text, file=sys.stderr)


def table(rows: Sequence[Sequence[Any]], head: Sequence[str] = ()) -> None:
    """Aligned columns on stdout."""
    lines = [[_cell(cell) for cell in row] for row in ([head] if head else []) + list(rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))] if lines else []
    for line in lines:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)


def as_json(result: dict[str, Any]) -> None:
    print(json.dumps(result, allow_nan=False))
