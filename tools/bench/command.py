"""Measures the fish's loop (or another vehicle's): what a tick costs, what it allocates, how fast it simulates.
`caudal bench plant` measures the tree engine instead, beside its peers (bench/plant.py); `caudal bench excite` the
search for an excitation trajectory beside scipy's SLSQP (bench/excitation.py); `caudal bench wire` the exchanges of the
bench wire (bench/wire.py); `caudal bench aims` a tick of aims in order of priority (bench/priorities.py).

Wall-clock figures depend on the machine and on what else it does: compare ratios to the reference of one run.
"""

import argparse
import gc
import statistics
import time
import timeit
import tracemalloc
from pathlib import Path

from caudal import hal, onboard
from caudal.tools.common import options, output
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.simulation import Simulation

WARM_UP = 300


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "what",
        nargs="*",
        metavar="[loop] [VEHICLE] | plant [VEHICLE ...] | excite | wire [VEHICLE ...] | aims [VEHICLE]",
        help="loop (default) of a vehicle by name or file (default: fish); or plant: the tree engine, beside MuJoCo "
        "and Pinocchio (default: every vehicle with a tree); or excite: the search for a trajectory, beside SLSQP; "
        "or wire: exchanges a second on the bench wire (default: fish, snake and rov); or "
        "aims: a tick of priorities, the hierarchy beside the published law (default: hybrid)",
    )
    command.add_argument("--scenario", metavar="NAME", help="which scenario (default: the vehicle's first)")
    command.add_argument(
        "--for", dest="seconds", metavar="S", type=options.positive, default=30.0, help="simulated"
    )
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    known = ("loop", "plant", "excite", "wire", "aims")
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
    if what == "aims" and len(names) < 2:
        from caudal.tools.bench import priorities

        return show(
            priorities.bench(*(names or ["hybrid"]), args.set, args.scenario, args.seconds), args.json
        )
    if len(names) > 1:
        raise output.UsageError(
            f"bench {what} takes one vehicle, not {len(names)}; only bench plant takes several"
        )
    vehicle, scenario_name, _ = open_scenario(names[0] if names else "fish", args.set, args.scenario)
    result = {"vehicle": vehicle.name, "scenario": scenario_name}
    result["reference_us"] = reference_us()
    result |= tick_cost(fleet_ready(vehicle, scenario_name), args.seconds)
    result |= stage_costs(fleet_ready(vehicle, scenario_name), args.seconds)
    result |= lockstep_rate(fleet_ready(vehicle, scenario_name), args.seconds)
    result |= allocations(fleet_ready(vehicle, scenario_name))
    result["tick_median_to_reference"] = result["tick_median_us"] / result["reference_us"]
    return show(result, args.json)


def show(result: dict, as_json: bool) -> int:
    if as_json:
        output.as_json(result)
    else:
        output.table(list(result.items()))
    return 0


def fleet_ready(vehicle, scenario_name) -> Simulation:
    simulation = Simulation(vehicle, scenario_name, seed=0)
    simulation.arm()
    for _ in range(WARM_UP):
        simulation.step()
    return simulation


def reference_us() -> float:
    """A thousand multiplications in plain Python, at best: what this machine's ticks compare with elsewhere."""

    def work() -> float:
        x = 1.0
        for _ in range(1000):
            x = x * 1.0001
        return x

    return min(timeit.repeat(work, number=20, repeat=25)) / 20 * 1e6


def tick_cost(simulation: Simulation, seconds: float) -> dict:
    """Each vehicle's tick alone, readings to outputs; the plant steps between them uncounted."""
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


def stage_costs(simulation: Simulation, seconds: float) -> dict:
    """The stages of the first vehicle's tick, each for itself: the filter, the controller..."""
    costs_ns: dict[str, list[int]] = {}

    def timed(name, step):
        spent = costs_ns.setdefault(name, [])

        def one(state):
            start_ns = time.perf_counter_ns()
            step(state)
            spent.append(time.perf_counter_ns() - start_ns)

        return one

    for stage in (*simulation.instances[0].loop.estimators, *simulation.instances[0].loop.stages):
        stage.step = timed(stage.name, stage.step)
    for _ in range(int(seconds * 1e6 / simulation.period_us)):
        simulation.step()
    return {f"{name}_median_us": statistics.median(spent) / 1e3 for name, spent in costs_ns.items()}


def lockstep_rate(simulation: Simulation, seconds: float) -> dict:
    """Everything in lockstep, without recording."""
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


def allocations(simulation: Simulation, ticks: int = 500) -> dict:
    """Bytes that a tick's own code leaves behind (growth must be none) and the most a tick holds while it runs."""
    loop = simulation.instances[0].loop
    tracemalloc.start()
    peaks, held = [], []
    for some in (50, ticks):  # caches fill in the first ones
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
    """Of all memory, what lines of the control stack and the HAL took: the plant's and this file's are none of it."""
    rooms = [tracemalloc.Filter(True, str(Path(room.__file__).parent / "*")) for room in (hal, onboard)]
    return sum(stat.size for stat in tracemalloc.take_snapshot().filter_traces(rooms).statistics("filename"))
