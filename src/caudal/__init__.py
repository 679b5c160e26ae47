"""Caudal: onboard controllers for vehicles that swim.

The names below are the library; docs/api.md has an example of each. A name is imported when it is first used: a
vehicle's computer needs no simulator. MicroPython reads this file, too.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.errors import CaudalError
    from caudal.onboard.build import build_loop
    from caudal.onboard.core.loop import Loop, Stage
    from caudal.onboard.core.state import State
    from caudal.onboard.log.reader import Log
    from caudal.onboard.vehicles import names as list_vehicles
    from caudal.sim_plant.loader import load as load_plant
    from caudal.tools.config.vehicle import Vehicle
    from caudal.tools.simulate.library import Result, load_vehicle, replay, simulate
    from caudal.tools.simulate.simulation import Simulation

__all__ = [
    "CaudalError",
    "Log",
    "Loop",
    "Result",
    "Simulation",
    "Stage",
    "State",
    "Vehicle",
    "build_loop",
    "list_vehicles",
    "load_plant",
    "load_vehicle",
    "replay",
    "simulate",
]
HOMES = {
    "CaudalError": "hal.errors",
    "Log": "onboard.log.reader",
    "Loop": "onboard.core.loop",
    "Result": "tools.simulate.library",
    "Simulation": "tools.simulate.simulation",
    "Stage": "onboard.core.loop",
    "State": "onboard.core.state",
    "Vehicle": "tools.config.vehicle",
    "build_loop": "onboard.build",
    "list_vehicles": "onboard.vehicles:names",
    "load_plant": "sim_plant.loader:load",
    "load_vehicle": "tools.simulate.library",
    "replay": "tools.simulate.library",
    "simulate": "tools.simulate.library",
}  # name in this package -> module[:name there]


if not TYPE_CHECKING:  # a type checker knows the names above, and finds others

    def __getattr__(name: str) -> object:
        if name not in HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        module, _, own = HOMES[name].partition(":")
        return getattr(import_module(f"caudal.{module}"), own or name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
