"""MAVProxy as a process on a pseudo-terminal: words typed, words read."""

import os
import pty
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.station.afloat import PATIENCE_S

PROGRAM = Path(sys.executable).with_name("mavproxy.py")


class MavProxy:
    def __init__(self, master: str, folder: Path, *more: str) -> None:
        self.said = ""
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
            self.said += data.decode(errors="replace")

    def type(self, words: str) -> int:
        """A line; where in what it says the answer will begin."""
        at = len(self.said)
        os.write(self._master, words.encode() + b"\n")
        return at

    def reads(self, pattern: str, since: int = 0, patience_s: float = PATIENCE_S) -> float:
        """Waits until it has said something; how long that took."""
        start_s = time.monotonic()
        while not re.search(pattern, self.said[since:]):
            assert time.monotonic() - start_s < patience_s, f"never said {pattern}:\n{self.said[-3000:]}"
            assert self._process.poll() is None, self.said[-3000:]
            time.sleep(0.01)
        return time.monotonic() - start_s

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._master)
