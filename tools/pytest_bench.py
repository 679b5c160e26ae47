"""A pytest fixture, `bench`: a plant and a controller on a wire, with faults. For tests in any repository.

def test_my_vehicle_survives_a_bad_cable(bench):
    wire = bench("mine.toml", scenario="cruise", drop=0.02)
    wire.swim(10)
    assert wire.vehicle.gone_ticks == 0 and wire.controller.loop.fault is None

wire.cut() / wire.mend()     the cable is unplugged and plugged in again
wire.stall(seconds)          the controller's process hangs for a while
wire.vehicle, wire.world     the plant's end, and the world it swims in
wire.outputs                 what reached the actuators, tick by tick
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tools.wire import Wire

FAULTS = ("drop", "corrupt", "duplicate", "delay_s")


@pytest.fixture
def bench() -> "Iterator[Callable[..., Wire]]":
    from tools.wire import Wire  # brings the plant with it: only for those who ask for a bench

    wires: list[Wire] = []

    def make(vehicle: str, scenario: str | None = None, seed: int = 0, **more: Any) -> Wire:
        faults = {key: more.pop(key) for key in FAULTS if key in more}
        overrides = list(more.pop("overrides", []))
        if more:
            raise TypeError(f"bench has no {', '.join(more)}; it takes {', '.join(FAULTS)} and overrides")
        wires.append(Wire(vehicle, scenario, seed, overrides, **faults))
        return wires[-1]

    yield make
    for wire in wires:
        wire.close()
