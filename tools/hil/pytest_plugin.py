"""A pytest fixture, `bench`: a plant and a controller on a HIL link, with faults. For tests in any repository.

def test_loop_runs_on_when_frames_are_lost(bench):
    wire = bench("mine.toml", scenario="cruise", drop=0.02)
    wire.swim(10)
    assert wire.vehicle.gone_ticks == 0 and wire.controller.loop.fault is None

wire.cut() / wire.clear()     the cable is unplugged and plugged in again
wire.stall(seconds)          the controller's process hangs for a while
wire.vehicle, wire.world     the plant side, and its world
wire.outputs                 what reached the actuators, tick by tick

bench(..., gone_s=0)                   ticks of a cut line cost no wall-clock time; the first costs a second
bench(..., free=True)                  ticks in real time, without waiting for answers
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from caudal.tools.hil.fixture import Wire

FAULTS = ("drop", "corrupt", "duplicate", "delay_s")
OPTIONS = ("overrides", "free", "patience_s", "gone_s", "link_timeout_ms")


@pytest.fixture
def bench() -> "Iterator[Callable[..., Wire]]":
    from caudal.tools.hil.fixture import Wire  # brings the plant with it: only for those who ask for a bench

    wires: list[Wire] = []

    def make(vehicle: str, scenario: str | None = None, seed: int = 0, **more: Any) -> Wire:
        unknown = [key for key in more if key not in (*FAULTS, *OPTIONS)]
        if unknown:
            raise TypeError(f"bench has no {', '.join(unknown)}; it takes {', '.join((*FAULTS, *OPTIONS))}")
        wires.append(Wire(vehicle, scenario, seed, **more))
        return wires[-1]

    yield make
    for wire in wires:
        wire.close()
