"""Faults for rehearsal, in simulations alone: a text for all that can go wrong, a command for what it has numbers for.

    fault silent:depth@20+5      as `caudal run --fault` has it (docs/faults.md)
    mend silent:depth            ends it; `mend depth` all that befalls one part, `mend` everything
    inject depth off 1           of MAV_CMD_INJECT_FAILURE: part, what befalls it, which of them from 1, or 0 for all

Whoever starts the run does what is asked, between two ticks.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from caudal.onboard.station.dialect import TEXT_BYTES, mavlink

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session

ASKS = ("fault", "mend")  # how a text begins that is for us
MOST_PIECES = 4  # of a text that is longer than one message
PARTS = {  # FAILURE_UNIT
    mavlink.FAILURE_UNIT_SENSOR_GYRO: "gyro",
    mavlink.FAILURE_UNIT_SENSOR_MAG: "heading",
    mavlink.FAILURE_UNIT_SENSOR_BARO: "depth",
    mavlink.FAILURE_UNIT_SENSOR_GPS: "position",
    mavlink.FAILURE_UNIT_SENSOR_VIO: "position",
    mavlink.FAILURE_UNIT_SENSOR_DISTANCE_SENSOR: "sonar",
    mavlink.FAILURE_UNIT_SYSTEM_BATTERY: "battery",
    mavlink.FAILURE_UNIT_SYSTEM_MOTOR: "thruster",
    mavlink.FAILURE_UNIT_SYSTEM_SERVO: "servo",
}
BEFALLS = {  # FAILURE_TYPE
    mavlink.FAILURE_TYPE_OK: "ok",
    mavlink.FAILURE_TYPE_OFF: "off",
    mavlink.FAILURE_TYPE_STUCK: "stuck",
    mavlink.FAILURE_TYPE_GARBAGE: "garbage",
    mavlink.FAILURE_TYPE_WRONG: "wrong",
    mavlink.FAILURE_TYPE_SLOW: "slow",
    mavlink.FAILURE_TYPE_DELAYED: "delayed",
    mavlink.FAILURE_TYPE_INTERMITTENT: "intermittent",
}


def injection(unit: int, failure: int, which: int) -> str | None:
    """What a command asks for, of the `which`-th from 1, or of all for 0; None if there is nothing of the kind here."""
    part, befalls = PARTS.get(unit), BEFALLS.get(failure)
    return f"inject {part} {befalls} {which}" if part and befalls and which >= 0 else None


class Rehearsals:
    HEARS = {"STATUSTEXT": "`fault ...` and `mend ...`: see above; other texts are ignored"}

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._craft = session.vehicle_link
        self._begun: tuple[Any, list[str]] = (None, [])  # a text that goes on: of whom, and its pieces

    def ask(self, asked: str, done: Callable[[str | None], None]) -> str | None:
        """None: `done(refusal)` hears what became of it. Or why it is not even tried."""
        if not self._craft.rehearses:
            return "faults are rehearsed in simulations alone"

        def told(refusal: str | None) -> None:
            details = {"refused": refusal} if refusal else {}
            self._craft.bridge.note(
                "rehearsal", vehicle=self._craft.name, fault=asked.removeprefix("fault "), **details
            )
            done(refusal)

        return None if self._craft.bridge.fail(asked, told) else "too many faults wait to be rehearsed"

    def statustext(self, message: Any) -> None:
        text = self._whole(message)
        if text is None or text.split(" ")[0] not in ASKS:
            return

        def done(refusal: str | None) -> None:
            severity = mavlink.MAV_SEVERITY_WARNING if refusal else mavlink.MAV_SEVERITY_NOTICE
            self._session.text(severity, refusal or f"{text}: done")

        refusal = self.ask(text, done)
        if refusal:
            done(refusal)

    def _whole(self, message: Any) -> str | None:
        """The text, once its last piece has come; a piece that is full goes on, if it has a number."""
        if not message.id:
            return message.text.strip()
        stream = *self._session.heard_from, message.id
        begun, pieces = self._begun
        pieces = pieces if begun == stream else []
        self._begun = None, []
        if message.chunk_seq != len(pieces) or len(pieces) >= MOST_PIECES:
            return None
        pieces = [*pieces, message.text]
        if len(message.text) == TEXT_BYTES:
            self._begun = stream, pieces
            return None
        return "".join(pieces).strip()
