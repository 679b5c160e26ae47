"""Runs a vehicle: against the simulated plant (in real time or unpaced), on emulated chips, as the controller
side of a HIL link, or on the vehicle itself; and records the run."""

import argparse

from caudal.tools.common import options, output
from caudal.tools.common.run_options import (
    add_params,
    add_run_options,
    add_station_options,
    check_options,
    run_options,
)


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal run`."""
    options.add_vehicle(command)
    command.add_argument(
        "--on",
        type=backend,
        default="sim",
        metavar="BOARD",
        help="what the board stands on: sim (default); emulated, the real drivers on emulated chips "
        "(emulated:FILE keeps the PCA9685's registers there); pi, this computer's own buses; or hil:PORT, a plant "
        "on the other side of a link (PORT as caudal hil plant has it: a serial device, pty, tcp:HOST:PORT, tcp:PORT)",
    )
    command.add_argument(
        "--fault",
        metavar="KIND:TARGET@AT[+FOR]",
        action="append",
        default=[],
        help="inject a fault into the first vehicle (s), such as stuck:depth@12+3, jammed:tail_2@5, or with "
        "--on emulated nack:imu@12+0.5 (docs/faults.md has them all); may be repeated",
    )
    add_params(
        command,
        "where parameters that are set during the run are stored, and read from at the start (default: nowhere; "
        "with --on pi the vehicle's own file)",
    )
    add_station_options(command)
    add_run_options(command)


def backend(text: str) -> str:
    """Parses --on (an argparse type)."""
    if text in ("sim", "emulated", "pi") or text.startswith(("hil:", "emulated:")):
        return text
    raise argparse.ArgumentTypeError(f"{text} is none of sim, emulated, pi and hil:PORT")


def run(args: argparse.Namespace) -> int:
    """Runs on what --on says. Each way loads its own parts: a vehicle has no plant, and a plant no buses."""
    if args.fault and (args.on == "pi" or args.on.startswith("hil:")):
        raise output.UsageError(
            "--fault is for simulated vehicles; leave it out, or give --on sim or --on emulated"
        )
    if args.arm_after is not None and args.on != "pi" and not args.mavlink:
        raise output.UsageError(
            "--arm-after is for --on pi and --mavlink; elsewhere vehicles arm at the start"
        )
    check_options(args)
    if args.on == "pi":
        return _on_vehicle(args)
    if args.on.startswith("hil:"):
        from caudal.tools.hil.controller_side import control

        return control(args, args.on.removeprefix("hil:"))
    from caudal.tools.campaign.invariant_check import InvariantCheck
    from caudal.tools.hil.in_process_wire import WiredVehicle
    from caudal.tools.simulate.sim_run import run_simulated

    return run_simulated(args, InvariantCheck, WiredVehicle)


def _on_vehicle(args: argparse.Namespace) -> int:
    from caudal.onboard.run.config import open_controlled
    from caudal.onboard.run.vehicle_run import run_on_vehicle
    from caudal.tools.config.known_tables import known_tables

    vehicle, name, scenario = open_controlled(args.vehicle, args.set, args.scenario, known_tables())
    result = run_on_vehicle(vehicle, name, scenario, run_options(args), output.note)
    if args.report:
        from caudal.tools.report.command import write_report

        result["report"] = str(write_report(result["log"]))
    if args.json:
        output.as_json(result)
    else:
        lost = {
            "devices_lost": ", ".join(result["devices_lost"]) or "none",
            "fault": result["fault"] or "none",
        }
        output.table(list((result | lost).items()))
    # A loop that ticks and waits to be armed has not failed; one that was to arm itself and could not has.
    return 1 if result["fault"] or (args.arm_after is not None and "not_armed" in result) else 0
