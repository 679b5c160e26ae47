"""The campaign's independent checks find monitors, failsafe rules and estimators that are wrong."""

import pytest

from caudal.onboard.core.actuator_monitor import Observer
from caudal.onboard.core.failsafe import FailsafeRule
from caudal.onboard.core.state import Estimate
from caudal.onboard.estimate.pose import PoseEstimator
from caudal.tools.campaign.campaign import Case, plan, run_case
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_scenario

FISH = ("fish", ("world.pool.vehicles=1",), "pool")
ROV = ("rov", (), "station")
SHALLOW = ("rov", ("failsafe.too_deep={high = 2.0}",), "station")
HYBRID = ("hybrid", (), "mode1")
PUBLISH = PoseEstimator._publish


def violations(where, seconds: float, *faults: str) -> list[str]:
    return run_case(Case(*where, 1, seconds, faults)).violations


@pytest.mark.parametrize(
    "where, fault",
    [
        (FISH, "jammed:tail_2@1"),
        (FISH, "dead:tail_3@1"),
        (ROV, "dead:lift_fore@1"),
        (HYBRID, "dead:aft_a@1"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_check_finds_a_monitor_that_marks_no_actuator(where, fault, monkeypatch):
    assert violations(where, 3.0, fault) == []
    monkeypatch.setattr(Observer, "_judge", lambda observer, heard: None)
    assert any("is not active after" in line for line in violations(where, 3.0, fault))


def test_check_finds_a_monitor_that_marks_a_good_actuator(monkeypatch):
    monkeypatch.setattr(Observer, "_judge", lambda observer, heard: setattr(observer, "marked", True))
    assert any(
        "though its trigger has not lasted" in line for line in violations(FISH, 1.0, "hot:computer@0.5")
    )


def test_check_finds_a_monitor_that_never_unmarks(monkeypatch):
    judge = Observer._judge

    def never_unmarks(observer, heard):
        marked = observer.marked
        judge(observer, heard)
        observer.marked = observer.marked or marked

    fault = "jammed:tail_2@0.6+0.8"
    assert violations(FISH, 4.0, fault) == []
    monkeypatch.setattr(Observer, "_judge", never_unmarks)
    assert any("does not clear" in line for line in violations(FISH, 4.0, fault))


def taking_timed_out_for(verdict):
    """A rule's step that takes a timed-out sensor for one whose trigger condition is `verdict`."""
    step = FailsafeRule.step

    def wrong(row, state):
        cause = row._condition

        def answer(state):
            found = cause(state)
            return verdict if found is None else found

        row._condition = answer
        try:
            return step(row, state)
        finally:
            row._condition = cause

    return wrong


@pytest.mark.parametrize(
    "verdict, faults, said",
    [
        (False, ("shifted:depth@0.6*4", "silent:depth@2+3"), "too_deep cleared early"),
        (True, ("silent:depth@1+1",), "too_deep is active, though its trigger has not lasted"),
    ],
)
def test_check_finds_a_rule_that_treats_a_timed_out_sensor_as_read(verdict, faults, said, monkeypatch):
    assert violations(SHALLOW, 6.0, *faults) == []
    monkeypatch.setattr(FailsafeRule, "step", taking_timed_out_for(verdict))
    assert any(said in line for line in violations(SHALLOW, 6.0, *faults))


def never_surprised(estimator, estimate):
    PUBLISH(estimator, estimate)
    estimate.x_nis = estimate.y_nis = estimate.depth_nis = estimate.heading_nis = None


def always_surprised(estimator, estimate):
    PUBLISH(estimator, estimate)
    estimate.x_nis = 100.0


def always_at_home(estimator, estimate):
    PUBLISH(estimator, estimate)
    estimate.x_m = None if estimate.x_m is None else 1.0


def far_away(estimator, estimate):
    PUBLISH(estimator, estimate)
    estimate.x_m = None if estimate.x_m is None else 50.0


def knows_what_it_never_read(estimator, estimate):
    PUBLISH(estimator, estimate)
    for field in Estimate.FIELDS:
        if getattr(estimate, field) is None and not field.endswith("nis"):
            setattr(estimate, field, 0.0)


@pytest.mark.parametrize(
    "wrong, fault, seconds, said",
    [
        (never_surprised, "noisy:x@0.5*2", 8.0, "estimate_wrong is not active after"),
        (always_surprised, "hot:computer@4", 4.0, "estimate_wrong is active, though"),
        (always_at_home, "shifted:x@0.5*20", 4.0, "out_of_bounds is not active after"),
        (far_away, "hot:computer@3", 3.5, "out_of_bounds does not clear"),
        (knows_what_it_never_read, "silent:x@0", 2.0, "mode_unable is not active after"),
    ],
)
def test_check_finds_an_estimator_that_hides_its_errors(wrong, fault, seconds, said, monkeypatch):
    assert violations(ROV, seconds, fault) == []
    monkeypatch.setattr(PoseEstimator, "_publish", wrong)
    found = violations(ROV, seconds, fault)
    assert any(said in line for line in found), found


POOL = ("world.pool.vehicles=1",)


@pytest.mark.parametrize(
    "case",
    [
        Case("fish", POOL, "pool", 2393, 3.0, ("nan:estimator@1.78", "cut:wire@1.34+0.35")),
        Case("fish", POOL, "pool", 3256, 1.54, ("stalled:loop@0.07+0.02", "exception:driver@1.51+0.15")),
    ],
    ids=["cut", "stalled"],
)
def test_check_replays_a_stalled_controller_up_to_its_injected_bug(case):
    assert run_case(case).violations == []


def test_check_keeps_counting_when_an_actuator_may_have_been_marked():
    """Nearly off for long enough, then measured on target: without a mark, the counter goes on."""
    outcome = run_case(Case("fish", POOL, "pool", 3633, 3.91, ("brown-out:pulses@1+1.64/0.33",)))
    assert outcome.violations == []


def test_plan_gives_no_driver_fault_to_a_controller_on_a_hil_link():
    case = Case("fish", POOL, "pool", 0, 3.0, ())
    for drawn in plan(open_scenario("fish", list(POOL), "pool")[0], case, 400, ["wire", "process"]):
        wired = any(fault.split("@")[0].endswith(":wire") for fault in drawn.faults)
        assert not (wired and any(fault.startswith("exception:driver") for fault in drawn.faults))
    with pytest.raises(UsageError, match="has no driver"):
        run_case(Case("fish", POOL, "pool", 0, 0.1, ("cut:wire@0+0.02", "exception:driver@0")))
