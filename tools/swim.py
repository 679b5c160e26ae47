"""Swims vehicles against the plant, as fast as it can or paced by the clock, and records the run."""

import argparse
import itertools
from pathlib import Path
from typing import Any

from onboard.clock import RealClock
from onboard.log import Log
from sim_plant.model import PlantDiverged
from tools import say, summary, trial
from tools.fleet import Fleet
from tools.recording import about_run, free_log, open_recorder
from tools.report import write_report
from tools.vehicles import Vehicle, open_scenario, open_vehicle


def swim_simulated(args: argparse.Namespace) -> int:
    """A scenario in this process, or a trial of the plant alone."""
    vehicle = open_vehicle(args.vehicle, args.set)
    if args.scenario in vehicle.trials:
        return try_plant(args, vehicle)
    vehicle, scenario_name, _ = open_scenario(args.vehicle, args.set, args.scenario)
    if args.on == "sim":
        fleet = Fleet(vehicle, scenario_name, args.seed)
    else:
        from hal.emulated.wiring import fault_targets
        from tools.emulated import chips_of, emulated_fleet, read_fault

        faults = [read_fault(text, fault_targets(chips_of(vehicle))) for text in args.fault]
        registers = args.on.partition(":")[2]
        fleet = emulated_fleet(
            vehicle, scenario_name, args.seed, faults, Path(registers) if registers else None
        )
    result = record_and_swim(args, vehicle, scenario_name, fleet, args.on)
    if args.json:
        say.as_json(result)
    else:
        summary.show(result)
    return 1 if result["fault"] or result["stopped_early"] else 0


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


def record_and_swim(
    args: argparse.Namespace, vehicle: Vehicle, scenario_name: str, fleet: Fleet, on: str
) -> dict[str, Any]:
    """Swim a fleet with a recording; what it came to."""
    seconds = args.seconds or vehicle.scenario(scenario_name)[1]["duration_s"]
    log = args.log or free_log(vehicle, scenario_name, args.seed)
    about = about_run(args, vehicle, scenario_name, on) | fleet.about
    recorder = open_recorder(log, about, lossless=not args.realtime)
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


def swim(fleet: Fleet, seconds: float, realtime: bool) -> bool:
    """Arm and swim; true if a person or a fault ended it before its time. Every exit ends in the safe state."""
    progress = say.Progress("swimming", seconds, "s")
    ticks = round(seconds * 1e6 / fleet.period_us)
    fleet.arm()  # which may wait for a controller on a wire
    clock = RealClock(fleet.period_us) if realtime else None
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
        fleet.safe()  # before any word: whoever would hear it may be gone
        progress.end()
