"""The clock loop and the session, which every kind of run has."""

import pytest

from caudal.onboard.run.null_driver import NullDriver
from caudal.onboard.run.runner import run
from caudal.onboard.run.session import Session
from caudal.tools.config.vehicle import open_scenario


class Subject:
    """Steps that do what `steps` says, and the order of what happened."""

    period_us = 10_000
    fault = None

    def __init__(self, step=lambda: None):
        self.happened = []
        self._step = step

    def arm(self):
        self.happened.append("arm")

    def step(self, late_us):
        self.happened.append("step")
        if len(self.happened) > 1:
            self._step()

    def safe(self):
        self.happened.append("safe")


def interrupt():
    raise KeyboardInterrupt


def fail():
    raise ValueError("a step failed")


def test_run_arms_at_its_time_and_ends_safe():
    subject = Subject()
    ended = run(subject, seconds=0.05, arm_after_s=0.03)
    assert subject.happened == [*["step"] * 3, "arm", *["step"] * 2, "safe"]
    assert ended.complete and not ended.interrupted


@pytest.mark.parametrize("stop", [interrupt, None])
def test_run_is_safe_before_any_message_when_interrupted(stop):
    subject = Subject(stop or (lambda: None))
    ended = run(
        subject,
        seconds=1.0,
        stop=lambda: stop is None and len(subject.happened) == 2,
        notify=lambda text: subject.happened.append("message"),
    )
    assert subject.happened == ["step", "step", "safe", "message"]
    assert ended.interrupted and not ended.complete


def test_run_is_safe_when_a_step_fails():
    subject = Subject(fail)
    with pytest.raises(ValueError, match="a step failed"):
        run(subject, seconds=1.0)
    assert subject.happened[-1] == "safe"


def test_run_ends_with_a_fault():
    subject = Subject()
    subject._step = lambda: setattr(subject, "fault", "broken")
    assert run(subject, seconds=1.0).complete is False
    assert subject.happened == ["step", "step", "safe"]


def test_session_stalls_when_before_gives_no_lateness():
    vehicle, _, scenario = open_scenario("fish", [], "cruise")
    session = Session("fish_1", vehicle.build_loop(scenario, NullDriver()))
    calls = []
    session.after.append(lambda session, time_ns: calls.append(time_ns))
    session.tick(0, 0)
    session.before = lambda time_ns, late_us: None
    session.tick(10_000_000, 0)
    session.before = lambda time_ns, late_us: late_us + 7
    session.tick(20_000_000, 3)
    assert calls == [0, 20_000_000] and session.loop.ticks == 2 and session.loop.state.late_us == 10
