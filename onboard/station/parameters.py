"""Parameters: list, read, set. A set is an order to the loop; its answer is the value that then holds.

Whole numbers travel as their bytes in the float's place (PARAM_ENCODE_BYTEWISE), as PX4 has it; a vehicle that says it
is an ArduPilot sends them as floats, because clients go by that.
"""

import struct
from typing import TYPE_CHECKING, Any

from caudal.onboard.station.dialect import mavlink

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session

FLOAT, INT32 = mavlink.MAV_PARAM_TYPE_REAL32, mavlink.MAV_PARAM_TYPE_INT32
INTEGERS = {  # how many bytes of the four count, and whether they are signed
    mavlink.MAV_PARAM_TYPE_UINT8: (1, False),
    mavlink.MAV_PARAM_TYPE_INT8: (1, True),
    mavlink.MAV_PARAM_TYPE_UINT16: (2, False),
    mavlink.MAV_PARAM_TYPE_INT16: (2, True),
    mavlink.MAV_PARAM_TYPE_UINT32: (4, False),
    mavlink.MAV_PARAM_TYPE_INT32: (4, True),
}
A_STEP = 10  # of a list, at a time


class Parameters:
    HEARS = {
        "PARAM_REQUEST_LIST": "all of them, at the rate that the link allows",
        "PARAM_REQUEST_READ": "one, by name or by number",
        "PARAM_SET": "answered with the new value; if refused, the reason is sent as a STATUSTEXT, too",
    }

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._craft = session.vehicle_link
        self._at: int | None = None  # where a list has got to

    def step(self, now_s: float) -> None:
        for _ in range(A_STEP):
            if self._at is None or not self._session.has_room():
                return
            self._say(self._at)
            self._at = self._at + 1 if self._at + 1 < len(self._names) else None

    def param_request_list(self, message: Any) -> None:
        self._at = 0 if self._names else None

    def param_request_read(self, message: Any) -> None:
        names = self._names
        index = message.param_index
        if index == -1:
            index = names.index(message.param_id) if message.param_id in names else -1
        if 0 <= index < len(names):
            self._say(index)
        else:
            self._session.text(mavlink.MAV_SEVERITY_WARNING, f"no parameter {message.param_id or index}")

    def param_set(self, message: Any) -> None:
        name = message.param_id
        if name not in self._names:
            self._session.text(mavlink.MAV_SEVERITY_WARNING, f"no parameter {name}")
            return
        kind = self._craft.param_kinds.get(name)
        type_ = message.param_type if self._craft.bytewise else FLOAT
        value = decoded(message.param_value, type_, kind)
        if value is None or value != value or abs(value) == float("inf"):
            self._refused(name, "is no number")
        elif not self._session.order("set", name, value, done=lambda refusal: self._set(name, refusal)):
            self._refused(name, "was not set: too many orders wait")

    @property
    def _names(self) -> list[str]:
        return [] if self._craft.params is None else self._craft.params.names

    def _set(self, name: str, refusal: str | None) -> None:
        if refusal:
            self._session.text(mavlink.MAV_SEVERITY_WARNING, refusal)
        self._say(self._names.index(name))

    def _refused(self, name: str, why: str) -> None:
        self._session.text(mavlink.MAV_SEVERITY_WARNING, f"{name} {why}")
        self._say(self._names.index(name))

    def _say(self, index: int) -> None:
        name = self._names[index]
        kind = self._craft.param_kinds.get(name)
        value, type_ = encoded(self._craft.params.value(name), kind, self._craft.bytewise)
        self._session.say(
            mavlink.MAVLink_param_value_message(name.encode()[:16], value, type_, len(self._names), index)
        )


def encoded(value: float, kind: str | None, bytewise: bool = True) -> tuple[float, int]:
    """A value as its float on the wire, and the type that it has there."""
    if kind == "int" and not bytewise:
        return float(value), INT32
    if kind == "int":
        return struct.unpack("<f", struct.pack("<i", int(value)))[0], INT32
    return float(value), FLOAT


def decoded(value: float, type_: int, kind: str | None) -> float | int | None:
    """What somebody meant by a float on the wire; None if it makes no sense."""
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
    """The decimal number that somebody typed: 0.1, and not 0.10000000149, which is its float in four bytes."""
    if value == value:
        for digits in range(6, 10):
            short = float(f"{value:.{digits}g}")
            try:
                if struct.pack("<f", short) == struct.pack("<f", value):
                    return short
            except OverflowError:
                break
    return value
