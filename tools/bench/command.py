"""Benchmarks.

loop        time and memory of a vehicle's tick, and the speed of its simulation (default)
plant       the tree engine, compared with MuJoCo and Pinocchio
excite      the optimizer of excitation trajectories, compared with scipy's SLSQP
wire        exchanges per second on a HIL link
priorities  a tick of tasks with priorities, compared with a single weighted control law

Wall-clock figures depend on the machine and its load: compare ratios to the reference of the same run.
"""

import argparse
import gc
import statistics
import time
import timeit
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from caudal import hal, onboard
from caudal.onboard.core.state import State
from caudal.tools.common import options, output
from caudal.tools.config.vehicle import Vehicle, open_scenario
from caudal.tools.simulate.simulation import Simulation

WARM_UP = 300


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal bench`."""
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument(
        "what",
        nargs="*",
        metavar="[loop] [VEHICLE] | plant [VEHICLE ...] | excite | wire [VEHICLE ...] | priorities [VEHICLE]",
        help="the benchmark, and vehicles by name or file (default: of loop fish; of plant every vehicle with a tree; "
        "of wire fish, snake and rov; of priorities hybrid)",
    )
    command.add_argument("--scenario", metavar="NAME", help="a scenario of the vehicle (default: its first)")
    command.add_argument(
        "--for",
        dest="seconds",
        metavar="S",
        type=options.positive,
        default=30.0,
        help="simulated seconds (default: 30)",
    )
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Runs a benchmark and prints its figures."""
    known = ("loop", "plant", "excite", "wire", "priorities")
    what, *names = args.what if args.what and args.what[0] in known else ["loop", *args.what]
    if what == "excite":
        from caudal.tools.bench import excitation

        return show(excitation.bench(), args.json)
    if what == "wire":
        from caudal.tools.bench import wire as bench_wire

        return bench_wire.run(names, args.set, args.json)
    if what == "plant":
        from caudal.tools.bench import plant

        return plant.run(names, args.set, args.json)
    if what == "priorities" and len(names) < 2:
        from caudal.tools.bench import priorities

        name = names[0] if names else "hybrid"
        return show(priorities.bench(name, args.set, args.scenario, args.seconds), args.json)
    if len(names) > 1:
        raise output.UsageError(
            f"bench {what} takes one vehicle, not {len(names)}; only bench plant and bench wire take several"
        )
    vehicle, scenario_name, _ = open_scenario(names[0] if names else "fish", args.set, args.scenario)
    result: dict[str, Any] = {"vehicle": vehicle.name, "scenario": scenario_name}
    result["reference_us"] = reference_us()
    result |= tick_cost(warmed_up(vehicle, scenario_name), args.seconds)
    result |= stage_costs(warmed_up(vehicle, scenario_name), args.seconds)
    result |= lockstep_rate(warmed_up(vehicle, scenario_name), args.seconds)
    result |= allocations(warmed_up(vehicle, scenario_name))
    result["tick_median_to_reference"] = result["tick_median_us"] / result["reference_us"]
    return show(result, args.json)


def show(result: dict[str, Any], as_json: bool) -> int:
    """Prints figures as JSON or as a table."""
    if as_json:
        output.as_json(result)
    else:
        output.table(list(result.items()))
    return 0


def warmed_up(vehicle: Vehicle, scenario_name: str) -> Simulation:
    """An armed simulation after its first ticks."""
    simulation = Simulation(vehicle, scenario_name, seed=0)
    simulation.arm()
    for _ in range(WARM_UP):
        simulation.step()
    return simulation


def reference_us() -> float:
    """Least time of a thousand multiplications in plain Python: a reference to compare machines, us."""

    def work() -> float:
        x = 1.0
        for _ in range(1000):
            x = x * 1.0001
        return x

    return min(timeit.repeat(work, number=20, repeat=25)) / 20 * 1e6


def tick_cost(simulation: Simulation, seconds: float) -> dict[str, float]:
    """Time of each vehicle's tick from readings to outputs, without the plant's steps, us."""
    costs_ns = []
    ticks = int(seconds * 1e6 / simulation.period_us)
    progress = output.Progress("timing ticks", ticks, "ticks")
    for tick in range(ticks):
        for instance in simulation.instances:
            start_ns = time.perf_counter_ns()
            instance.loop.tick()
            costs_ns.append(time.perf_counter_ns() - start_ns)
        simulation.world.step(simulation.period_us)
        progress.at(tick)
    progress.end()
    costs_ns.sort()
    return {
        "tick_median_us": statistics.median(costs_ns) / 1e3,
        "tick_p99_us": costs_ns[int(0.99 * len(costs_ns))] / 1e3,
        "tick_worst_us": costs_ns[-1] / 1e3,
    }


def stage_costs(simulation: Simulation, seconds: float) -> dict[str, float]:
    """Time of each stage of the first vehicle's tick: the filter, the controller..., us."""
    costs_ns: dict[str, list[int]] = {}

    def timed(name: str, step: Callable[[State], None]) -> Callable[[State], None]:
        spent = costs_ns.setdefault(name, [])

        def one(state: State) -> None:
            start_ns = time.perf_counter_ns()
            step(state)
            spent.append(time.perf_counter_ns() - start_ns)

        return one

    for stage in (*simulation.instances[0].loop.estimators, *simulation.instances[0].loop.stages):
        stage.step = timed(stage.name, stage.step)
    for _ in range(int(seconds * 1e6 / simulation.period_us)):
        simulation.step()
    return {f"{name}_median_us": statistics.median(spent) / 1e3 for name, spent in costs_ns.items()}


def lockstep_rate(simulation: Simulation, seconds: float) -> dict[str, float]:
    """Speed of the whole simulation without a log."""
    ticks = int(seconds * 1e6 / simulation.period_us)
    start = time.perf_counter()
    for _ in range(ticks):
        simulation.step()
    wall_s = time.perf_counter() - start
    return {
        "vehicles": len(simulation.instances),
        "lockstep_ticks_per_s": ticks * len(simulation.instances) / wall_s,
        "simulated_s_per_wall_s": seconds / wall_s,
    }


def allocations(simulation: Simulation, ticks: int = 500) -> dict[str, float]:
    """Bytes that a tick's own code keeps (this growth has to be 0), and the most that it holds while it runs."""
    loop = simulation.instances[0].loop
    tracemalloc.start()
    peaks, held = [], []
    for some in (50, ticks):  # the first ones fill caches
        for _ in range(some):
            simulation.world.step(simulation.period_us)
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            loop.tick()
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
        gc.collect()
        held.append(_held_by_the_loop())
    tracemalloc.stop()
    return {
        "tick_growth_bytes": (held[1] - held[0]) / ticks,
        "tick_transient_bytes": statistics.median(peaks[50:]),
    }


def _held_by_the_loop() -> int:
    """Bytes that code of the control stack and the HAL has allocated."""
    own = [tracemalloc.Filter(True, str(Path(package.__path__[0]) / "*")) for package in (hal, onboard)]
    return sum(stat.size for stat in tracemalloc.take_snapshot().filter_traces(own).statistics("filename"))
