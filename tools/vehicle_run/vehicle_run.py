"""The vehicle's own computer: the loop on its real drivers, by the clock, until it is told to end.

The loop ticks from the start, whatever answers on the buses: absent readings are what its failsafes are for. Nothing
moves before a person has armed it, by the vehicle's switch ([pi.arm]) or by --arm-after.
"""

import argparse
import itertools
import os
import signal
import time
from typing import Any

from caudal.hal.pi.build import build_driver
from caudal.hal.tables import pi as pi_spec
from caudal.onboard.core.clock import RealClock
from caudal.onboard.core.loop import Loop
from caudal.onboard.host.host_monitor import Host
from caudal.onboard.host.realtime import BUS_PRIORITY, first_in_line, set_up
from caudal.onboard.host.systemd import Notifier
from caudal.onboard.log.tick_log import TickLog
from caudal.tools.common import output
from caudal.tools.vehicle_run.arming import Arming
from caudal.tools.vehicle_run.config import Controlled, open_controlled
from caudal.tools.vehicle_run.ground_station import open_stations
from caudal.tools.vehicle_run.live_view import LiveView
from caudal.tools.vehicle_run.param_keeper import ParamKeeper, default_path, open_store
from caudal.tools.vehicle_run.recording import about_run, next_log_path, open_recorder

ARM_WITHIN_S = 10.0  # of --arm-after's second


def run_on_vehicle(args: argparse.Namespace) -> int:
    vehicle, scenario_name, scenario = open_controlled(args.vehicle, args.set, args.scenario)
    pi = pi_spec.read(vehicle.file, vehicle.settings)
    told = StopSignal()
    driver = build_driver(vehicle.settings, pi, vehicle.settings["rate_hz"])
    log = args.log or next_log_path(vehicle, scenario_name, args.seed)
    loop = vehicle.build_loop(scenario, driver)
    stations = open_stations(args, vehicle.settings, [(f"{vehicle.name}_1", loop)], log, None)
    about = about_run(args, vehicle, scenario_name, "pi")
    recorder = open_recorder(log, about, lossless=False)
    host = Host(lambda word, value: loop.send("host", word, int(value)), log)
    kept = shown = None
    if vehicle.settings["params"]:
        store = open_store(args.params or default_path(vehicle.name), vehicle)
        kept = ParamKeeper(store, loop, recorder, f"{vehicle.name}_1")
    try:
        bridge = stations.vehicle_links[0].bridge if stations else None
        shown = LiveView(args, recorder, about)
        aboard = VehicleRun(vehicle, loop, driver, shown, args.arm_after, kept, bridge)
        if args.arm_after is None and not pi.arm and not stations:
            output.note(
                "it stays disarmed: the file has no [pi.arm] switch, and neither --arm-after nor --mavlink is given"
            )
        driver.start(lambda: first_in_line(BUS_PRIORITY))
        host.start()
        if stations:
            stations.start()
        for missing in set_up():
            output.note(f"not real-time: {missing}")
        stopped = aboard.swim(args.seconds, told)
    finally:
        if stations:
            stations.stop()
        host.stop()
        driver.close()
        if kept:
            kept.close()
        if shown:
            shown.close()
        recorder.close()
    result = {
        "vehicle": vehicle.name,
        "scenario": scenario_name,
        "ticks": loop.ticks,
        "overruns": loop.overruns,
        "worst_late_us": loop.worst_late_us,
        "devices_lost": list(driver.lost),
        "messages_lost": recorder.lost,
        "stopped_early": stopped,
        "fault": loop.fault,
        "log": str(log),
    }
    if aboard.arming.refusal:
        result["not_armed"] = aboard.arming.refusal
    if args.json:
        output.as_json(result)
    else:
        lost = {"devices_lost": ", ".join(driver.lost) or "none", "fault": loop.fault or "none"}
        output.table(list((result | lost).items()))
    # A loop that ticks and waits to be armed has not failed; one that was to arm itself and could not has.
    return 1 if loop.fault or (args.arm_after is not None and aboard.arming.refusal) else 0


class StopSignal:
    """Signals as a word that the loop looks up each tick: none can strike the code that ends the pulses."""

    def __init__(self) -> None:
        self.to_end = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._hear)

    def _hear(self, number: int, frame: Any) -> None:
        self.to_end = True


class VehicleRun:
    """One loop, its clock, its recording and the service manager that watches it."""

    def __init__(
        self,
        vehicle: Controlled,
        loop: Loop,
        driver: Any,
        shown: LiveView,
        arm_after_s: float | None,
        kept: ParamKeeper | None = None,
        bridge: Any = None,
    ) -> None:
        self.arming = Arming()
        self._loop = loop
        self._driver = driver
        self._shown = shown
        self._recorder = shown.book
        self._kept = kept
        self._name = f"{vehicle.name}_1"
        self._bridge = bridge  # to ground stations
        self._black_box = TickLog(shown.book, self._name, loop)
        shown.begin({self._name: loop.send})
        self._notifier = Notifier(os.environ)
        self._epoch_ns = time.time_ns() - time.monotonic_ns()  # a log has calendar times, but they never jump
        self._arm_tick = round(arm_after_s * loop.rate_hz) if arm_after_s is not None else None
        self._hung = False  # as the loop was told
        self._open_seen = False  # the switch: one that is closed at the start arms nothing
        self._switched = False

    def swim(self, seconds: float | None, told: StopSignal) -> bool:
        """Until its time is over, or a person or the service manager ends it: true for that."""
        loop, clock = self._loop, RealClock(self._loop.period_us)
        ticks = round(seconds * loop.rate_hz) if seconds else None
        try:
            for tick in itertools.count():
                if tick == ticks or loop.fault or told.to_end:
                    break
                self._arm(tick)
                if self._driver.hung != self._hung:
                    self._hung = not self._hung
                    loop.send("host", "bus_hung", int(self._hung))
                self._tick(clock.wait())
                if tick == 0:
                    self._notifier.ready()
                self._notifier.alive()  # from the loop's own tick: a loop that hangs is not alive
                if tick % loop.rate_hz == 0:
                    self._report()
            if told.to_end:
                output.note("told to end: actuators are safe, the log is complete so far")
            return told.to_end
        finally:
            self._notifier.stopping()
            loop.board.safe()

    def _tick(self, late_us: int) -> None:
        start_ns = time.monotonic_ns()
        time_ns = self._epoch_ns + start_ns
        if self._bridge:
            self._bridge.before()
        self._loop.tick(late_us)
        self.arming.update(self._name, self._loop)
        notes = self._bridge.after() if self._bridge else ()
        self._black_box.write(time_ns, (time.monotonic_ns() - start_ns) // 1000)
        for kind, details in notes:
            self._recorder.event(time_ns, kind, **details)
        for kind, device, reason in self._driver.news():
            output.note(f"{kind}: {device}: {reason}")
            self._recorder.event(time_ns, kind, vehicle=self._name, device=device, reason=reason)
        if self._kept:
            self._kept.after_tick(time_ns)
        self._shown.take(time_ns)

    def _arm_by_itself(self, tick: int) -> None:
        """At its second, or soon after: chips take theirs to begin. Never once it was armed or somebody disarmed."""
        loop = self._loop
        if self._arm_tick is not None and any(kind == "disarm" for kind, *_ in loop.taken):
            self._arm_tick = None
        if self._arm_tick is None or tick < self._arm_tick:
            return
        waited = tick - self._arm_tick
        if loop.state.armed or waited > ARM_WITHIN_S * loop.rate_hz:
            self._arm_tick = None
        elif waited % (loop.rate_hz // 2) == 0:
            loop.arm()

    def _arm(self, tick: int) -> None:
        self._arm_by_itself(tick)
        closed = self._driver.armed()
        if closed is None:
            return
        if closed and self._open_seen and not self._switched:
            self._switched = True
            self._loop.arm()
        elif not closed:
            self._open_seen = True
            if self._switched:
                self._switched = False
                self._loop.disarm()

    def _report(self) -> None:
        """A line for the service's status."""
        lost = ", ".join(self._driver.lost)
        armed = "armed" if self._loop.state.armed else "disarmed"
        self._notifier.status(f"{armed}, tick {self._loop.ticks}" + (f", lost: {lost}" if lost else ""))
