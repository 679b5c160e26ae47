"""The service's unit files, checked by systemd's own tools."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import left_out
from tests.deploy.conftest import SYSTEM

UNITS = SYSTEM / "etc/systemd/system"
LARGEST_EXPOSURE = 3.0  # of 10, by systemd-analyze: below it a service is rated as well confined


@pytest.fixture(autouse=True)
def _systemd() -> None:
    if not shutil.which("systemd-analyze"):
        left_out("there is no systemd-analyze here")


def test_service_exposure_is_low():
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(UNITS / "caudal.service")]
    done = subprocess.run(command, capture_output=True, text=True)
    exposure = re.search(r"exposure level for caudal.service: ([\d.]+)", done.stdout)
    assert exposure, done.stderr
    assert float(exposure[1]) <= LARGEST_EXPOSURE


def test_systemd_verifies_all_units(card, small_release):
    card.release("install", small_release("1"))
    for program in ("bin/sh", "usr/local/sbin/caudal-release", "opt/caudal/current/bin/caudal"):
        path = card.root / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        path.chmod(0o755)
    (card.root / "usr/lib/systemd").mkdir(parents=True)
    shutil.copytree(_units_here(), card.root / "usr/lib/systemd/system", symlinks=True)
    units = [path.name for path in UNITS.iterdir()]
    command = ["systemd-analyze", "verify", "--man=no", f"--root={card.root}", *units]
    done = subprocess.run(command, capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "caudal" in line]
    assert done.returncode == 0 and not ours, done.stderr


def _units_here() -> Path:
    return next(
        path for path in map(Path, ("/usr/lib/systemd/system", "/lib/systemd/system")) if path.is_dir()
    )


def test_systemd_makes_user_groups_and_calibration_file_once(card, small_release):
    card.release("install", small_release("1"))
    for _ in range(2):
        subprocess.run(["systemd-sysusers", f"--root={card.root}", "caudal.conf"], check=True)
    groups = (card.root / "etc/group").read_text()
    for group in ("i2c", "gpio", "dialout"):
        assert re.search(rf"^{group}:.*:caudal$", groups, re.M), groups
    assert "nologin" in (card.root / "etc/passwd").read_text()
    calibration = card.root / "var/lib/caudal/calibration.toml"
    for text in ("", "[pi]\n"):
        command = ["systemd-tmpfiles", "--create", f"--root={card.root}", "caudal.conf"]
        subprocess.run(command, capture_output=True)
        assert calibration.read_text() == text
        calibration.write_text("[pi]\n")
