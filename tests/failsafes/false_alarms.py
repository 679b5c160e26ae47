"""Is an actuator that follows ever taken for one that does not: every scenario of every vehicle, several seeds.

    python tests/failsafes/false_alarms.py [VEHICLE...] [--seconds 60] [--seeds 3]

Prints, for each run, the actuator that came nearest to being marked: the largest error in shares of what counts as off,
and the largest count in shares of what is needed to be marked. Ends with 1 if any was. Takes half an hour.
"""

import argparse
import sys
from typing import Any

from caudal.onboard import vehicles
from caudal.onboard.core.actuator_monitor import Observer
from caudal.tools.config.vehicle import open_scenario, open_vehicle
from caudal.tools.simulate.simulation import Simulation


class Judged:
    """What every observer came to at most, and its duties."""

    def __init__(self) -> None:
        self.off: dict[int, float] = {}
        self.count: dict[int, float] = {}

    def watch(self) -> None:
        judge = Observer._judge

        def judged(observer: Any, heard: int) -> None:
            judge(observer, heard)
            at = observer.index
            self.off[at] = max(self.off.get(at, 0.0), abs(observer.error(heard)) / observer._tolerance)
            self.count[at] = max(self.count.get(at, 0.0), observer._count / observer._most)

        Observer._judge = judged  # type: ignore[method-assign]
        self.restore = lambda: setattr(Observer, "_judge", judge)


def swim(vehicle_name: str, scenario_name: str, seconds: float, seed: int) -> tuple[set[str], str]:
    """Names of those that were ever marked, and what the nearest to it came to."""
    vehicle, name, scenario = open_scenario(vehicle_name, [], scenario_name)
    names = [actuator.name for actuator in vehicle.settings.actuators]
    judged = Judged()
    judged.watch()
    simulation = Simulation(vehicle, name, seed)
    simulation.arm()
    marked: set[str] = set()
    for _ in range(round(min(seconds, scenario.duration_s) * vehicle.settings.rate_hz)):
        simulation.step()
        for instance in simulation.instances:
            found = instance.loop.state.not_following
            marked |= {names[i] for i in range(len(names)) if found[i]}
    judged.restore()
    assert simulation.fault is None, simulation.fault
    at = max(judged.off, key=lambda i: (judged.count[i], judged.off[i]))
    return marked, f"{names[at]}: off {judged.off[at]:.2f}, count {judged.count[at]:.2f}"


def main() -> int:
    words = argparse.ArgumentParser()
    words.add_argument("vehicles", nargs="*")
    words.add_argument("--seconds", type=float, default=60.0)
    words.add_argument("--seeds", type=int, default=3)
    args = words.parse_args()
    false = runs = 0
    for vehicle in args.vehicles or vehicles.names():
        for scenario in open_vehicle(vehicle).settings.scenarios:
            for seed in range(1, args.seeds + 1):
                marked, said = swim(vehicle, scenario, args.seconds, seed)
                print(
                    f"{vehicle} {scenario} {seed}: {said}", *(f"MARKED {name}" for name in marked), flush=True
                )
                false, runs = false + len(marked), runs + 1
    print(f"{runs} runs, {false} false alarms")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
