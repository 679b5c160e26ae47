"""Real-time settings and messages to the service manager; neither may stop the loop."""

import os
import socket
import subprocess
import sys
import textwrap

import pytest

from caudal.onboard.host.systemd import Notifier
from tests.conftest import ROOT, left_out


class Manager:
    """The service manager's socket."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.setblocking(False)

    def received(self) -> list[str]:
        words = []
        while True:
            try:
                words.append(self._socket.recv(4096).decode())
            except BlockingIOError:
                return words


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_notifier_sends_start_status_and_end(tmp_path, kind):
    name = f"caudal-test-{os.getpid()}" if kind == "abstract" else str(tmp_path / "notify")
    manager = Manager(f"\0{name}" if kind == "abstract" else name)
    notifier = Notifier({"NOTIFY_SOCKET": f"@{name}" if kind == "abstract" else name})
    notifier.ready()
    notifier.status("armed\nand well")
    notifier.alive()  # no watchdog is set
    notifier.stopping()
    assert manager.received() == ["READY=1", "STATUS=armed and well", "STOPPING=1"]


def test_notifier_feeds_the_watchdog_four_times_a_period(tmp_path):
    manager = Manager(str(tmp_path / "notify"))
    now_ns = [5_000_000_000]
    environ = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "2000000"}
    notifier = Notifier(environ, now_ns=lambda: now_ns[0])
    assert notifier.watchdog_us == 2_000_000
    received = []
    for _ in range(1000):  # ten seconds at 100 Hz
        notifier.alive()
        received += manager.received()
        now_ns[0] += 10_000_000
    assert received == ["WATCHDOG=1"] * 20


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": "/nowhere/at/all"}, {"NOTIFY_SOCKET": "x" * 200}])
def test_notifier_does_nothing_without_a_service_manager(environ):
    notifier = Notifier({"WATCHDOG_USEC": "many", **environ})
    assert notifier.watchdog_us == 0
    notifier.ready()
    notifier.alive()
    notifier.status("well")
    notifier.stopping()


def test_notifier_never_waits_for_a_manager_that_does_not_read(tmp_path):
    manager = Manager(str(tmp_path / "notify"))
    notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
    for _ in range(5000):
        notifier.status("well")
    assert 0 < len(manager.received()) < 5000


def python(program: str, **options) -> str:
    """Runs a program in a process of its own, because real-time settings apply to a whole process."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_set_up_returns_a_message_for_each_setting_that_failed():
    said = python(
        """
        import resource
        from caudal.onboard.host import realtime
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


def test_set_up_gives_real_time_priority_to_the_loop_thread_alone():
    if os.geteuid() != 0:
        left_out("only root may set a real-time priority")
    said = python(
        """
        import os, threading
        from caudal.onboard.host import realtime
        assert realtime.set_up(50, cpu=min(os.sched_getaffinity(0))) == []
        print(os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO, os.sched_getparam(0).sched_priority)
        print(len(os.sched_getaffinity(0)))
        worker = threading.Thread(target=lambda: print(os.sched_getscheduler(0) == os.SCHED_OTHER))
        worker.start(); worker.join()
        """
    )
    assert said.split() == ["True", "50", "1", "True"]
