"""What `caudal deploy mcu` sends to a board runs there as it does here, and fits."""

import json
import os
import subprocess

import pytest

from caudal.hal.serial_ports import Port
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.hil.plant_side import PlantSide
from caudal.tools.hil.pty import open_line
from caudal.tools.hil.remote_vehicle import Remote
from caudal.tools.simulate.simulation import Simulation
from tests.conftest import ROOT
from tests.mcu.conftest import BOARD, BOARD_PATH, on_board

HEAP_STEP_KB = 4
# The smallest heap measured, plus a quarter: modules, settings, controller and its garbage on words of 4 bytes.
HEAP_BUDGET_KB = {
    ("fish", "cruise"): 135,  # measured: 108 to 112
    ("fish", "pool"): 185,  # 148
    ("snake", "shells"): 125,  # 100
    ("ray", "dive"): 120,  # 96
    ("rov", "station"): 175,  # 136 to 140
}


@pytest.mark.parametrize(
    ("vehicle", "scenario", "seconds"), [("fish", "cruise", 60), ("snake", "shells", 5), ("ray", "dive", 25)]
)
def test_deployed_image_gives_the_commands_of_the_simulation_to_the_bit(
    image, micropython, vehicle, scenario, seconds
):
    folder = image(vehicle, scenario, "--bench")
    opened, _, _ = open_scenario(vehicle, [], scenario)
    master, slave = open_line()
    environment = {**os.environ, "MICROPYPATH": BOARD_PATH, "FAKE_UART": os.ttyname(slave)}
    board = subprocess.Popen([micropython, "main.py"], cwd=folder, env=environment)
    port = Port(master, "bench")

    def launch(name, body):
        return Remote(name, body, PlantSide(opened.settings, opened.file.digest(), port), 10_000)

    try:
        wired, own = Simulation(opened, scenario, 0, launch), Simulation(opened, scenario, 0)
        wired.arm()
        own.arm()
        for tick in range(seconds * 100):
            wired.step()
            own.step()
            sent = wired.instances[0].outputs
            assert sent == own.instances[0].loop.board.outputs, f"in tick {tick}"
        assert wired.fault is None and wired.instances[0].gone_ticks == 0
        assert any(sent)
    finally:
        board.terminate()
        board.wait()
        port.close()
        os.close(slave)


def test_image_holds_exactly_the_modules_that_its_scenario_loads(image):
    def held(*words: str) -> set[str]:
        folder = image(*words)
        return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}

    cruise, pool = held("fish", "cruise", "--bench"), held("fish", "pool", "--bench")
    snake, rov = held("snake", "shells", "--bench"), held("rov", "station", "--bench")
    assert all(name.endswith(".mpy") for name in cruise - {"main.py"})
    guided = {f"lib/caudal/onboard/guidance/{name}.mpy" for name in ("avoid", "decide", "detect", "tasks")}
    guided |= {
        "lib/caudal/onboard/core/angles.mpy",
        "lib/caudal/onboard/estimate/channel.mpy",
        "lib/caudal/onboard/estimate/planar.mpy",
        "lib/caudal/onboard/control/swim_model.mpy",
    }  # decisions need the position
    assert pool - cruise == guided
    assert cruise - pool == {"lib/caudal/onboard/guidance/schedule.mpy"}
    assert (
        "lib/caudal/onboard/control/shells.mpy" in snake - cruise
        and "lib/caudal/onboard/control/pose_control.mpy" in rov - cruise
    )
    assert not {name for name in cruise if "kalman" in name or "shells" in name or "number_line" in name}


@pytest.mark.parametrize(("vehicle", "scenario"), HEAP_BUDGET_KB)
def test_image_runs_in_a_heap_below_its_budget(image, micropython_32_bit, vehicle, scenario):
    folder = image(vehicle, scenario, "--bench")
    script = str(ROOT / "tests" / "mcu" / "image_ticks.py")
    roomy = on_board(micropython_32_bit, folder, script, "300").stdout
    assert roomy.strip().endswith("None")

    def fits(heap_kb: int) -> bool:
        return (
            on_board(micropython_32_bit, folder, "-X", f"heapsize={heap_kb}k", script, "300").stdout == roomy
        )

    low, high = 0, 256 // HEAP_STEP_KB  # too small, and large enough
    assert fits(high * HEAP_STEP_KB)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle * HEAP_STEP_KB) else (middle, high)
    smallest_kb, budget_kb = high * HEAP_STEP_KB, HEAP_BUDGET_KB[vehicle, scenario]
    print(f"{vehicle} {scenario}: smallest heap {smallest_kb} kB, budget {budget_kb} kB")
    assert smallest_kb <= budget_kb


def test_words_of_four_and_of_eight_bytes_give_the_same_commands(image, micropython, micropython_32_bit):
    script = str(ROOT / "tests" / "mcu" / "image_ticks.py")
    for vehicle, scenario in HEAP_BUDGET_KB:
        folder = image(vehicle, scenario, "--bench")
        small, large = (on_board(r, folder, script, "1000") for r in (micropython_32_bit, micropython))
        assert small.stdout == large.stdout and small.stdout.strip().endswith("None"), small.stderr


def test_source_modules_do_what_compiled_ones_do(image, micropython):
    script = str(ROOT / "tests" / "mcu" / "image_ticks.py")
    source = image("fish", "cruise", "--bench", "--source")
    assert not list(source.rglob("*.mpy"))
    compiled = image("fish", "cruise", "--bench")
    said = [on_board(micropython, folder, script, "500").stdout for folder in (source, compiled)]
    assert said[0] == said[1] and said[0].strip().endswith("None")


class Still:
    """The readings that tests/mcu/pins_swim.py puts on the fake machine."""

    def __init__(self, sensors):
        counts = {"infrared": None, "bumper": 0, "heading": -240, "turn_rate": 5, "surge": 0, "depth": 350}
        counts |= {name: None for name in ("x", "y", "target_x", "target_y")}
        self._counts = [counts.get(sensor.name, 3000) for sensor in sensors]
        self.outputs: list[list[int]] = []

    def read(self, counts):
        counts[:] = self._counts

    def write(self, outputs):
        self.outputs.append(list(outputs))


def test_board_makes_the_pulses_of_the_vehicle_file_and_ends_without_any(image, micropython):
    folder = image("fish", "cruise", "--board", str(BOARD))
    done = on_board(micropython, folder, str(ROOT / "tests" / "mcu" / "pins_swim.py"), "400")
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["written"] == [[0x28, 0x3D, 0x0C]]  # the inertial unit was set up

    vehicle, _, scenario = open_scenario("fish", [], "cruise")
    driver = Still(vehicle.settings.sensors)
    loop = vehicle.build_loop(scenario, driver)
    for tick in range(400):
        if tick == 50:  # the switch closes
            loop.arm()
        loop.tick()
    assert loop.fault is None
    for channel, pin in enumerate((2, 3, 6, 7, 8)):
        told = [0]  # a pin hears of changes alone
        for outputs in driver.outputs:
            told += [outputs[channel] * 1000] if outputs[channel] * 1000 != told[-1] else []
        assert len(told) > 100 or pin == 8
        assert seen["pulses_ns"][str(pin)] == [*told, 0, 0, "deinit"]
