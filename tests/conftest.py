"""What many tests need: the command line as a user runs it."""

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import command_line
from tests.failsafes.counted import pytest_runtest_logreport, pytest_sessionfinish  # noqa: F401

# No test checks wall-clock time: a busy machine is no failure. The same examples every time, so that a failure repeats.
settings.register_profile(
    "caudal", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("caudal")

# Programs that tests start receive Ctrl-C, also where the tests run in the background, which ignores it.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
EEL = ROOT / "tests" / "vehicles" / "eel.toml"


def on_a_pi(vehicle: str) -> bool:
    """Whether a vehicle of the project says which chips of a Raspberry Pi it is on."""
    return "[pi.pulses]" in (ROOT / "onboard" / "vehicles" / f"{vehicle}.toml").read_text(encoding="utf-8")


def left_out(reason: str) -> None:
    """Where what a test needs cannot be had; never where nothing may be left out (.ci/run)."""
    assert not os.environ.get("CAUDAL_TEST_ALL"), f"nothing may be left out here: {reason}"
    pytest.skip(reason)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `long` come first, so that no process is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


class Caudal:
    """Runs `caudal ...` in a folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: object, **options) -> subprocess.CompletedProcess:
        options.setdefault("env", {**os.environ, "XDG_STATE_HOME": str(self.folder / "state")})
        return command_line.run(*words, cwd=self.folder, **options)

    def json(self, *words: object, code: int = 0) -> dict:
        """The one object a command prints with --json."""
        done = self(*words, "--json")
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def caudal(tmp_path: Path) -> Caudal:
    return Caudal(tmp_path)


def pytest_terminal_summary(terminalreporter) -> None:
    """How much of the documentation was executed; reports carry the counts, from other processes too."""
    counts = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == "documentation"
    ]
    if counts:
        blocks, commands, parsed = map(sum, zip(*counts, strict=True))
        terminalreporter.write_line(
            f"documentation: {blocks} blocks and {commands} commands executed, {parsed} parsed only"
        )
