"""The project's own rules: layers of imports, the portable core, and no code for one vehicle."""

import ast
import re
import subprocess
import sys
from pathlib import Path

from caudal.onboard import vehicles
from caudal.tools.deploy.mcu_image import without_typing
from tests.conftest import ROOT

# What a microcontroller needs of the project. Everything else under onboard and hal needs CPython.
PORTABLE_FOLDERS = (
    *("hal/core", "hal/mcu"),
    *(f"onboard/{name}" for name in ("core", "gait", "control", "estimate", "guidance", "link")),
)
PORTABLE = ["onboard/build.py"] + [
    str(path.relative_to(ROOT))
    for folder in PORTABLE_FOLDERS
    for path in sorted((ROOT / folder).glob("*.py"))
]
PACKAGES = {"caudal." + path.replace("/", ".") for path in ("hal", "onboard", *PORTABLE_FOLDERS)}
BUILT_IN = {"math", "time", "array"}
BEYOND = {
    "caudal.onboard.chain.stages",
    "caudal.onboard.params.update",
}  # interfaces of the core to what no microcontroller has


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(without_typing(path.read_text()))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = node.module in PACKAGES
            names |= {f"{node.module}.{a.name}" for a in node.names} if package else {node.module or ""}
    return names


def test_packages_import_only_what_they_may():
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_portable_core_imports_only_itself_and_what_microcontrollers_have():
    core = {"caudal." + path.removesuffix(".py").replace("/", ".") for path in PORTABLE}
    for path in PORTABLE:
        outside = imported(ROOT / path) - core - BUILT_IN
        outside -= BEYOND if path == "onboard/build.py" else set()
        assert not outside, f"{path} imports {outside}"


def test_nothing_in_the_packages_knows_a_vehicle_by_name():
    names = {*vehicles.names(), "fish", "eel", "snake", "ray", "hybrid", "rov"}
    pattern = re.compile(rf"\b({'|'.join(names)})\b", re.I)
    for path in sources("onboard", "hal", "sim_plant"):
        found = pattern.search(path.read_text())
        assert not found, f"{path} names {found and found[0]}"


def test_every_file_is_one_idea_and_says_which():
    for path in sources("onboard", "hal", "sim_plant", "tools"):
        text = path.read_text()
        assert ast.get_docstring(ast.parse(text)), f"{path} does not say what it is"
        assert text.count("\n") <= 400, f"{path} needs a table of contents: make it two"
