"""The portable core on MicroPython: the same tests, the same commands to the bit, heap budget, no garbage."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from caudal.hal.tables.mcu import Bench
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.deploy.mcu_image import settings_module
from tests.waiting import LIMIT_S

PROJECT = Path(__file__).resolve().parents[2]
# The smallest heap measured, plus a quarter, on the 64-bit unix port (words of 8 bytes; most boards have 4).
# It holds the modules and settings compiled from source, the controller and its garbage.
HEAP_BUDGET_KB = {"cruise": 290, "pool": 410}
HEAP_STEP_KB = 8


GAZE = "control.gaze=on"
CREDULOUS = (
    "failsafe.attitude_wrong={limit_rad=3.0}",
    "failsafe.too_deep.high=11.8",
)  # readings are made up


@pytest.fixture(scope="session")
def settings_folder(tmp_path_factory) -> Callable[..., str]:
    """A folder with vehicle_image.py: a vehicle's settings with one scenario, as a board has them."""
    made: dict[tuple[str, ...], str] = {}

    def make(vehicle: str, scenario: str, *overrides: str) -> str:
        key = (vehicle, scenario, *overrides)
        if key not in made:
            opened, _, _ = open_scenario(vehicle, list(overrides), scenario)
            folder = tmp_path_factory.mktemp("settings")
            (folder / "vehicle_image.py").write_text(settings_module(opened, scenario, Bench()))
            made[key] = str(folder)
        return made[key]

    return make


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def test_every_portable_test_passes_on_micropython_and_on_cpython_alike(micropython):
    counts = {}
    for runtime in (micropython, sys.executable):
        done = run(runtime, "tests/portable/runner.py")
        found = re.search(r"^(\d+) passed, 0 failed$", done.stdout, re.MULTILINE)
        assert done.returncode == 0 and found, f"{runtime}:\n{done.stdout}{done.stderr}"
        counts[runtime] = int(found[1])
    print(f"portable tests passed: MicroPython {counts[micropython]}, CPython {counts[sys.executable]}")
    assert counts[micropython] == counts[sys.executable] > 150


def test_runner_reports_a_failing_test_by_name_and_exit_code(micropython, tmp_path):
    (tmp_path / "runner.py").write_text((PROJECT / "tests/portable/runner.py").read_text())
    (tmp_path / "test_odd.py").write_text(
        "def test_wrong():\n    assert 1 == 2\n\n\ndef test_right():\n    pass\n"
    )
    for runtime in (micropython, sys.executable):
        done = run(runtime, str(tmp_path / "runner.py"))
        assert done.returncode == 1
        assert "FAILED test_odd.test_wrong" in done.stdout
        assert "1 passed, 1 failed" in done.stdout


@pytest.mark.parametrize(
    ("vehicle", "scenario", "overrides", "ticks"),
    [
        ("fish", "cruise", CREDULOUS, 6000),
        ("fish", "pool", (), 2000),
        ("ray", "turn", ("control.dive.pitch_gain=0.5",), 3000),  # it holds its depth meanwhile
        ("snake", "turn", (GAZE,), 3000),
    ],
)
def test_micropython_and_cpython_give_the_same_commands_to_the_bit(
    micropython, settings_folder, vehicle, scenario, overrides, ticks
):
    lines = {}
    for runtime in (micropython, sys.executable):
        folder = settings_folder(vehicle, scenario, *overrides)
        done = run(runtime, "tests/mcu/lockstep.py", folder, str(ticks))
        assert done.returncode == 0, done.stdout + done.stderr
        lines[runtime] = done.stdout.strip()
    print(f"{vehicle} {scenario}, {ticks} ticks: {lines[micropython]}")
    assert lines[micropython] == lines[sys.executable]
    moved, turns = (int(re.search(rf"{word} (\d+)", lines[micropython])[1]) for word in ("moved", "turns"))
    assert moved > 2 * ticks and turns > ticks / 5  # it did swim and turn
    assert lines[micropython].endswith("fault None")


@pytest.mark.parametrize("scenario", ["cruise", "pool"])
def test_controller_runs_in_a_heap_below_its_budget(micropython, settings_folder, scenario):
    command = ("tests/mcu/lockstep.py", settings_folder("fish", scenario), "500")
    roomy = run(micropython, *command).stdout
    assert roomy.strip().endswith("fault None")

    def fits(heap_kb: int) -> bool:
        return run(micropython, "-X", f"heapsize={heap_kb}k", *command).stdout == roomy

    low, high = 0, 512 // HEAP_STEP_KB  # too small, and large enough
    assert fits(high * HEAP_STEP_KB)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle * HEAP_STEP_KB) else (middle, high)
    smallest_kb = high * HEAP_STEP_KB
    print(f"{scenario}: smallest heap {smallest_kb} kB, budget {HEAP_BUDGET_KB[scenario]} kB")
    assert smallest_kb <= HEAP_BUDGET_KB[scenario]


@pytest.mark.parametrize(
    ("vehicle", "scenario", "overrides"),
    [
        ("fish", "cruise", ()),  # a row comes at 10 s
        ("ray", "dive", ("scenario.dive.rows.1.at_s=8.0",)),
        ("ray", "turn", ("control.dive.pitch_gain=0.5",)),
        ("snake", "shells", ()),
        ("snake", "turn", (GAZE, "scenario.turn.rows.1.at_s=8.0")),
    ],
)
def test_thousand_ticks_allocate_nothing(
    micropython, micropython_32_bit, settings_folder, vehicle, scenario, overrides
):
    """Guidance, the depth's and the shells' and the neck's control among them, whatever the readings are."""
    for runtime in (micropython, micropython_32_bit):
        done = run(runtime, "tests/mcu/allocation.py", settings_folder(vehicle, scenario, *overrides))
        assert done.returncode == 0, done.stdout + done.stderr
        taken = {part: float(count) for part, count in (line.split() for line in done.stdout.splitlines())}
        assert taken.pop("float") > 0  # the measurement does see an allocation
        assert not any(taken.values()), taken
        assert {"thousand", "sense", "estimate", "gait", "limiter", "act", "tick"} <= taken.keys()
        assert vehicle != "snake" or "shells" in taken
        assert GAZE not in overrides or "gaze" in taken
