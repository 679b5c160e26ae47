"""A micro:bit in QEMU: its firmware on an emulated Cortex-M0, programmed over its serial line like one in the hand.

Source goes by the prompt's paste mode, because that echoes: the next bytes are sent when the last ones have come back
as they were, and a piece with a byte lost on the way is sent again. (Without flow control a busy machine loses some.)
"""

import os
import subprocess
import time

from caudal.hal.serial_ports import Port
from caudal.tools.common.output import UsageError
from caudal.tools.common.resources import DEPLOY
from caudal.tools.hil.pty import open_line

GET = DEPLOY / "mcu" / "get-microbit"
# Bytes sent at once (the board's line holds 32) and how long their echo may take: a machine that is busy, or stands
# still for seconds, is given smaller pieces and more time at every try.
TRIES = ((32, 2.0), (16, 5.0), (8, 15.0), (8, 30.0), (4, 60.0), (4, 60.0))
BOOT_S = 60.0
ANSWER_S = 60.0  # on a machine that is busy with other things
STOP, PASTE, RUN = b"\x03", b"\x05", b"\x04"  # Ctrl-C, Ctrl-E, Ctrl-D
PROMPT = b"\r\n>>> "
MORE = b"\r\n=== "  # how paste mode begins a line


class Silence(UsageError):
    """What was waited for did not come."""


class Microbit:
    """`port` is the line to it: a prompt until `serve` was called, the program's own after that."""

    def __init__(self) -> None:
        done = subprocess.run([str(GET)], capture_output=True, text=True)
        if done.returncode:
            raise UsageError(done.stderr.strip())
        qemu, firmware = done.stdout.split()
        master, self._slave = open_line()
        name = os.ttyname(self._slave)
        command = [qemu, "-M", "microbit", "-device", f"loader,file={firmware}", "-serial", name]
        command += ["-display", "none", "-monitor", "none"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.port = Port(master, "the micro:bit in QEMU")
        self._chunk = bytearray(512)
        self.source_bytes = 0
        self.free_bytes = 0  # of heap, with the program loaded
        try:
            self._reach_prompt()
        except BaseException:
            self.close()
            raise

    def load(self, pieces: list[str]) -> None:
        """Run pieces of source one after the other, and take note of the heap that is left.

        What compiling a piece leaves behind is collected before the next one: else what stays lies scattered about the
        heap, and a few hundred bytes in a row are not to be had though thousands are free.
        """
        self.run("import gc,micropython")
        for piece in pieces:
            self.run(piece)
            self.run("gc.collect()")
        self.source_bytes = sum(len(piece) for piece in pieces)
        self.free_bytes = int(self.run("print(gc.mem_free())"))

    def run(self, source: str) -> str:
        """What a piece of source prints."""
        self._paste(source)
        self._send(RUN)
        said = self._read_until(PROMPT, ANSWER_S).removesuffix(PROMPT).decode(errors="replace").strip()
        if "Traceback" in said:
            first, last = source.splitlines()[0], said.splitlines()[-1]
            raise UsageError(
                f'the micro:bit does not take "{first}" ({last}); is the vehicle too large for it?'
            )
        return said

    def serve(self) -> None:
        """Start the program. From now on the line carries its bytes, and Ctrl-C is a byte like any other."""
        self._paste("micropython.kbd_intr(-1)\nserve()")
        self._send(RUN)
        self._read_until(b"\r\n", ANSWER_S)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()
        self.port.close()
        os.close(self._slave)

    def _reach_prompt(self) -> None:
        give_up = time.monotonic() + BOOT_S
        while time.monotonic() < give_up:
            self._send(b"\r" + STOP)
            try:
                self._read_until(PROMPT, 1.0)
                return self._quiet()
            except Silence:
                if self._process.poll() is not None and self._process.stderr:
                    said = self._process.stderr.read().decode(errors="replace").strip()
                    raise UsageError(f"QEMU ended: {said or 'without a word'}") from None
        raise UsageError(f"the micro:bit in QEMU gave no prompt within {BOOT_S:.0f} s; try again")

    def _paste(self, source: str) -> None:
        """Bring source to the board whole; it is not run yet."""
        text = source.replace("\n", "\r").encode()
        for size, echo_s in TRIES:
            try:
                self._send(PASTE)
                self._read_until(MORE, echo_s)
                for start in range(0, len(text), size):
                    chunk = text[start : start + size]
                    self._send(chunk)
                    self._read_until(chunk.replace(b"\r", MORE), echo_s)
                return
            except Silence:  # what came back is not what went
                self._send(STOP)
                self._quiet(echo_s)
        raise UsageError(
            f"the line to the micro:bit lost bytes {len(TRIES)} times; try again on a quieter machine"
        )

    def _send(self, text: bytes) -> None:
        self.port.write(bytearray(text), len(text))

    def _quiet(self, echo_s: float = 2.0) -> None:
        """Pass over whatever still comes, for a tenth of the time that an echo may take."""
        while self.port.read(self._chunk, int(100 * echo_s)):
            pass

    def _read_until(self, end: bytes, patience_s: float) -> bytes:
        got, give_up = b"", time.monotonic() + patience_s
        while not got.endswith(end):
            left_ms = int((give_up - time.monotonic()) * 1000)
            count = self.port.read(self._chunk, left_ms) if left_ms > 0 else 0
            if not count:
                raise Silence(f"the micro:bit in QEMU did not answer within {patience_s:.0f} s; try again")
            got += self._chunk[:count]
        return got
