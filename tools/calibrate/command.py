"""Guides a person through what only a measurement tells of a vehicle on a Raspberry Pi, and writes it down.

    clock       the PCA9685's oscillator, by an oscilloscope: pi.pulses.clock_hz
    servo       a joint's trim, scale, direction and end stops: actuator.NAME
    thruster    a motor's force over its pulses, as bench data for caudal thrust
    leak        a water probe, dry and wet: sensor.NAME

The clock comes first: all pulses go by it. It says what will move and moves nothing before `yes`. Ctrl-C at any time
ends all pulses and writes nothing. Stop the vehicle's own controller first (systemctl stop caudal). Values go into the
vehicle file, whose comments and layout stay, or with --output into a file that --with reads.
"""

import argparse

from caudal.tools.calibrate import leak, oscillator, servo, thruster
from caudal.tools.common import options
from caudal.tools.config.pi_vehicle import add_on

KINDS = {
    "clock": (oscillator, "the PCA9685's oscillator"),
    "servo": (servo, "a joint's trim, scale, direction and end stops"),
    "thruster": (thruster, "a motor's force over its pulses, for caudal thrust"),
    "leak": (leak, "a water probe, dry and wet"),
}


def arguments(command: argparse.ArgumentParser) -> None:
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    kinds = command.add_subparsers(dest="kind", metavar="WHAT", required=True)
    for name, (module, about) in KINDS.items():
        kind = kinds.add_parser(name, help=about, description=module.__doc__)
        options.add_vehicle(kind)
        module.arguments(kind)
        add_on(kind)


def run(args: argparse.Namespace) -> int:
    return KINDS[args.kind][0].run(args)
