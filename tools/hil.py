"""Hardware in the loop: the plant on one end of a serial line, the controller on the other.

In lockstep by default: simulated time stands still until the controller has answered. With --realtime the plant runs
free, paced by the clock, as a vehicle would.

`caudal hil run` starts both ends on pseudo-terminals; `caudal hil plant` is the plant's end alone, on a port.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import termios
import tty
from pathlib import Path
from typing import Any

from hal.ports import Port, PortError, open_port
from tools import options, say, summary
from tools.fleet import Fleet
from tools.paced import BITS_A_BYTE, PacedPort
from tools.plant_end import PlantEnd, Refusal
from tools.remote import Remote
from tools.run import add_run_options, record_and_swim
from tools.vehicles import Vehicle, open_scenario

ROOT = Path(__file__).parents[1]


def arguments(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    plant = actions.add_parser("plant", help="the plant's end, on a port")
    options.add_vehicle(plant)
    plant.add_argument("port", help="a serial device, or tcp:HOST:PORT")
    add_run_options(plant)
    both = actions.add_parser("run", help="both ends, on pseudo-terminals")
    options.add_vehicle(both)
    both.add_argument(
        "--baud", type=options.natural, help="pace the line as a serial one (default: not at all)"
    )
    both.add_argument("--controller", choices=("cpython", "micropython"), default="cpython")
    add_run_options(both)


def run(args: argparse.Namespace) -> int:
    vehicle, scenario_name, scenario = open_scenario(args.vehicle, args.set, args.scenario)
    vehicles = vehicle.worlds[scenario["world"]].vehicles
    try:
        if args.action == "plant":
            if vehicles != 1:
                key = f"world.{scenario['world']}.vehicles"
                raise say.Refused(f"one port serves one vehicle, the world has {vehicles}; --set {key}=1")
            return _swim(args, vehicle, scenario_name, [open_port(args.port)])
        with Bench(vehicle, args.vehicle, scenario_name, args.set, args.controller, vehicles) as bench:
            ports = [PacedPort(port, args.baud) for port in bench.ports] if args.baud else bench.ports
            return _swim(args, vehicle, scenario_name, ports)
    except (PortError, Refusal) as error:
        raise say.Refused(str(error)) from error


def _swim(args: argparse.Namespace, vehicle: Vehicle, scenario_name: str, ports: list[Any]) -> int:
    left = iter(ports)
    digest = vehicle.file.digest()

    def launch(name, body):
        end = PlantEnd(vehicle.settings, digest, next(left))
        return Remote(name, body, end, 1_000_000 // vehicle.settings["rate_hz"], free=args.realtime)

    fleet = Fleet(vehicle, scenario_name, args.seed, launch)
    result = record_and_swim(args, vehicle, scenario_name, fleet, on=f"hil:{args.action}")
    ends = [swimmer.end for swimmer in fleet.swimmers]
    for end in ends:
        if not fleet.fault:
            end.bye()
    ticks = len(ends) * result["simulated_s"] * vehicle.settings["rate_hz"]
    arrivals = [end.decoder.arrivals for end in ends]
    result |= {
        "exchanges_per_s": ticks / max(sum(swimmer.wire_s for swimmer in fleet.swimmers), 1e-9) * len(ends),
        "bytes_per_exchange": sum(end.bytes_sent + end.bytes_received for end in ends) / max(ticks, 1),
        "lost": sum(a.lost for a in arrivals),
        "bad": sum(a.bad for a in arrivals),
        "gone_ticks": sum(swimmer.gone_ticks for swimmer in fleet.swimmers),
        "worst_round_trip_us": max(a.worst_round_trip_us for a in arrivals),
    }
    if getattr(args, "baud", None):
        needed_s = result["bytes_per_exchange"] * BITS_A_BYTE / args.baud
        result["share_of_line"] = result["exchanges_per_s"] / len(ends) * needed_s
    if args.json:
        say.as_json(result)
    else:
        summary.show(result)
        keys = ("exchanges_per_s", "bytes_per_exchange", "lost", "bad", "gone_ticks", "worst_round_trip_us")
        say.table([(key, result[key]) for key in (*keys, "share_of_line") if key in result])
    return 1 if fleet.fault or result["stopped_early"] else 0


class Bench:
    """Controllers as processes of their own, one a vehicle, each at the far end of a pseudo-terminal."""

    def __init__(
        self, vehicle: Vehicle, name: str, scenario: str, overrides: list[str], runtime: str, count: int
    ) -> None:
        self.ports: list[Port] = []
        self._slaves: list[int] = []
        self._processes: list[subprocess.Popen] = []
        self._folder = tempfile.TemporaryDirectory()
        settings = Path(self._folder.name) / "settings.json"
        settings.write_text(json.dumps(vehicle.settings))
        for _ in range(count):
            master, slave = open_line()
            line = os.ttyname(slave)
            self.ports.append(Port(master, line))
            self._slaves.append(slave)
            if runtime == "micropython":
                script = str(ROOT / "deploy" / "mcu" / "bench_controller.py")
                command = [micropython(), script, str(settings), scenario, vehicle.file.digest(), line]
            else:
                command = [sys.executable, "-m", "tools.cli", "run", name, "--on", f"hil:{line}"]
                command += ["--scenario", scenario] + [word for o in overrides for word in ("--set", o)]
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


def open_line() -> tuple[int, int]:
    """A pseudo-terminal that carries bytes as they are: (this end, the other end)."""
    master, slave = os.openpty()
    tty.setraw(slave)
    mode = termios.tcgetattr(slave)
    mode[6][termios.VMIN] = 0  # MicroPython reads until its buffer is full: give it what there is
    termios.tcsetattr(slave, termios.TCSANOW, mode)
    return master, slave


def micropython() -> str:
    """The path of a MicroPython, got if need be."""
    done = subprocess.run([str(ROOT / "deploy" / "mcu" / "get-micropython")], capture_output=True, text=True)
    if done.returncode:
        raise say.Refused(done.stderr.strip())
    return done.stdout.strip()
