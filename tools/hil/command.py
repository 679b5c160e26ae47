"""Hardware in the loop: the plant on one side of a serial link, the controller on the other.

In lockstep by default: simulated time stands still until the controller has answered. With --realtime the plant runs
free, in real time, as a vehicle would.

`caudal hil run` starts both sides on pseudo-terminals; `caudal hil plant` is the plant side alone, on a port (`caudal
run VEHICLE --on hil:PORT` is the controller side). Either side may restart and the link may be unplugged and plugged
in again: the other side is safe meanwhile, and continues when it is back. With --controller microbit the other side
is a micro:bit in QEMU, which runs the gait from its look-up table; readings and guidance stay on this side
(tools/hil/microbit_side.py), so compare it with a run of --set gait.source=table.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from caudal.hal.serial_ports import Port
from caudal.hal.tables import mcu
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.host import realtime
from caudal.onboard.run.config import open_file
from caudal.onboard.run.recording import next_log_path
from caudal.sim_plant.world.world import Body
from caudal.tools.common import options, output
from caudal.tools.common.resources import DEPLOY
from caudal.tools.common.run_options import add_params, add_run_options, add_station_options, check_options
from caudal.tools.config.vehicle import Vehicle, read_vehicle
from caudal.tools.deploy.mcu_image import settings_module
from caudal.tools.hil.microbit_program import program
from caudal.tools.hil.microbit_side import MicrobitSide
from caudal.tools.hil.paced_pty import BITS_A_BYTE, PacedPort
from caudal.tools.hil.plant_side import PlantSide
from caudal.tools.hil.pty import open_line
from caudal.tools.hil.qemu_microbit import Microbit
from caudal.tools.hil.reconnecting_port import FORMS, ReconnectingPort
from caudal.tools.hil.remote_vehicle import CONNECT_S, End, Remote
from caudal.tools.hil.slew_back import Ramp
from caudal.tools.simulate.sim_run import record_and_run
from caudal.tools.simulate.simulation import Simulation
from caudal.tools.summary import summarize

WIRE_KEYS = (
    *("exchanges_per_s", "bytes_per_exchange", "share_of_line", "gone_ticks"),
    *("lost", "bad", "late_frames", "duplicates"),
    *("round_trip_p50_us", "round_trip_p99_us", "worst_round_trip_us"),
)


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal hil`."""
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    plant = actions.add_parser("plant", help="the plant side, on a port")
    options.add_vehicle(plant)
    plant.add_argument("port", help=FORMS)
    add_run_options(plant)
    both = actions.add_parser("run", help="both sides, on pseudo-terminals")
    options.add_vehicle(both)
    both.add_argument(
        "--baud", type=options.natural, help="limit the line to a serial one's speed (default: no limit)"
    )
    both.add_argument("--controller", choices=("cpython", "micropython", "microbit"), default="cpython")
    add_params(both, "the controller's parameter file, as for caudal run")
    add_station_options(both)
    add_run_options(both)


def run(args: argparse.Namespace) -> int:
    """Runs the plant side, and with the action "run" the controllers."""
    check_options(args)
    file = open_file(args.vehicle, args.set, args.scenario)
    about: dict[str, str] = {}
    if getattr(args, "controller", None) == "microbit":
        file, about = on_microbit(file)
    vehicle = read_vehicle(file)
    scenario_name, scenario = vehicle.scenario(args.scenario)
    vehicle.refuse_unread(scenario_name, args.set)
    vehicles = vehicle.worlds[scenario.world].vehicles
    digest = vehicle.file.digest()
    if args.action == "plant":
        if vehicles != 1:
            raise output.UsageError(
                f"one port serves one vehicle, the world has {vehicles}; --set world.{scenario.world}.vehicles=1"
            )
        port = ReconnectingPort(args.port)
        try:
            return _run(args, vehicle, scenario_name, [PlantSide(vehicle.settings, digest, port)], about)
        finally:
            port.close()
    words = _controller_words(args, vehicle, scenario_name, vehicles)
    if args.controller == "microbit":
        return _run_on_microbits(args, vehicle, scenario_name, vehicles, about)
    with Bench(vehicle, args.vehicle, scenario_name, words, args.controller, vehicles) as bench:
        ports = [PacedPort(port, args.baud) if args.baud else port for port in bench.ports]
        ends = [PlantSide(vehicle.settings, digest, port) for port in ports]
        return _run(args, vehicle, scenario_name, ends, about)


def on_microbit(file: VehicleFile) -> tuple[VehicleFile, dict[str, str]]:
    """The file as a micro:bit runs it, with the look-up table in place of oscillators; what the log says of that."""
    gait = file.tables.get("gait")
    if not isinstance(gait, dict) or gait.get("source", "cpg") != "cpg":
        return file, {}
    if any(line.partition("=")[0].strip() == "gait.source" for line in file.overrides):
        return file, {}  # asked for: the program for the board raises the error
    sentence = (
        'the micro:bit runs the look-up table (gait.source=table), not the oscillators (gait.source="cpg") of '
        f"{file.label}"
    )
    output.note(sentence)
    return file.overridden(["gait.source=table"]), {"controller": sentence}


def _controller_words(
    args: argparse.Namespace, vehicle: Vehicle, scenario_name: str, vehicles: int
) -> list[str]:
    """The options of the controller's process, to which parameters and ground stations go; the plant has none."""
    words = [*_repeated("--set", args.set), *(["--realtime"] if punctual(args) else [])]
    if not args.params and not args.mavlink:
        return words
    if args.controller != "cpython" or vehicles != 1:
        raise output.UsageError(
            "--params and --mavlink need one vehicle and --controller cpython: a microcontroller has no parameter "
            "store and no ground station link"
        )
    args.log = args.log or next_log_path(vehicle, scenario_name, args.seed)
    words += ["--log", str(args.log.with_name(f"{args.log.stem}-controller.mcap"))]
    if args.params:
        words += ["--params", str(args.params)]
    if args.mavlink:
        args.realtime = True
        words += [*_repeated("--mavlink", args.mavlink), "--realtime"]
        for option, value in (("key", args.mavlink_key), ("origin", args.mavlink_origin)):
            if value is not None:
                text = ",".join(map(repr, value)) if option == "origin" else str(value)
                words += [f"--mavlink-{option}={text}"]
        if args.arm_after is not None:
            words += ["--arm-after", str(args.arm_after)]
    args.params, args.mavlink, args.arm_after = None, [], None
    return words


def _run_on_microbits(
    args: argparse.Namespace, vehicle: Vehicle, scenario_name: str, count: int, about: dict[str, str]
) -> int:
    if args.realtime:
        raise output.UsageError(
            "a micro:bit answers one request at a time, in lockstep; leave --realtime out"
        )
    pieces = program(vehicle.settings)
    _, scenario = vehicle.scenario(scenario_name)
    with ExitStack() as stack:
        ends = []
        for _ in range(count):
            board = Microbit()
            stack.callback(board.close)
            board.load(pieces)
            output.note(
                f"{board.source_bytes} bytes of source on the micro:bit, {board.free_bytes} of heap left"
            )
            board.serve()
            port = PacedPort(board.port, args.baud) if args.baud else board.port
            ends.append(MicrobitSide(vehicle.settings, scenario, port))
        return _run(args, vehicle, scenario_name, ends, about)


def _run(
    args: argparse.Namespace,
    vehicle: Vehicle,
    scenario_name: str,
    ends: Sequence[End],
    about: dict[str, str],
) -> int:
    left = iter(ends)
    settings = vehicle.settings

    def launch(name: str, body: Body) -> Remote:
        period_us = 1_000_000 // settings.rate_hz
        # The other side may have to be started by hand.
        connect_s = CONNECT_S if args.action == "run" else math.inf
        ramp = Ramp(settings.actuators, settings.rate_hz)
        return Remote(name, body, next(left), period_us, free=args.realtime, connect_s=connect_s, ramp=ramp)

    simulation = Simulation(vehicle, scenario_name, args.seed, launch)
    simulation.about |= about
    if punctual(args):
        # What is compiled is loaded at the first call, which takes 40 ms: another simulation makes it.
        Simulation(vehicle, scenario_name, args.seed).step()
        for sentence in realtime.set_up():
            output.note(f"more jitter than necessary: {sentence}")
    result = record_and_run(args, vehicle, scenario_name, simulation, on=f"hil:{args.action}")
    for end in ends:
        if not simulation.fault:
            end.bye()
    ticks = len(ends) * result["simulated_s"] * settings.rate_hz
    link_s = max(sum(instance.wire_s for instance in simulation.instances), 1e-9)
    result |= {
        "exchanges_per_s": ticks / link_s * len(ends),
        "bytes_per_exchange": sum(end.bytes_sent + end.bytes_received for end in ends) / max(ticks, 1),
        "gone_ticks": sum(instance.gone_ticks for instance in simulation.instances),
    }
    if getattr(args, "baud", None):
        needed_s = result["bytes_per_exchange"] * BITS_A_BYTE / args.baud
        result["share_of_line"] = result["exchanges_per_s"] / len(ends) * needed_s
    if args.json:
        output.as_json(result)
    else:
        summarize.show(result)
        output.table([(key, result[key]) for key in WIRE_KEYS if key in result])
    return 1 if simulation.fault or result["stopped_early"] else 0


def punctual(args: argparse.Namespace) -> bool:
    """Does lateness matter: without lockstep, or on a line of limited speed."""
    return args.realtime or bool(getattr(args, "baud", None))


def _repeated(option: str, values: list[str]) -> list[str]:
    """Words for a command line that repeats the option for each value."""
    return [word for value in values for word in (option, value)]


class Bench:
    """Controllers in processes of their own, one per vehicle, each on the other side of a pseudo-terminal."""

    def __init__(
        self, vehicle: Vehicle, name: str, scenario: str, words: list[str], runtime: str, count: int
    ) -> None:
        self.ports: list[Port] = []
        self._slaves: list[int] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._folder = tempfile.TemporaryDirectory()
        image = Path(self._folder.name) / "vehicle_image.py"
        image.write_text(settings_module(vehicle, scenario, mcu.Bench()))
        for _ in range(count):
            master, slave = open_line()
            line = os.ttyname(slave)
            self.ports.append(Port(master, line))
            self._slaves.append(slave)
            if runtime == "micropython":
                script = str(DEPLOY / "mcu" / "bench_controller.py")
                command = [micropython(), script, self._folder.name, line]
            else:
                command = [sys.executable, "-m", "caudal.tools.cli.main", "run", name, "--on", f"hil:{line}"]
                command += ["--scenario", scenario, *words]
            self._processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.terminate()
                process.wait()
        for slave in self._slaves:
            os.close(slave)
        for port in self.ports:
            port.close()
        self._folder.cleanup()


def micropython() -> str:
    """The path of a MicroPython; downloads it if necessary."""
    done = subprocess.run([str(DEPLOY / "mcu" / "get-micropython")], capture_output=True, text=True)
    if done.returncode:
        raise output.UsageError(done.stderr.strip())
    return done.stdout.strip()
