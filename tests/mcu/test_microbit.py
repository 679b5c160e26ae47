"""A micro:bit in QEMU runs the gait: a Cortex-M0 with 9.4 kB of heap, the same pulses, and safe by itself."""

import time
from collections.abc import Iterator

import pytest

from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.hil.microbit_program import (
    LARGEST_FRAME,
    LARGEST_PROGRAM,
    answer_size,
    program,
    request_size,
)
from caudal.tools.hil.microbit_side import MicrobitSide
from caudal.tools.hil.qemu_microbit import Microbit
from tests.conftest import left_out
from tests.mcu.conftest import got
from tests.waiting import wait_for

SECONDS = 8  # 800 exchanges; a busy machine makes some 50 a second
OFF = [0, 0, 0, 0, 0]


@pytest.fixture(scope="module", autouse=True)
def qemu() -> None:
    found = got("get-microbit")
    if found.returncode:
        left_out(found.stderr.strip())


@pytest.fixture(scope="module")
def cruise():
    return open_scenario("fish", ["gait.source=table"], "cruise")


@pytest.fixture
def board(cruise) -> Iterator[Microbit]:
    vehicle, _, _ = cruise
    microbit = Microbit()
    microbit.load(program(vehicle.settings))
    yield microbit
    microbit.close()


class Still:
    """Readings in the middle of their range, without feedback of servos: they would count as jammed, and a micro:bit
    does not plan around jammed joints."""

    def __init__(self, sensors):
        middles = [(sensor.low_count + sensor.high_count) // 2 for sensor in sensors]
        angles = [sensor.name.endswith("_angle") for sensor in sensors]
        self.counts = [None if angle else middle for angle, middle in zip(angles, middles, strict=True)]

    def read(self, counts):
        counts[:] = self.counts

    def write(self, outputs):
        self.outputs = list(outputs)


class Both:
    """The board and a loop of this process, on the same readings."""

    def __init__(self, cruise, board: Microbit) -> None:
        vehicle, _, scenario = cruise
        self._driver = Still(vehicle.settings.sensors)
        self._loop = vehicle.build_loop(scenario, self._driver)
        self._loop.arm()
        board.serve()
        self.end = MicrobitSide(vehicle.settings, scenario, board.port)
        assert self.end.connect()
        self._tick = 0

    def swim(self, ticks: int) -> list[int]:
        for _ in range(ticks):
            self._loop.tick()
            pulses = self.end.exchange(self._tick, self._driver.counts, 20.0)
            assert pulses == self._driver.outputs, f"in tick {self._tick}"
            self._tick += 1
        return pulses


def test_every_pulse_of_the_microbit_is_the_simulations(caudal):
    common = ("--scenario", "cruise", "--for", SECONDS)
    wired = caudal.json("hil", "run", "fish", *common, "--controller", "microbit", "--log", "board.mcap")
    assert wired["gone_ticks"] == 0 and wired["bytes_per_exchange"] <= 2 * LARGEST_FRAME
    caudal.json("run", "fish", *common, "--set", "gait.source=table", "--log", "sim.mcap")
    same = caudal.json("compare", "sim.mcap", "board.mcap")
    print(
        f"{same['equal']} of {same['commands']} pulses equal, {wired['exchanges_per_s']:.0f} exchanges a second"
    )
    assert same["equal"] == same["commands"] == SECONDS * 100 * 5
    assert caudal.json("replay", "board.mcap")["identical"]


def test_microbit_program_leaves_heap_free_and_allocates_nothing_per_tick(cruise, board):
    vehicle, _, _ = cruise
    print(f"{board.source_bytes} bytes of source, {board.free_bytes} of heap left")
    assert board.source_bytes <= LARGEST_PROGRAM and board.free_bytes > 4000
    assert max(request_size(vehicle.settings), answer_size(vehicle.settings)) <= LARGEST_FRAME
    board.run("x=bytearray(2048)\ndel x")  # in one piece, too
    board.run("request[3]=64\nrequest[6]=64")  # 1 Hz, full amplitude
    board.run("def ticks():\n k=0\n while k<1000:\n  move();act(0);crc(request,len(request))\n  k+=1")
    used = board.run(
        "gc.collect();gc.disable();a=gc.mem_alloc();ticks();b=gc.mem_alloc();gc.enable();print(b-a)"
    )
    assert int(used) == 0
    board.run(
        "micropython.heap_lock()\ntry:\n ticks()\nfinally:\n micropython.heap_unlock()"
    )  # refuses, if asked
    assert board.run("print(lags[0],place[0]>0)") == "16384 True"  # it did swim


def test_board_without_requests_ends_its_pulses_and_continues_later(cruise, board):
    both = Both(cruise, board)
    assert all(both.swim(60))
    before = both.end.trips  # not 0 if this machine was busy elsewhere and silent itself
    wait_for(lambda: both.end.peek() == OFF, "the board's own stop")
    assert both.end.trips == before + 1
    time.sleep(0.5)
    assert both.end.peek() == OFF and both.end.trips == before + 1
    assert all(both.swim(20))


def test_damaged_request_moves_nothing_and_a_repeated_one_is_one_tick(cruise, board, monkeypatch):
    both = Both(cruise, board)
    both.swim(30)
    send, count = board.port.write, 0

    def faulty(buffer: bytearray, size: int) -> None:
        nonlocal count
        count += 1
        if count % 5 == 1:  # once damaged, then whole
            damaged = bytearray(buffer)
            damaged[count % size] ^= 0x10
            send(damaged, size)
        else:
            send(buffer, size)
            if count % 5 == 3:
                send(buffer, size)

    monkeypatch.setattr(board.port, "write", faulty)
    monkeypatch.setattr("caudal.tools.hil.microbit_side.RESEND_MS", 150)
    both.swim(20)
    assert both.end.counters.lost >= 4


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("snake", "--scenario", "shells"), "frames of 37 bytes"),
        (("rov", "--scenario", "station"), "has no gait"),
        (("fish", "--scenario", "cruise", "--set", "gait.source=cpg"), "--set gait.source=table"),
        (("fish", "--scenario", "cruise", "--set", "gait.table_size=120"), "fewer rows"),
        (("fish", "--scenario", "cruise", "--realtime"), "leave --realtime out"),
    ],
)
def test_vehicle_that_does_not_fit_is_one_sentence(capsys, words, sentence):
    assert main(["hil", "run", *words, "--controller", "microbit"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert sentence in said[-1] and said[-1].startswith("caudal: ")
