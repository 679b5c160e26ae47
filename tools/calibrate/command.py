"""Guides you through measurements on a vehicle with a Raspberry Pi, and writes the results to the vehicle file.

    clock       the frequency of the PCA9685's oscillator, with an oscilloscope: pi.pulses.clock_hz
    servo       a joint's trim, scale, direction and end stops: actuator.NAME
    thruster    a motor's force at each pulse, as bench data for caudal thrust
    leak        a water probe, dry and wet: sensor.NAME

Calibrate the clock first, because all pulses depend on it. The command says what will move, and moves nothing before
you type `yes`. Ctrl-C at any time ends all pulses and writes nothing. Stop the vehicle's own controller first
(systemctl stop caudal). The vehicle file keeps its comments and layout; with --output, values are written to another
file, which --with reads.
"""

import argparse

from caudal.tools.calibrate import leak, oscillator, servo, thruster
from caudal.tools.common import options
from caudal.tools.config.pi_vehicle import add_on

KINDS = {
    "clock": (oscillator, "the frequency of the PCA9685's oscillator"),
    "servo": (servo, "a joint's trim, scale, direction and end stops"),
    "thruster": (thruster, "a motor's force at each pulse, for caudal thrust"),
    "leak": (leak, "a water probe, dry and wet"),
}


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal calibrate`."""
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    kinds = command.add_subparsers(dest="kind", metavar="WHAT", required=True)
    for name, (module, about) in KINDS.items():
        kind = kinds.add_parser(name, help=about, description=module.__doc__)
        options.add_vehicle(kind)
        module.arguments(kind)
        add_on(kind)


def run(args: argparse.Namespace) -> int:
    """Runs one kind of calibration."""
    code: int = KINDS[args.kind][0].run(args)
    return code
