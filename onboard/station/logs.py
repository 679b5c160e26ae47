"""Lists and downloads the logs in the run's folder, the newest last. Not while the vehicle is armed: a download uses
the whole link, so that stations could not control the vehicle. Erasing is rejected."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caudal.onboard.station.dialect import mavlink

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session

PIECE = 90  # bytes in a LOG_DATA
PIECES_A_STEP = 40
MAX_LOGS = 1000


class Logs:
    """One station's list and download."""

    MESSAGES = {
        "LOG_REQUEST_LIST": "the MCAP files of the run's folder; none while armed",
        "LOG_REQUEST_DATA": "parts of one, at a limited rate; refused while armed",
        "LOG_REQUEST_END": "ends a download",
        "LOG_ERASE": "refused",
    }

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._files: list[Path] = []
        self._list: list[int] = []  # entries still to send
        self._file: Any = None
        self._id = 0
        self._at = self._end = 0

    def step(self, now_s: float) -> None:
        """Sends as many entries and pieces as the link can carry."""
        if (self._list or self._file) and self._session.vehicle_link.snapshot.armed:
            self._refuse()
        while self._list and self._session.has_room():
            self._send_entry(self._list.pop(0))
        for _ in range(PIECES_A_STEP):
            if self._file is None or not self._session.has_room():
                return
            self._send_piece()

    def log_request_list(self, message: Any) -> None:
        """Starts sending the list."""
        if self._session.vehicle_link.snapshot.armed:
            self._refuse()
            return
        folder = self._session.vehicle_link.logs
        found = list(folder.glob("*.mcap"))[:MAX_LOGS] if folder else []
        self._files = sorted(found, key=lambda path: (_stat(path)[1], path.name))
        if not self._files:
            self._session.send(mavlink.MAVLink_log_entry_message(0, 0, 0, 0, 0))
        last = min(message.end, len(self._files) - 1)
        self._list = list(range(message.start, last + 1))

    def log_request_data(self, message: Any) -> None:
        """Starts sending a part of a log."""
        if self._session.vehicle_link.snapshot.armed:
            self._refuse()
            return
        if not 0 <= message.id < len(self._files):
            self._session.text(
                mavlink.MAV_SEVERITY_WARNING, f"there is no log {message.id}; ask for the list first"
            )
            return
        if self._file is None or message.id != self._id:
            self._close()
            try:
                self._file = self._files[message.id].open("rb")
            except OSError as error:
                self._session.text(mavlink.MAV_SEVERITY_ERROR, f"log {message.id}: {error.strerror}")
                return
            self._id = message.id
        self._at = message.ofs
        self._end = message.ofs + message.count

    def log_request_end(self, message: Any) -> None:
        """Ends a download."""
        self._close()

    def log_erase(self, message: Any) -> None:
        """Rejects erasing."""
        self._session.text(mavlink.MAV_SEVERITY_WARNING, "a station cannot erase logs")

    def end(self) -> None:
        """Ends a download; the station is gone."""
        self._close()

    def _send_entry(self, index: int) -> None:
        size, time_s = _stat(self._files[index])
        self._session.send(
            mavlink.MAVLink_log_entry_message(
                index, len(self._files), len(self._files) - 1, int(time_s), size
            )
        )

    def _send_piece(self) -> None:
        count = min(PIECE, self._end - self._at)
        try:
            data = os.pread(self._file.fileno(), count, self._at)
        except OSError:
            data = b""
        full = list(data) + [0] * (PIECE - len(data))
        self._session.send(mavlink.MAVLink_log_data_message(self._id, self._at, len(data), full))
        self._at += len(data)
        if self._at >= self._end or len(data) < PIECE:
            self._close()

    def _refuse(self) -> None:
        self._list = []
        self._close()
        self._session.text(mavlink.MAV_SEVERITY_WARNING, "no logs while it is armed; disarm first")

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _stat(path: Path) -> tuple[int, float]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0.0
    return min(found.st_size, 0xFFFFFFFF), max(found.st_mtime, 0)
