"""The vehicle's own computer: the loop on its real drivers, in real time, until a signal stops it.

The loop ticks from the start, whatever answers on the buses: failsafe rules handle absent readings. Nothing moves
before a person has armed it, by the vehicle's switch ([pi.arm]), a ground station, or --arm-after.
"""

import os
import time
from contextlib import ExitStack
from typing import Any

from caudal.hal.pi.build import build_driver
from caudal.hal.pi.driver import PiDriver
from caudal.hal.tables import pi as pi_spec
from caudal.onboard.host.host_monitor import Host
from caudal.onboard.host.realtime import BUS_PRIORITY, first_in_line, set_up
from caudal.onboard.host.systemd import Notifier
from caudal.onboard.run import runner
from caudal.onboard.run.arming import ArmSwitch, ArmTimer, Notify
from caudal.onboard.run.config import Controlled
from caudal.onboard.run.options import RunOptions
from caudal.onboard.run.param_keeper import default_path
from caudal.onboard.run.runner import StopSignal
from caudal.onboard.run.services import Services
from caudal.onboard.run.session import Session
from caudal.onboard.tables.read import Scenario


def run_on_vehicle(
    vehicle: Controlled, scenario_name: str, scenario: Scenario, options: RunOptions, notify: Notify
) -> dict[str, Any]:
    """Runs until the time is over or a signal comes; what the run did."""
    pi = pi_spec.read(vehicle.file, vehicle.settings)
    stop = StopSignal()
    driver = build_driver(vehicle.settings, pi, vehicle.settings.rate_hz)
    session = Session(
        f"{vehicle.name}_1", vehicle.build_loop(scenario, driver), devices=driver, notify=notify
    )
    loop = session.loop
    services = Services(
        options,
        vehicle,
        scenario_name,
        "pi",
        notify,
        params=default_path(vehicle.name),
        lossless=False,
    )
    with services, ExitStack() as opened:
        session.record(services.attach([session]))
        services.stream([session])
        run = VehicleRun(session, driver, services, options.arm_after_s)
        if options.arm_after_s is None and not pi.arm and not options.stations.addresses:
            notify(
                "it stays disarmed: the file has no [pi.arm] switch, and neither --arm-after nor --mavlink is given"
            )
        opened.callback(driver.close)
        driver.start(lambda: first_in_line(BUS_PRIORITY))
        host = Host(lambda word, value: loop.send("host", word, int(value)), services.log)
        opened.callback(host.stop)
        host.start()
        for missing in set_up():
            notify(f"not real-time: {missing}")
        ended = runner.run(
            run, seconds=options.seconds, realtime=True, stop=stop, after_step=run.report, notify=notify
        )
    return run_result(vehicle, scenario_name, session, services, ended.interrupted) | {
        "devices_lost": list(driver.lost)
    }


def run_result(
    vehicle: Controlled, scenario_name: str, session: Session, services: Services | None, stopped: bool
) -> dict[str, Any]:
    """What a run without a plant did: its ticks, lateness and log; the truth is unknown."""
    loop, recorder = session.loop, services and services.recorder
    result: dict[str, Any] = {
        "vehicle": vehicle.name,
        "scenario": scenario_name,
        "ticks": loop.ticks,
        "overruns": loop.overruns,
        "worst_late_us": loop.worst_late_us,
        "messages_lost": recorder.lost if recorder else 0,
        "stopped_early": stopped,
        "fault": loop.fault,
        "log": str(services.log) if services else None,
    }
    if session.arming.refusal:
        result["not_armed"] = session.arming.refusal
    return result


class VehicleRun:
    """One session in calendar time, with its arming and the service manager that watches it."""

    def __init__(
        self, session: Session, driver: PiDriver, services: Services, arm_after_s: float | None
    ) -> None:
        self.period_us: int = session.loop.period_us
        self._session = session
        self._driver = driver
        self._services = services
        self._arming = (ArmTimer(session.loop, arm_after_s), ArmSwitch(session.loop, driver.armed))
        session.before = self._before
        self._notifier = Notifier(os.environ)
        self._epoch_ns = time.time_ns() - time.monotonic_ns()  # a log has calendar times, but they never jump

    @property
    def fault(self) -> str | None:
        """Why the loop has stopped safe, or None."""
        return self._session.fault

    def arm(self) -> None:
        """Arms the vehicle."""
        self._session.arm()

    def step(self, late_us: int) -> None:
        """One tick."""
        time_ns = self._epoch_ns + time.monotonic_ns()
        self._session.tick(time_ns, late_us)
        self._services.take(time_ns)

    def safe(self) -> None:
        """Puts the actuators into their safe state; the run is over."""
        self._notifier.stopping()
        self._session.safe()

    def report(self, tick: int) -> None:
        """Notifies the service manager that the loop is alive, from its own thread, and once a second its status."""
        loop = self._session.loop
        if tick == 0:
            self._notifier.ready()
        self._notifier.alive()
        if tick % loop.rate_hz == 0:
            lost = ", ".join(self._driver.lost)
            armed = "armed" if loop.state.armed else "disarmed"
            self._notifier.status(f"{armed}, tick {loop.ticks}" + (f", lost: {lost}" if lost else ""))

    def _before(self, time_ns: int, late_us: int) -> int:
        for arming in self._arming:
            arming.step()
        return late_us
