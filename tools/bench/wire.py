"""Measures the exchanges per second on a HIL link in lockstep, and the parts of an exchange's time.

An exchange is a tick's readings to the controller and its outputs back, without the plant's step. At a baud rate, its
bytes take `line_us` at least, because request and response cannot overlap. `controller_us` is the time from the last
byte of the readings to the first of the outputs: the tick, and the work on frames that has to wait for all bytes.
`plant_us` is the same on the plant side. In the rest, processes wake up and bytes pass the pseudo-terminal.

    share_of_line           line_us as a share of the exchange: how much of the line's limit is reached
    share_without_compute   line_us as a share of the exchange without the work of both sides: loss of the link itself

All are means, so that parts add up and 1e6 / exchange_us is the rate; median and its share (p50) are for a machine
with other load. Both sides request real-time priority, so that such load has less effect.
"""

import multiprocessing
import os
import statistics
import time
from typing import Any

from caudal.hal.serial_ports import Port
from caudal.onboard.host import realtime
from caudal.tools.bench.wire_controller import TimedPort, serve
from caudal.tools.common import output
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.hil.paced_pty import BITS_A_BYTE, PacedPort
from caudal.tools.hil.plant_side import PlantSide
from caudal.tools.hil.pty import open_line
from caudal.tools.simulate.simulation import Simulation

BENCHES = {"fish": "cruise", "snake": "shells", "rov": "sticks"}
BAUDS = (0, 115_200, 921_600)  # 0: a pseudo-terminal at full speed
WARM_UP = 200
EXCHANGES = 3000


def run(names: list[str], overrides: list[str], as_json: bool) -> int:
    """Measures vehicles at all baud rates and prints the figures."""
    for sentence in realtime.first_in_line(realtime.PRIORITY):
        output.note(f"other load on this machine will affect the results: {sentence}")
    rows = []
    for name in names or list(BENCHES):
        for baud in BAUDS:
            rows.append({"vehicle": name, "baud": baud or None, **measure(name, overrides, baud)})
            output.note(f"{name} {baud or 'pty'}: {rows[-1]['exchanges_per_s']:.0f} exchanges per second")
    if as_json:
        output.as_json({"wire": rows})
    else:
        output.table([list(row.values()) for row in rows], list(rows[0]))
    return 0


def measure(name: str, overrides: list[str], baud: int, exchanges: int = EXCHANGES) -> dict[str, Any]:
    """Figures of one vehicle at one baud rate; 0 is a pseudo-terminal at full speed."""
    vehicle, scenario, _ = open_scenario(name, overrides, BENCHES.get(name))
    simulation = Simulation(vehicle, scenario, 0)
    master, slave = open_line()
    context = multiprocessing.get_context("spawn")
    results, sender = context.Pipe(duplex=False)
    where = (name, overrides, scenario, os.ttyname(slave), sender)
    controller = context.Process(target=serve, args=where, daemon=True)
    controller.start()
    try:
        port = Port(master, "bench")
        timed = TimedPort(PacedPort(port, baud) if baud else port)
        end = PlantSide(vehicle.settings, vehicle.file.digest(), timed)
        if not end.connect(60):
            raise output.UsageError(f"{name}: its controller did not start on the HIL link")
        figures = _exchange(simulation, end, timed, baud, exchanges)
        end.bye()
        figures["controller_us"] = results.recv() if results.poll(10) else float("nan")
    finally:
        controller.join(timeout=5)
        controller.kill()
        os.close(slave)
        os.close(master)
    return _shares(figures)


def _exchange(
    simulation: Simulation, end: PlantSide, timed: TimedPort, baud: int, exchanges: int
) -> dict[str, Any]:
    body = simulation.instances[0].body
    counts: list[int | None] = [None] * len(body.sensors)
    took_ns, plant_ns, count = [], 0, 0
    for tick in range(WARM_UP + exchanges):
        if tick == WARM_UP:
            count = end.bytes_sent + end.bytes_received
        body.read(counts)
        start_ns = time.perf_counter_ns()
        outputs = end.exchange(tick, counts, patience_s=10.0)
        end_ns = time.perf_counter_ns()
        if outputs is None:
            raise output.UsageError("the controller on the HIL link timed out; run it again")
        if tick >= WARM_UP:
            took_ns.append(end_ns - start_ns)
            plant_ns += timed.sent_ns - start_ns + end_ns - timed.received_ns
        body.write(outputs)
        simulation.world.step(simulation.period_us)
    sent = (end.bytes_sent + end.bytes_received - count) / exchanges
    return {
        "exchanges_per_s": 1e9 * exchanges / sum(took_ns),
        "bytes": sent,
        "exchange_us": sum(took_ns) / exchanges / 1e3,
        "exchange_p50_us": statistics.median(took_ns) / 1e3,
        "line_us": sent * BITS_A_BYTE / baud * 1e6 if baud else 0.0,
        "plant_us": plant_ns / exchanges / 1e3,
    }


def _shares(figures: dict[str, Any]) -> dict[str, Any]:
    line_us, whole_us = figures["line_us"], figures["exchange_us"]
    worked_us = figures["plant_us"] + figures["controller_us"]
    figures["rest_us"] = whole_us - line_us - worked_us
    figures["share_of_line"] = line_us / whole_us if line_us else None
    figures["share_of_line_p50"] = line_us / figures["exchange_p50_us"] if line_us else None
    figures["share_without_compute"] = line_us / (whole_us - worked_us) if line_us else None
    return figures
