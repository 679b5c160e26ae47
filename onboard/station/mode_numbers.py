"""Numbers of modes in messages. They depend on the autopilot that the vehicle presents itself as (HEARTBEAT.autopilot).

Caudal    PX4               ArduSub      generic: onboard/core/modes.py's own
auto      Auto: Ready       Circle       0        (the scenario's own task; stations have no name for it)
manual    Manual            Manual       1
hold      Auto: Loiter      PosHold      2
goto      Offboard          Guided       3
mission   Auto: Mission     Auto         4
surface   Auto: Land        Surface      5
"""

from caudal.onboard.core import modes
from caudal.onboard.station.dialect import mavlink

AUTOPILOTS = {
    "px4": mavlink.MAV_AUTOPILOT_PX4,
    "ardupilot": mavlink.MAV_AUTOPILOT_ARDUPILOTMEGA,
    "generic": mavlink.MAV_AUTOPILOT_GENERIC,
}


def px4(main: int, sub: int = 0) -> int:
    """The number of a mode of PX4."""
    return main << 16 | sub << 24


NUMBERS = {
    "px4": {
        modes.AUTO: px4(4, 1),
        modes.MANUAL: px4(1),
        modes.HOLD: px4(4, 3),
        modes.GOTO: px4(6),
        modes.MISSION: px4(4, 4),
        modes.SURFACE: px4(4, 6),
    },
    "ardupilot": {
        modes.AUTO: 7,
        modes.MANUAL: 19,
        modes.HOLD: 16,
        modes.GOTO: 4,
        modes.MISSION: 3,
        modes.SURFACE: 9,
    },
    "generic": {mode: mode for mode in range(len(modes.NAMES))},
}
# Other numbers that stations request. Stabilised, altitude and position control are manual control, which MAVSDK starts
# with them. A return is mode surface: the vehicle comes up.
ALSO = {
    "px4": {
        px4(2): modes.MANUAL,
        px4(3): modes.MANUAL,
        px4(7): modes.MANUAL,
        px4(4, 5): modes.SURFACE,
    },
    "ardupilot": {0: modes.MANUAL, 2: modes.MANUAL},
}

_FLAG = mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
_LEADS = mavlink.MAV_MODE_FLAG_STABILIZE_ENABLED | mavlink.MAV_MODE_FLAG_GUIDED_ENABLED
BASE = {
    modes.AUTO: _FLAG | mavlink.MAV_MODE_FLAG_AUTO_ENABLED | _LEADS,
    modes.MANUAL: _FLAG | mavlink.MAV_MODE_FLAG_MANUAL_INPUT_ENABLED,
    modes.HOLD: _FLAG | mavlink.MAV_MODE_FLAG_AUTO_ENABLED | _LEADS,
    modes.GOTO: _FLAG | _LEADS,
    modes.MISSION: _FLAG | mavlink.MAV_MODE_FLAG_AUTO_ENABLED | _LEADS,
    modes.SURFACE: _FLAG | mavlink.MAV_MODE_FLAG_AUTO_ENABLED | _LEADS,
}


class ModeNumbers:
    """Modes and numbers of one autopilot."""

    def __init__(self, autopilot: str) -> None:
        self.number = NUMBERS[autopilot]
        self._modes = {number: mode for mode, number in self.number.items()} | ALSO.get(autopilot, {})
        self._px4 = autopilot == "px4"

    def name(self, custom: int) -> str | None:
        """The mode of a number, or None if there is none."""
        mode = self._modes.get(custom)
        return None if mode is None else modes.NAMES[mode]

    def name_of_command(self, main: float, sub: float) -> str | None:
        """The mode of a MAV_CMD_DO_SET_MODE, in which PX4's stations send main and sub mode as two numbers."""
        if not (0 <= main < 1 << 24 and 0 <= sub < 256):
            return None
        if self._px4 and main < 256:
            return self.name(px4(int(main), int(sub)))
        return self.name(int(main))
