"""main.py of a microcontroller that is the controller side of a HIL link, on a UART.

    vehicle_image   settings of the vehicle file, the scenario, the vehicle file's digest, and the UART (mcu.bench)

The plant side: caudal hil plant VEHICLE PORT.
"""

import sys

import machine

from caudal.hal.mcu.port import UartPort, build_uart
from caudal.onboard.link.controller import Controller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SILENCE_MS = 2000  # without a frame for this long, the session ends and outputs go to their safe state


def load() -> "Any":
    """The image's settings; the module is released, so that the settings can be released later."""
    import vehicle_image

    del sys.modules["vehicle_image"]
    return vehicle_image.IMAGE


def main(sessions: "int | None" = None) -> None:
    """Serves one plant after another, for a number of sessions if it is given."""
    image = load()
    settings = image.settings
    port = UartPort(build_uart(image.mcu.bench, machine))
    controller = Controller(settings, settings.scenarios[image.scenario], image.digest, port)
    del image
    while sessions is None or sessions > 0:
        controller.serve(SILENCE_MS)
        if controller.refusal:
            print(controller.refusal)
        if sessions is not None:
            sessions -= 1


if __name__ == "__main__":
    main()
