"""Fault injection on request of a station, in simulations only: by a text, or by a command for some faults.

    fault silent:depth@20+5      as `caudal run --fault` has it (docs/faults.md)
    mend silent:depth            clears it; `mend depth` clears all faults of one part, `mend` all faults
    inject depth off 1           of MAV_CMD_INJECT_FAILURE: part, failure, number of the part from 1, or 0 for all

The simulation executes a request between two ticks.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from caudal.onboard.station.dialect import TEXT_BYTES, mavlink

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session

REQUESTS = ("fault", "mend")  # first words of a request
MAX_PIECES = 4  # of a text
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
FAILURES = {  # FAILURE_TYPE
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
    """The request of a command for the `which`-th part from 1, or 0 for all; None if it is not supported."""
    part, fails = PARTS.get(unit), FAILURES.get(failure)
    return f"inject {part} {fails} {which}" if part and fails and which >= 0 else None


class FaultRequests:
    """One station's requests."""

    MESSAGES = {"STATUSTEXT": "`fault ...` and `mend ...`: see above; other texts are ignored"}

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._vehicle_link = session.vehicle_link
        self._begun: tuple[Any, list[str]] = (None, [])  # an incomplete text: its stream and pieces

    def submit(self, request: str, done: Callable[[str | None], None]) -> str | None:
        """Queues a request, `done` gets its result; or why it is rejected at once."""
        if not self._vehicle_link.injects_faults:
            return "faults can be injected in simulations only"

        def answered(refusal: str | None) -> None:
            details = {"refused": refusal} if refusal else {}
            self._vehicle_link.bridge.note(
                "rehearsal", vehicle=self._vehicle_link.name, fault=request.removeprefix("fault "), **details
            )
            done(refusal)

        return (
            None
            if self._vehicle_link.bridge.fail(request, answered)
            else "too many requests for faults are waiting"
        )

    def statustext(self, message: Any) -> None:
        """Handles a text that may be a request."""
        text = self._complete(message)
        if text is None or text.split(" ")[0] not in REQUESTS:
            return

        def done(refusal: str | None) -> None:
            severity = mavlink.MAV_SEVERITY_WARNING if refusal else mavlink.MAV_SEVERITY_NOTICE
            self._session.text(severity, refusal or f"{text}: done")

        refusal = self.submit(text, done)
        if refusal:
            done(refusal)

    def _complete(self, message: Any) -> str | None:
        """The text when its last piece has come, else None; a full piece of a numbered text is not the last."""
        if not message.id:
            return str(message.text).strip()
        stream = *self._session.sender, message.id
        begun, pieces = self._begun
        pieces = pieces if begun == stream else []
        self._begun = None, []
        if message.chunk_seq != len(pieces) or len(pieces) >= MAX_PIECES:
            return None
        pieces = [*pieces, message.text]
        if len(message.text) == TEXT_BYTES:
            self._begun = stream, pieces
            return None
        return "".join(pieces).strip()
