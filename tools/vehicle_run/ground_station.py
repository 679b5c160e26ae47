"""Ground stations of a run: the options, and the thread that talks to them."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from caudal.onboard.core.loop import Loop
from caudal.onboard.station.address import AddressError, read_address
from caudal.tools.common import options
from caudal.tools.common.output import UsageError

# Where a simulation lies unless told otherwise: where PX4's lies, so that plans made for one fit the other.
SIMULATED_ORIGIN = (47.397742, 8.545594)

Rehearsal = Callable[[str, str], str | None]  # a vehicle's name, and what is asked for in words


def add_station_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--mavlink",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="ground stations by MAVLink 2: udp:14550 and tcp:5760 listen on this computer alone, udp:0.0.0.0:14550 on "
        "every network; udpout:127.0.0.1:14550 speaks to a station that listens (QGroundControl); "
        "serial:/dev/ttyUSB0@57600. May be repeated. A simulation is then paced by the clock, a person arms it, and "
        "without --for it goes on until it is told to end",
    )
    command.add_argument(
        "--mavlink-key",
        metavar="FILE",
        type=Path,
        help="sign, and take signed frames alone: 32 bytes, or a passphrase as MAVProxy and QGroundControl hash it",
    )
    command.add_argument(
        "--mavlink-origin",
        metavar="LAT,LON",
        type=place,
        help="where x = y = 0 lies on the globe, in degrees, if the vehicle file's [station] does not say "
        "(a simulation: where PX4's lies)",
    )


def place(text: str) -> tuple[float, float]:
    latitude, _, longitude = text.partition(",")
    try:
        found = float(latitude), float(longitude)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not LAT,LON, such as 47.397742,8.545594") from None
    if not (abs(found[0]) <= 89 and abs(found[1]) <= 180):
        raise argparse.ArgumentTypeError(f"{text} is no place in degrees: LAT to 89, LON to 180")
    return found


def check_options(args: argparse.Namespace) -> None:
    if not args.mavlink and args.mavlink_origin:
        raise UsageError("--mavlink-origin says how --mavlink speaks; give an ADDRESS with it")
    if args.mavlink and args.on.startswith("hil:"):
        raise UsageError("--mavlink is for runs on sim, emulated and pi; a bench has its own wire")
    check_addresses(args)


def check_addresses(args: argparse.Namespace) -> None:
    """Before anything takes its time."""
    if not args.mavlink and args.mavlink_key:
        raise UsageError("--mavlink-key says how --mavlink speaks; give an ADDRESS with it")
    for text in args.mavlink:
        try:
            read_address(text)
        except AddressError as error:
            raise UsageError(f"--mavlink {error}") from error


def open_stations(
    args: argparse.Namespace,
    settings: dict[str, Any],
    loops: Sequence[tuple[str, Loop]],
    log: Path,
    origin: tuple[float, float] | None,
    rehearsal: Rehearsal | None = None,
) -> Any:
    """The stations' thread, its links open, not yet started; None where none are asked for."""
    if not args.mavlink:
        return None
    from caudal.onboard.station.links import LinkError
    from caudal.onboard.station.signing import KeyFileError, Signing
    from caudal.onboard.station.stations import Stations
    from caudal.onboard.station.vehicle_link import VehicleLink

    try:
        addresses = [read_address(text) for text in args.mavlink]
        signing = Signing.from_file(args.mavlink_key) if args.mavlink_key else None
        vehicle_links = [
            VehicleLink(
                name,
                loop,
                settings,
                number=number,
                origin=args.mavlink_origin or origin,
                logs=log.parent,
                inject=rehearsal and _of(rehearsal, name),
            )
            for number, (name, loop) in enumerate(loops)
        ]
        return Stations(vehicle_links, addresses, signing)
    except LinkError as error:
        raise UsageError(f"--mavlink {error}") from error
    except KeyFileError as error:
        raise UsageError(f"--mavlink-key: {error}") from error


def _of(rehearsal: Rehearsal, name: str) -> Callable[[str], str | None]:
    return lambda asked: rehearsal(name, asked)


def add_arm(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--arm-after",
        metavar="S",
        type=options.not_negative,
        help="with --on pi or --mavlink: arm this many seconds after the start, or (pi) soon after, without a person",
    )
