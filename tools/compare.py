"""Compares two runs, command by command, in device units: every channel of every tick of every vehicle.

Where a run was on chips (--on emulated), the pulses that left them are compared too, with what the other run commanded
or pulsed: one that is off by more than one step of the chip counts as worse.
"""

import argparse
from pathlib import Path

from onboard.log import Log
from tools import options, say


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("first", type=Path, help="a log")
    command.add_argument("second", type=Path, help="another log of the same vehicles")
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    result = compare(Log(args.first), Log(args.second))
    if args.json:
        say.as_json(result)
    else:
        say.table(list(result.items()))
    return 0 if result["equal"] == result["commands"] and not result["ticks_unmatched"] else 1


def compare(first: Log, second: Log) -> dict:
    """Counts of commands that are equal, off by one device unit, or worse; and where they first differ."""
    topics = [name for name in first.topics if name.endswith("/outputs")]
    others = [name for name in second.topics if name.endswith("/outputs")]
    if topics != others:
        raise say.Refused(f"the logs are of different vehicles: {_names(topics)} and {_names(others)}")
    result = {"ticks": 0, "commands": 0, "equal": 0, "off_by_one": 0, "worse": 0, "ticks_unmatched": 0}
    first_difference = None
    for topic in topics:
        a, b = first.topics[topic], second.topics[topic]
        if a.fields != b.fields:
            raise say.Refused(
                f"{topic} has the channels {_names(a.fields)} in one log, {_names(b.fields)} in the other"
            )
        result["ticks_unmatched"] += abs(len(a) - len(b))
        for tick, (one, other) in enumerate(zip(a.each(), b.each(), strict=False)):
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
    for topic in topics:
        _compare_pulses(topic, first, second, result)
    if first_difference:
        result["first_difference_tick"], result["first_difference"] = first_difference
    return result


def _compare_pulses(topic: str, first: Log, second: Log, result: dict) -> None:
    """What reached the pins, where at least one of the logs knows it; the longer step of the two is allowed."""
    pins = topic.removesuffix("outputs") + "pulses"
    if pins not in first.topics and pins not in second.topics:
        return
    step_us = max(float(log.run.get("pulse_step_us", 0)) for log in (first, second))
    a, b = (log.topics.get(pins, log.topics[topic]) for log in (first, second))
    for one, other in zip(a.each(), b.each(), strict=False):
        result["pulses"] = result.get("pulses", 0) + len(one)
        result["worse"] += sum(abs(x - y) > step_us for x, y in zip(one, other, strict=True))


def _names(names: list[str]) -> str:
    return ", ".join(names) or "none"
