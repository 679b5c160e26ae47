"""The wheel: one package, complete, and no clash with a project's folders of the same names."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, left_out

PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
OTHER = {  # a project with folders that are called as ours
    "tools/__init__.py": "",
    "tools/own.py": "ANSWER = 42\n",
    "hal/__init__.py": "NAME = 'theirs'\n",
    "onboard/__init__.py": "",
    "sim_plant/__init__.py": "",
    "test_own.py": "import hal\nfrom tools.own import ANSWER\n\n\n"
    "def test_own_folders_are_the_ones_imported():\n    assert ANSWER == 42 and hal.NAME == 'theirs'\n\n\n"
    "def test_the_hil_fixture_is_there(bench):\n    assert callable(bench)\n",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources as git has them or would have them."""
    folder = tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists() or (ROOT / name).is_symlink():
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / "source" / name, follow_symlinks=False)
    built = subprocess.run(
        [*PIP, "wheel", "--no-deps", "--wheel-dir", folder, folder / "source"], capture_output=True, text=True
    )
    if built.returncode:
        left_out(f"the wheel cannot be built here: {built.stderr.strip()}")
    return next(folder.glob("caudal-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that imports Caudal from the wheel and not from this checkout."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([*PIP, "install", "--no-deps", "--target", folder, wheel], check=True)
    return {**os.environ, "PYTHONPATH": str(folder)}


def run(words: list[object], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A command in a folder, from the wheel."""
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_wheel_installs_one_top_level_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
        names = set(archive.namelist())
    assert {top for top in tops if not top.endswith(".dist-info")} == {"caudal"}
    assert "caudal/py.typed" in names and "caudal/onboard/vehicles/fish.toml" in names
    deployed = {f"caudal/{path.relative_to(ROOT)}" for path in (ROOT / "deploy").rglob("*") if path.is_file()}
    deployed = {name for name in deployed if "__pycache__" not in name}
    assert deployed <= names


def test_wheel_leaves_a_project_its_own_folders(installed, tmp_path):
    for name, text in OTHER.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = run(["-m", "pytest", "-q", "-p", "no:cacheprovider", "."], tmp_path, installed)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_wheel_is_where_its_commands_come_from(installed, tmp_path):
    done = run(["-c", "import caudal; print(caudal.__file__)"], tmp_path, installed)
    assert done.stdout.startswith(installed["PYTHONPATH"])
    done = run(["-m", "caudal", "list"], tmp_path, installed)
    assert done.returncode == 0 and "fish" in done.stdout


def test_wheel_deploys_to_a_microcontroller(installed, tmp_path):
    done = run(
        [
            "-m",
            "caudal",
            "deploy",
            "mcu",
            "-",
            "fish",
            "--scenario",
            "cruise",
            "--dry-run",
            "image",
            "--bench",
        ],
        tmp_path,
        installed,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "image" / "main.py").exists()
    assert list((tmp_path / "image" / "lib" / "caudal" / "onboard" / "core").iterdir())


@pytest.mark.long
def test_wheel_runs_a_hil_controller_on_micropython(installed, tmp_path):
    found = subprocess.run(
        ["sh", ROOT / "deploy" / "mcu" / "get-micropython"], capture_output=True, text=True
    )
    if found.returncode:
        left_out(found.stderr.strip())
    words = ["hil", "run", "fish", "--scenario", "cruise", "--controller", "micropython", "--for", "2"]
    done = run(["-m", "caudal", *words], tmp_path, installed)
    assert done.returncode == 0, done.stdout + done.stderr


def test_wheel_passes_the_package_index_checks(wheel):
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", wheel], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
