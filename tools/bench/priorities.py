"""Compares the time of a tick of tasks with priorities, near obstacles, with the corrected control law.

Both solve every tick of one run, with the same states, one after the other; the hierarchy's result controls the
vehicle. Times are CPU times of the loop's thread, so that other load on the machine does not count.
"""

import gc
import time
import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np

from caudal.tools.common import output
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.simulation import Simulation

SCENARIO = "arm-obstacles"
GROWTH_TICKS = 10_000


def bench(name: str, overrides: Sequence[str], scenario: str | None, seconds: float) -> dict[str, Any]:
    """Runs a scenario and returns the times of both solvers, us."""
    vehicle, scenario_name, _ = open_scenario(name, list(overrides), scenario or SCENARIO)
    if vehicle.settings.control.kind != "chain":
        raise output.UsageError(
            f'{vehicle.name} has no tasks with priorities: its control.kind is not "chain"'
        )
    simulation = Simulation(vehicle, scenario_name, seed=0)
    loop = simulation.instances[0].loop
    priority = next(stage.diagnostics for stage in loop.stages if stage.diagnostics)
    simulation.arm()
    pair = Pair(priority.solver)
    priority.solver = pair
    ticks_ns, rows = [], []
    progress = output.Progress("timing ticks", seconds, "s")
    for tick in range(round(seconds * 1e6 / simulation.period_us)):
        start_ns = time.thread_time_ns()
        loop.tick()
        ticks_ns.append(time.thread_time_ns() - start_ns - pair.law_ns[-1] if pair.law_ns else 0)
        rows.append(pair.rows)
        simulation.world.step(simulation.period_us)
        progress.at(tick * simulation.period_us / 1e6)
    progress.end()
    tick_us, own_us, law_us = (np.array(ns[10:]) / 1e3 for ns in (ticks_ns, pair.own_ns, pair.law_ns))
    near = np.array(rows[10:]) > 0
    return {
        "vehicle": vehicle.name,
        "scenario": scenario_name,
        "ticks_with_hull_rows": int(near.sum()),
        "tick_median_us": float(np.median(tick_us[near] if near.any() else tick_us)),
        "tick_p99_us": float(np.percentile(tick_us[near] if near.any() else tick_us, 99)),
        "hierarchy_median_us": float(np.median(own_us)),
        "hierarchy_p99_us": float(np.percentile(own_us, 99)),
        "law_median_us": float(np.median(law_us)),
        "hierarchy_to_law": float(np.median(own_us) / np.median(law_us)),
        "tick_to_tick_with_law": float(np.median(tick_us) / np.median(tick_us - own_us + law_us)),
        **_growth(simulation, loop),
    }


class Pair:
    """A solver that calls the hierarchy and the law, and times both."""

    def __init__(self, own: Any) -> None:
        from caudal.onboard.chain.null_space_projection import NullSpaceProjection

        self._own, self._law = own, NullSpaceProjection(own._scale)
        self.own_ns: list[int] = []
        self.law_ns: list[int] = []
        self.rows = 0

    def solve(self, chain: Any, levels: Any, barriers: Any, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The hierarchy's thrusts."""
        start_ns = time.thread_time_ns()
        thrust: np.ndarray = self._own.solve(chain, levels, barriers, low, high)
        half_ns = time.thread_time_ns()
        self._law.solve(chain, levels, barriers, low, high)
        self.own_ns.append(half_ns - start_ns)
        self.law_ns.append(time.thread_time_ns() - half_ns)
        self.rows = int((barriers.owner >= chain.bends[-1] // 4 + 1).sum())
        return thrust

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


def _growth(simulation: Simulation, loop: Any) -> dict[str, float]:
    """Memory that a tick keeps, bytes."""
    for stage in loop.stages:
        if stage.diagnostics:
            stage.diagnostics.solver = stage.diagnostics.solver._own
    tracemalloc.start()
    held = []
    for ticks in (500, GROWTH_TICKS):  # the first ones fill caches
        for _ in range(ticks):
            loop.tick()
        gc.collect()
        held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return {"kept_bytes_a_tick": (held[1] - held[0]) / GROWTH_TICKS}
