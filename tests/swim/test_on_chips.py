"""The same run on emulated chips: real drivers and registers between board and plant, and nothing about it changes."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios

import pytest

from caudal.hal.emulated.pca9685 import pulses_of
from caudal.onboard.log.reader import Log
from caudal.tools.campaign.campaign import Case, run_case
from caudal.tools.campaign.chip_invariants import ChipInvariants
from caudal.tools.cli.compare import compare
from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.faults.kinds import read_fault
from caudal.tools.simulate.emulated_run import emulated_simulation
from tests.waiting import LIMIT_S, wait_for

SWIMS = [
    ("fish", "pool", 5),
    ("fish", "cruise", 5),
    ("snake", "shells", 5),
    ("ray", "dive", 5),
    ("rov", "station", 6),
    ("hybrid", "mode1", 5),
]


def swim(tmp_path, capsys, vehicle, scenario, seconds, *options) -> Log:
    log = tmp_path / f"{len(list(tmp_path.iterdir()))}.mcap"
    words = [
        "run",
        vehicle,
        "--scenario",
        scenario,
        "--for",
        str(seconds),
        "--log",
        str(log),
        "--json",
        *options,
    ]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["fault"] is None
    return Log(log)


@pytest.mark.parametrize("vehicle, scenario, seconds", SWIMS)
def test_chips_change_neither_a_reading_nor_a_pulse(tmp_path, capsys, vehicle, scenario, seconds):
    sim = swim(tmp_path, capsys, vehicle, scenario, seconds, "--seed", "3")
    chips = swim(tmp_path, capsys, vehicle, scenario, seconds, "--seed", "3", "--on", "emulated")
    found = compare(sim, chips)
    assert found["worse"] == 0 and found["equal"] == found["commands"] == found["pulses"] > 1000
    for topic in sim.topics:
        if topic.endswith("/counts"):
            assert sim.topics[topic].rows == chips.topics[topic].rows, topic


def test_at_50_hz_pulses_are_within_a_step_of_what_was_commanded(tmp_path, capsys):
    sim = swim(tmp_path, capsys, "fish", "cruise", 5)
    slow = swim(
        tmp_path, capsys, "fish", "cruise", 5, "--on", "emulated", "--set", "pi.pulses.frequency_hz=50"
    )
    assert float(slow.run["pulse_step_us"]) == pytest.approx(4.88)
    assert compare(sim, slow)["worse"] == 0
    pulses = {p for row in slow.topics["/fish_1/pulses"].rows for p in row if p}
    assert pulses and all(abs(p / 4.88 - round(p / 4.88)) < 1e-6 for p in pulses)


def test_an_oscillator_that_is_off_shows_and_a_calibrated_clock_corrects_it(tmp_path, capsys):
    sim = swim(tmp_path, capsys, "fish", "cruise", 3)
    off = ["--on", "emulated", "--set", "pi.emulated={oscillator_hz=26.3e6}"]
    assert compare(sim, swim(tmp_path, capsys, "fish", "cruise", 3, *off))["worse"] > 1000
    mended = swim(tmp_path, capsys, "fish", "cruise", 3, *off, "--set", "pi.pulses.clock_hz=26300000")
    assert compare(sim, mended)["worse"] == 0


@pytest.fixture(scope="module")
def pool():
    vehicle, name, _ = open_scenario("fish", [], "pool")
    return vehicle, name


@pytest.mark.parametrize(
    "fault",
    [
        "nack:imu@1.5+0.8",
        "hang:bus@1.5+0.5",
        "stuck:analog@1.5+0.5",
        "swapped:gauge@1.5+0.5",
        "brown-out:imu@1.5",
        "identity:imu@1.5+0.5",
        "slow:gauge@1.5+0.8",
        "nack:pulses@1.5+0.3",
    ],
)
def test_whatever_breaks_readings_are_right_or_absent_and_it_swims_on(fault):
    outcome = run_case(Case("fish", ("world.pool.vehicles=1",), "pool", 1, 6.5, (fault,)))
    assert outcome.violations == []
    if fault.split("@")[0] in ("nack:imu", "hang:bus", "identity:imu"):
        assert outcome.to_safe_s is not None  # attitude_lost, by the vehicle's own table


def test_pulses_are_back_after_a_brown_out_of_their_board(pool):
    fault = read_fault("brown-out:pulses@0.5", pool[0])
    simulation = emulated_simulation(*pool, 1, [fault])
    invariants = ChipInvariants(pool[0], simulation.instances[0], fault)
    simulation.arm()
    for tick in range(550):
        simulation.step()
        invariants.check(tick)
    invariants.finish(550)
    simulation.safe()
    assert invariants.violations == [] and invariants.reason and 0 < invariants.pulses_back_s <= 0.1


def test_a_reading_that_was_never_counted_is_found(pool):
    """The check can fail: a driver that invents a reading is caught."""
    simulation = emulated_simulation(*pool, 1, [])
    invariants = ChipInvariants(pool[0], simulation.instances[0], read_fault("nack:imu@5+0.5", pool[0]))
    simulation.step()
    invariants.check(0)
    simulation.instances[0].loop.board.counts[0] = 1234567
    invariants.check(1)
    assert "never counted" in invariants.violations[0].what
    simulation.safe()


def test_faults_of_chips_are_for_chips_alone(capsys):
    assert main(["run", "fish", "--fault", "nack:imu@1"]) == 2
    assert "give --on emulated with it" in capsys.readouterr().err
    assert main(["run", "tests/vehicles/eel.toml", "--on", "emulated"]) == 2
    assert "pi: the table is missing" in capsys.readouterr().err


# Exits. The PCA9685's registers are in a file, as power would keep them.


def start(tmp_path, terminal: int = subprocess.DEVNULL) -> tuple[subprocess.Popen, os.PathLike]:
    """A fish that swims on chips in a process of its own, its pulses seen from outside."""

    def prepare() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which tests by nohup ignore
        if terminal != subprocess.DEVNULL:
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    registers = tmp_path / "registers"
    command = [
        sys.executable,
        "-m",
        "caudal.tools.cli.main",
        "run",
        "fish",
        "--scenario",
        "cruise",
        "--on",
        f"emulated:{registers}",
    ]
    command += ["--realtime", "--for", "600", "--log", str(tmp_path / "log.mcap")]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
    process = subprocess.Popen(command, **streams, start_new_session=True, preexec_fn=prepare)
    seen = set()

    def swims():
        assert process.poll() is None
        pulses = pulses_of(registers) if registers.exists() else []
        seen.update({tuple(pulses)} if any(pulses) else set())
        return len(seen) == 3

    wait_for(swims, "pulses that change")
    return process, registers


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_pulses_are_off_after_a_stop_signal(tmp_path, number):
    process, registers = start(tmp_path)
    process.send_signal(number)
    try:
        assert process.wait(LIMIT_S) == 1  # stopped early
    finally:
        process.kill()
    assert not any(pulses_of(registers))


def test_a_terminal_that_is_gone_ends_the_pulses(tmp_path):
    """A signal, and then not a word can be said."""
    terminal, line = pty.openpty()
    process, registers = start(tmp_path, line)
    os.close(line)
    os.close(terminal)
    try:
        process.wait(LIMIT_S)
    finally:
        process.kill()
    assert not any(pulses_of(registers))


def test_after_a_kill_the_chip_pulses_on_and_the_next_start_ends_that(tmp_path, pool):
    process, registers = start(tmp_path)
    process.kill()
    process.wait(LIMIT_S)
    assert any(pulses_of(registers))  # nothing ended them: the OE pin and the watchdog are for that
    simulation = emulated_simulation(*pool, 1, [], registers)
    assert not any(pulses_of(registers))
    simulation.safe()


def test_an_exception_in_a_controller_ends_the_pulses(tmp_path, pool):
    registers = tmp_path / "registers"
    vehicle, name = pool
    simulation = emulated_simulation(vehicle, name, 1, [], registers)
    simulation.arm()
    for _ in range(50):
        simulation.step()
    assert any(pulses_of(registers))

    def bug(state):
        raise ZeroDivisionError("a mistake")

    simulation.instances[0].loop.stages[-1].step = bug
    simulation.step()
    assert "a mistake" in simulation.fault and not any(pulses_of(registers))
    simulation.safe()
    assert not any(pulses_of(registers))
