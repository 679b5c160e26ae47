"""How late ticks begin with a connected view and without one, in one run: `python -m tests.view.lateness [SECONDS]`.

Fish free-running in real time, the loop with priority as on a vehicle; a real `caudal view` and a real browser are
connected in every other part of the run, so that other load of the machine affects both parts alike. Updates are
those that the browser was sent: what the view wrote to its socket. It exits with 1 if a limit is exceeded.
"""

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from caudal.onboard.core.clock import RealClock
from caudal.onboard.host import realtime
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.log.stream import StreamServer
from caudal.onboard.run.recording import about_run
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.simulation import Simulation
from caudal.tools.view.headless_browser import HeadlessBrowser

STRETCH_S = 10.0
OPEN_S = 60.0
RATIO, UPDATES = 1.2, 20.0  # at most, at least


class Told:
    """What a view says of itself on its errors' stream, in a thread: its address, then how many updates were seen."""

    def __init__(self, view: subprocess.Popen) -> None:
        self.url, self.clients, self.shown = "", 0, 0
        self._lines = view.stderr
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._lines is not None
        for line in self._lines:
            if " on http" in line:
                self.url = line.split(" on ")[1].split()[0]
            elif line.startswith("seen "):
                self.clients, self.shown = (int(word) for word in line.split()[1:])

    def named(self) -> bool:
        return bool(self.url)

    def there(self) -> bool:
        return bool(self.clients and self.shown)


def passed(seconds: float) -> Callable[[], bool]:
    until_s = time.monotonic() + seconds
    return lambda: time.monotonic() > until_s


def main(seconds: float, vehicles: int) -> int:
    vehicle, name, _ = open_scenario(
        "fish", [f"world.pool.vehicles={vehicles}", "world.pool.start_clearance_m=0.1"], "pool"
    )
    about = about_run(vehicle, name, "sim", realtime=True)
    late: dict[bool, list[int]] = {True: [], False: []}
    updates: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "log.mcap", about, lossless=False)
        live = StreamServer(recorder, about, ("127.0.0.1", 0))
        simulation = Simulation(vehicle, name, 0)
        simulation.record(live)
        for session in simulation.sessions:
            live.add_vehicle(session.name, session.loop.send)
        live.start()
        simulation.arm()
        simulation.step()
        for sentence in realtime.set_up():
            print(f"not real-time: {sentence}")

        def swim_until(holds: Callable[[], bool]) -> list[int]:
            """How late its ticks were, in us."""
            ticks, give_up_s = [], time.monotonic() + OPEN_S
            clock = RealClock(simulation.period_us)
            while not holds():
                if time.monotonic() > give_up_s:
                    raise SystemExit(f"the browser was not there after {OPEN_S:g} s")
                live.poll(simulation.world.time_us * 1000)
                ticks.append(clock.wait())
                simulation.step(ticks[-1])
            return ticks

        looked_at = False
        while sum(map(len, late.values())) * simulation.period_us / 1e6 < seconds:
            looked_at = not looked_at
            if looked_at:
                words = [
                    sys.executable,
                    "-m",
                    "tests.view.counted_view",
                    f"127.0.0.1:{live.address[1]}",
                    "8390",
                ]
                view = subprocess.Popen(["nice", *words], stderr=subprocess.PIPE, text=True)
                told = Told(view)
                swim_until(told.named)
                page = HeadlessBrowser(told.url, 640, 400)
                swim_until(told.there)
            swim_until(passed(4.0))
            before, start_s = (told.shown if looked_at else 0), time.monotonic()
            late[looked_at] += swim_until(passed(STRETCH_S))
            if looked_at:
                if not told.clients or page.ended:
                    sys.exit("the browser has gone")
                updates.append((told.shown - before) / (time.monotonic() - start_s))
                page.__exit__(None, None, None)
                view.terminate()
                view.wait()
        simulation.safe()
        live.close()
        recorder.close()
    for looked_at, ticks in late.items():
        p50, p99 = np.percentile(ticks, [50, 99])
        print(
            f"{'viewed' if looked_at else 'alone':10} {len(ticks)} ticks, late p50 {p50:.0f} us, p99 {p99:.0f} us"
        )
    ratio = np.percentile(late[True], 99) / np.percentile(late[False], 99)
    print(f"p99 ratio {ratio:.2f}; {vehicles} vehicles, {min(updates):.1f} updates a second at least")
    kept = ratio <= RATIO and min(updates) >= UPDATES
    if not kept:
        print(f"limits: a ratio of {RATIO} at most, {UPDATES:g} updates a second at least")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 80.0, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
    )
