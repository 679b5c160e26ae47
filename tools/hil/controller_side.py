"""The controller of a plant at the other end of a wire. With --realtime it asks Linux for real time, as aboard."""

import argparse

from caudal.hal.serial_ports import PortError
from caudal.onboard.host import realtime
from caudal.onboard.link.controller import Controller
from caudal.tools.common import output
from caudal.tools.hil.reconnecting_port import ReconnectingPort
from caudal.onboard.run.config import open_controlled


def control(args: argparse.Namespace, line: str) -> int:
    """Until the plant says bye."""
    vehicle, _, scenario = open_controlled(args.vehicle, args.set, args.scenario)
    try:
        controller = Controller(vehicle.settings, scenario, vehicle.file.digest(), ReconnectingPort(line))
        if args.realtime:
            for sentence in realtime.set_up():
                output.note(f"caudal: more jitter than need be: {sentence}")
        controller.serve(timeout_ms=2000)
    except PortError as error:
        raise output.UsageError(str(error)) from error
    if controller.refusal:
        raise output.UsageError(controller.refusal)
    if controller.loop and controller.loop.fault:
        output.note(f"the controller stopped safe: {controller.loop.fault}")
        return 1
    return 0
