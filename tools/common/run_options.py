"""Command line options of runs: `caudal run`, both sides of `caudal hil`, and what goes to onboard/run/."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from caudal.onboard.log.stream import PORT
from caudal.onboard.run.ground_station import check_addresses
from caudal.onboard.run.live_view import LOOPBACK
from caudal.onboard.run.options import RunOptions, StationOptions, ViewOptions
from caudal.tools.common import options
from caudal.tools.common.output import UsageError


def add_run_options(command: argparse.ArgumentParser) -> None:
    """Adds what every kind of run has: scenario, duration, seed, settings, log, view."""
    command.add_argument(
        "--scenario", metavar="NAME", help="which of the vehicle's scenarios or trials (default: its first)"
    )
    command.add_argument(
        "--for", dest="seconds", metavar="S", type=options.positive, help="simulated seconds"
    )
    command.add_argument(
        "--seed", metavar="N", type=options.natural, default=0, help="for noise and start poses"
    )
    options.add_set(command)
    command.add_argument("--realtime", action="store_true", help="in real time, one second a second")
    command.add_argument("--log", metavar="FILE", type=Path, help="where to record (default: under runs/)")
    command.add_argument(
        "--report", action="store_true", help="write a page with plots to the folder of the log"
    )
    command.add_argument(
        "--view", action="store_true", help="show it in the browser meanwhile; best with --realtime"
    )
    command.add_argument(
        "--stream",
        metavar="[HOST:]PORT",
        type=address,
        help=f"stream to `caudal view HOST:PORT` (it tries {PORT}); HOST 0.0.0.0 is every network",
    )
    command.add_argument(
        "--allow-control",
        action="store_true",
        help="with --stream: viewers on other machines may send commands, too",
    )
    options.add_json(command)


def add_params(command: argparse.ArgumentParser, help: str) -> None:
    """Adds --params."""
    command.add_argument("--params", metavar="FILE", type=Path, help=help)


def add_station_options(command: argparse.ArgumentParser) -> None:
    """Adds the options of ground stations."""
    command.add_argument(
        "--arm-after",
        metavar="S",
        type=options.not_negative,
        help="with --on pi or --mavlink: arm this many seconds after the start, or (pi) soon after, without a person",
    )
    command.add_argument(
        "--mavlink",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="ground stations by MAVLink 2: udp:14550 and tcp:5760 listen on this computer alone, udp:0.0.0.0:14550 on "
        "every network; udpout:127.0.0.1:14550 sends to a station that listens (QGroundControl); "
        "serial:/dev/ttyUSB0@57600. May be repeated. A simulation then runs in real time, a person arms it, and "
        "without --for it runs until it is stopped",
    )
    command.add_argument(
        "--mavlink-key",
        metavar="FILE",
        type=Path,
        help="sign, and accept signed frames alone: 32 bytes, or a passphrase as MAVProxy and QGroundControl hash it",
    )
    command.add_argument(
        "--mavlink-origin",
        metavar="LAT,LON",
        type=position,
        help="where x = y = 0 is on the globe, in degrees, if the vehicle file's [station] does not say "
        "(a simulation: where PX4's is)",
    )


def address(text: str) -> tuple[str, int]:
    """Parses [HOST:]PORT (an argparse type)."""
    host, _, port = text.rpartition(":")
    if not (port.isdigit() and int(port) < 65536):
        raise argparse.ArgumentTypeError(f"{text} is neither a port nor HOST:PORT")
    return host or LOOPBACK, int(port)


def position(text: str) -> tuple[float, float]:
    """Parses LAT,LON in degrees (an argparse type)."""
    latitude, _, longitude = text.partition(",")
    try:
        found = float(latitude), float(longitude)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not LAT,LON, such as 47.397742,8.545594") from None
    if not (abs(found[0]) <= 89 and abs(found[1]) <= 180):
        raise argparse.ArgumentTypeError(f"{text} is no position in degrees: LAT to 89, LON to 180")
    return found


def run_options(args: argparse.Namespace) -> RunOptions:
    """The options of a run; a command that lacks some of them has their defaults."""
    return RunOptions(
        seconds=args.seconds,
        seed=args.seed,
        realtime=args.realtime,
        arm_after_s=getattr(args, "arm_after", None),
        log=args.log,
        params=getattr(args, "params", None),
        stations=station_options(args),
        view=ViewOptions(args.stream, args.allow_control, open_viewer if args.view else None),
    )


def station_options(args: argparse.Namespace) -> StationOptions:
    """The options of ground stations."""
    return StationOptions(
        getattr(args, "mavlink", []),
        getattr(args, "mavlink_key", None),
        getattr(args, "mavlink_origin", None),
    )


def open_viewer(address: str) -> "subprocess.Popen[bytes]":
    """`caudal view` as a process of its own, of low priority: what it draws must not delay a tick."""
    command = [sys.executable, "-m", "caudal.tools.cli.main", "view", address]
    return subprocess.Popen(command, preexec_fn=lambda: os.nice(10) and None)


def check_options(args: argparse.Namespace) -> None:
    """Raises for options that contradict each other, before anything takes its time."""
    stations = station_options(args)
    if not stations.addresses and stations.origin:
        raise UsageError("--mavlink-origin says how --mavlink speaks; give an ADDRESS with it")
    check_addresses(stations)
    if args.allow_control and not args.stream:
        raise UsageError("--allow-control is for viewers on other machines; give --stream HOST:PORT with it")
