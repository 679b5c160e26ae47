"""Lists the modules of the portable core that a scenario loads, by loading them in a process of their own.

    python -m caudal.tools.deploy.mcu_modules DRIVER < vehicle_image.py

DRIVER is `bench` or `pins`. Builds the controller, runs one tick, then prints the loaded modules, one per line. Imports
are at the top of a module or in onboard/build.py's functions, so that one tick loads them all.
"""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

from caudal.tools.common.resources import SOURCES

PACKAGES = ("caudal.hal", "caudal.onboard")


def modules(image: str, bench: bool) -> list[Path]:
    """Source files that a board's vehicle_image.py needs, relative to the folder that holds the package."""
    command = [sys.executable, "-m", "caudal.tools.deploy.mcu_modules", "bench" if bench else "pins"]
    done = subprocess.run(command, cwd=SOURCES, input=image, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [Path(line) for line in done.stdout.splitlines()]


class _NullDriver:
    def read(self, counts: list[int | None]) -> None:
        pass

    def write(self, outputs: list[int]) -> None:
        pass

    def close(self) -> None:
        pass


def _load(image: str, driver: str) -> None:
    mains = {
        "bench": ("caudal.hal.mcu.port", "caudal.onboard.link.controller"),
        "pins": ("caudal.hal.mcu.build", "caudal.onboard.core.clock"),
    }
    for name in mains[driver]:  # what deploy/mcu/main_bench.py and main_vehicle.py import
        importlib.import_module(name)
    from caudal.onboard.build import build_loop

    module: dict[str, Any] = {}
    exec(image, module)
    settings = module["IMAGE"].settings
    loop = build_loop(settings, settings.scenarios[module["IMAGE"].scenario], _NullDriver())
    loop.arm()
    loop.tick()


if __name__ == "__main__":
    _load(sys.stdin.read(), sys.argv[1])
    for name, module in sorted(sys.modules.items()):
        if name.startswith(PACKAGES) and module.__file__:
            print(Path(module.__file__).relative_to(SOURCES))
