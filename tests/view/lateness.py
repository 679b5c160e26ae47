"""How late ticks begin with a view looking on and without one, in one run: `python tests/view/lateness.py [SECONDS]`.

A fleet of fish free-running by the clock, its loop first in line as on a vehicle; a real `caudal view` and a real
browser look on in every other stretch of the run, so that whatever else the machine does meets both alike.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from onboard import realtime
from onboard.clock import RealClock
from onboard.live import Live
from onboard.record import Recorder
from tools.browser import Headless
from tools.fleet import Fleet
from tools.recording import about_run
from tools.shown import helms_of
from tools.vehicles import open_scenario
from tools.view_line import Watched

STRETCH_S = 10.0


def main(seconds: float, vehicles: int) -> None:
    vehicle, name, _ = open_scenario(
        "fish", [f"world.pool.vehicles={vehicles}", "world.pool.start_clearance_m=0.1"], "pool"
    )
    about = about_run(argparse.Namespace(seed=0, realtime=True), vehicle, name, "sim")
    late: dict[bool, list[int]] = {True: [], False: []}
    updates: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "log.mcap", about, lossless=False)
        live = Live(recorder, about, ("127.0.0.1", 0))
        fleet = Fleet(vehicle, name, 0)
        fleet.record(live)
        for whose, tell in helms_of(fleet.swimmers).items():
            live.helm(whose, tell)
        live.start()
        fleet.arm()
        fleet.step()
        for sentence in realtime.set_up():
            print(f"not real-time: {sentence}")
        looked_at = False
        while sum(map(len, late.values())) * fleet.period_us / 1e6 < seconds:
            looked_at = not looked_at
            if looked_at:
                words = [
                    sys.executable,
                    "-m",
                    "tools.cli",
                    "view",
                    f"127.0.0.1:{live.address[1]}",
                    "--port",
                    "8390",
                ]
                view = subprocess.Popen(["nice", *words], stderr=subprocess.PIPE, text=True)
                assert view.stderr is not None
                url = view.stderr.readline().split(" on ")[1].split()[0]
                page = Headless(url, 640, 400)
                counter = Watched(live.address)
            time.sleep(4.0)
            before, start_s = (counter.updates if looked_at else 0), time.monotonic()
            clock = RealClock(fleet.period_us)
            for _ in range(round(STRETCH_S * 1e6 / fleet.period_us)):
                live.take(fleet.world.time_us * 1000)
                late_us = clock.wait()
                late[looked_at].append(late_us)
                fleet.step(late_us)
            if looked_at:
                updates.append((counter.updates - before) / (time.monotonic() - start_s))
                counter.close()
                page.__exit__(None, None, None)
                view.terminate()
                view.wait()
        fleet.safe()
        live.close()
        recorder.close()
    for looked_at, ticks in late.items():
        p50, p99 = np.percentile(ticks, [50, 99])
        print(
            f"{'looked at' if looked_at else 'alone':10} {len(ticks)} ticks, late p50 {p50:.0f} us, p99 {p99:.0f} us"
        )
    ratio = np.percentile(late[True], 99) / np.percentile(late[False], 99)
    print(f"p99 ratio {ratio:.2f}; {vehicles} vehicles, {min(updates):.1f} updates a second at least")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 80.0, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
