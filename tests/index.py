"""Writes tests/README.md: what each folder and file of tests proves.

    python -m tests.index            # after a test file is added or its first line has changed
    python -m tests.index --counts   # prints the number of tests by file; nothing runs

A file's line is the first line of its docstring.
"""

import ast
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
README = TESTS / "README.md"
FOLDERS = {
    "chain": "Vehicles with thrusters and soft joints: the model, the tasks and their solvers.",
    "commands": "Every `caudal` command: its results, its files and its error messages.",
    "control": "Controllers, allocation, estimators and identified models, against independent formulas.",
    "deploy": "Installation on a Raspberry Pi: files, releases, service and real-time settings.",
    "docs": "The documents: each of their commands and programs is executed.",
    "failsafes": "Each rule of the failsafe table, in simulation and over a HIL link; and no false alarm.",
    "faults": "Fault injection and the random campaign with its independent checks.",
    "hal": "Device maps, drivers of a Raspberry Pi, and the emulated chips that they are tested with.",
    "hil": "Hardware in the loop: plant and controller on two ends of a serial link.",
    "link": "Frames of the HIL link, and noise on it.",
    "mcu": "Microcontrollers: drivers, images, heap, and the same commands on MicroPython.",
    "params": "Parameters that change while a vehicle runs: ranges, storage, recording.",
    "plant": "The simulation's plant: water, actuators, sensors, contacts, thrusters, soft joints.",
    "portable": "The portable core, on CPython and on MicroPython alike.",
    "project": "The project's own rules: layers, the wheel, words.",
    "record": "Logs: complete, readable by standard tools, and intact after a kill or a full disk.",
    "station": "Ground stations by MAVLink: MAVProxy, MAVSDK, pymavlink; signing and refusals.",
    "swim": "Whole vehicles in closed loop: speeds, tracks, depths, records.",
    "tree": "Trees of bodies in water: conservation, formulas, and other engines.",
    "vehicle_file": "Vehicle files: reading, overrides, and one sentence for each error.",
    "view": "The 3D view and the report pages, with and without a browser.",
}
HEAD = """# Tests

Written by `python -m tests.index` from the first line of each file; do not edit it here.

`make test` runs all. Longest tests come first (marker `long`). Tests wait for events, never for a time
(`waiting.py`); commands run in processes forked from one that has imported the project (`command_line.py`).
"""


def text() -> str:
    """The page as it should be."""
    parts = [HEAD]
    for folder, promise in FOLDERS.items():
        lines = [
            f"- `{path.name}`: {first_line(path)}" for path in sorted((TESTS / folder).glob("test_*.py"))
        ]
        parts.append("\n".join((f"## {folder}", "", promise, "", *lines, "")))
    return "\n".join(parts)


def first_line(path: Path) -> str:
    """Of the file's docstring; empty without one."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def print_counts() -> None:
    """Collects all tests with pytest and prints how many each file has."""
    command = [sys.executable, "-m", "pytest", "-qq", "--collect-only", str(TESTS)]
    listed = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True).stdout
    counts = [line.rsplit(": ", 1) for line in listed.splitlines() if line.startswith("tests/")]
    for name, count in counts:
        print(f"{count:>5} {name}")
    print(f"{sum(int(count) for _, count in counts):5} tests")


if __name__ == "__main__":
    if "--counts" in sys.argv:
        print_counts()
    else:
        README.write_text(text(), encoding="utf-8")
