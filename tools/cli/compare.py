"""Compares the outputs of two runs, in device units: every channel of every tick of every vehicle.

If a run was on chips (--on emulated), their pulses are compared too, with the pulses or outputs of the other run: one
that differs by more than one step of the chip counts as worse.
"""

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from caudal.onboard.log.reader import Columns, Log
from caudal.tools.common import options, output

Row = tuple[Any, ...]


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal compare`."""
    command.add_argument("first", type=Path, help="a log")
    command.add_argument("second", type=Path, help="another log of the same vehicles")
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Prints the comparison; 1 if the runs differ."""
    result = compare(Log(args.first), Log(args.second))
    if args.json:
        output.as_json(result)
    else:
        output.table(list(result.items()))
    same = result["equal"] == result["commands"] and not result["worse"] and not result["ticks_unmatched"]
    return 0 if same else 1


def compare(first: Log, second: Log) -> dict[str, Any]:
    """Counts outputs that are equal, off by one device unit, or worse, and names the first difference."""
    topics = [name for name in first.topics if name.endswith("/outputs")]
    others = [name for name in second.topics if name.endswith("/outputs")]
    if topics != others:
        raise output.UsageError(f"the logs are of different vehicles: {_names(topics)} and {_names(others)}")
    result: dict[str, Any] = {
        "ticks": 0,
        "commands": 0,
        "equal": 0,
        "off_by_one": 0,
        "worse": 0,
        "ticks_unmatched": 0,
    }
    first_difference: tuple[int, str] | None = None
    for topic in topics:
        a, b = first.topics[topic], second.topics[topic]
        if a.fields != b.fields:
            raise output.UsageError(
                f"{topic} has the channels {_names(a.fields)} in one log, {_names(b.fields)} in the other"
            )
        for tick, one, other in _pairs(a, b):
            if one is None or other is None:
                result["ticks_unmatched"] += 1
                continue
            result["ticks"] += 1
            result["commands"] += len(one)
            if one == other:
                result["equal"] += len(one)
                continue
            for channel, x, y in zip(a.fields, one, other, strict=True):
                apart = 0 if x == y else abs((x or 0) - (y or 0))
                result["equal" if apart == 0 else "off_by_one" if apart == 1 else "worse"] += 1
                if apart and (first_difference is None or tick < first_difference[0]):
                    first_difference = (tick, f"{topic.split('/')[1]} {channel}: {x} and {y}")
    if not result["ticks"]:
        raise output.UsageError(
            "the logs have no tick in common, so there is nothing to compare; give two logs of the same run"
        )
    for topic in topics:
        _compare_pulses(topic, first, second, result)
    if first_difference:
        result["first_difference_tick"], result["first_difference"] = first_difference
    return result


def _pairs(a: Columns, b: Columns) -> Iterator[tuple[int, Row | None, Row | None]]:
    """Rows of the same tick, with its number; None if one log has no row. If messages are lost, time decides."""
    if not a.lost and not b.lost:
        for tick, (one, other) in enumerate(itertools.zip_longest(a.each(), b.each())):
            yield tick, one, other
        return
    rows, others = dict(zip(a.time_ns, a.each(), strict=True)), dict(zip(b.time_ns, b.each(), strict=True))
    for tick, time_ns in enumerate(sorted({*rows, *others})):
        yield tick, rows.get(time_ns), others.get(time_ns)


def _compare_pulses(topic: str, first: Log, second: Log, result: dict[str, Any]) -> None:
    """Compares pulses at the pins, if a log has them; the longer step of the two chips is the tolerance."""
    pins = topic.removesuffix("outputs") + "pulses"
    if pins not in first.topics and pins not in second.topics:
        return
    step_us = max(float(log.run.get("pulse_step_us", 0)) for log in (first, second))
    a, b = (log.topics.get(pins, log.topics[topic]) for log in (first, second))
    for _, one, other in _pairs(a, b):
        if one is None or other is None:
            continue
        result["pulses"] = result.get("pulses", 0) + len(one)
        result["worse"] += sum(abs(x - y) > step_us for x, y in zip(one, other, strict=True))


def _names(names: list[str]) -> str:
    return ", ".join(names) or "none"
