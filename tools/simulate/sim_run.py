"""Runs vehicles against the plant, in real time or unpaced, and records the run."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from caudal.onboard.log.reader import Log
from caudal.onboard.run import runner
from caudal.onboard.run.config import open_file
from caudal.onboard.run.recording import about_run, next_log_path, open_recorder
from caudal.onboard.run.services import Services
from caudal.sim_plant.tree.model import PlantDiverged
from caudal.tools.common import output
from caudal.tools.common.run_options import run_options
from caudal.tools.config.vehicle import Vehicle, read_vehicle
from caudal.tools.faults.kinds import read_fault
from caudal.tools.report.command import write_report
from caudal.tools.simulate import trial
from caudal.tools.simulate.on_request_faults import on_request, rehearsal
from caudal.tools.simulate.simulation import OnLink, Simulation
from caudal.tools.summary import summarize

# Where a simulation is if nothing says otherwise: where PX4's is, so that missions made for one fit the other.
SIMULATED_ORIGIN = (47.397742, 8.545594)


class Check(Protocol):
    """An independent check of a simulated run with faults (tools/campaign/invariant_check.py)."""

    @property
    def disk_fails(self) -> bool:
        """Does a fault stop the recording?"""

    def finish(self, log: Path, failed: str | None) -> list[Any]:
        """All violations of a run whose recorder is closed; `failed` is why it stopped, if it did."""


def run_simulated(args: argparse.Namespace, check: Callable[[Simulation], Check], on_link: OnLink) -> int:
    """A scenario in this process, or a trial of the plant alone. `check` is for runs with faults."""
    vehicle = read_vehicle(open_file(args.vehicle, args.set, args.scenario))
    if args.scenario in vehicle.trials:
        return try_plant(args, vehicle)
    scenario_name, _ = vehicle.scenario(args.scenario)
    vehicle.refuse_unread(scenario_name, args.set)
    faults = [read_fault(text, vehicle) for text in args.fault]
    args.realtime = args.realtime or bool(args.mavlink)
    if args.on == "sim":
        simulation = Simulation(
            vehicle, scenario_name, args.seed, faults=faults, on_link=on_link, notify=output.note
        )
    else:
        from caudal.tools.simulate.emulated_run import emulated_simulation

        registers = args.on.partition(":")[2]
        power = Path(registers) if registers else None
        simulation = emulated_simulation(vehicle, scenario_name, args.seed, faults, power, output.note)
    judge = check(simulation) if simulation.faults else None
    result = record_and_run(args, vehicle, scenario_name, simulation, args.on, judge)
    if args.json:
        output.as_json(result)
    else:
        summarize.show(result)
        for violation in result.get("broken", ()):
            print(f"broken: {violation}")
    failed = ("fault", "stopped_early", "broken", "not_armed")
    return 1 if any(result.get(key) for key in failed) else 0


def try_plant(args: argparse.Namespace, vehicle: Vehicle) -> int:
    """A trial of the plant alone: its figures, and its states in a log."""
    if args.on != "sim" or args.realtime or args.params or args.mavlink or args.view or args.stream:
        raise output.UsageError(
            f"{args.scenario} is a trial of the plant alone; leave --on, --realtime, --params, --mavlink, --view and "
            "--stream out"
        )
    log = args.log or next_log_path(vehicle, args.scenario, args.seed)
    about = about_run(vehicle, args.scenario, "trial", seed=args.seed, realtime=args.realtime)
    recorder = open_recorder(log, about, lossless=True)
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
    check: Check | None = None,
) -> dict[str, Any]:
    """Runs a simulation with a recording; its summary. With --mavlink its ground stations arm and end it."""
    options = run_options(args)
    piloted = bool(options.stations.addresses)
    seconds = options.seconds or (None if piloted else vehicle.scenario(scenario_name)[1].duration_s)
    if (piloted or options.params) and len(simulation.sessions) < len(simulation.instances):
        raise output.UsageError(
            "a fault of the HIL link puts the controller behind that link; leave --mavlink and --params out"
        )
    request = on_request(simulation)
    try:
        with Services(
            options,
            vehicle,
            scenario_name,
            on,
            output.note,
            about=simulation.about,
            lossless=not options.realtime,
        ) as services:
            simulation.record(
                services.attach(simulation.sessions, SIMULATED_ORIGIN, rehearsal(vehicle, simulation))
            )
            services.stream(simulation.sessions, request)
            simulation.after_step.append(lambda: services.take(simulation.world.time_us * 1000))
            arm_after_s = options.arm_after_s if piloted else 0.0
            ended = run_loop(simulation, seconds, options.realtime, arm_after_s)
    except PlantDiverged as error:
        raise output.UsageError(f"{error} The log up to there is {services.log}.") from error
    log, recorder = services.log, services.recorder
    assert recorder is not None
    broken = check.finish(log, recorder.failed) if check else []
    if recorder.failed and not (check and check.disk_fails):
        raise output.UsageError(f"the recording in {log} is not complete: {recorder.failed}")
    result = summarize.summarise(Log(log), vehicle.settings)
    stopped = not ended.complete and (seconds is not None or not ended.interrupted)
    result |= {"log": str(log), "stopped_early": stopped, "fault": simulation.fault}
    refusals = [session.arming.refusal for session in simulation.sessions if session.arming.refusal]
    if refusals:
        result["not_armed"] = "; ".join(refusals)
    if check:
        result["broken"] = [str(one) for one in broken]
    if args.report:
        result["report"] = str(write_report(log))
    return result


def run_loop(
    simulation: Simulation, seconds: float | None, realtime: bool, arm_after_s: float | None
) -> runner.Ended:
    """The clock loop with a progress line."""
    progress = output.Progress("running", seconds, "s")
    try:
        return runner.run(
            simulation,
            seconds=seconds,
            realtime=realtime,
            arm_after_s=arm_after_s,
            after_step=lambda tick: (
                progress.at(tick * simulation.period_us / 1e6) if tick % 100 == 0 else None
            ),
            notify=output.note,
        )
    finally:
        progress.end()
