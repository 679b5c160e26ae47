"""Swims a vehicle: against the simulated plant, as fast as it can or paced by the clock, and records the run."""

import argparse
import itertools
from pathlib import Path
from typing import Any

from hal.ports import PortError, open_port
from onboard.clock import RealClock
from onboard.link.controller import Controller
from onboard.log import Log
from onboard.record import Recorder
from sim_plant.model import PlantDiverged
from tools import options, say, summary, trial
from tools.fleet import Fleet, free_log
from tools.report import write_report
from tools.vehicles import Vehicle, open_scenario, open_vehicle
from tools.version import VERSION


def arguments(command: argparse.ArgumentParser) -> None:
    options.add_vehicle(command)
    command.add_argument(
        "--on",
        type=backend,
        default="sim",
        metavar="BOARD",
        help="what the board stands on: sim (default), or hil:PORT, a plant at the other end of a wire",
    )
    add_run_options(command)


def backend(text: str) -> str:
    if text == "sim" or text.startswith("hil:"):
        return text
    raise argparse.ArgumentTypeError(f"{text} is neither sim nor hil:PORT")


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
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    vehicle = open_vehicle(args.vehicle, args.set)
    if args.scenario in vehicle.trials:
        return try_plant(args, vehicle)
    vehicle, scenario_name, scenario = open_scenario(args.vehicle, args.set, args.scenario)
    if args.on != "sim":
        return control(vehicle, scenario, args.on.removeprefix("hil:"))
    fleet = Fleet(vehicle, scenario_name, args.seed)
    result = record_and_swim(args, vehicle, scenario_name, fleet, args.on)
    if args.json:
        say.as_json(result)
    else:
        summary.show(result)
    return 1 if result["fault"] or result["stopped_early"] else 0


def control(vehicle: Vehicle, scenario: dict[str, Any], line: str) -> int:
    """Be the controller of a plant at the other end of a wire, until it says bye."""
    try:
        controller = Controller(vehicle.settings, scenario, vehicle.file.digest(), open_port(line))
        controller.serve(patience_ms=2000)
    except PortError as error:
        raise say.Refused(str(error)) from error
    if controller.refusal:
        raise say.Refused(controller.refusal)
    if controller.loop and controller.loop.fault:
        say.note(f"the controller stopped safe: {controller.loop.fault}")
        return 1
    return 0


def try_plant(args: argparse.Namespace, vehicle: Vehicle) -> int:
    """A trial of the plant alone: figures, and its states in a log."""
    if args.on != "sim" or args.realtime or args.report:
        raise say.Refused(
            f"{args.scenario} is a trial of the plant alone; leave --on, --realtime and --report out"
        )
    log = args.log or free_log(vehicle, args.scenario, args.seed)
    recorder = open_recorder(log, about_run(args, vehicle, args.scenario, "trial"), lossless=True)
    try:
        result = trial.record(vehicle, args.scenario, args.seconds, recorder)
    finally:
        recorder.close()
    result = {"vehicle": vehicle.name, "scenario": args.scenario, **result, "log": str(log)}
    if args.json:
        say.as_json(result)
    else:
        say.table(list(result.items()))
    return 0


def about_run(args: argparse.Namespace, vehicle: Vehicle, scenario_name: str, on: str) -> dict[str, str]:
    """What a log says of its run."""
    return {
        "version": VERSION,
        "vehicle": vehicle.name,
        "vehicle_file": vehicle.file.text,
        "vehicle_digest": vehicle.file.digest(),
        "overrides": "\n".join(vehicle.file.overrides),
        "scenario": scenario_name,
        "seed": str(args.seed),
        "on": on,
        "realtime": str(args.realtime),
    }


def record_and_swim(
    args: argparse.Namespace, vehicle: Vehicle, scenario_name: str, fleet: Fleet, on: str
) -> dict[str, Any]:
    """Swim a fleet with a recording; what it came to."""
    seconds = args.seconds or vehicle.scenario(scenario_name)[1]["duration_s"]
    log = args.log or free_log(vehicle, scenario_name, args.seed)
    recorder = open_recorder(log, about_run(args, vehicle, scenario_name, on), lossless=not args.realtime)
    try:
        fleet.record(recorder)
        stopped = swim(fleet, seconds, realtime=args.realtime)
    except PlantDiverged as error:
        raise say.Refused(f"{error} The log up to there is {log}.") from error
    finally:
        recorder.close()
    if recorder.failed:
        raise say.Refused(f"the recording in {log} is not complete: {recorder.failed}")
    result = summary.summarise(Log(log))
    result |= {"log": str(log), "stopped_early": stopped, "fault": fleet.fault}
    if args.report:
        result["report"] = str(write_report(log, None))
    return result


def open_recorder(log: Path, about: dict[str, str], lossless: bool) -> Recorder:
    try:
        return Recorder(log, about, lossless=lossless)
    except OSError as error:
        raise say.Refused(
            f"cannot record in {log}: {error.strerror}; choose another place with --log"
        ) from error


def swim(fleet: Fleet, seconds: float, realtime: bool) -> bool:
    """Arm and swim; true if a person or a fault ended it before its time. Every exit ends in the safe state."""
    progress = say.Progress("swimming", seconds, "s")
    clock = RealClock(fleet.period_us) if realtime else None
    ticks = round(seconds * 1e6 / fleet.period_us)
    fleet.arm()
    try:
        for tick in itertools.count():
            if tick == ticks or fleet.fault:
                break
            fleet.step(clock.wait() if clock else 0)
            if tick % 100 == 0:
                progress.at(tick * fleet.period_us / 1e6)
        return tick < ticks
    except KeyboardInterrupt:
        say.note("interrupted: actuators are safe, the log is complete so far")
        return True
    finally:
        progress.end()
        fleet.safe()
