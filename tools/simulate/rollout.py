"""One run of a scenario without a recording, for sweeps: its metrics by name."""

from typing import Any

import numpy as np

from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_scenario, open_vehicle
from caudal.tools.simulate import trial
from caudal.tools.simulate.simulation import Simulation
from caudal.tools.summary.summarize import attitude


def check(vehicle: str, scenario: str | None, overrides: list[str]) -> tuple[str, str]:
    """Names of vehicle and scenario; refuses in a sentence what `measure` could not run."""
    opened = open_vehicle(vehicle, overrides)
    if scenario in opened.trials:
        return opened.name, scenario
    opened, name, _ = open_scenario(vehicle, overrides, scenario)
    return opened.name, name


def measure(
    vehicle: str, scenario: str | None, overrides: list[str], seed: int, seconds: float | None
) -> dict[str, Any]:
    """Swims in lockstep with the plant. A run that faults is refused in a sentence, one that diverges raises.

    The same figures as a run's summary; several vehicles count with their worst.
    """
    opened = open_vehicle(vehicle, overrides)
    if scenario in opened.trials:
        return trial.figures(opened, scenario, seconds)
    opened, name, settings = open_scenario(vehicle, overrides, scenario)
    simulation = Simulation(opened, name, seed)
    ticks = max(1, round((seconds or settings.duration_s) * 1e6 / simulation.period_us))
    truths = np.zeros((len(simulation.instances), ticks, len(simulation.instances[0].body.truth_fields)))
    simulation.arm()
    try:
        for tick in range(ticks):
            for k, instance in enumerate(simulation.instances):
                truths[k, tick] = instance.body.truth()
            simulation.step()
            if simulation.fault:
                raise UsageError(simulation.fault)
    finally:
        simulation.safe()
    columns = dict(zip(simulation.instances[0].body.truth_fields, np.moveaxis(truths, 2, 0), strict=True))
    speed, clearance = columns["speed_m_s"], columns["clearance_m"]
    distance_m = np.hypot(np.diff(columns["x_m"]), np.diff(columns["y_m"]))
    lies: dict[str, float] = {}
    if "roll_rad" in columns:
        angles = zip(columns["roll_rad"], columns["pitch_rad"], columns["heading_rad"], strict=True)
        each = [attitude(*one) for one in angles]
        lies = {key: max(figures[key] for figures in each) for key in each[0]}
    return {
        "simulated_s": ticks * simulation.period_us / 1e6,
        "vehicles": len(simulation.instances),
        "mean_speed_m_s": float(speed.mean(axis=1).min()),
        "top_speed_m_s": float(speed.max()),
        "final_speed_m_s": float(speed[:, -1].min()),
        "distance_m": float(distance_m.sum(axis=1).min()),
        "turned_deg": float(np.degrees(np.ptp(np.unwrap(columns["heading_rad"]), axis=1).max())),
        "collisions": simulation.world.collisions,
        "min_clearance_m": float(clearance.min()) if np.isfinite(clearance).all() else None,
        **lies,
    }
