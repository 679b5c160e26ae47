"""Imports the project, then forks a process for each command that tests/command_line.py asks for.

python -m tests.command_server SOCKET_NUMBER
"""

import ast
import atexit
import gc
import importlib
import importlib.util
import os
import signal
import socket
import sys
import threading
from typing import NoReturn

from caudal.tools.cli import main as cli
from caudal.tools.common.pyplot import pyplot
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.simulation import Simulation


def load() -> None:
    """Imports what commands import, and loads the compiled kernels of one tick."""
    for module, _ in cli.COMMANDS.values():
        importlib.import_module(f"caudal.tools.{module}")
    for module in ("scipy.optimize", "tomlkit", "viser"):
        importlib.import_module(module)
    pyplot()
    for name, scenario in (("fish", "pool"), ("rov", "station"), ("hybrid", "mode1")):
        vehicle, scenario_name, _ = open_scenario(name, [], scenario)
        Simulation(vehicle, scenario_name, seed=1).step(0)
    gc.collect()
    gc.freeze()  # a collection in a fork would copy every page


def serve(asked: socket.socket) -> NoReturn:
    """Forks for each request; a fork leaves by its command's end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the tests, which end this
    while True:
        request, streams, _, _ = socket.recv_fds(asked, 1 << 18, 3)
        if not request:
            os._exit(0)
        pid_read, pid_write = os.pipe()
        middle = os.fork()
        if middle == 0:  # it ends at once, so that its child becomes the tests'
            if child := os.fork():
                os.write(pid_write, str(child).encode())
                os._exit(0)
            for number in (asked.detach(), pid_read, pid_write):
                os.close(number)
            become(*ast.literal_eval(request.decode()), streams)
        os.waitpid(middle, 0)
        asked.send(os.read(pid_read, 64))
        for number in (pid_read, pid_write, *streams):
            os.close(number)


def become(
    words: list[str], folder: str, environment: dict[str, str], new_session: bool, streams: list[int]
) -> NoReturn:
    """Takes the place of `python -m caudal WORDS`, up to the interpreter's own end."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if new_session:
        os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", 1 if os.isatty(1) else -1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, closefd=False, errors="backslashreplace")  # noqa: SIM115
    main = sys.modules["__main__"]
    main.__spec__ = importlib.util.find_spec("caudal.__main__")  # for processes that this one spawns
    sys.argv = [main.__spec__.origin or "", *words]
    sys.path[0] = folder
    try:
        code: str | int | None = cli.main()
    except SystemExit as ended:
        code = ended.code
    if isinstance(code, str):
        sys.exit(code)
    # What the interpreter does at its end, except to free 200 MB object by object.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    load()
    serve(socket.socket(fileno=int(sys.argv[1])))
