"""The bus's worker: devices run when they are due, failures are theirs alone, and a tick never waits for a bus."""

import threading

import pytest

from caudal.hal.pi.driver import Outputs, PiDriver
from caudal.hal.pi.slot import RESTART_US, DeviceError, Slot
from caudal.hal.pi.worker import LATE_US, SimulatedClock, Worker, clock_us, next_period
from tests.waiting import LIMIT_S


class Scripted:
    """A device whose steps are given: each a wait, None, or an error to end with."""

    period_us = 10_000
    restart_us = RESTART_US

    def __init__(self, clock: SimulatedClock, *steps, name: str = "one", takes_us: int = 0) -> None:
        self.name = name
        self.working = False
        self.ran_us: list[int] = []
        self._clock, self._steps, self._takes_us = clock, list(steps), takes_us

    def run(self):
        while True:
            self.ran_us.append(self._clock.us)
            self._clock.us += self._takes_us
            step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
            if step == "end":
                return
            if isinstance(step, Exception):
                raise step
            self.working = True
            yield step


def test_device_is_resumed_after_its_delay():
    clock = SimulatedClock(0)
    device = Scripted(clock, 500, 3000, 7000, 100_000)
    Worker("bus", [device], clock, 10_000).run_until(20_000)
    assert device.ran_us == [0, 500, 3500, 10_500]


def test_periodic_device_keeps_its_phase_when_steps_take_time():
    clock = SimulatedClock(0)
    device = Scripted(clock, None, takes_us=700)
    Worker("bus", [device], clock, 10_000).run_until(60_000)
    assert device.ran_us == [0, 5_000, 15_000, 25_000, 35_000, 45_000, 55_000]


@pytest.mark.parametrize(
    "now_us, period_us, next_us",
    [
        (0, 10_000, 5_000),
        (4_999, 10_000, 5_000),
        (5_000, 10_000, 15_000),
        (-3_000, 10_000, 5_000),
        (0, 50_000, 45_000),
        (45_000, 50_000, 95_000),
        (0, 25_000, 25_000),  # ready for the tick at 30 ms, the first behind 25 ms
        (25_000, 25_000, 45_000),
    ],
)
def test_periods_end_half_a_tick_before_the_tick_that_uses_them(now_us, period_us, next_us):
    assert next_period(now_us, period_us, tick_us=10_000) == next_us


def test_device_may_start_before_its_period():
    clock = SimulatedClock(0)
    device = Scripted(clock, -3_000, 3_000, -3_000, 3_000, 100_000)
    Worker("bus", [device], clock, 10_000).run_until(40_000)
    assert device.ran_us == [0, 2_000, 5_000, 12_000, 15_000]


@pytest.mark.parametrize(
    "failure, reason",
    [
        (DeviceError("its chip says 0x00"), "its chip says 0x00"),
        (OSError(121, "Remote I/O error"), "Remote I/O error"),
        (OSError("no number"), "no number"),
        (ZeroDivisionError("a driver's mistake"), "ZeroDivisionError: a driver's mistake"),
        ("end", "its generator ended"),
    ],
)
def test_failed_device_restarts_and_reports_its_reason_once(failure, reason):
    clock = SimulatedClock(0)
    device = Scripted(clock, 1000, failure, failure, failure, 10_000_000)
    worker = Worker("bus", [device], clock, 10_000)
    worker.run_until(150_000)
    assert not device.working and worker.lost == {"one": reason}
    worker.run_until(500_000)
    assert device.working and worker.lost == {}
    assert list(worker.news) == [("device lost", "one", reason), ("device back", "one", reason)]
    assert device.ran_us == [0, *(1000 + k * RESTART_US for k in range(4))]


def test_failed_device_does_not_affect_others():
    clock = SimulatedClock(0)
    broken = Scripted(clock, OSError(121, "Remote I/O error"), name="broken")
    sound = Scripted(clock, None, name="sound")
    worker = Worker("bus", [broken, sound], clock, 10_000)
    worker.run_until(100_000)
    assert len(sound.ran_us) == 11 and list(worker.lost) == ["broken"]


def test_outputs_do_not_wait_for_readings():
    clock = SimulatedClock(0)
    reading = Scripted(clock, 100, name="reading", takes_us=50)
    sender = Scripted(clock, 50_000, name="sender")
    worker = Worker("bus", [reading, sender], clock, 10_000)
    worker.run_until(10_000)
    before = len(reading.ran_us)
    worker.poke(sender)
    worker.poke(sender)  # still one step
    worker.run_until(clock.us)
    assert len(sender.ran_us) == 2 and len(reading.ran_us) <= before + 1, (sender.ran_us, reading.ran_us)


def test_poke_does_not_shorten_the_set_up_of_a_device():
    clock = SimulatedClock(0)
    device = Scripted(clock, OSError(121, "Remote I/O error"))
    worker = Worker("bus", [device], clock, 10_000)
    worker.run_until(0)
    worker.poke(device)
    worker.run_until(10_000)
    assert device.ran_us == [0]


def test_hung_bus_runs_no_device_until_it_is_released():
    clock = SimulatedClock(0)
    hung = Scripted(clock, 10_000_000, name="hung", takes_us=1_020_000)
    sound = Scripted(clock, None, name="sound")
    worker = Worker("bus", [hung, sound], clock, 10_000)
    for tick in range(110):  # a loop's own time goes on meanwhile
        worker.run_until(tick * 10_000)
    assert sound.ran_us == [
        1_020_000,
        1_025_000,
        1_035_000,
        1_045_000,
        1_055_000,
        1_065_000,
        1_075_000,
        1_085_000,
    ]
    assert worker.late >= 1 and worker.worst_late_us > LATE_US


class Hanging:
    """A device whose transaction returns when it is released: what Linux does with a stuck SDA, without the second."""

    name, period_us, restart_us, working = "hanging", 10_000, RESTART_US, True

    def __init__(self) -> None:
        self.entered, self.release = threading.Event(), threading.Event()

    def run(self):
        while True:
            self.entered.set()
            self.release.wait()
            yield None


def test_ticks_continue_while_a_bus_hangs():
    """In real threads: 1,000 reads and writes of the driver happen inside one transaction."""
    device, slot = Hanging(), Slot()
    worker = Worker("bus", [device], clock_us, 10_000)
    device.set = lambda outputs: None  # type: ignore[attr-defined]
    device.close = lambda: None  # type: ignore[attr-defined]
    driver = PiDriver([slot, None], [Outputs(device, [0], worker)], [worker])
    driver.start()
    assert device.entered.wait(LIMIT_S)
    counts: list[int | None] = [7, 7]
    for _ in range(1000):
        driver.read(counts)
        driver.write([1500])
        assert counts == [None, None] and not device.release.is_set()
    slot.put(3)
    driver.read(counts)
    assert counts == [3, None]
    device.release.set()
    driver.close()


def test_thread_runs_its_devices_until_stop():
    slot = Slot()

    class Counting:
        name, period_us, restart_us, working = "counting", 1000, RESTART_US, False

        def run(self):
            self.working = True
            for count in range(1 << 30):
                slot.put(count)
                yield None

    worker = Worker("bus", [Counting()], clock_us, 10_000)
    worker.start()
    seen = -1
    while seen < 20:
        count = slot.take()
        seen = seen if count is None else count
    worker.stop()
    assert not worker._thread.is_alive()  # type: ignore[union-attr]
