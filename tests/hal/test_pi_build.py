"""From a vehicle file's tables to a whole driver: a servo and a valve on one PCA9685, its coil's current measured."""

import pytest

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import to_q14
from caudal.hal.emulated.wiring import EmulatedParts
from caudal.hal.pi.build import build_driver
from caudal.hal.tables import channels
from caudal.hal.tables import pi as pi_spec
from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError

FILE = """
[actuator.fin]
map = "servo"
port = 0
us_per_rad = 600.0
low_us = 900
high_us = 2100
min_rad = -1.0
max_rad = 1.0
slew_rad_s = 9.0
[actuator.chamber]
map = "valve"
port = 0
cracking_current_ua = 100000
ua_per_pa = 1.0
high_ua = 700000
max_pa = 600000.0
slew_pa_s = 1e6
[sensor]
coil = { map = "linear", port = 0, unit = "A", si_per_count = 1e-3, low_count = 0, high_count = 2000, max_age_s = 0.1 }
spare = { map = "linear", port = 1, unit = "V", si_per_count = 1e-3, low_count = 0, high_count = 4000, max_age_s = 0.1 }
[pi.pulses]
frequency_hz = 200
[pi.pulses.valves]
full_scale_ua = 1000000
channel = { chamber = 7 }
current = { chamber = "adc.a1" }
[pi.chip]
adc = { kind = "ads1115", rate_hz = 100.0 }
[pi.sensor]
spare = "adc.a0"
[pi]
absent = ["coil"]
"""


def read(text: str = FILE):
    file = VehicleFile.parse(text, "bench.toml")
    settings = channels.read(file)
    return settings, pi_spec.read(file, settings)


class Bench:
    """An ohmic coil: its current follows the duty, times the share that its driver gives."""

    def __init__(self, gives: float) -> None:
        settings, pi = read()
        self.parts = EmulatedParts(pi, 0)
        self.driver = build_driver(settings, pi, 100, self.parts)
        self.board = build_board(settings, self.driver, 100)
        self.gives = gives
        self.measured = True
        self._us = 0

    @property
    def coil_ma(self) -> float:
        return 1000 * self.gives * self.parts.pulses.pulses_us()[7] / (4096 * self.parts.pulses.step_us)

    def run(self, seconds: float, ask_pa: float) -> None:
        for _ in range(round(seconds * 100)):
            self._us += 10_000
            if self.measured:
                self.parts.chips["adc"].set(1, round(self.coil_ma) * 1000)
            for worker in self.driver.workers:
                worker.run_until(self._us)
            self.board.sense()
            self.board.act([to_q14(0.2), to_q14(ask_pa)])


@pytest.mark.parametrize("gives", [1.0, 0.8, 1.15])
def test_valve_current_meets_its_command_when_the_driver_is_off(gives):
    bench = Bench(gives)
    bench.run(1.5, ask_pa=300_000)
    assert bench.board.outputs == [1620, 400_000]
    assert bench.coil_ma == pytest.approx(400, rel=0.02)
    assert bench.parts.pulses.pulses_us()[0] == pytest.approx(1620, abs=bench.parts.pulses.step_us)
    bench.run(0.1, ask_pa=0)
    assert bench.coil_ma == 0


def test_coil_above_its_limit_is_off_until_the_command_is_0():
    bench = Bench(gives=1.0)
    bench.run(0.5, ask_pa=300_000)
    bench.gives = 4.0  # a short circuit
    bench.run(0.5, ask_pa=300_000)
    assert bench.coil_ma == 0
    bench.gives = 1.0
    bench.run(0.5, ask_pa=300_000)
    assert bench.coil_ma == 0
    bench.run(0.1, ask_pa=0)
    bench.run(1.0, ask_pa=300_000)
    assert bench.coil_ma == pytest.approx(400, rel=0.02)


def test_close_ends_pulses_and_currents():
    bench = Bench(gives=1.0)
    bench.run(0.5, ask_pa=300_000)
    assert bench.coil_ma > 100
    bench.driver.close()
    assert not any(bench.parts.pulses.pulses_us())


@pytest.mark.parametrize(
    "before, after, words",
    [
        ('channel = { chamber = 7 }', 'channel = { chamber = 0 }', "fin and chamber are both on channel 0"),
        ('current = { chamber = "adc.a1" }', "current = {}", "a valve without a channel and a current"),
        ('"adc.a1"', '"adc.a0"', "adc.a0 is used by spare too; use each value once"),
        ('"adc.a1"', '"adc.a9"', "pi.pulses.valves.current.chamber: adc has no a9"),
    ],
)  # fmt: skip
def test_valves_that_do_not_fit_are_refused(before, after, words):
    with pytest.raises(VehicleFileError, match=words):
        read(FILE.replace(before, after))
