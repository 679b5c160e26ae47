"""Commands of MAVLink: each becomes a command to the loop or is answered at once; each gets one COMMAND_ACK, and a
rejected one a text with the reason."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from caudal.onboard.core import modes
from caudal.onboard.station.dialect import mavlink, name_of
from caudal.onboard.station.fault_requests import FaultRequests, injection
from caudal.onboard.station.pilot import GLOBAL, heading_of

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session

ACCEPTED, DENIED = mavlink.MAV_RESULT_ACCEPTED, mavlink.MAV_RESULT_DENIED
FAILED, UNSUPPORTED = mavlink.MAV_RESULT_FAILED, mavlink.MAV_RESULT_UNSUPPORTED
BUSY = mavlink.MAV_RESULT_TEMPORARILY_REJECTED


@dataclass(frozen=True)
class Command:
    """A COMMAND_LONG or COMMAND_INT; a position is in degrees, or in metres in a local frame."""

    number: int
    params: tuple[float, ...]  # 1 to 7
    frame: int
    sender: tuple[int, int]

    @classmethod
    def of(cls, message: Any, sender: tuple[int, int]) -> "Command":
        """From a message."""
        first = message.param1, message.param2, message.param3, message.param4
        if message.get_type() == "COMMAND_INT":
            scale = 1e7 if message.frame in GLOBAL else 1e4
            position = message.x / scale, message.y / scale, message.z
            return cls(message.command, (*first, *position), message.frame, sender)
        position = message.param5, message.param6, message.param7
        return cls(message.command, (*first, *position), mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT, sender)

    def whole(self, k: int) -> int:
        """Parameter k (from 1) as a whole number; -1 if it is not one."""
        value = self.params[k - 1]
        return int(value) if value == value and abs(value) < 1e9 and value == int(value) else -1


Answer = tuple[int, str | None] | None  # MAV_RESULT and a reason; None: the loop will answer


class Commands:
    """One station's commands."""

    MESSAGES = {
        "COMMAND_LONG": "answered with COMMAND_ACK, always",
        "COMMAND_INT": "the same",
        "SET_MODE": "an older command that sets the mode",
        **FaultRequests.MESSAGES,
    }

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._vehicle_link = session.vehicle_link
        self._fault_requests = FaultRequests(session)
        self.statustext = self._fault_requests.statustext

    def command_long(self, message: Any) -> None:
        """Handles a command."""
        command = Command.of(message, self._session.sender)
        entry = TABLE.get(command.number)
        if entry is None:
            self._ack(command, UNSUPPORTED)
            return
        answer = entry[0](self, command)
        if answer is not None:
            self._answer(command, *answer)

    command_int = command_long

    def set_mode(self, message: Any) -> None:
        """Handles the older message for a mode."""
        number = mavlink.MAVLINK_MSG_ID_SET_MODE  # the number in the answer to this older message
        command = Command(number, (), 0, self._session.sender)
        name = self._vehicle_link.numbers.name(message.custom_mode)
        if not message.base_mode & mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED or name is None:
            self._answer(command, DENIED, f"there is no mode {message.custom_mode:#x}")
        else:
            self._submit(command, "mode", name)

    # ---- handlers of commands

    def _arm_or_disarm(self, command: Command) -> Answer:
        if command.whole(1) not in (0, 1):
            return DENIED, "arm is 1, disarm is 0"
        self._submit(command, "arm" if command.whole(1) else "disarm")
        return None

    def _set_mode(self, command: Command) -> Answer:
        base, main, sub = command.whole(1), *command.params[1:3]
        name = self._vehicle_link.numbers.name_of_command(main, sub) if main == main and sub == sub else None
        if base < 0 or not base & mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED or name is None:
            return DENIED, f"there is no such mode; the vehicle has {', '.join(self._vehicle_link.modes)}"
        self._submit(command, "mode", name)
        return None

    def _hold(self, command: Command) -> Answer:
        self._submit(command, "mode", modes.NAMES[modes.HOLD])
        return None

    def _surface(self, command: Command) -> Answer:
        self._submit(command, "mode", modes.NAMES[modes.SURFACE])
        return None

    def _pause_or_continue(self, command: Command) -> Answer:
        if command.whole(1) not in (0, 1):
            return DENIED, "0 is pause, 1 is continue"
        self._submit(command, "mode", modes.NAMES[modes.MISSION if command.whole(1) else modes.HOLD])
        return None

    def _go(self, command: Command) -> Answer:
        """Sets the position to go to, and mode goto if the command requests it."""
        change = max(command.whole(2), 0) & mavlink.MAV_DO_REPOSITION_FLAGS_CHANGE_MODE
        if not change and self._vehicle_link.snapshot.requested_mode != modes.GOTO:
            return DENIED, "the vehicle is not in mode goto, and the command does not request it"
        yaw, latitude, longitude, altitude = command.params[3:]
        if command.frame not in GLOBAL or self._vehicle_link.coordinates.origin is None:
            return DENIED, "it needs a global frame, and station.origin in the vehicle file"
        if not (math.isfinite(latitude) and math.isfinite(longitude)):
            return DENIED, "it needs a latitude and a longitude"
        x_m, y_m = self._vehicle_link.coordinates.from_globe(latitude, longitude)
        depth_m = None if altitude != altitude else -altitude
        heading_rad = None if yaw != yaw else heading_of(self._vehicle_link, yaw)
        pose = x_m, y_m, depth_m, heading_rad

        def sent(refusal: str | None) -> None:
            if refusal or not change:
                self._done(command, refusal)
            else:
                self._submit(command, "mode", modes.NAMES[modes.GOTO])

        if not self._session.submit("goto", *pose, done=sent):
            return BUSY, None
        return None

    def _start_mission(self, command: Command) -> Answer:
        first = command.whole(1)
        if first < 0:
            return DENIED, "there is no such item"

        def begun(refusal: str | None) -> None:
            if refusal:
                self._answer(command, DENIED, None)
            else:
                self._submit(command, "mode", modes.NAMES[modes.MISSION])

        if first == 0:  # from the current item
            self._submit(command, "mode", modes.NAMES[modes.MISSION])
        else:
            self._session.missions.begin(first, begun)
        return None

    def _set_current(self, command: Command) -> Answer:
        if command.whole(1) < 0:  # or not a whole number
            return DENIED, "there is no such item"
        self._session.missions.begin(
            command.whole(1), lambda refusal: self._ack(command, DENIED if refusal else ACCEPTED)
        )
        return None

    def _request_message(self, command: Command) -> Answer:
        number = command.whole(1)
        if number == mavlink.MAVLINK_MSG_ID_MESSAGE_INTERVAL:
            return self._send_interval(command.whole(2))
        if not self._session.telemetry.knows(number):
            return UNSUPPORTED, None
        if not self._session.send_now(number):
            return BUSY, None
        return ACCEPTED, None

    def _set_interval(self, command: Command) -> Answer:
        done = self._session.telemetry.set_interval(command.whole(1), command.params[1])
        return (ACCEPTED if done else DENIED), None

    def _get_interval(self, command: Command) -> Answer:
        return self._send_interval(command.whole(1))

    def _send_interval(self, number: int) -> Answer:
        if not 0 <= number < 1 << 16:
            return DENIED, None
        interval_us = self._session.telemetry.interval_us(number)
        self._session.send(mavlink.MAVLink_message_interval_message(number, interval_us))
        return ACCEPTED, None

    def _send_version(self, command: Command) -> Answer:
        self._session.send_now(mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION)
        return ACCEPTED, None

    def _send_home(self, command: Command) -> Answer:
        sent = self._session.send_now(mavlink.MAVLINK_MSG_ID_HOME_POSITION)
        return (ACCEPTED, None) if sent else (DENIED, "the vehicle file has no station.origin")

    def _check(self, command: Command) -> Answer:
        now = self._vehicle_link.snapshot
        self._session.text(
            mavlink.MAV_SEVERITY_NOTICE, now.fault or now.arming_refusal or "nothing blocks arming"
        )
        return ACCEPTED, None

    def _inject_failure(self, command: Command) -> Answer:
        request = injection(*(command.whole(k) for k in (1, 2, 3)))
        if request is None:
            return UNSUPPORTED, None
        refusal = self._fault_requests.submit(request, lambda refusal: self._done(command, refusal))
        return (DENIED, refusal) if refusal else None

    def _calibrate(self, command: Command) -> Answer:
        return DENIED, "a station cannot calibrate: use caudal calibrate on the vehicle"

    def _reboot(self, command: Command) -> Answer:
        return DENIED, "the vehicle's service manager starts and stops it"

    def _set_home(self, command: Command) -> Answer:
        return DENIED, "home is the origin in the vehicle file"

    # ---- answers

    def _submit(self, command: Command, kind: str, *values: Any) -> None:
        if not self._session.submit(kind, *values, done=lambda refusal: self._done(command, refusal)):
            self._answer(command, BUSY, f"{kind}: too many commands are waiting")

    def _done(self, command: Command, refusal: str | None) -> None:
        self._answer(command, DENIED if refusal else ACCEPTED, refusal)

    def _answer(self, command: Command, result: int, why: str | None) -> None:
        if result == DENIED and why:
            self._session.text(mavlink.MAV_SEVERITY_WARNING, why)
        self._ack(command, result)

    def _ack(self, command: Command, result: int) -> None:
        self._session.send(mavlink.MAVLink_command_ack_message(command.number, result, 0, 0, *command.sender))


Handler = Callable[[Commands, Command], Answer]

# The commands that are supported; all others are answered as unsupported.
TABLE: dict[int, tuple[Handler, str]] = {
    mavlink.MAV_CMD_COMPONENT_ARM_DISARM: (
        Commands._arm_or_disarm,
        "arms, disarms; the force flag has no effect",
    ),
    mavlink.MAV_CMD_DO_SET_MODE: (Commands._set_mode, "sets the mode, by number"),
    mavlink.MAV_CMD_NAV_LOITER_UNLIM: (Commands._hold, "mode hold"),
    mavlink.MAV_CMD_NAV_LAND: (Commands._surface, "mode surface"),
    mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH: (Commands._surface, "mode surface"),
    mavlink.MAV_CMD_DO_PAUSE_CONTINUE: (Commands._pause_or_continue, "mode hold, mode mission"),
    mavlink.MAV_CMD_DO_REPOSITION: (Commands._go, "mode goto, to a position"),
    mavlink.MAV_CMD_MISSION_START: (Commands._start_mission, "mode mission, starting at an item"),
    mavlink.MAV_CMD_DO_SET_MISSION_CURRENT: (Commands._set_current, "sets the current item"),
    mavlink.MAV_CMD_REQUEST_MESSAGE: (Commands._request_message, "sends one of the messages below once"),
    mavlink.MAV_CMD_SET_MESSAGE_INTERVAL: (Commands._set_interval, "sets how often, for this station"),
    mavlink.MAV_CMD_GET_MESSAGE_INTERVAL: (Commands._get_interval, "reports how often"),
    mavlink.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES: (Commands._send_version, "AUTOPILOT_VERSION"),
    mavlink.MAV_CMD_GET_HOME_POSITION: (Commands._send_home, "HOME_POSITION"),
    mavlink.MAV_CMD_RUN_PREARM_CHECKS: (Commands._check, "reports what blocks arming"),
    mavlink.MAV_CMD_INJECT_FAILURE: (Commands._inject_failure, "in a simulation: injects a fault"),
    mavlink.MAV_CMD_PREFLIGHT_CALIBRATION: (Commands._calibrate, "refused: `caudal calibrate`"),
    mavlink.MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN: (Commands._reboot, "refused"),
    mavlink.MAV_CMD_DO_SET_HOME: (Commands._set_home, "refused: home is the origin"),
}


def command_names() -> dict[str, str]:
    """The supported commands and what they do."""
    return {name_of("MAV_CMD", number): about for number, (_, about) in TABLE.items()}
