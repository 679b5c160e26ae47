"""Writes docs/mavlink.md: the messages that a vehicle accepts and sends, from the tables of the code.

python -m caudal.onboard.station.document > docs/mavlink.md
"""

from collections.abc import Iterable, Sequence

from caudal.onboard.core import modes
from caudal.onboard.station import address
from caudal.onboard.station.commands import Commands, command_names
from caudal.onboard.station.dialect import mavlink, name_of
from caudal.onboard.station.ftp import Ftp
from caudal.onboard.station.logs import Logs
from caudal.onboard.station.manual_control import TIMEOUT_S
from caudal.onboard.station.mission_items import ENDINGS, IGNORED, WAYPOINTS
from caudal.onboard.station.missions import Missions
from caudal.onboard.station.mode_numbers import NUMBERS
from caudal.onboard.station.parameters import Parameters
from caudal.onboard.station.pilot import Pilot
from caudal.onboard.station.session import Session
from caudal.onboard.station.station_link import BYTES_A_SECOND
from caudal.onboard.station.telemetry import STREAMS

HEAD = """# MAVLink

The messages that a vehicle sends to ground stations and accepts from them (`caudal run VEHICLE --mavlink ADDRESS`).
Protocol version 2, dialect `common`. `python -m caudal.onboard.station.document` writes this page from the code's
tables.

## Addresses

"""
SIGNING = f"""
## Signing

`--mavlink-key FILE` holds 32 bytes or a passphrase (hashed by SHA-256, as MAVProxy and QGroundControl do); other
users must not be able to read the file. With a key, the vehicle accepts signed frames only, and signs everything that
it sends. Only RADIO_STATUS may be unsigned: radios generate it, and it has no effect. Unsigned, wrongly signed,
replayed and too old frames are counted, reported (STATUSTEXT) and recorded (event `frames refused`). Timestamps are
stored in `FILE.times`, so that a restarted vehicle rejects replayed frames. A key is never transmitted: SETUP_SIGNING
is refused. MAVSDK 3 cannot sign.

## Limits

The vehicle reads {BYTES_A_SECOND:,} bytes per second of each station; the rest is dropped unread, reported and
recorded. Of manual control and set-points only the latest counts. A disarm has priority over everything else, from
any station. If there are several vehicles, they accept commands to system 0 (all) only to disarm.

## Coordinates

North is `x`, rotated by `station.bearing_deg`; east is to starboard of it; down is the depth. The origin on the globe
is `station.origin` of the vehicle file or `--mavlink-origin`; a simulation without one uses PX4's. Altitudes are
relative to the surface: an altitude of -2 is a depth of 2 m, and one above the water is refused.

## Manual control

MANUAL_CONTROL by `station.axes` of the vehicle file. Vehicles with thrusters: x ahead, y to starboard, z up (500 is
neutral), r turns to starboard. Vehicles with a tail: z is the beat (0 is none, negative is astern), r turns, x
forward is down. Mode manual needs MANUAL_CONTROL from the start: without it the failsafe rule pilot_lost holds the
vehicle. If several stations send it, the vehicle follows the first one, until that one times out ({TIMEOUT_S:g} s) or
the vehicle is disarmed. The others are informed once.

## Fault injection on request

A simulated vehicle accepts any fault of docs/faults.md as a STATUSTEXT: `fault silent:depth` starts now, `fault
jammed:tail_2@30+5` at second 30 for 5 s; `mend silent:depth` clears it, `mend depth` clears all faults of one part,
`mend` clears all. The answer is a STATUSTEXT, too, and the log has an event `rehearsal`. MAVProxy: `module load
message`, then `message STATUSTEXT 6 "b'fault silent:depth'"`; pymavlink: `statustext_send(6, b"fault silent:depth")`.
Longer texts are sent in chunks, as the protocol defines. MAV_CMD_INJECT_FAILURE injects the faults that it has
numbers for; its "ok" clears the faults of one part. A STATUSTEXT has no target, so that several vehicles accept the
command only. Real vehicles refuse both.

## Modes

`station.autopilot` of the vehicle file says which autopilot the vehicle presents itself as. As a PX4, everything in
MAVSDK works and integer parameters arrive in every client; but `mode NAME` of MAVProxy 1.8.75 does not work (it sends
three numbers where one belongs; `long DO_SET_MODE 1 1 0` is manual). As an ArduPilot, `mode NAME` works, and MAVSDK's
hold does not. PX4's stabilised, altitude and position control are manual here, too, and a return is surface.

"""
TAIL = """
Sent when there is a reason: COMMAND_ACK, STATUSTEXT, PARAM_VALUE, MISSION_COUNT, MISSION_ITEM_INT, MISSION_REQUEST_INT,
MISSION_ACK, MISSION_ITEM_REACHED, MESSAGE_INTERVAL, LOG_ENTRY, LOG_DATA, TIMESYNC, PING, FILE_TRANSFER_PROTOCOL.
"""


def markdown() -> str:
    """Returns the whole document."""
    lines = [HEAD, _indented(address.__doc__ or ""), SIGNING]
    table = [(modes.NAMES[mode], *(f"{NUMBERS[a][mode]:#x}" for a in NUMBERS)) for mode in NUMBERS["px4"]]
    lines += _table(("mode", *NUMBERS), table)
    lines.append("\n## Commands\n\nEvery other command is answered with COMMAND_ACK: unsupported.\n\n")
    lines += _table(("command", "what it does"), command_names().items())
    lines.append("\n## Messages accepted\n\n")
    parts = (Session, Commands, Pilot, Parameters, Missions, Logs, Ftp)
    lines += _table(("message", ""), [row for part in parts for row in part.MESSAGES.items()])
    lines.append("\n## Items of a mission\n\n")
    endings = {command: what for command, (_, what) in ENDINGS.items()}
    items = {**WAYPOINTS, **endings, **IGNORED}
    lines += _table(("item", ""), [(name_of("MAV_CMD", number), about) for number, about in items.items()])
    lines.append("\n## Messages sent\n\nA station can request other rates, and any message once.\n\n")
    said = [
        (mavlink.mavlink_map[number].msgname, f"{hz:g}" if hz else "-") for number, (hz, _) in STREAMS.items()
    ]
    lines += _table(("message", "per second"), said)
    lines.append(TAIL)
    return "".join(lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |\n" for line in lines]


def _indented(text: str) -> str:
    return text.strip() + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
