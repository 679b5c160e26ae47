"""Questions to a person at the terminal: prompts on stderr, answers from stdin, a line each."""

import math
import sys
from collections.abc import Callable

from caudal.tools.calibrate.shutdown import ending
from caudal.tools.common import output


def ask(prompt: str) -> str:
    """The one place where a person's answer comes from; the end of the input ends the calibration."""
    sys.stderr.write(f"{prompt} ")
    sys.stderr.flush()
    with ending.window():
        line = _line()
    if not line:
        raise output.UsageError("the input ended before the calibration did; nothing was written")
    return line.strip()


def _line() -> str:
    try:
        return sys.stdin.readline()
    except OSError:  # a terminal that is gone
        return ""
    except UnicodeDecodeError:
        return "?\n"


def confirm(what: str) -> None:
    """Says what will move, and goes on for nothing but `yes`."""
    output.note(what)
    if ask("Type yes to go on:") != "yes":
        raise output.UsageError("that was not yes; nothing was moved and nothing written")


def number(
    prompt: str,
    low: float,
    high: float,
    refuses: Callable[[float], str | None] = lambda value: None,
    empty: float | None = None,
) -> float:
    """A number within low to high that `refuses` has no sentence against; asked for until there is one. `empty` is
    what Enter alone means, if anything.
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
            hint = "; a number has a point, not a comma" if "," in text else ""
            output.note(f'"{text}" is no number from {low:g} to {high:g}{hint}')
            continue
        problem = refuses(value)
        if problem is None:
            return value
        output.note(problem)


def nudge(prompt: str, most_us: int) -> int | None:
    """By how many microseconds; None for Enter alone, which says that it is right as it is."""
    while True:
        text = ask(prompt)
        if not text:
            return None
        digits = text[1:] if text[0] in "+-" else ""
        if digits.isascii() and digits.isdigit() and int(digits) <= most_us:
            return int(text)
        output.note(f'"{text}" is no nudge; type such as +10 or -10 (us, at most {most_us}), or Enter alone')
