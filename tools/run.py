"""Swims a vehicle: against the simulated plant, as fast as it can or paced by the clock, and records the run."""

import argparse
import itertools
from pathlib import Path

from onboard.clock import RealClock
from onboard.log import Log
from onboard.record import Recorder
from tools import options, say, summary
from tools.fleet import Fleet, free_log
from tools.report import write_report
from tools.vehicles import open_vehicle
from tools.version import VERSION

BACKENDS = ("sim",)


def arguments(command: argparse.ArgumentParser) -> None:
    options.add_vehicle(command)
    command.add_argument(
        "--on", choices=BACKENDS, default="sim", help="what the board stands on (default: sim)"
    )
    command.add_argument(
        "--scenario", metavar="NAME", help="which of the vehicle's scenarios (default: its first)"
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
    scenario_name, scenario = vehicle.scenario(args.scenario)
    seconds = args.seconds or scenario["duration_s"]
    log = args.log or free_log(vehicle, scenario_name, args.seed)
    about = {
        "version": VERSION,
        "vehicle": vehicle.name,
        "vehicle_file": vehicle.file.text,
        "vehicle_digest": vehicle.file.digest(),
        "overrides": "\n".join(args.set),
        "scenario": scenario_name,
        "seed": str(args.seed),
        "on": args.on,
        "realtime": str(args.realtime),
    }
    fleet = Fleet(vehicle, scenario_name, args.seed)
    recorder = open_recorder(log, about, lossless=not args.realtime)
    try:
        fleet.record(recorder)
        stopped = swim(fleet, seconds, realtime=args.realtime)
    finally:
        recorder.close()
    if recorder.failed:
        raise say.Refused(f"the recording in {log} is not complete: {recorder.failed}")
    result = summary.summarise(Log(log))
    result |= {"log": str(log), "stopped_early": stopped, "fault": fleet.fault}
    if args.report:
        result["report"] = str(write_report(log, None))
    if args.json:
        say.as_json(result)
    else:
        summary.show(result)
    return 1 if fleet.fault or stopped else 0


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
