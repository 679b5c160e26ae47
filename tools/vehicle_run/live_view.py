"""Lets a run be looked on at: options --view, --stream and --allow-control, its stream, and the view it starts."""

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from caudal.onboard.log.recorder import LogWriter, Recorder
from caudal.onboard.log.stream import PORT, InjectFault, SendCommand, StreamServer
from caudal.tools.common import output

LOOPBACK = "127.0.0.1"


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--view", action="store_true", help="show it in the browser meanwhile; best with --realtime"
    )
    command.add_argument(
        "--stream",
        metavar="[HOST:]PORT",
        type=address,
        help=f"let `caudal view HOST:PORT` look on (it looks for {PORT}); HOST 0.0.0.0 is everybody's",
    )
    command.add_argument(
        "--allow-control",
        action="store_true",
        help="with --stream: who looks on from another machine may steer, too",
    )


def address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (port.isdigit() and int(port) < 65536):
        raise argparse.ArgumentTypeError(f"{text} is neither a port nor HOST:PORT")
    return host or LOOPBACK, int(port)


class LiveView:
    """A recording that may be shown, too; `book` is what the run writes to."""

    def __init__(self, args: argparse.Namespace, recorder: Recorder, about: dict[str, str]) -> None:
        self._view: subprocess.Popen | None = None
        self._live: StreamServer | None = None
        self._asked = args.view
        self.book: LogWriter = recorder
        if args.view or args.stream:
            where = args.stream or (LOOPBACK, 0)
            try:
                self._live = StreamServer(recorder, about, where, allow_control=args.allow_control)
            except OSError as error:
                raise output.UsageError(
                    f"--stream: nobody can look on at {where[0]}:{where[1]} ({error.strerror}); take another port"
                ) from error
            self.book = self._live

    def begin(self, handlers: Mapping[str, SendCommand], rehearse: InjectFault | None = None) -> None:
        """Once every topic is there."""
        if self._live is None:
            return
        for vehicle, send in handlers.items():
            self._live.add_vehicle(vehicle, send)
        self._live.inject = rehearse
        self._live.start()
        host, port = self._live.address
        if self._asked:
            # a process of its own, and not the first in line: what it draws must not hold up a tick
            words = [sys.executable, "-m", "caudal.tools.cli.main", "view", f"{LOOPBACK}:{port}"]
            self._view = subprocess.Popen(words, preexec_fn=lambda: os.nice(10) and None)
        else:
            output.note(f"caudal: caudal view {host}:{port} looks on")

    def take(self, time_ns: int) -> None:
        """Do what lookers-on have asked for: between two ticks."""
        if self._live is not None:
            self._live.poll(time_ns)

    def close(self) -> None:
        if self._live is not None:
            self._live.close()
        if self._view is not None:
            self._view.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._view.wait(5)


def helms_of(instances: list[Any]) -> dict[str, SendCommand]:
    """Of vehicles whose loop is in this process: orders for others go over their own wire."""
    loops = {instance.name: getattr(instance, "loop", None) for instance in instances}
    return {name: loop.send for name, loop in loops.items() if loop is not None}


def rehearsed(simulation: Any) -> InjectFault:
    """A fault for one of the fleet's vehicles (tools/faults/kinds.py), or its end: None, or why not."""

    def rehearse(vehicle: str, text: str) -> str | None:
        word, _, mended = text.partition(" ")
        try:
            if word == "mend":
                simulation.clear(vehicle, mended.strip())
            else:
                simulation.inject(vehicle, text)
        except output.UsageError as error:
            return str(error)
        return None

    return rehearse
