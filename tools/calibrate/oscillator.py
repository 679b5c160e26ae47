"""Calibrates the PCA9685's oscillator: you measure a pulse with an oscilloscope or logic analyser and type its length.

The clock's frequency is computed from it, and the measurement repeated until the pulse is right to one step. The
nominal 25 MHz are off by up to several per cent, and so is every pulse of the vehicle.
"""

import argparse

from caudal.hal.tables.channels import Servo, Thruster, Valve
from caudal.tools.calibrate.output import CalibrationFile, add_output
from caudal.tools.common import options, output
from caudal.tools.config.pi_vehicle import PiVehicle

KEY = "pi.pulses.clock_hz"
PULSE_US = 1500
ROUNDS = 6


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal calibrate clock`."""
    command.add_argument(
        "--actuator", metavar="NAME", help="the actuator whose channel is pulsed (default: the first)"
    )
    how = command.add_mutually_exclusive_group()
    how.add_argument(
        "--measured",
        metavar="US",
        type=options.positive,
        help=f"an earlier measurement of a {PULSE_US} us pulse (of a motor: its neutral): computes, and pulses nothing",
    )
    how.add_argument(
        "--measure", action="store_true", help="with --on emulated: measure at the emulated chip"
    )
    add_output(command)


def run(args: argparse.Namespace) -> int:
    """Measures until the pulse is right, and writes clock_hz."""
    if args.measure and args.on == "pi":
        raise output.UsageError(
            "--measure works with --on emulated only; leave it out and type your measurements"
        )
    file = CalibrationFile(args)
    actuator = _actuator(file.vehicle, args.actuator)
    asked_us = _pulse_us(actuator)
    old_hz = file.vehicle.pi.pulses.clock_hz
    if args.measured:
        new_hz = _clock_hz(file.vehicle, asked_us, args.measured)
        return file.write({KEY: (old_hz, new_hz)}, "clock")
    if not args.measure:
        _confirm(file.vehicle, actuator, asked_us)
    vehicle = file.vehicle
    for _ in range(ROUNDS):
        new_hz = _one_round(args, vehicle, actuator.name, asked_us)
        if new_hz == vehicle.pi.pulses.clock_hz:
            return file.write({KEY: (old_hz, new_hz)}, "clock")
        output.note(f"the oscillator has {new_hz / 1e6:.4g} MHz; measuring again with that")
        vehicle = vehicle.changed({KEY: new_hz})
    raise output.UsageError(
        f"after {ROUNDS} measurements the pulse is still more than a step from {asked_us} us; nothing was written, "
        "check the measurement"
    )


def _actuator(vehicle: PiVehicle, name: str | None) -> Servo | Thruster:
    pulsed = [a for a in vehicle.settings.actuators if not isinstance(a, Valve)]
    actuator = vehicle.actuator(name) if name else pulsed[0] if pulsed else None
    if actuator is None or isinstance(actuator, Valve):
        raise output.UsageError(
            "a valve has no pulses to measure; choose a servo or a thruster with --actuator"
        )
    if not actuator.low_us <= _pulse_us(actuator) <= actuator.high_us:
        raise output.UsageError(
            f"{PULSE_US} us is outside low_us to high_us of {actuator.name}; choose another --actuator"
        )
    return actuator


def _pulse_us(actuator: Servo | Thruster) -> int:
    return actuator.neutral_us if isinstance(actuator, Thruster) else PULSE_US


def _confirm(vehicle: PiVehicle, actuator: Servo | Thruster, asked_us: int) -> None:
    from caudal.tools.calibrate.prompts import confirm

    address = vehicle.pi.pulses.address
    moves = (
        "With a wrong clock this may not be neutral: THE MOTOR MAY TURN; unplug it or remove its propeller."
        if actuator.map == "thruster"
        else "If its servo is plugged in, it JUMPS to about its middle."
    )
    confirm(
        f"{actuator.name} (channel {actuator.port} of the PCA9685 at 0x{address:02x}) will get pulses of "
        f"{asked_us} us. {moves} Measure the high time of the channel's signal."
    )


def _one_round(args: argparse.Namespace, vehicle: PiVehicle, name: str, asked_us: int) -> int:
    """The clock in Hz after one measurement; unchanged if the pulse is right."""
    from caudal.tools.calibrate.prompts import number
    from caudal.tools.calibrate.test_stand import Stand

    def refuses(measured_us: float) -> str | None:
        return vehicle.refuses({KEY: _clock_hz(vehicle, asked_us, measured_us)})

    with Stand(vehicle, args.on) as stand:
        stand.pulse(name, asked_us)
        if not args.measure:
            measured_us = number("Measured, in us:", asked_us / 2, asked_us * 2, refuses)
        else:
            measured_us = stand.emulated_pulse_us(name)
            output.note(f"measured {measured_us:.1f} us for {asked_us} us")
    return _clock_hz(vehicle, asked_us, measured_us)


def _clock_hz(vehicle: PiVehicle, asked_us: int, measured_us: float) -> int:
    """The oscillator's frequency in Hz from a measured pulse; unchanged if the pulse is right to one step."""
    from caudal.hal.pi.pca9685 import Scale

    pulses = vehicle.pi.pulses
    try:
        scale = Scale(pulses.frequency_hz, pulses.clock_hz)
    except ValueError as error:
        raise vehicle.file.error("pi.pulses", str(error)) from error
    clock_hz: int = pulses.clock_hz
    if abs(measured_us - asked_us) <= scale.step_us:
        return clock_hz
    return round(clock_hz * scale.pulse_us(scale.steps(asked_us)) / measured_us)
