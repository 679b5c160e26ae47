"""docs/mavlink.md: what vehicles hear and say, from the tables that they go by.

python -m caudal.onboard.station.document > docs/mavlink.md
"""

from caudal.onboard.core import modes
from caudal.onboard.station import address
from caudal.onboard.station.commands import Commands, command_names
from caudal.onboard.station.dialect import mavlink, name_of
from caudal.onboard.station.ftp import Ftp
from caudal.onboard.station.logs import Logs
from caudal.onboard.station.mission_items import ENDINGS, PASSED_OVER, WAYPOINTS
from caudal.onboard.station.missions import Missions
from caudal.onboard.station.mode_numbers import NUMBERS
from caudal.onboard.station.parameters import Parameters
from caudal.onboard.station.pilot import Pilot
from caudal.onboard.station.session import Session
from caudal.onboard.station.station_link import BYTES_A_SECOND
from caudal.onboard.station.sticks import SILENT_S
from caudal.onboard.station.telemetry import STREAMS

HEAD = """# MAVLink

What vehicles say to ground stations and hear from them (`caudal run VEHICLE --mavlink ADDRESS`). Protocol version 2,
dialect `common`. Made from the code's own tables by `python -m caudal.onboard.station.document`.

## Addresses

"""
SIGNING = f"""
## Signing

`--mavlink-key FILE` holds 32 bytes or a passphrase (hashed by SHA-256, as MAVProxy and QGroundControl do); others may
not read the file. Then only signed frames are taken, and all that is said is signed. RADIO_STATUS alone may come
unsigned: radios make it, and nothing is done on its word. Unsigned, wrongly signed, replayed and too old frames are
counted, told (STATUSTEXT) and recorded (event `frames refused`). Times are kept in `FILE.times`, so that a restarted
vehicle hears nothing twice. A key never travels: SETUP_SIGNING is refused. MAVSDK 3 cannot sign.

## Limits

One station is heard for {BYTES_A_SECOND:,} bytes a second; the rest is dropped unread, told and recorded. Of sticks and
set-points only the latest counts. A disarm goes before everything else, whoever sends it. Commands to system 0 (all)
are taken by a fleet only if they disarm.

## Places

North is `x`, turned by `station.bearing_deg`; east is to starboard of it; down is the depth. The globe begins at
`station.origin` of the vehicle file or `--mavlink-origin`; a simulation without one lies where PX4's does. Altitudes
count from the surface: an altitude of -2 is a depth of 2 m, and one above the water is refused.

## Sticks

MANUAL_CONTROL by `station.axes` of the vehicle file. Vehicles with thrusters: x ahead, y to starboard, z up (500 is
the middle), r turns to starboard. Vehicles that beat: z is the beat (0 is none, below it astern), r turns, x forward
is down. Mode manual needs sticks from the start: without them the failsafe pilot_lost holds the vehicle.
Of several stations that send sticks the first flies, until it is silent for {SILENT_S:g} s or the vehicle is disarmed;
the others are told once.

## Faults for rehearsal

A simulated vehicle takes any fault of docs/faults.md as a STATUSTEXT: `fault silent:depth` begins now, `fault
jammed:tail_2@30+5` at second 30 for 5 s; `mend silent:depth` ends it, `mend depth` all that befalls one part, `mend`
everything. The answer is a STATUSTEXT, too, and the log has an event `rehearsal`. MAVProxy: `module load message`, then
`message STATUSTEXT 6 "b'fault silent:depth'"`; pymavlink: `statustext_send(6, b"fault silent:depth")`. Longer ones come
in pieces, as the protocol has it. MAV_CMD_INJECT_FAILURE is for what it has numbers for; its "ok" mends one part alone.
A STATUSTEXT names no vehicle, so a fleet takes the command only. Real vehicles refuse both.

## Modes

As whom the vehicle presents itself is `station.autopilot` of its file. As a PX4 everything in MAVSDK works and whole
numbers among parameters arrive in every client; MAVProxy 1.8.75 cannot use its `mode NAME` then (it sends three numbers
where one belongs; `long DO_SET_MODE 1 1 0` is manual). As an ArduPilot `mode NAME` works, and MAVSDK's hold does not.
PX4's stabilised, altitude and position control are manual here, too, and a return is surface.

"""
TAIL = """
Besides, when there is something to tell: COMMAND_ACK, STATUSTEXT, PARAM_VALUE, MISSION_COUNT, MISSION_ITEM_INT,
MISSION_REQUEST_INT, MISSION_ACK, MISSION_ITEM_REACHED, MESSAGE_INTERVAL, LOG_ENTRY, LOG_DATA, TIMESYNC, PING,
FILE_TRANSFER_PROTOCOL.
"""


def markdown() -> str:
    """The whole document."""
    lines = [HEAD, _indented(address.__doc__ or ""), SIGNING]
    table = [(modes.NAMES[mode], *(f"{NUMBERS[a][mode]:#x}" for a in NUMBERS)) for mode in NUMBERS["px4"]]
    lines += _table(("mode", *NUMBERS), table)
    lines.append("\n## Commands\n\nEvery other command is answered with COMMAND_ACK, unsupported.\n\n")
    lines += _table(("command", "what it does"), command_names().items())
    lines.append("\n## Messages that are heard\n\n")
    parts = (Session, Commands, Pilot, Parameters, Missions, Logs, Ftp)
    lines += _table(("message", ""), [row for part in parts for row in part.HEARS.items()])
    lines.append("\n## Items of a mission\n\n")
    endings = {command: what for command, (_, what) in ENDINGS.items()}
    items = {**WAYPOINTS, **endings, **PASSED_OVER}
    lines += _table(("item", ""), [(name_of("MAV_CMD", number), about) for number, about in items.items()])
    lines.append(
        "\n## Messages that are said\n\nA station may ask for other rates, and for any of them once.\n\n"
    )
    said = [
        (mavlink.mavlink_map[number].msgname, f"{hz:g}" if hz else "-") for number, (hz, _) in STREAMS.items()
    ]
    lines += _table(("message", "a second"), said)
    lines.append(TAIL)
    return "".join(lines)


def _table(head: tuple, rows) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |\n" for line in lines]


def _indented(text: str) -> str:
    return text.strip() + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
