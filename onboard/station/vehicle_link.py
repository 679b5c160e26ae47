"""A vehicle as stations see it: its numbers, names and coordinates, and the bridge to its loop."""

from pathlib import Path

from caudal.onboard.core.loop import Loop
from caudal.onboard.station.bridge import Bridge, InjectFault, Snapshot
from caudal.onboard.station.coordinates import Coordinates
from caudal.onboard.station.manual_control import ManualControl
from caudal.onboard.station.mission_items import Plan
from caudal.onboard.station.mode_numbers import AUTOPILOTS, ModeNumbers
from caudal.onboard.tables.read import Settings


class VehicleLink:
    """One vehicle. `number`: its index among the vehicles of the run; `origin`: of x and y, unless its file gives it;
    `inject`: injects faults into a simulation; `logs`: the folder of this run's log and earlier ones."""

    def __init__(
        self,
        name: str,
        loop: Loop,
        settings: Settings,
        *,
        number: int = 0,
        origin: tuple[float, float] | None = None,
        logs: Path | None = None,
        inject: InjectFault | None = None,
    ) -> None:
        station = settings.station
        assert station and station.axes, "the reader of vehicle files fills both in"
        own = station.origin
        self.name = name
        self.system = station.system + number
        self.autopilot: int = AUTOPILOTS[station.autopilot]
        self.bytewise = station.autopilot != "ardupilot"  # encoding of whole numbers in parameters
        self.numbers = ModeNumbers(station.autopilot)
        self.modes = list(loop.handler.modes)
        self.coordinates = Coordinates(
            (own.latitude_deg, own.longitude_deg) if own else origin, station.bearing_deg
        )
        self.axes = station.axes
        self.rate_hz = loop.rate_hz
        self.rules = [(rule.name, rule.action, rule.can_block_arming) for rule in loop.monitor.rules]
        self.known = {key for key in settings.estimate.__struct_fields__ if getattr(settings.estimate, key)}
        self.bridge = Bridge(loop, inject)
        self.injects_faults = inject is not None
        self.params = loop.handler.params
        self.param_kinds = {param.name: param.kind for param in settings.params}
        self.plan = Plan()
        self.manual_control = ManualControl()
        self.logs = logs

    @property
    def snapshot(self) -> Snapshot:
        """The latest tick."""
        return self.bridge.snapshot

    def time_ms(self, snapshot: Snapshot) -> int:
        """Time since the loop's start, as MAVLink sends it."""
        return (snapshot.tick * 1000 // self.rate_hz) & 0xFFFFFFFF

    def active_rules(self, snapshot: Snapshot) -> list[tuple[str, int]]:
        """Active failsafe rules with their actions, without those that only mean that it is disarmed."""
        return [
            (name, action)
            for bit, (name, action, can_block_arming) in enumerate(self.rules)
            if can_block_arming and snapshot.active_rules >> bit & 1
        ]
