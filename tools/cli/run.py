"""Swims a vehicle: against the simulated plant (as fast as it can or paced by the clock), on emulated chips, on a
plant at the other end of a wire, or on the vehicle itself; and records the run."""

import argparse
from pathlib import Path

from caudal.tools.common import options, output
from caudal.tools.vehicle_run import ground_station, live_view
from caudal.tools.vehicle_run.param_keeper import add_params


def arguments(command: argparse.ArgumentParser) -> None:
    options.add_vehicle(command)
    command.add_argument(
        "--on",
        type=backend,
        default="sim",
        metavar="BOARD",
        help="what the board stands on: sim (default); emulated, the real drivers on emulated chips "
        "(emulated:FILE keeps the PCA9685's registers there); pi, this computer's own buses; or hil:PORT, a plant "
        "at the other end of a wire (PORT as caudal hil plant has it: a serial device, pty, tcp:HOST:PORT, tcp:PORT)",
    )
    command.add_argument(
        "--fault",
        metavar="KIND:TARGET@AT[+FOR]",
        action="append",
        default=[],
        help="let something go wrong with the first vehicle (s), such as stuck:depth@12+3, jammed:tail_2@5, or with "
        "--on emulated nack:imu@12+0.5 (docs/faults.md has them all); may be repeated",
    )
    add_params(
        command,
        "where parameters that are set while it runs are kept, and taken from at the start (default: nowhere; "
        "with --on pi the vehicle's own file)",
    )
    ground_station.add_arm(command)
    ground_station.add_station_options(command)
    add_run_options(command)


def backend(text: str) -> str:
    if text in ("sim", "emulated", "pi") or text.startswith(("hil:", "emulated:")):
        return text
    raise argparse.ArgumentTypeError(f"{text} is none of sim, emulated, pi and hil:PORT")


def add_run_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--scenario", metavar="NAME", help="which of the vehicle's scenarios or trials (default: its first)"
    )
    command.add_argument(
        "--for", dest="seconds", metavar="S", type=options.positive, help="simulated seconds"
    )
    command.add_argument(
        "--seed", metavar="N", type=options.natural, default=0, help="for noise and start poses"
    )
    options.add_set(command)
    command.add_argument("--realtime", action="store_true", help="paced by the clock, one second a second")
    command.add_argument("--log", metavar="FILE", type=Path, help="where to record (default: below runs/)")
    command.add_argument("--report", action="store_true", help="write a page with plots beside the log")
    live_view.add_options(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Each way loads its own parts: a vehicle has no plant, and a plant no buses."""
    if args.fault and (args.on == "pi" or args.on.startswith("hil:")):
        raise output.UsageError(
            "--fault is for simulated vehicles; leave it out, or give --on sim or --on emulated"
        )
    if args.arm_after is not None and args.on != "pi" and not args.mavlink:
        raise output.UsageError(
            "--arm-after is for --on pi and --mavlink; elsewhere vehicles arm at the start"
        )
    ground_station.check_options(args)
    if args.allow_control and not args.stream:
        raise output.UsageError(
            "--allow-control is for who looks on from another machine; give --stream HOST:PORT with it"
        )
    if args.on == "pi":
        from caudal.tools.vehicle_run.vehicle_run import run_on_vehicle

        return run_on_vehicle(args)
    if args.on.startswith("hil:"):
        if args.params:
            raise output.UsageError(
                "a controller on the bench wire starts anew with every plant; leave --params out"
            )
        if args.view or args.stream:
            raise output.UsageError("look on at the plant's end: caudal hil plant takes --view and --stream")
        from caudal.tools.hil.controller_side import control

        return control(args, args.on.removeprefix("hil:"))
    from caudal.tools.simulate.sim_run import run_simulated

    return run_simulated(args)
