"""Opens the links of a run to its ground stations."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from caudal.hal.errors import CaudalError
from caudal.onboard.core.loop import Loop
from caudal.onboard.run.options import StationOptions
from caudal.onboard.station.address import AddressError, read_address
from caudal.onboard.tables.read import Settings

if TYPE_CHECKING:
    from caudal.onboard.station.stations import Stations

Rehearsal = Callable[
    [str, str], str | None
]  # takes a vehicle's name and a request in words; gives a refusal or None


def check_addresses(options: StationOptions) -> None:
    """Raises for an invalid address, before anything takes its time."""
    if not options.addresses and options.key:
        raise CaudalError("--mavlink-key says how --mavlink speaks; give an ADDRESS with it")
    for text in options.addresses:
        try:
            read_address(text)
        except AddressError as error:
            raise CaudalError(f"--mavlink {error}") from error


def open_stations(
    options: StationOptions,
    settings: Settings,
    loops: Sequence[tuple[str, Loop]],
    logs: Path,
    origin: tuple[float, float] | None,
    rehearsal: Rehearsal | None = None,
) -> "Stations | None":
    """The stations' thread, its links open, not yet started; None without addresses. `logs` is the folder of logs."""
    if not options.addresses:
        return None
    from caudal.onboard.station.links import LinkError
    from caudal.onboard.station.signing import KeyFileError, Signing
    from caudal.onboard.station.stations import Stations
    from caudal.onboard.station.vehicle_link import VehicleLink

    try:
        addresses = [read_address(text) for text in options.addresses]
        signing = Signing.from_file(options.key) if options.key else None
        vehicle_links = [
            VehicleLink(
                name,
                loop,
                settings,
                number=number,
                origin=options.origin or origin,
                logs=logs,
                inject=rehearsal and _of(rehearsal, name),
            )
            for number, (name, loop) in enumerate(loops)
        ]
        return Stations(vehicle_links, addresses, signing)
    except LinkError as error:
        raise CaudalError(f"--mavlink {error}") from error
    except KeyFileError as error:
        raise CaudalError(f"--mavlink-key: {error}") from error


def _of(rehearsal: Rehearsal, name: str) -> Callable[[str], str | None]:
    return lambda request: rehearsal(name, request)
