"""`--on pi`: the loop on a vehicle's own computer: without a single chip, then with emulated ones in real time."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from caudal.hal.emulated.wiring import EmulatedParts
from caudal.hal.pi.build import build_driver
from caudal.hal.pi.worker import clock_us
from caudal.hal.tables import pi as pi_spec
from caudal.onboard.log.reader import Log
from caudal.onboard.run import vehicle_run
from caudal.onboard.run.config import open_controlled
from caudal.onboard.run.options import RunOptions
from caudal.onboard.run.services import Services
from caudal.onboard.run.session import Session
from caudal.tools.cli.main import main
from tests.waiting import LIMIT_S

BLOCKED = (
    "import sys\n"
    "for name in ('numpy', 'numba', 'scipy', 'matplotlib', 'caudal.sim_plant'): sys.modules[name] = None\n"
)


# with no water around its chips it has neither echoes nor a depth, without which it would not be armed
DRY = ("--set", 'failsafe.blind_ahead.action="warn"', "--set", 'failsafe.depth_lost={action="warn"}')


def words(tmp_path, *more: str) -> list[str]:
    return [
        "run",
        "fish",
        "--scenario",
        "cruise",
        "--on",
        "pi",
        "--log",
        str(tmp_path / "pi.mcap"),
        "--json",
        *more,
    ]


def on_base_install(tmp_path, *more: str, **environ: str) -> subprocess.Popen:
    """In a process that has none of the plant's packages."""
    code = BLOCKED + f"from caudal.tools.cli.main import main\nsys.exit(main({words(tmp_path, *more)!r}))"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environ,
    )


def test_loop_ticks_and_reports_lost_devices_without_a_bus(tmp_path):
    process = on_base_install(tmp_path, "--for", "0.5", "--arm-after", "0.1")
    out, err = process.communicate(timeout=LIMIT_S)
    result = json.loads(out)
    assert process.returncode == 1 and result["ticks"] == 50 and result["fault"] is None
    assert result["not_armed"].startswith("fish_1 not armed: ") and result["not_armed"] in err
    lost = " ".join(result["devices_lost"])
    for device in (
        "pulses (pca9685 at 0x40)",
        "imu (",
        "gauge (",
        "power (",
        "analog (",
        "ahead (",
        "ring (",
        "line 17",
    ):
        assert device in lost
    assert "device lost: pulses (pca9685 at 0x40): " in err and "/dev/" in err
    log = Log(tmp_path / "pi.mcap")
    assert len(log.topics["/fish_1/outputs"].rows) == 50
    assert all(count is None for row in log.topics["/fish_1/counts"].rows for count in row)
    assert {"command", "device lost", "failsafe"} <= {event.kind for event in log.events}
    refused = [e.details["refused"] for e in log.events if e.kind == "command" and e.details["kind"] == "arm"]
    assert len(refused) == 1 and "bus_hung" in refused[0]  # and so it stays disarmed
    assert not any(log.topics["/fish_1/loop"].column("armed"))


def test_run_that_was_never_armed_has_a_report(tmp_path, capsys, chips):
    assert main(words(tmp_path, "--for", "0.5")) == 0
    assert main(["report", str(tmp_path / "pi.mcap"), "--json"]) == 0
    capsys.readouterr()
    page = (tmp_path / "pi.html").read_text()
    assert "<h2>Actuator set-points</h2>" in page and page.count("<svg") >= 3


def test_log_of_a_vehicle_run_has_a_report(tmp_path, capsys, chips):
    assert main(words(tmp_path, "--for", "4", "--arm-after", "0.2", *DRY)) == 0
    capsys.readouterr()
    armed = Log(tmp_path / "pi.mcap").topics["/fish_1/loop"].column("armed")
    assert main(["report", str(tmp_path / "pi.mcap"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["duration_s"] == 4.0 and result["armed_s"] == pytest.approx(sum(armed) / 100) and any(armed)
    assert result["readings_hz"]["heading"] > result["readings_hz"]["depth"] >= 0
    page = (tmp_path / "pi.html").read_text()
    for part in ("Actuator set-points", "Sensor readings", "Loop timing", "Events"):
        assert f"<h2>{part}</h2>" in page
    assert main(["report", str(tmp_path / "pi.mcap")]) == 0
    assert "heading, readings per second" in capsys.readouterr().out


def test_run_notifies_the_service_manager_and_ends_on_its_stop(tmp_path):
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(tmp_path / "notify"))
    manager.settimeout(LIMIT_S)
    process = on_base_install(tmp_path, NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="1000000")
    said = []
    while not any("WATCHDOG=1" in word for word in said[2:]):
        said.append(manager.recv(4096).decode())
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0 and json.loads(out)["stopped_early"] is True
    assert said[0] == "READY=1" and any(word.startswith("STATUS=disarmed, tick ") for word in said)
    assert "it stays disarmed: the file has no [pi.arm] switch" in err and "stopped by a signal" in err
    manager.close()


def test_run_rejects_a_file_without_chips(capsys):
    assert main(["run", "tests/vehicles/eel.toml", "--on", "pi"]) == 2
    assert "pi: the table is missing; it gives the chips" in capsys.readouterr().err
    assert main(["run", "fish", "--arm-after", "1"]) == 2
    assert "--arm-after is for --on pi" in capsys.readouterr().err


class RealTime(EmulatedParts):
    """Emulated chips for drivers in their own threads: transactions take as long as they say."""

    def now_us(self, worker):
        return _WallClock()


class _WallClock:
    def __call__(self) -> int:
        return clock_us()

    def spend(self, us: int) -> None:
        time.sleep(us / 1e6)


@pytest.fixture
def chips(monkeypatch):
    """`--on pi` finds emulated chips where its own would be."""
    kept: dict[str, RealTime] = {}

    def build(settings, pi, rate_hz):
        kept["parts"] = RealTime(pi, 0)
        return build_driver(settings, pi, rate_hz, kept["parts"])

    monkeypatch.setattr(vehicle_run, "build_driver", build)
    monkeypatch.setattr(vehicle_run, "set_up", lambda: [])
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield kept
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_readings_and_outputs_pass_in_real_threads_and_pulses_end(tmp_path, capsys, chips):
    sent = []

    def watch():
        while "parts" not in chips or not any(chips["parts"].pulses.pulses_us()):
            time.sleep(0.01)
        sent.extend(chips["parts"].pulses.pulses_us())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    assert (
        main(words(tmp_path, "--for", "4", "--arm-after", "0.2", *DRY)) == 0
    )  # its chips take a second to begin
    watcher.join(LIMIT_S)
    result = json.loads(capsys.readouterr().out)
    assert result["ticks"] == 400
    log = Log(tmp_path / "pi.mcap")
    heading = log.topics["/fish_1/counts"].fields.index("heading")
    assert any(row[heading] is not None for row in log.topics["/fish_1/counts"].rows)
    assert any(sent), "pulses came"
    assert not any(chips["parts"].pulses.pulses_us())


@pytest.fixture
def on_vehicle(tmp_path):
    """Builds the fish's session on emulated chips with its arming; `run` gives the commands of its ticks."""
    opened = []

    def build(*overrides, arm_after_s=None):
        vehicle, name, scenario = open_controlled("fish", overrides, "cruise")
        pi = pi_spec.read(vehicle.file, vehicle.settings)
        parts = EmulatedParts(pi, 0)
        board = build_driver(vehicle.settings, pi, 100, parts)
        session = Session("fish_1", vehicle.build_loop(scenario, board), devices=board)
        services = Services(RunOptions(log=tmp_path / "log.mcap"), vehicle, name, "pi", print)
        opened.append(services)
        session.record(services.attach([session]))
        return vehicle_run.VehicleRun(session, board, services, arm_after_s), session.loop, board, parts

    yield build
    for services in opened:
        services.__exit__(None, None, None)


def commands_of(tick, loop):
    return [(tick, kind) for kind, *_ in loop.taken if kind != "host"]


@pytest.mark.parametrize("disarmed", [True, False])
def test_run_does_not_arm_by_itself_after_an_earlier_disarm(on_vehicle, disarmed):
    run, loop, _, _ = on_vehicle(arm_after_s=0.1)
    commands = []
    for tick in range(200):
        if disarmed and tick == 5:
            loop.disarm()
        run.step(0)
        commands += commands_of(tick, loop)
    assert commands[0] == ((5, "disarm") if disarmed else (10, "arm"))
    assert (len(commands) == 1) == disarmed


def test_switch_arms_only_if_it_was_open_before(on_vehicle):
    """Closed from the start it does nothing; opened and closed again, it arms; opened, it disarms."""
    run, loop, board, parts = on_vehicle("pi.arm={gpio=27}")
    switch = next(worker for worker in board.workers if worker.name == "serial")
    commands = []
    for tick, level in enumerate([1] * 5 + [0] * 5 + [1] * 5 + [0] * 5):
        parts.pin_in("/dev/gpiochip0", 27, "up", True).level = level
        switch.run_until(tick * 10_000)
        run.step(0)
        commands += commands_of(tick, loop)
    assert commands == [(10, "arm"), (15, "disarm")]
    assert not loop.state.armed, "its chips have sent nothing yet"


def test_run_on_a_vehicle_rejects_an_unknown_key(capsys):
    assert main(["run", "fish", "--on", "pi", "--set", "rate_hz=50"]) == 2
    assert "rate_hz (from --set) is not a key of a vehicle file" in capsys.readouterr().err
