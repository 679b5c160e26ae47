"""Programs that go wrong: a stage that raises or gives no number, a driver that raises, a disk that takes no more."""

import os
from collections.abc import Callable
from typing import Any

from caudal.onboard.core.state import Estimate
from caudal.tools.faults.kinds import Fault

NAN = float("nan")
Switch = tuple[Callable[[], Any], Callable[[], Any]]


def _stage(instance: Any, target: str) -> Any:
    """The estimator, the guide, or whoever has the last word before the gate."""
    loop = instance.loop
    estimator = next(
        stage for stage in loop.estimators if stage.name == "estimate"
    )  # not who hears actuators
    return {"estimator": estimator, "guide": loop.stages[0], "controller": loop.stages[-1]}[target]


def raising(fault: Fault, instance: Any) -> Switch:
    def bug(*_: Any) -> None:
        raise ArithmeticError(f"made up by {fault.name}")

    if fault.target == "driver":
        held = instance.body.on_counts
        return lambda: held.update({fault: bug}), lambda: held.pop(fault)
    return _replaced(fault, instance, lambda step: bug)


def no_number(fault: Fault, instance: Any) -> Switch:
    def make(step: Callable) -> Callable:
        def wrong(state: Any) -> None:
            step(state)
            if fault.target == "controller":
                state.commands[0] = NAN
                return
            for field in Estimate.FIELDS:
                if getattr(state.estimate, field) is not None:
                    setattr(state.estimate, field, NAN)

        return wrong

    return _replaced(fault, instance, make)


def _replaced(fault: Fault, instance: Any, make: Callable[[Callable], Callable]) -> Switch:
    """Of the loop that there is when it begins; a controller that starts anew is a sound one."""
    found: list[tuple[Any, Callable]] = []

    def begin() -> None:
        if instance.loop is not None:
            stage = _stage(instance, fault.target)
            found.append((stage, stage.step))
            stage.step = make(stage.step)

    def end() -> None:
        while found:
            stage, step = found.pop()
            stage.step = step

    return begin, end


PROCESS = {"exception": raising, "nan": no_number}


def disk_full(injector: Any) -> Switch:
    """As the kernel says it: the log's file becomes /dev/full. A recorder that has failed once stays so."""

    def begin() -> None:
        if injector.recorder:
            full = os.open("/dev/full", os.O_RDWR)
            os.dup2(full, injector.recorder.descriptor)
            os.close(full)

    return begin, lambda: None
