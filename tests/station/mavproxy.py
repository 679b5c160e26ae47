"""MAVProxy as a process on a pseudo-terminal, controlled by its command line."""

import os
import pty
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.station.simulated import TIMEOUT_S

PROGRAM = Path(sys.executable).with_name("mavproxy.py")


class MavProxy:
    """A running MAVProxy."""

    def __init__(self, master: str, folder: Path, *more: str) -> None:
        self.output = ""
        self._master, slave = pty.openpty()
        words = [sys.executable, str(PROGRAM), f"--master={master}", "--mav20", "--no-state", *more]
        environ = os.environ | {"HOME": str(folder), "TERM": "dumb", "MAVLINK20": "1"}
        self._process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=environ, start_new_session=True
        )
        os.close(slave)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 4096)
            except OSError:
                return
            if not data:
                return
            self.output += data.decode(errors="replace")

    def type(self, words: str) -> int:
        """Types a line; the index in its output at which the answer will begin."""
        at = len(self.output)
        os.write(self._master, words.encode() + b"\n")
        return at

    def reads(self, pattern: str, since: int = 0, timeout_s: float = TIMEOUT_S) -> float:
        """Waits for a pattern in its output; how long that took."""
        start_s = time.monotonic()
        while not re.search(pattern, self.output[since:]):
            assert time.monotonic() - start_s < timeout_s, (
                f"no {pattern} in the output:\n{self.output[-3000:]}"
            )
            assert self._process.poll() is None, self.output[-3000:]
            time.sleep(0.01)
        return time.monotonic() - start_s

    def close(self) -> None:
        self._process.kill()  # it does not always end on SIGTERM
        self._process.wait()
        os.close(self._master)
