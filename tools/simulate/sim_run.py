"""Swims vehicles against the plant, as fast as it can or paced by the clock, and records the run."""

import argparse
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from caudal.onboard.core.clock import RealClock
from caudal.onboard.log.reader import Log
from caudal.sim_plant.tree.model import PlantDiverged
from caudal.tools.campaign.invariant_check import InvariantCheck
from caudal.tools.common import output
from caudal.tools.config.vehicle import Vehicle, open_scenario, open_vehicle
from caudal.tools.faults.kinds import read_fault
from caudal.tools.report.command import write_report
from caudal.tools.simulate import trial
from caudal.tools.simulate.on_request_faults import rehearsal
from caudal.tools.simulate.simulation import Simulation
from caudal.tools.summary import summarize
from caudal.tools.vehicle_run.arming import Arming
from caudal.tools.vehicle_run.ground_station import SIMULATED_ORIGIN, open_stations
from caudal.tools.vehicle_run.live_view import LiveView, helms_of, rehearsed
from caudal.tools.vehicle_run.param_keeper import close_all, keep, kept_by
from caudal.tools.vehicle_run.recording import about_run, next_log_path, open_recorder


def run_simulated(args: argparse.Namespace) -> int:
    """A scenario in this process, or a trial of the plant alone."""
    vehicle = open_vehicle(args.vehicle, args.set)
    if args.scenario in vehicle.trials:
        return try_plant(args, vehicle)
    vehicle, scenario_name, _ = open_scenario(args.vehicle, args.set, args.scenario)
    faults = [read_fault(text, vehicle) for text in args.fault]
    args.realtime = args.realtime or bool(args.mavlink)
    if args.on == "sim":
        simulation = Simulation(vehicle, scenario_name, args.seed, faults=faults)
    else:
        from caudal.tools.simulate.emulated_run import emulated_simulation

        registers = args.on.partition(":")[2]
        simulation = emulated_simulation(
            vehicle, scenario_name, args.seed, faults, Path(registers) if registers else None
        )
    verdict = InvariantCheck(simulation) if simulation.faults else None
    piloted = bool(args.mavlink)
    result = record_and_run(args, vehicle, scenario_name, simulation, args.on, verdict, piloted)
    if args.json:
        output.as_json(result)
    else:
        summarize.show(result)
        for promise in result.get("broken", ()):
            print(f"broken: {promise}")
    failed = ("fault", "stopped_early", "broken", "not_armed")
    return 1 if any(result.get(key) for key in failed) else 0


def try_plant(args: argparse.Namespace, vehicle: Vehicle) -> int:
    """A trial of the plant alone: figures, and its states in a log."""
    if args.on != "sim" or args.realtime or args.params or args.mavlink or args.view or args.stream:
        raise output.UsageError(
            f"{args.scenario} is a trial of the plant alone; leave --on, --realtime, --params, --mavlink, --view and "
            "--stream out"
        )
    log = args.log or next_log_path(vehicle, args.scenario, args.seed)
    recorder = open_recorder(log, about_run(args, vehicle, args.scenario, "trial"), lossless=True)
    try:
        result = trial.record(vehicle, args.scenario, args.seconds, recorder)
    finally:
        recorder.close()
    result = {"vehicle": vehicle.name, "scenario": args.scenario, **result, "log": str(log)}
    if args.report:
        result["report"] = str(write_report(log))
    if args.json:
        output.as_json(result)
    else:
        output.table(list(result.items()))
    return 0


def record_and_run(
    args: argparse.Namespace,
    vehicle: Vehicle,
    scenario_name: str,
    simulation: Simulation,
    on: str,
    verdict: InvariantCheck | None = None,
    piloted: bool = False,
) -> dict[str, Any]:
    """Swim a fleet with a recording; what it came to. `piloted`: by stations, which arm it and say when it is over."""
    seconds = args.seconds or (None if piloted else vehicle.scenario(scenario_name)[1]["duration_s"])
    log = args.log or next_log_path(vehicle, scenario_name, args.seed)
    stations = _stations(args, vehicle, simulation, log) if piloted else None
    about = about_run(args, vehicle, scenario_name, on) | simulation.about
    store = kept_by(args, vehicle)
    recorder = open_recorder(log, about, lossless=not args.realtime)
    shown = None
    arming = Arming()

    def between(time_ns: int) -> None:
        _heed(arming, simulation)
        shown.take(time_ns)

    try:
        shown = LiveView(args, recorder, about)
        simulation.record(shown.book)
        if store:
            keep(simulation.instances, store, recorder)
        if stations:
            stations.start()
        shown.begin(helms_of(simulation.instances), rehearsed(simulation))
        stopped = swim(simulation, seconds, args.realtime, args.arm_after if piloted else 0.0, between)
        _heed(arming, simulation)  # the last tick
    except PlantDiverged as error:
        raise output.UsageError(f"{error} The log up to there is {log}.") from error
    finally:
        if stations:
            stations.stop()
        if store:
            close_all(simulation.instances)
        if shown:
            shown.close()
        recorder.close()
    broken = verdict.finish(log, recorder.failed) if verdict else []
    if recorder.failed and not (verdict and verdict.disk_fails):
        raise output.UsageError(f"the recording in {log} is not complete: {recorder.failed}")
    result = summarize.summarise(Log(log))
    result |= {"log": str(log), "stopped_early": stopped, "fault": simulation.fault}
    if arming.refusal:
        result["not_armed"] = arming.refusal
    if verdict:
        result["broken"] = [str(one) for one in broken]
    if args.report:
        result["report"] = str(write_report(log, None))
    return result


def _heed(arming: Arming, simulation: Simulation) -> None:
    for instance in simulation.instances:
        loop = getattr(instance, "loop", None)  # of one behind a wire that other end tells
        if loop is not None:
            arming.update(instance.name, loop)


def _stations(args: argparse.Namespace, vehicle: Vehicle, simulation: Simulation, log: Path) -> Any:
    loops = [(instance.name, instance.loop) for instance in simulation.instances]
    stations = open_stations(
        args, vehicle.settings, loops, log, SIMULATED_ORIGIN, rehearsal(vehicle, simulation)
    )
    for instance, vehicle_link in zip(simulation.instances, stations.vehicle_links, strict=True):
        instance.bridge = vehicle_link.bridge
    return stations


def swim(
    simulation: Simulation,
    seconds: float | None,
    realtime: bool,
    arm_after_s: float | None = 0.0,
    between: Callable[[int], None] | None = None,
) -> bool:
    """Arm and swim; true if a person or a fault ended it before its time. Every exit ends in the safe state.

    Without `seconds` it swims until a person ends it; without `arm_after_s` somebody else arms it. `between` two ticks
    whoever looks on is heard (ns of the run).
    """
    progress = output.Progress("swimming", seconds, "s")
    ticks = None if seconds is None else round(seconds * 1e6 / simulation.period_us)
    arm_tick = None if arm_after_s is None else round(arm_after_s * 1e6 / simulation.period_us)
    if arm_tick == 0:
        simulation.arm()  # which may wait for a controller on a wire
    clock = RealClock(simulation.period_us) if realtime else None
    tick = 0
    try:
        for tick in itertools.count():
            if tick == ticks or simulation.fault:
                break
            if tick and tick == arm_tick:
                simulation.arm()
            if between:
                between(simulation.world.time_us * 1000)
            simulation.step(clock.wait() if clock else 0)
            if tick % 100 == 0:
                progress.at(tick * simulation.period_us / 1e6)
        return tick != ticks
    except KeyboardInterrupt:
        if tick == 0:  # nothing has been swum, and there is nothing to tell of it
            raise
        output.note("interrupted: actuators are safe, the log is complete so far")
        return ticks is not None
    finally:
        simulation.safe()  # before any word: whoever would hear it may be gone
        progress.end()
