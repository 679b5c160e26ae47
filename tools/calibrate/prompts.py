"""Prompts at the terminal: questions on stderr, answers from stdin, a line each."""

import math
import sys
from collections.abc import Callable

from caudal.tools.calibrate.shutdown import stop_signals
from caudal.tools.common import output


def ask(prompt: str) -> str:
    """Reads one answer; a UsageError at the end of the input."""
    sys.stderr.write(f"{prompt} ")
    sys.stderr.flush()
    with stop_signals.window():
        line = _line()
    if not line:
        raise output.UsageError("the input ended before the calibration was complete; nothing was written")
    return line.strip()


def _line() -> str:
    try:
        return sys.stdin.readline()
    except OSError:  # the terminal is closed
        return ""
    except UnicodeDecodeError:
        return "?\n"


def confirm(what: str) -> None:
    """Says what will move; a UsageError if the answer is not `yes`."""
    output.note(what)
    if ask("Type yes to continue:") != "yes":
        raise output.UsageError("the answer was not yes; nothing was moved and nothing written")


def number(
    prompt: str,
    low: float,
    high: float,
    refuses: Callable[[float], str | None] = lambda value: None,
    empty: float | None = None,
) -> float:
    """Asks until the answer is a number from low to high without a problem.

    `refuses` returns the problem of a number, or None. `empty`: the value for Enter alone, if it has one.
    """
    while True:
        text = ask(prompt)
        if not text and empty is not None:
            return empty
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            hint = "; use a point, not a comma" if "," in text else ""
            output.note(f'"{text}" is not a number from {low:g} to {high:g}{hint}')
            continue
        problem = refuses(value)
        if problem is None:
            return value
        output.note(problem)


def nudge(prompt: str, most_us: int) -> int | None:
    """Asks for a change in us; None for Enter alone: it is right as it is."""
    while True:
        text = ask(prompt)
        if not text:
            return None
        digits = text[1:] if text[0] in "+-" else ""
        if digits.isascii() and digits.isdigit() and int(digits) <= most_us:
            return int(text)
        output.note(
            f'"{text}" is not a nudge; type +10 or -10, for example (us, at most {most_us}), or press Enter'
        )
