"""The controller side of a HIL link, on MicroPython's unix port.

    micropython deploy/mcu/bench_controller.py FOLDER LINE

FOLDER holds vehicle_image.py, a board's settings (tools/deploy/mcu_image.py); LINE is a serial device or a
pseudo-terminal in raw mode.
"""

import select
import sys

HERE = __file__.rsplit("/", 1)[0] if "/" in __file__ else "."
sys.path.insert(0, HERE.rsplit("/", 3)[0])  # the folder that holds the package

from caudal.onboard.link.controller import Controller  # noqa: E402


class FilePort:
    """A serial port by its path in /dev."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "r+b", 0)  # noqa: SIM115 (open while the program runs)
        self._poll = select.poll()
        self._poll.register(self._file, select.POLLIN)

    def read(self, buffer: bytearray, timeout_ms: int) -> int:
        """Receives into the buffer; the number of bytes, 0 after the timeout."""
        if not self._poll.poll(timeout_ms):
            return 0
        return self._file.readinto(buffer) or 0

    def write(self, buffer: bytearray, count: int) -> None:
        """Sends `count` bytes of the buffer."""
        self._file.write(memoryview(buffer)[:count])


def main(folder: str, line: str) -> int:
    """Serves one plant; 1 if the controller rejects it."""
    sys.path.insert(0, folder)
    from vehicle_image import IMAGE

    scenario = IMAGE.settings.scenarios[IMAGE.scenario]
    controller = Controller(IMAGE.settings, scenario, IMAGE.digest, FilePort(line))
    controller.serve(2000)
    if controller.refusal:
        print(controller.refusal)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
