"""Starts `caudal ...` for tests: a process of its own, forked from one that has already imported the project.

    process = start("run", "fish", "--for", 20, cwd=folder, stderr=subprocess.PIPE)
    done = run("check", "fish", cwd=folder)

Both take and give what subprocess.Popen and subprocess.run do. Arguments, folder, environment, streams, signals,
session and exit code are those of `python -m caudal ...`. Only the second or two of imports and of loading the compiled
kernels is paid once per test process (tests/command_server.py). A test of the start itself uses subprocess.
"""

import ctypes
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIXED = (
    "PYTHON",
    "NUMBA",
    "MPL",
    "LC_",
    "LANG",
    "LD_",
    "XDG_CACHE_HOME",
)  # read when an interpreter starts or imports
SUBREAPER = (
    36  # PR_SET_CHILD_SUBREAPER of prctl(2): a process whose parent has ended becomes a child of this one
)


def start(*words: object, **options: Any) -> "subprocess.Popen[str]":
    """`caudal WORDS` as a running process; its streams are text."""
    command = [sys.executable, "-m", "caudal", *map(str, words)]
    forks = sys.platform == "linux" and not options.get("preexec_fn")
    forks = forks and fixed(options.get("env") or os.environ) == FIXED_HERE
    return (Forked if forks else subprocess.Popen)(command, **{"text": True, **options})


def run(*words: object, timeout: float = 600, **options: Any) -> "subprocess.CompletedProcess[str]":
    """`caudal WORDS` up to its end; stdout and stderr are captured."""
    streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    written = options.pop("input", None)
    if written is not None:
        options["stdin"] = subprocess.PIPE
    with start(*words, **{**streams, **options}) as process:
        try:
            out, error = process.communicate(written, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


def fixed(environment: Any) -> dict[str, str]:
    """The part of an environment that a forked process can no longer take up."""
    return {name: value for name, value in environment.items() if name.startswith(FIXED)}


FIXED_HERE = fixed(os.environ)


class Server:
    """The process that imports the project and forks. It ends with this one, whose children the forks become."""

    def __init__(self) -> None:
        if ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no subreaper")
        self._socket, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = [sys.executable, "-m", "tests.command_server", str(there.fileno())]
        self._process = subprocess.Popen(words, cwd=ROOT, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL)
        there.close()

    def fork(self, request: str, streams: list[int]) -> int:
        """Process id of a fork that runs the request with these three streams."""
        socket.send_fds(self._socket, [request.encode()], streams)
        return int(self._socket.recv(64))


_servers: list[Server] = []


class Forked(subprocess.Popen):  # type: ignore[type-arg]
    """Popen in all but the start of the process, which is a child of this one all the same."""

    def _execute_child(self, args: Any, _executable: Any, *given: Any) -> None:
        cwd, env, pipes, new_session = given[3], given[4], given[8:14], given[19]
        if not _servers:
            _servers.append(Server())
        request = repr((args[3:], os.path.abspath(cwd or "."), dict(env or os.environ), bool(new_session)))
        used = [pipe if pipe != -1 else number for number, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
        self.pid = _servers[0].fork(request, used)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
