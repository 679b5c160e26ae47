"""main.py of a microcontroller: the controller side of a HIL link, on a UART.

    vehicle_image   settings of the vehicle file, the scenario, the vehicle file's digest, and the UART (mcu.bench)

The plant side is `caudal hil plant VEHICLE PORT`.
"""

import sys

import machine

from caudal.hal.mcu.port import UartPort, build_uart
from caudal.onboard.link.controller import Controller

PATIENCE_MS = 2000  # of silence, after which outputs go safe


def load():
    """The image's settings; the module is let go, so that they can be."""
    import vehicle_image

    del sys.modules["vehicle_image"]
    return vehicle_image.IMAGE


def main(benches=None):
    """Serve one plant after another, for a number of them if it is given."""
    image = load()
    settings = image["settings"]
    port = UartPort(build_uart(image["mcu"]["bench"], machine))
    controller = Controller(settings, settings["scenarios"][image["scenario"]], image["digest"], port)
    del image
    while benches is None or benches > 0:
        controller.serve(PATIENCE_MS)
        if controller.refusal:
            print(controller.refusal)
        if benches is not None:
            benches -= 1


if __name__ == "__main__":
    main()
