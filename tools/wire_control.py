"""The controller of a plant at the other end of a wire. With --realtime it asks Linux for real time, as aboard."""

import argparse

from hal.ports import PortError
from onboard import realtime
from onboard.link.controller import Controller
from tools import say
from tools.controlled import open_controlled
from tools.plug import Plug


def control(args: argparse.Namespace, line: str) -> int:
    """Until the plant says bye."""
    vehicle, _, scenario = open_controlled(args.vehicle, args.set, args.scenario)
    try:
        controller = Controller(vehicle.settings, scenario, vehicle.file.digest(), Plug(line))
        if args.realtime:
            for sentence in realtime.set_up():
                say.note(f"caudal: more jitter than need be: {sentence}")
        controller.serve(patience_ms=2000)
    except PortError as error:
        raise say.Refused(str(error)) from error
    if controller.refusal:
        raise say.Refused(controller.refusal)
    if controller.loop and controller.loop.fault:
        say.note(f"the controller stopped safe: {controller.loop.fault}")
        return 1
    return 0
