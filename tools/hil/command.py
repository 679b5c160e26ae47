"""Hardware in the loop: the plant on one end of a serial line, the controller on the other.

In lockstep by default: simulated time stands still until the controller has answered. With --realtime the plant runs
free, paced by the clock, as a vehicle would.

`caudal hil run` starts both ends on pseudo-terminals; `caudal hil plant` is the plant's end alone, on a port (`caudal
run VEHICLE --on hil:PORT` is the controller's). Either side may be started anew and the wire be pulled out and put in
again: the other side is safe meanwhile, and goes on when it is back. With
--controller microbit the other end is a micro:bit in QEMU, which swims the gait from its look-up table; readings and
guidance stay on this side (tools/hil/microbit_side.py), so it is to be compared with a run of --set gait.source=table.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from caudal.hal.serial_ports import Port, PortError
from caudal.hal.tables import mcu
from caudal.onboard.host import realtime
from caudal.tools.common import options, output
from caudal.tools.common.resources import DEPLOY
from caudal.tools.common.run_options import add_run_options
from caudal.tools.config.vehicle import Vehicle, open_scenario, open_vehicle
from caudal.tools.deploy.mcu_image import settings_module
from caudal.tools.hil.microbit_program import program
from caudal.tools.hil.microbit_side import MicrobitSide
from caudal.tools.hil.paced_pty import BITS_A_BYTE, PacedPort
from caudal.tools.hil.plant_side import PlantSide, Refusal
from caudal.tools.hil.pty import open_line
from caudal.tools.hil.qemu_microbit import Microbit
from caudal.tools.hil.reconnecting_port import FORMS, ReconnectingPort
from caudal.tools.hil.remote_vehicle import CONNECT_S, Remote
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
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    plant = actions.add_parser("plant", help="the plant's end, on a port")
    options.add_vehicle(plant)
    plant.add_argument("port", help=FORMS)
    add_run_options(plant)
    both = actions.add_parser("run", help="both ends, on pseudo-terminals")
    options.add_vehicle(both)
    both.add_argument(
        "--baud", type=options.natural, help="pace the line as a serial one (default: not at all)"
    )
    both.add_argument("--controller", choices=("cpython", "micropython", "microbit"), default="cpython")
    add_run_options(both)


def run(args: argparse.Namespace) -> int:
    small = getattr(args, "controller", None) == "microbit"
    chosen = any(line.startswith("gait.source=") for line in args.set)
    if small and not chosen and open_vehicle(args.vehicle, args.set).settings["gait"]:
        output.note("the micro:bit swims the look-up table: gait.source=table")
        args.set = [*args.set, "gait.source=table"]
    vehicle, scenario_name, scenario = open_scenario(args.vehicle, args.set, args.scenario)
    vehicles = vehicle.worlds[scenario["world"]].vehicles
    digest = vehicle.file.digest()
    try:
        if args.action == "plant":
            if vehicles != 1:
                key = f"world.{scenario['world']}.vehicles"
                raise output.UsageError(
                    f"one port serves one vehicle, the world has {vehicles}; --set {key}=1"
                )
            reconnecting_port = ReconnectingPort(args.port)
            try:
                return _swim(
                    args, vehicle, scenario_name, [PlantSide(vehicle.settings, digest, reconnecting_port)]
                )
            finally:
                reconnecting_port.close()
        if small:
            return _swim_on_microbits(args, vehicle, scenario_name, vehicles)
        words = [*_again("--set", args.set), *(["--realtime"] if punctual(args) else [])]
        with Bench(vehicle, args.vehicle, scenario_name, words, args.controller, vehicles) as bench:
            ports = [PacedPort(port, args.baud) for port in bench.ports] if args.baud else bench.ports
            ends = [PlantSide(vehicle.settings, digest, port) for port in ports]
            return _swim(args, vehicle, scenario_name, ends)
    except (PortError, Refusal) as error:
        raise output.UsageError(str(error)) from error


def _swim_on_microbits(args: argparse.Namespace, vehicle: Vehicle, scenario_name: str, count: int) -> int:
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
        return _swim(args, vehicle, scenario_name, ends)


def _swim(args: argparse.Namespace, vehicle: Vehicle, scenario_name: str, ends: list[Any]) -> int:
    left = iter(ends)

    def launch(name, body):
        period_us = 1_000_000 // vehicle.settings["rate_hz"]
        # The other side may have to be started by hand.
        connect_s = CONNECT_S if args.action == "run" else math.inf
        ramp = Ramp(vehicle.settings["actuators"], vehicle.settings["rate_hz"])
        return Remote(name, body, next(left), period_us, free=args.realtime, connect_s=connect_s, ramp=ramp)

    simulation = Simulation(vehicle, scenario_name, args.seed, launch)
    if punctual(args):
        # What is compiled is loaded at the first call, which takes 40 ms: let another fleet have it.
        Simulation(vehicle, scenario_name, args.seed).step()
        for sentence in realtime.set_up():
            output.note(f"more jitter than need be: {sentence}")
    result = record_and_run(args, vehicle, scenario_name, simulation, on=f"hil:{args.action}")
    for end in ends:
        if not simulation.fault:
            end.bye()
    ticks = len(ends) * result["simulated_s"] * vehicle.settings["rate_hz"]
    result |= {
        "exchanges_per_s": ticks
        / max(sum(instance.wire_s for instance in simulation.instances), 1e-9)
        * len(ends),
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
    """Does the clock matter: free running, or on a line that is paced."""
    return args.realtime or bool(getattr(args, "baud", None))


def _again(option: str, values: list[str]) -> list[str]:
    """Words for a command line that repeats the option for each value."""
    return [word for value in values for word in (option, value)]


class Bench:
    """Controllers as processes of their own, one a vehicle, each at the far end of a pseudo-terminal."""

    def __init__(
        self, vehicle: Vehicle, name: str, scenario: str, words: list[str], runtime: str, count: int
    ) -> None:
        self.ports: list[Port] = []
        self._slaves: list[int] = []
        self._processes: list[subprocess.Popen] = []
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

    def __exit__(self, *_) -> None:
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
    """The path of a MicroPython, got if need be."""
    done = subprocess.run([str(DEPLOY / "mcu" / "get-micropython")], capture_output=True, text=True)
    if done.returncode:
        raise output.UsageError(done.stderr.strip())
    return done.stdout.strip()
