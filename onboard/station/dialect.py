"""The MAVLink dialect of the vehicles: `common`, protocol version 2."""

from pymavlink.dialects.v20 import common as mavlink

__all__ = ["OWN_COMPONENT", "TEXT_BYTES", "mavlink", "name_of"]

OWN_COMPONENT = mavlink.MAV_COMP_ID_AUTOPILOT1
TEXT_BYTES = 50  # of a STATUSTEXT; a longer text is sent in pieces


def name_of(enum: str, number: int) -> str:
    """The name of an entry of one of the dialect's enums."""
    entry = mavlink.enums[enum].get(number)
    return entry.name if entry else str(number)
