"""A system in a folder, and releases small enough to switch many times."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from caudal.tools.deploy.pi_release import seal
from tests.conftest import ROOT

SYSTEM = ROOT / "deploy" / "pi" / "system"
PROGRAM = SYSTEM / "usr/local/sbin/caudal-release"


class Card:
    """A mounted card of this machine's architecture, with as much on it as a deploy needs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "etc").mkdir(parents=True)
        (root / "usr/bin").mkdir(parents=True)
        (root / "boot/firmware").mkdir(parents=True)
        python = f"python3.{sys.version_info.minor}"
        with open(os.path.realpath(sys.executable), "rb") as program:
            (root / "usr/bin" / python).write_bytes(program.read(64))  # its header names its machine
        self.config = root / "boot/firmware/config.txt"
        self.config.write_text("# firmware\ndtparam=audio=on\n")

    def release(self, *words: str, code: int = 0) -> dict:
        """Runs caudal-release as the command and systemd do."""
        command = ["sh", str(PROGRAM), "--root", str(self.root), "--json", *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == code, done.stderr + done.stdout
        return json.loads(done.stdout) if done.stdout else {"error": done.stderr}

    def files(self) -> dict[str, str]:
        """All files by path: a link's target, or a file's content."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if path.is_symlink():
                found[name] = f"-> {os.readlink(path)}"
            elif path.is_file():
                found[name] = path.read_bytes().decode(errors="replace")
        return found

    def ssh(self, path: Path) -> Path:
        """A program in place of ssh: it runs a shell here, whose caudal-release works on this card."""
        about = f"{os.uname().machine}\\n3 {sys.version_info.minor}\\nsystemd\\nroot\\n"
        path.write_text(
            "#!/bin/sh\n"
            "for script; do :; done\n"
            f'case $script in *uname*) printf "{about}";;\n'
            f"*) script=$(printf '%s' \"$script\" | sed 's#--json#--root {self.root} --json#')\n"
            'sh -c "$script";; esac\n'
        )
        path.chmod(0o755)
        return path

    def current(self) -> str:
        return Path(os.readlink(self.root / "opt/caudal/current")).name


@pytest.fixture
def card(tmp_path: Path) -> Card:
    return Card(tmp_path / "card")


@pytest.fixture
def small_release(tmp_path: Path):
    """make(name): a release with the real system files and almost no packages."""

    def make(name: str, **units: str) -> str:
        folder = tmp_path / "made" / name
        shutil.copytree(SYSTEM, folder / "system", ignore=shutil.ignore_patterns("__pycache__"))
        for path, text in (
            ("etc/vehicle.toml", name),
            ("etc/settings.toml", ""),
            ("bin/caudal", "#!/bin/sh\n"),
        ):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        for unit, text in units.items():
            (folder / "system/etc/systemd/system" / f"{unit}.service").write_text(text)
        (folder / "site").mkdir()
        (folder / "release.json").write_text("{}")
        seal(folder)
        return str(folder)

    return make
