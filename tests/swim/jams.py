"""A tail swimmer with a jammed joint: its distance from the path, with and without a new plan.

    python tests/swim/jams.py [--model strouhal|tree] [--seeds 3] [--angles=-0.5,0,0.5]

The jam comes after 15 s, at an angle; the loop has to detect it. Prints errors from 30 s on: root mean square and the
largest, in mm, with the plan and without it, the time it took to be found, and the speed. What the suite has of it
stands in test_jammed.py.
"""

import argparse
import math
from typing import Any, NamedTuple

from caudal.hal.core.fixed_point import ONE
from caudal.hal.sim import SimDriver
from caudal.tools.config.vehicle import Vehicle, open_scenario, open_vehicle
from caudal.tools.faults.device_faults import FaultyBody
from caudal.tools.simulate.simulation import SimSession, Simulation

JAM_S, FROM_S, UNTIL_S = 15.0, 30.0, 90.0
VEHICLE, SCENARIO = "fish", "track"
TREE = ("plant.model", "gait.", "control.", "estimate.")  # of what [scenario.articulated] sets


class Result(NamedTuple):
    detect_s: float | None  # after the jam
    rms_mm: float
    most_mm: float
    speed_m_s: float
    marked: list[str]


class Jammed(FaultyBody):
    """A body one of whose servos goes to an angle and stays there."""

    def __init__(self, body: Any, index: int) -> None:
        super().__init__(body)
        self._index = index
        self.pulse_us: int | None = None

    def write(self, outputs: list) -> None:
        changed = list(outputs)
        if self.pulse_us is not None:
            changed[self._index] = self.pulse_us
        super().write(changed)


def track(model: str, *overrides: str) -> tuple[Vehicle, str, dict[str, Any]]:
    """The scenario on the quick law, or on the articulated plant as its own scenario is set."""
    words = list(overrides)
    if model == "tree":
        words += [
            word
            for word in open_vehicle(VEHICLE).file.tables["scenario"]["articulated"]["set"]
            if word.startswith(TREE)
        ]
    return open_scenario(VEHICLE, words, SCENARIO)


def off_path_m(path_m: list, x_m: float, y_m: float) -> float:
    best = math.inf
    for (ax, ay), (bx, by) in zip(path_m, path_m[1:] + path_m[:1], strict=True):
        dx, dy = bx - ax, by - ay
        t = min(max(((x_m - ax) * dx + (y_m - ay) * dy) / (dx * dx + dy * dy), 0.0), 1.0)
        best = min(best, math.hypot(ax + t * dx - x_m, ay + t * dy - y_m))
    return best


def swim(
    opened: tuple, joint: str | None, angle_rad: float, seed: int, planned: bool, until_s: float = UNTIL_S
) -> Result:
    vehicle, name, scenario = opened
    bodies: list[Jammed] = []
    names = [a.name for a in vehicle.settings.actuators]

    def launch(name: str, body: Any) -> SimSession:
        bodies.append(Jammed(body, names.index(joint or names[0])))
        loop = vehicle.build_loop(scenario, SimDriver(bodies[-1]))
        if not planned:
            loop.stages = [stage for stage in loop.stages if stage.name != "around"]
        return SimSession(name, loop, bodies[-1])

    simulation = Simulation(vehicle, name, seed, launch)
    simulation.arm()
    loop, body = simulation.instances[0].loop, simulation.instances[0].body
    rate_hz, detect_s = vehicle.settings.rate_hz, None
    errors, speeds = [], []
    for tick in range(round(until_s * rate_hz)):
        if tick == round(JAM_S * rate_hz) and joint:
            body.pulse_us = loop.board.actuators[names.index(joint)].map.to_device(int(angle_rad * ONE))
        simulation.step()
        if detect_s is None and any(loop.state.not_following):
            detect_s = tick / rate_hz - JAM_S
        if tick >= FROM_S * rate_hz and tick % 10 == 0:
            truth = dict(zip(body.truth_fields, body.truth(), strict=True))
            errors.append(off_path_m(scenario.path_m, truth["x_m"], truth["y_m"]))
            speeds.append(truth["speed_m_s"])
    assert simulation.fault is None, simulation.fault
    rms_m = math.sqrt(sum(e * e for e in errors) / len(errors))
    marked = [n for n, off in zip(names, loop.state.not_following, strict=True) if off]
    return Result(detect_s, 1e3 * rms_m, 1e3 * max(errors), sum(speeds) / len(speeds), marked)


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--model", default="strouhal")
    words.add_argument("--seeds", type=int, default=3)
    words.add_argument("--angles", default="-0.5,-0.2,0,0.2,0.5")
    words.add_argument("--set", action="append", default=[])
    args = words.parse_args()
    opened = track(args.model, *args.set)
    seeds = range(1, args.seeds + 1)
    whole = [swim(opened, None, 0.0, seed, True) for seed in seeds]
    print(
        "whole     rms",
        *(f"{r.rms_mm:.0f}" for r in whole),
        "max",
        *(f"{r.most_mm:.0f}" for r in whole),
        *(f"{r.speed_m_s:.2f}" for r in whole),
        *(r.marked for r in whole),
    )
    for joint in opened[0].settings.gait.joints:
        for angle_rad in [float(word) for word in args.angles.split(",")]:
            for planned in (True, False):
                runs = [swim(opened, joint, angle_rad, seed, planned) for seed in seeds]
                print(
                    f"{joint} {angle_rad:+.1f} {'planned' if planned else 'as it was'}:",
                    *(f"{r.rms_mm:.0f}/{r.most_mm:.0f} mm" for r in runs),
                    "speed",
                    *(f"{r.speed_m_s:.2f}" for r in runs),
                    "found",
                    *("never" if r.detect_s is None else f"{r.detect_s:.2f}" for r in runs),
                    *({m for r in runs for m in r.marked}),
                    flush=True,
                )


if __name__ == "__main__":
    main()
