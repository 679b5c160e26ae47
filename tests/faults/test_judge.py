"""The campaign's judge does not take the vehicle's word: code that is blind, deaf or makes things up is found out."""

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
TELL = PoseEstimator._tell


def broken_by(where, seconds: float, *faults: str) -> list[str]:
    return run_case(Case(*where, 1, seconds, faults)).broken


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
def test_an_observer_that_marks_nobody_is_found_out(where, fault, monkeypatch):
    assert broken_by(where, 3.0, fault) == []
    monkeypatch.setattr(Observer, "_judge", lambda observer, heard: None)
    assert any("does not act" in line for line in broken_by(where, 3.0, fault))


def test_an_observer_that_marks_an_actuator_that_follows_is_found_out(monkeypatch):
    monkeypatch.setattr(Observer, "_judge", lambda observer, heard: setattr(observer, "marked", True))
    assert any("though its cause has not lasted" in line for line in broken_by(FISH, 1.0, "hot:computer@0.5"))


def test_an_observer_that_never_forgives_is_found_out(monkeypatch):
    judge = Observer._judge

    def grudge(observer, heard):
        marked = observer.marked
        judge(observer, heard)
        observer.marked = observer.marked or marked

    fault = "jammed:tail_2@0.6+0.8"
    assert broken_by(FISH, 4.0, fault) == []
    monkeypatch.setattr(Observer, "_judge", grudge)
    assert any("does not clear" in line for line in broken_by(FISH, 4.0, fault))


def taking_silence_for(verdict):
    """A row's step that takes a sensor which has fallen silent for one that says so."""
    step = FailsafeRule.step

    def deaf(row, state):
        cause = row._cause

        def answer(state):
            found = cause(state)
            return verdict if found is None else found

        row._cause = answer
        try:
            return step(row, state)
        finally:
            row._cause = cause

    return deaf


@pytest.mark.parametrize(
    "verdict, faults, said",
    [
        (False, ("shifted:depth@0.6*4", "silent:depth@2+3"), "too_deep cleared before its time"),
        (True, ("silent:depth@1+1",), "too_deep acts, though its cause has not lasted"),
    ],
)
def test_a_row_that_takes_silence_for_an_answer_is_found_out(verdict, faults, said, monkeypatch):
    assert broken_by(SHALLOW, 6.0, *faults) == []
    monkeypatch.setattr(FailsafeRule, "step", taking_silence_for(verdict))
    assert any(said in line for line in broken_by(SHALLOW, 6.0, *faults))


def never_surprised(estimator, estimate):
    TELL(estimator, estimate)
    estimate.x_nis = estimate.y_nis = estimate.depth_nis = estimate.heading_nis = None


def always_surprised(estimator, estimate):
    TELL(estimator, estimate)
    estimate.x_nis = 100.0


def always_at_home(estimator, estimate):
    TELL(estimator, estimate)
    estimate.x_m = None if estimate.x_m is None else 1.0


def far_away(estimator, estimate):
    TELL(estimator, estimate)
    estimate.x_m = None if estimate.x_m is None else 50.0


def knows_what_it_never_read(estimator, estimate):
    TELL(estimator, estimate)
    for field in Estimate.FIELDS:
        if getattr(estimate, field) is None and not field.endswith("nis"):
            setattr(estimate, field, 0.0)


@pytest.mark.parametrize(
    "wrong, fault, seconds, said",
    [
        (never_surprised, "noisy:x@0.5*2", 8.0, "estimate_wrong does not act"),
        (always_surprised, "hot:computer@4", 4.0, "estimate_wrong acts, though"),
        (always_at_home, "shifted:x@0.5*20", 4.0, "out_of_bounds does not act"),
        (far_away, "hot:computer@3", 3.5, "out_of_bounds does not clear"),
        (knows_what_it_never_read, "silent:x@0", 2.0, "mode_unable does not act"),
    ],
)
def test_an_estimator_that_deceives_its_failsafe_is_found_out(wrong, fault, seconds, said, monkeypatch):
    assert broken_by(ROV, seconds, fault) == []
    monkeypatch.setattr(PoseEstimator, "_tell", wrong)
    broken = broken_by(ROV, seconds, fault)
    assert any(said in line for line in broken), broken


POOL = ("world.pool.vehicles=1",)


@pytest.mark.parametrize(
    "case",
    [
        Case("fish", POOL, "pool", 2393, 3.0, ("nan:estimator@1.78", "cut:wire@1.34+0.35")),
        Case("fish", POOL, "pool", 3256, 1.54, ("stalled:loop@0.07+0.02", "exception:driver@1.51+0.15")),
    ],
    ids=["cut", "stalled"],
)
def test_a_controller_that_has_had_fewer_ticks_than_time_has_passed_is_replayed_up_to_its_bug(case):
    assert run_case(case).broken == []


def test_an_actuator_that_may_have_been_marked_may_as_well_not_have_been():
    """Nearly off for long enough, then heard on target: what was counted by then counts on, if there was no mark."""
    outcome = run_case(Case("fish", POOL, "pool", 3633, 3.91, ("brown-out:pulses@1+1.64/0.33",)))
    assert outcome.broken == []


def test_a_controller_behind_a_wire_is_given_no_fault_of_a_driver():
    case = Case("fish", POOL, "pool", 0, 3.0, ())
    for drawn in plan(open_scenario("fish", list(POOL), "pool")[0], case, 400, ["wire", "process"]):
        wired = any(fault.split("@")[0].endswith(":wire") for fault in drawn.faults)
        assert not (wired and any(fault.startswith("exception:driver") for fault in drawn.faults))
    with pytest.raises(UsageError, match="has no driver"):
        run_case(Case("fish", POOL, "pool", 0, 0.1, ("cut:wire@0+0.02", "exception:driver@0")))
