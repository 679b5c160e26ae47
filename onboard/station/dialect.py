"""The MAVLink dialect that vehicles speak: `common`, protocol version 2."""

from pymavlink.dialects.v20 import common as mavlink

OWN_COMPONENT = mavlink.MAV_COMP_ID_AUTOPILOT1
TEXT_BYTES = 50  # of a STATUSTEXT; longer ones go in pieces


def name_of(enum: str, number: int) -> str:
    """An entry of one of the dialect's enums by number, as it is written there."""
    entry = mavlink.enums[enum].get(number)
    return entry.name if entry else str(number)
