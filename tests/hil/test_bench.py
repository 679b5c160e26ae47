"""Plant and controller on a HIL link: the same commands as in one process, and safe outputs when it fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from caudal.hal.serial_ports import Port
from caudal.tools.hil.pty import open_line
from tests.command_line import run, start
from tests.conftest import EEL
from tests.waiting import LIMIT_S, wait_for

OFF = [0, 0, 0, 0, 0]  # no pulse on any of the fish's servos
SLEW_US = 12.0 * 636.6 / 100  # the fish's slew limit in microseconds a tick


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Log of a simulated run, made once."""
    folder = tmp_path_factory.mktemp("simulated")

    def log(vehicle, *words):
        path = folder / f"{Path(vehicle).stem}-{words[1]}.mcap"
        if not path.exists():
            assert run("run", vehicle, *words, "--log", path, cwd=folder).returncode == 0
        return path

    return log


@pytest.mark.parametrize("controller", ["cpython", "micropython"])
@pytest.mark.parametrize(
    "vehicle, scenario",
    [
        ("fish", "cruise"),
        ("fish", "pool"),
        (EEL, "pool"),
        ("snake", "shells"),
        ("ray", "dive"),
        ("rov", "sticks"),
    ],
)
def test_bench_and_simulation_command_the_same_to_the_bit(caudal, simulated, vehicle, scenario, controller):
    common = ("--scenario", scenario, "--for", 20)
    wired = caudal.json("hil", "run", vehicle, *common, "--controller", controller, "--log", "hil.mcap")
    assert wired["bad"] == wired["lost"] == wired["gone_ticks"] == 0
    same = caudal.json("compare", simulated(vehicle, *common), "hil.mcap")
    print(f"{scenario} on {controller}: {same['equal']} of {same['commands']} commands equal")
    assert same["equal"] == same["commands"] > 0
    assert caudal.json("replay", "hil.mcap")["identical"]
    assert caudal("report", "hil.mcap").returncode == 0


def test_a_controller_with_another_vehicle_file_is_refused_naming_both(caudal):
    master, slave = open_line()
    line = os.ttyname(slave)
    other = ("run", "fish", "--on", f"hil:{line}", "--set", "gait.table_size=20")
    controller = start(*other, stderr=subprocess.PIPE, cwd=caudal.folder)
    relay = Port(master, "bench")
    from caudal.tools.config.vehicle import open_vehicle
    from caudal.tools.hil.plant_side import PlantSide, Refusal

    vehicle = open_vehicle("fish")
    with pytest.raises(Refusal, match=vehicle.file.digest()[:16]) as refused:
        PlantSide(vehicle.settings, vehicle.file.digest(), relay).connect(LIMIT_S)
    assert open_vehicle("fish", ["gait.table_size=20"]).file.digest()[:16] in str(refused.value)
    _, said = controller.communicate(timeout=LIMIT_S)
    assert controller.returncode == 2 and said.count("\n") == 1 and vehicle.file.digest()[:16] in said
    relay.close()
    os.close(slave)


@pytest.mark.parametrize("name", ["/nonexistent/tty", "/dev/null", "tcp:127.0.0.1:1"])
def test_a_port_that_cannot_be_opened_is_one_sentence(caudal, name):
    for words in (
        ("run", "fish", "--on", f"hil:{name}"),
        ("hil", "plant", "fish", name, "--scenario", "cruise"),
    ):
        done = caudal(*words)
        assert (
            done.returncode == 2 and done.stderr.count("\n") == 1 and name.removeprefix("tcp:") in done.stderr
        )


def test_a_line_that_loses_damages_and_repeats_frames_gives_the_same_commands(bench):
    clean, dirty = bench("fish", "cruise"), bench("fish", "cruise", drop=0.02, corrupt=0.02, duplicate=0.02)
    clean.swim(5)
    dirty.swim(5)
    assert dirty.line.faults > 20
    assert dirty.vehicle.gone_ticks == 0
    assert dirty.outputs == clean.outputs


def test_a_cut_wire_stops_every_servo_and_mended_it_resumes_without_a_jump(bench):
    wire = bench("fish", "cruise")
    wire.swim(3)
    before = wire.outputs[-1]
    assert all(pulse > 0 for pulse in before)
    wire.cut()
    wire.swim(1.0)  # a hundred ticks, the first of which waits for the patience to end
    assert wire.outputs[-1] == OFF and wire.outputs[len(wire.outputs) - 100] == OFF
    wait_for(lambda: wire.controller.timed_out, "the controller's link timeout")  # it goes by the clock
    assert wire.controller.loop.board.outputs == OFF
    wire.clear()
    while wire.vehicle.gone:
        wire.swim(0.01)
    answered = len(wire.outputs)
    wire.swim(3)
    back = next(k for k in range(400, len(wire.outputs)) if all(wire.outputs[k]))
    assert back < answered + 150
    assert wire.vehicle.gone is False and wire.controller.loop.fault is None
    for earlier, later in zip([before, *wire.outputs[back:-1]], wire.outputs[back:], strict=True):
        for a, b in zip(earlier, later, strict=True):
            assert abs(a - b) <= SLEW_US + 1


def test_a_controller_that_hangs_for_a_moment_costs_nothing_in_lockstep(bench):
    wire, other = bench("fish", "cruise"), bench("fish", "cruise")
    wire.swim(1)
    wire.stall(0.4)
    wire.swim(1)
    other.swim(2)
    assert wire.vehicle.gone_ticks == 0 and wire.outputs == other.outputs


def test_a_controller_that_started_anew_is_greeted_again(bench):
    wire = bench("fish", "cruise")
    wire.swim(1)
    wire.controller.loop = None  # as after a restart: it knows nothing of the plant
    wire.swim(1)
    assert wire.controller.loop is not None and wire.controller.loop.ticks <= 100
    assert wire.vehicle.gone_ticks == 0


def test_free_running_nothing_is_lost_and_it_swims(caudal):
    result = caudal.json("hil", "run", "fish", "--scenario", "cruise", "--for", 5, "--realtime")
    assert result["simulated_s"] == 5 and result["lost"] == result["bad"] == 0
    assert result["worst_round_trip_us"] > 0
    assert result["mean_speed_m_s"] > 0.02


def test_free_running_a_silent_controller_is_found_gone_after_its_ticks():
    from caudal.tools.hil.remote_vehicle import LINK_TIMEOUT_TICKS, Remote

    class Silent:
        def collect(self, tick):
            return [1500] if tick < 30 else None

        def post(self, tick, counts, gone):
            pass

    class Still:
        sensors, actuators, truth_fields = [], ["tail"], []
        written: list[list[int]] = []

        def read(self, counts):
            pass

        def truth(self):
            return []

        def write(self, outputs):
            self.written.append(list(outputs))

    vehicle = Remote("one", Still(), Silent(), 10_000, free=True)
    for _ in range(100):
        vehicle.tick(0, 0)
    assert Still.written[:30] == [[1500]] * 30
    assert Still.written.index([0]) == 29 + LINK_TIMEOUT_TICKS
    assert vehicle.gone and Still.written[-1] == [0]


def test_the_fixture_serves_tests_in_a_repository_of_its_users(tmp_path):
    (tmp_path / "test_mine.py").write_text(
        "def test_mine(bench):\n"
        "    wire = bench('fish', scenario='cruise', drop=0.02)\n"
        "    wire.swim(1)\n"
        "    assert wire.vehicle.gone_ticks == 0 and len(wire.outputs) == 100\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "test_mine.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_answers_that_come_two_at_a_time_are_all_read():
    from caudal.onboard.link.frame import OUTPUTS, Encoder, wire_size
    from caudal.onboard.link.layout import outputs_layout
    from caudal.tools.config.vehicle import open_vehicle
    from caudal.tools.hil.plant_side import PlantSide

    vehicle = open_vehicle("fish")
    layout = outputs_layout(vehicle.settings.actuators)
    payload, encoder = bytearray(layout.size), Encoder(bytearray(wire_size(layout.size)))

    class Echo:
        """Answers every question twice, as to one that was put again, and hands both over in one piece."""

        sequence = 0
        waiting = b""

        def write(self, buffer, count):
            for _ in range(2):
                self.sequence += 1
                layout.pack([1500 + tick] * layout.channels, payload)
                size = encoder.frame(OUTPUTS, self.sequence, tick, payload, layout.size)
                self.waiting += bytes(encoder.buffer[:size])

        def read(self, buffer, timeout_ms):
            count, buffer[: len(self.waiting)] = len(self.waiting), self.waiting
            self.waiting = b""
            return count

    end = PlantSide(vehicle.settings, vehicle.file.digest(), Echo())
    counts = [None] * len(vehicle.settings.sensors)
    for tick in range(20):
        assert end.exchange(tick, counts, 1.0) == [1500 + tick] * layout.channels
    assert end.counters.bad == end.counters.lost == 0
