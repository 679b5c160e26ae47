"""Hours of a run in lockstep, by hand: does memory grow, does the log open, does all of it replay?

    python tests/swim/six_hours.py [VEHICLE SCENARIO [HOURS [LOG]]]

Prints a line per simulated half hour: the memory of the process, and the number of blocks that Python has allocated,
which distinguishes objects in use from memory that was not returned. Then the replay. Exit code 1: the process had a
megabyte more than in the tenth minute, or the replay differs.
"""

import sys
import tempfile
import time
from pathlib import Path

from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.run.replay import NEEDED
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.library import replay
from caudal.tools.simulate.simulation import Simulation

SETTLED_S = 600.0
EVERY_S = 1800.0
GROWN_KB = 1e6 / 1024  # one megabyte in the kernel's kB: so much since the tenth minute is too much


def resident_kb() -> int:
    """What this process holds of memory now."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def swim(vehicle_name: str, scenario: str, hours: float, log: Path) -> dict[str, float]:
    vehicle, name, _ = open_scenario(vehicle_name, [], scenario)
    simulation = Simulation(vehicle, name, 0)
    about = {
        "vehicle": vehicle.name,
        "vehicle_file": vehicle.file.text,
        "overrides": "\n".join(vehicle.file.overrides),
        "scenario": name,
        "on": "sim",
    }
    ticks = round(hours * 3600e6 / simulation.period_us)
    settled = round(SETTLED_S * 1e6 / simulation.period_us)
    every = round(EVERY_S * 1e6 / simulation.period_us)
    start_kb = most_kb = start_blocks = 0
    # a short queue: how far a long one fills up, and what it takes then, is the disk's doing
    with Recorder(log, about, lossless=True, limit=2000) as recorder:
        simulation.record(recorder)
        simulation.arm()
        for tick in range(ticks):
            simulation.step()
            if tick == settled:
                start_kb = most_kb = resident_kb()
                start_blocks = sys.getallocatedblocks()
            if tick >= settled and tick % 1000 == 0:
                most_kb = max(most_kb, resident_kb())
            if tick % every == 0:
                at_h = tick * simulation.period_us / 3600e6
                print(f"{at_h:5.2f} h  {resident_kb()} kB, {sys.getallocatedblocks()} blocks", flush=True)
            if simulation.fault:
                raise SystemExit(f"ended at tick {tick}: {simulation.fault}")
        end_kb = resident_kb()
        end_blocks = sys.getallocatedblocks()
    return {
        "ticks": ticks,
        "at_10_min_kb": start_kb,
        "grown_kb": end_kb - start_kb,
        "most_kb": max(most_kb, end_kb) - start_kb,
        "grown_blocks": end_blocks - start_blocks,
    }


def main() -> None:
    vehicle, scenario = sys.argv[1:3] if len(sys.argv) > 2 else ("fish", "pool")
    hours = float(sys.argv[3]) if len(sys.argv) > 3 else 6.0
    log = Path(sys.argv[4]) if len(sys.argv) > 4 else Path(tempfile.mkdtemp()) / f"{vehicle}.mcap"
    if hours * 3600 <= SETTLED_S:
        raise SystemExit("what memory grows by is counted from the tenth minute on; give more hours")
    began_s = time.monotonic()
    swum = swim(vehicle, scenario, hours, log)
    print(swum, f"{time.monotonic() - began_s:.0f} s", flush=True)
    print(f"{log}: {log.stat().st_size / 1e6:.0f} MB", flush=True)
    result = replay(Log(log, only=NEEDED))
    print(result, f"{time.monotonic() - began_s:.0f} s")
    raise SystemExit(exit_code(swum, result["identical"]))


def exit_code(swum: dict[str, float], identical: bool) -> int:
    if swum["most_kb"] >= GROWN_KB:
        print(f"memory grew by {swum['most_kb']} kB since the tenth minute; {GROWN_KB:.0f} is too much")
        return 1
    return 0 if identical else 1


if __name__ == "__main__":
    main()
