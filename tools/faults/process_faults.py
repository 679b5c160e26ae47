"""Faults of programs: a stage that raises an exception or outputs NaN, a driver that raises, a disk that is full."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from caudal.onboard.core.loop import Loop, Stage
from caudal.onboard.core.state import Estimate, State
from caudal.tools.faults.kinds import Fault

if TYPE_CHECKING:
    from caudal.tools.faults.injector import FaultInjector

NAN = float("nan")
Switch = tuple[Callable[[], object], Callable[[], object]]  # begin and end
Step = Callable[[State], None]


def _stage(loop: Loop, target: str) -> Stage:
    estimator = next(
        stage for stage in loop.estimators if stage.name == "estimate"
    )  # not an actuator monitor
    stages: dict[str, Stage] = {
        "estimator": estimator,
        "guide": loop.stages[0],
        "controller": loop.stages[-1],
    }
    return stages[target]


def raise_exception(fault: Fault, injector: "FaultInjector") -> Switch:
    """A stage or the driver raises an ArithmeticError in every tick."""

    def bug(*_: object) -> None:
        raise ArithmeticError(f"injected by {fault.name}")

    if fault.target == "driver":
        effects = injector.body.on_counts
        return lambda: effects.update({fault: bug}), lambda: effects.pop(fault)
    return _replaced(fault, injector, lambda step: bug)


def output_nan(fault: Fault, injector: "FaultInjector") -> Switch:
    """The estimator's estimates, or the controller's first command, are NaN in every tick."""

    def make(step: Step) -> Step:
        def wrong(state: State) -> None:
            step(state)
            if fault.target == "controller":
                commands: list[Any] = state.commands
                commands[0] = NAN
                return
            for field in Estimate.FIELDS:
                if getattr(state.estimate, field) is not None:
                    setattr(state.estimate, field, NAN)

        return wrong

    return _replaced(fault, injector, make)


def _replaced(fault: Fault, injector: "FaultInjector", make: Callable[[Step], Step]) -> Switch:
    """Replaces the step of a stage of the current loop. A restarted controller has a new loop without the fault."""
    found: list[tuple[Stage, Step]] = []

    def begin() -> None:
        if injector.loop is not None:
            stage = _stage(injector.loop, fault.target)
            found.append((stage, stage.step))
            stage.step = make(stage.step)

    def end() -> None:
        while found:
            stage, step = found.pop()
            stage.step = step

    return begin, end


PROCESS = {"exception": raise_exception, "nan": output_nan}


def disk_full(injector: "FaultInjector") -> Switch:
    """The log's file becomes /dev/full. A recorder that has failed once stays so."""

    def begin() -> None:
        if injector.recorder:
            full = os.open("/dev/full", os.O_RDWR)
            os.dup2(full, injector.recorder.descriptor)
            os.close(full)

    return begin, lambda: None
