"""What the tests on microcontrollers' runtimes need."""

import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Caudal, left_out
from tests.waiting import LIMIT_S

BOARD = ROOT / "deploy" / "mcu" / "boards" / "pico-fish.toml"
FAKES = ROOT / "tests" / "mcu" / "fake_machine"
BOARD_PATH = f"{FAKES}:lib"  # the fake machine, and the folder that every board has on its path
SMALL_WORDS = {
    "x86_64": "i386",
    "aarch64": "armhf",
}  # Debian's architecture with words of 4 bytes that runs here


def got(script: str, **environment: str) -> subprocess.CompletedProcess:
    command = ["sh", str(ROOT / "deploy" / "mcu" / script)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **environment}
    )


@pytest.fixture(scope="session")
def micropython() -> str:
    found = got("get-micropython")
    assert found.returncode == 0, f"there is no MicroPython to test with: {found.stderr}"
    return found.stdout.strip()


@pytest.fixture(scope="session")
def micropython_32_bit() -> str:
    """With words of 4 bytes and whole numbers of 31 bits, as on a microcontroller."""
    arch = SMALL_WORDS.get(platform.machine())
    found = got("get-micropython", MICROPYTHON_ARCH=arch) if arch else None
    if found is None or found.returncode:
        left_out(
            f"there is no 32-bit MicroPython to test with: {found.stderr if found else 'unknown machine'}"
        )
    assert found
    return found.stdout.strip()


@pytest.fixture(scope="session")
def image(tmp_path_factory) -> Callable[..., Path]:
    """Folders that `caudal deploy mcu` would copy to a board, by vehicle, scenario and further words."""
    made: dict[tuple[str, ...], Path] = {}

    def make(vehicle: str, scenario: str, *words: str) -> Path:
        key = (vehicle, scenario, *words)
        if key not in made:
            folder = tmp_path_factory.mktemp("image") / "board"
            caudal = Caudal(folder.parent)
            caudal.json("deploy", "mcu", "-", vehicle, "--scenario", scenario, "--dry-run", folder, *words)
            made[key] = folder
        return made[key]

    return make


def on_board(runtime: str, folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    """MicroPython in a board's folder, with the fake machine."""
    return subprocess.run(
        [runtime, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "MICROPYPATH": BOARD_PATH, **environment},
    )
