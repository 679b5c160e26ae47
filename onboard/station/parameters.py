"""Parameters: list, read, set. A set is a command to the loop; its answer is the value after it.

Whole numbers travel as their bytes in place of the float (PARAM_ENCODE_BYTEWISE), as in PX4; a vehicle that presents
itself as an ArduPilot sends them as floats, because its clients expect that.
"""

import struct
from typing import TYPE_CHECKING, Any

from caudal.onboard.station.dialect import mavlink

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session

FLOAT, INT32 = mavlink.MAV_PARAM_TYPE_REAL32, mavlink.MAV_PARAM_TYPE_INT32
INTEGERS = {  # number of the four bytes in use, and whether they are signed
    mavlink.MAV_PARAM_TYPE_UINT8: (1, False),
    mavlink.MAV_PARAM_TYPE_INT8: (1, True),
    mavlink.MAV_PARAM_TYPE_UINT16: (2, False),
    mavlink.MAV_PARAM_TYPE_INT16: (2, True),
    mavlink.MAV_PARAM_TYPE_UINT32: (4, False),
    mavlink.MAV_PARAM_TYPE_INT32: (4, True),
}
A_STEP = 10  # values of a list


class Parameters:
    """One station's access to the parameters."""

    MESSAGES = {
        "PARAM_REQUEST_LIST": "all of them, at the rate that the link allows",
        "PARAM_REQUEST_READ": "one, by name or by number",
        "PARAM_SET": "answered with the new value; if refused, the reason is sent as a STATUSTEXT, too",
    }

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._vehicle_link = session.vehicle_link
        self._at: int | None = None  # the next index of a list that is being sent

    def step(self, now_s: float) -> None:
        """Sends as much of a list as the link can carry."""
        for _ in range(A_STEP):
            if self._at is None or not self._session.has_room():
                return
            self._send_value(self._at)
            self._at = self._at + 1 if self._at + 1 < len(self._names) else None

    def param_request_list(self, message: Any) -> None:
        """Begins a list."""
        self._at = 0 if self._names else None

    def param_request_read(self, message: Any) -> None:
        """Sends one value."""
        names = self._names
        index = message.param_index
        if index == -1:
            index = names.index(message.param_id) if message.param_id in names else -1
        if 0 <= index < len(names):
            self._send_value(index)
        else:
            self._session.text(mavlink.MAV_SEVERITY_WARNING, f"no parameter {message.param_id or index}")

    def param_set(self, message: Any) -> None:
        """Sets one value."""
        name = message.param_id
        if name not in self._names:
            self._session.text(mavlink.MAV_SEVERITY_WARNING, f"no parameter {name}")
            return
        kind = self._vehicle_link.param_kinds.get(name)
        type_ = message.param_type if self._vehicle_link.bytewise else FLOAT
        value = decoded(message.param_value, type_, kind)
        if value is None or value != value or abs(value) == float("inf"):
            self._refused(name, "is not a number")
        elif not self._session.submit("set", name, value, done=lambda refusal: self._set(name, refusal)):
            self._refused(name, "was not set: too many commands are waiting")

    @property
    def _names(self) -> list[str]:
        return [] if self._vehicle_link.params is None else self._vehicle_link.params.names

    def _set(self, name: str, refusal: str | None) -> None:
        if refusal:
            self._session.text(mavlink.MAV_SEVERITY_WARNING, refusal)
        self._send_value(self._names.index(name))

    def _refused(self, name: str, why: str) -> None:
        self._session.text(mavlink.MAV_SEVERITY_WARNING, f"{name} {why}")
        self._send_value(self._names.index(name))

    def _send_value(self, index: int) -> None:
        params = self._vehicle_link.params
        assert params is not None
        name = params.names[index]
        kind = self._vehicle_link.param_kinds.get(name)
        value, type_ = encoded(params.value(name), kind, self._vehicle_link.bytewise)
        self._session.send(
            mavlink.MAVLink_param_value_message(name.encode()[:16], value, type_, len(self._names), index)
        )


def encoded(value: float, kind: str | None, bytewise: bool = True) -> tuple[float, int]:
    """A value as the float of a message, and its MAV_PARAM_TYPE."""
    if kind == "int" and not bytewise:
        return float(value), INT32
    if kind == "int":
        return struct.unpack("<f", struct.pack("<i", int(value)))[0], INT32
    return float(value), FLOAT


def decoded(value: float, type_: int, kind: str | None) -> float | int | None:
    """The value of a message's float; None if it has no meaning."""
    if type_ in INTEGERS:
        size, signed = INTEGERS[type_]
        number = int.from_bytes(struct.pack("<f", value)[:size], "little", signed=signed)
        return number if kind == "int" else float(number)
    if type_ != FLOAT:
        return None
    if kind == "int":
        return int(value) if value == value and abs(value) < 2**31 and value == int(value) else None
    return shortest(value)


def shortest(value: float) -> float:
    """The shortest decimal number of a 4-byte float: 0.1, not 0.10000000149."""
    if value == value:
        for digits in range(6, 10):
            short = float(f"{value:.{digits}g}")
            try:
                if struct.pack("<f", short) == struct.pack("<f", value):
                    return short
            except OverflowError:
                break
    return value
