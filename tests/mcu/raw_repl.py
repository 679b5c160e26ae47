"""A board's prompt for programs (raw REPL) on its standard input and output, so that mpremote has a board to talk to.

    cd FLASH && micropython tests/mcu/raw_repl.py <LINE >LINE

MicroPython. It ends when the board is reset. Raw-paste mode is refused, as by old boards.
"""

import sys

BANNER = b"raw REPL; CTRL-B to exit\r\n>"


class Board:
    def __init__(self):
        self._names = {"__name__": "__main__"}

    def _byte(self):
        return sys.stdin.buffer.read(1)

    def _write(self, text):
        sys.stdout.buffer.write(text)

    def serve(self):
        raw = False
        source = b""
        while True:
            byte = self._byte()
            if byte == b"\x01":
                raw = True
                source = b""
                self._write(BANNER)
            elif byte == b"\x02":
                raw = False
                self._write(b"\r\n>>> ")
            elif byte == b"\x03" or not raw:
                source = b""
            elif byte == b"\x05":
                self._byte()
                self._byte()
                self._write(b"R\x00")
            elif byte != b"\x04":
                source += byte
            elif source:
                self._run(source.decode())
                source = b""
            else:
                self._write(b"OK\r\nMPY: soft reboot\r\n" + BANNER)

    def _run(self, source):
        self._write(b"OK")
        problem = ""
        try:
            exec(source, self._names)
        except Exception as error:
            problem = f"Traceback (most recent call last):\n{type(error).__name__}: {error}"
        self._write(b"\x04" + problem.encode() + b"\x04>")


Board().serve()
