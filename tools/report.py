"""Writes one self-contained page for a log: plots, loop timing, events and the summary table."""

import argparse
from pathlib import Path

from tools import options, say


def write_report(log, page):
    return None


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("log", type=Path, help="a log that caudal run wrote")


def run(args: argparse.Namespace) -> int:
    return 0
