"""Plant and controller as processes of their own, as a user starts them on two ports."""

import re
import socket
import subprocess
from pathlib import Path

from tests.command_line import start
from tests.waiting import wait_for

FISH = ("fish", "--scenario", "cruise")


class Sides:
    """Plant and controller as processes of their own, each with what it said on stderr."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._all: list[subprocess.Popen] = []

    def start(self, *words: object) -> subprocess.Popen:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self._all.append(start(*words, cwd=self._folder, **pipes))
        return self._all[-1]

    def plant(self, port: str, *words: object) -> subprocess.Popen:
        return self.start("hil", "plant", FISH[0], port, *FISH[1:], "--log", "hil.mcap", *words, "--json")

    def controller(self, port: str, *words: object) -> subprocess.Popen:
        return self.start("run", FISH[0], "--on", f"hil:{port}", *FISH[1:], *words)

    def close(self) -> None:
        for process in self._all:
            if process.poll() is None:
                process.kill()
            process.communicate()


def free_tcp_port() -> int:
    with socket.socket() as finder:
        finder.bind(("127.0.0.1", 0))
        return finder.getsockname()[1]


def said(process: subprocess.Popen, pattern: str) -> str:
    """Read its stderr up to a line that matches; the first group of it."""
    assert process.stderr
    for line in process.stderr:
        if found := re.search(pattern, line):
            return found[1] if found.groups() else line
    raise AssertionError(f"it ended without saying {pattern}")


def swims_on(log: Path) -> None:
    """Waits until the log has grown: ticks go by."""
    before = log.stat().st_size if log.exists() else 0
    wait_for(lambda: log.exists() and log.stat().st_size >= before + 50_000, "ticks")
