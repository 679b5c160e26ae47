"""What many tests need: the command line as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test judges wall-clock time: a busy machine is no failure. The same examples every time, so that a failure repeats.
settings.register_profile(
    "caudal", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("caudal")

ROOT = Path(__file__).parents[1]
EEL = ROOT / "tests" / "vehicles" / "eel.toml"


class Caudal:
    """Runs `caudal ...` in a folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: object, **options) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "tools.cli", *map(str, words)]
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=600, **options
        )

    def json(self, *words: object, code: int = 0) -> dict:
        """The one object a command prints with --json."""
        done = self(*words, "--json")
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def caudal(tmp_path: Path) -> Caudal:
    return Caudal(tmp_path)
