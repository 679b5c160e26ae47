"""MAVLink FTP: there are no files; every request gets an error at once, so that a station does not wait."""

from typing import TYPE_CHECKING, Any

from caudal.onboard.station.dialect import mavlink

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session

NAK, FILE_NOT_FOUND, UNKNOWN_COMMAND = 129, 10, 7
OPEN_TO_READ, LIST, RESET = 4, 3, 2
_OPCODE, _SIZE, _REQUEST, _DATA = 3, 4, 5, 12


class Ftp:
    """Rejects every request."""

    MESSAGES = {
        "FILE_TRANSFER_PROTOCOL": "refused: there are no files; parameters and logs have their own messages"
    }

    def __init__(self, session: "Session") -> None:
        self._session = session

    def file_transfer_protocol(self, message: Any) -> None:
        """Answers with an error."""
        request = message.payload
        if request[_OPCODE] >= 128:  # an answer, not a request
            return
        sequence = (request[0] | request[1] << 8) + 1 & 0xFFFF
        answer = [0] * 251
        answer[0], answer[1], answer[2] = sequence & 0xFF, sequence >> 8, request[2]
        answer[_OPCODE], answer[_SIZE], answer[_REQUEST] = NAK, 1, request[_OPCODE]
        answer[_DATA] = FILE_NOT_FOUND if request[_OPCODE] in (OPEN_TO_READ, LIST) else UNKNOWN_COMMAND
        self._session.send(mavlink.MAVLink_file_transfer_protocol_message(0, *self._session.sender, answer))
