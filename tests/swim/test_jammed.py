"""A tail swimmer with one of four joints jammed on its way: found, compensated, and still on its track.

The loop has to detect it; noise is on. All angles, seeds and joints, with and without the plan: jams.py.
"""

from functools import cache

import pytest

from tests.swim.jams import Result, swim, track

JOINTS = ("tail_1", "tail_2", "tail_3", "tail_4")


@cache
def opened(model: str, *overrides: str):
    return track(model, *overrides)


@cache
def whole(model: str, seed: int) -> Result:
    return swim(opened(model), None, 0.0, seed, True, until_s=60.0)


def jammed(
    model: str, joint: str, angle_rad: float, seed: int, planned: bool = True, *overrides: str
) -> Result:
    return swim(opened(model, *overrides), joint, angle_rad, seed, planned, until_s=60.0)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("angle_rad", [-0.5, 0.0, 0.5])
@pytest.mark.parametrize("joint", JOINTS)
def test_it_keeps_its_track_whichever_joint_jams_and_however_it_is_bent(joint, angle_rad, seed):
    run = jammed("strouhal", joint, angle_rad, seed)
    print(joint, angle_rad, run)
    assert run.marked == [joint]
    assert run.detect_s is not None and run.detect_s < (
        0.4 if angle_rad else 4.0
    )  # straight, it has to be commanded to move
    assert run.rms_mm < 15 and run.most_mm < 50  # whole: 8 and 28
    assert run.speed_m_s > 0.18


def test_look_up_table_is_replanned_like_the_oscillators():
    for joint in ("tail_1", "tail_3"):
        run = jammed("strouhal", joint, 0.4, 1, True, "gait.source=table")
        assert run.marked == [joint] and run.rms_mm < 15 and run.most_mm < 50


@pytest.mark.parametrize("joint", ["tail_1", "tail_2"])
def test_without_the_plan_it_leaves_its_track(joint):
    """What the plan is for: the test above can fail."""
    assert jammed("strouhal", joint, 0.5, 1, planned=False).rms_mm > 200


@pytest.mark.parametrize("joint", JOINTS)
def test_on_the_articulated_plant_it_tracks_as_it_does_whole(joint):
    run, healthy = jammed("tree", joint, -0.3, 1), whole("tree", 1)
    print(joint, run, healthy)
    assert run.marked == [joint]
    assert run.rms_mm < 1.5 * healthy.rms_mm and run.speed_m_s > 0.8 * healthy.speed_m_s


def test_a_tail_that_follows_is_never_marked():
    assert whole("strouhal", 1).marked == [] == whole("tree", 1).marked
