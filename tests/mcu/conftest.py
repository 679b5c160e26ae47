"""What the tests on microcontrollers' runtimes need."""

import subprocess

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="session")
def micropython() -> str:
    got = subprocess.run(
        ["sh", str(ROOT / "deploy/mcu/get-micropython")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert got.returncode == 0, f"there is no MicroPython to test with: {got.stderr}"
    return got.stdout.strip()
