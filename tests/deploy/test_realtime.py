"""Real time and the service manager: what the loop asks for, what it says, and that neither can stop it."""

import os
import socket
import subprocess
import sys
import textwrap

import pytest

from caudal.onboard.run.systemd import Notifier
from tests.conftest import ROOT, left_out


class Manager:
    """The manager's end of the line."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.setblocking(False)

    def heard(self) -> list[str]:
        words = []
        while True:
            try:
                words.append(self._socket.recv(4096).decode())
            except BlockingIOError:
                return words


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_the_manager_hears_of_start_status_and_end(tmp_path, kind):
    name = f"caudal-test-{os.getpid()}" if kind == "abstract" else str(tmp_path / "notify")
    manager = Manager(f"\0{name}" if kind == "abstract" else name)
    notifier = Notifier({"NOTIFY_SOCKET": f"@{name}" if kind == "abstract" else name})
    notifier.ready()
    notifier.status("armed\nand well")
    notifier.alive()  # no watchdog was asked for
    notifier.stopping()
    assert manager.heard() == ["READY=1", "STATUS=armed and well", "STOPPING=1"]


def test_a_loop_that_says_alive_every_tick_feeds_the_watchdog_four_times_a_period(tmp_path):
    manager = Manager(str(tmp_path / "notify"))
    now_ns = [5_000_000_000]
    environ = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "2000000"}
    notifier = Notifier(environ, now_ns=lambda: now_ns[0])
    assert notifier.watchdog_us == 2_000_000
    heard = []
    for _ in range(1000):  # ten seconds at 100 Hz
        notifier.alive()
        heard += manager.heard()
        now_ns[0] += 10_000_000
    assert heard == ["WATCHDOG=1"] * 20


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": "/nowhere/at/all"}, {"NOTIFY_SOCKET": "x" * 200}])
def test_no_manager_or_one_that_has_gone_stops_nothing(environ):
    notifier = Notifier({"WATCHDOG_USEC": "many", **environ})
    assert notifier.watchdog_us == 0
    notifier.ready()
    notifier.alive()
    notifier.status("well")
    notifier.stopping()


def test_a_manager_that_does_not_read_never_makes_the_loop_wait(tmp_path):
    manager = Manager(str(tmp_path / "notify"))
    notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
    for _ in range(5000):
        notifier.status("well")
    assert 0 < len(manager.heard()) < 5000


def python(program: str, **options) -> str:
    """In a process of its own: real time is for the whole of one."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_could_not_be_had_comes_back_as_sentences_and_nothing_raises():
    said = python(
        """
        import resource
        from caudal.onboard.run import realtime
        import os
        for limit in (resource.RLIMIT_RTPRIO, resource.RLIMIT_MEMLOCK):
            resource.setrlimit(limit, (0, 0))
        if os.getuid() == 0:
            os.setgid(65534); os.setuid(65534)
        print(*realtime.set_up(50, cpu=100000), sep="\\n")
        import gc
        print(gc.isenabled())
        """
    )
    fifo, core, memory, collects = said.splitlines()
    assert "SCHED_FIFO" in fifo and "LimitRTPRIO=50" in fifo
    assert "core 100000" in core
    assert "LimitMEMLOCK=infinity" in memory
    assert collects == "False"


def test_the_loops_thread_is_first_in_line_and_those_it_starts_are_not():
    if os.geteuid() != 0:
        left_out("real-time priority is root's to give")
    said = python(
        """
        import os, threading
        from caudal.onboard.run import realtime
        assert realtime.set_up(50, cpu=min(os.sched_getaffinity(0))) == []
        print(os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO, os.sched_getparam(0).sched_priority)
        print(len(os.sched_getaffinity(0)))
        worker = threading.Thread(target=lambda: print(os.sched_getscheduler(0) == os.SCHED_OTHER))
        worker.start(); worker.join()
        """
    )
    assert said.split() == ["True", "50", "1", "True"]
