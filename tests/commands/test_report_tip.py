"""How far a tail's tip goes to the sides of the way that is swum, the head's recoil counted."""

import numpy as np
import pytest

from caudal.tools.config.vehicle import open_scenario
from caudal.tools.log.poses import Skeleton
from caudal.tools.report.tail_beat import beats
from caudal.tools.report.tail_tip import beside_way_m, tip_in_base, tip_in_world

RATE_HZ, BEAT_HZ = 100, 1.25
TIME_S = np.arange(0, 20, 1 / RATE_HZ)
PHASE = 2 * np.pi * BEAT_HZ * TIME_S
TAIL_M, LEAST_M = 0.4, 0.004


def excursion_m(base: np.ndarray, tip: np.ndarray) -> float:
    """From side to side, in the mean over all beats."""
    beat_s = np.full(len(TIME_S), 1 / BEAT_HZ)
    beside_m = beside_way_m(TIME_S, base, tip_in_world(base, tip), beat_s, TAIL_M)
    found = beats(TIME_S, beside_m, np.full(len(TIME_S), 0.4), LEAST_M)
    assert np.allclose(found.frequency_hz, BEAT_HZ, rtol=0.03)
    return float(found.excursion_m.mean())


def swum(heading_rad: np.ndarray | float, sway_m: np.ndarray | float, speed_m_s: float) -> np.ndarray:
    """(tick, 6): straight at 0.7 rad off north, its head turned and swayed against that."""
    along = np.array([np.cos(0.7), np.sin(0.7)])
    port = np.array([-along[1], along[0]])
    base = np.zeros((len(TIME_S), 6))
    base[:, :2] = np.outer(speed_m_s * TIME_S, along) + np.outer(np.zeros(len(TIME_S)) + sway_m, port)
    base[:, 3] = 0.7 + heading_rad
    return base


def tail(beside_m: np.ndarray) -> np.ndarray:
    """(tick, 3) in the base's frame: a tip that goes to the sides behind it."""
    return np.column_stack([np.full(len(TIME_S), -TAIL_M), beside_m, np.zeros(len(TIME_S))])


@pytest.mark.parametrize("speed_m_s", [0.4, -0.2, 0.0])
def test_a_head_that_recoils_takes_from_the_tips_way_or_adds_to_it(speed_m_s):
    beating = 0.05 * np.sin(PHASE)
    still = excursion_m(swum(0.0, 0.0, speed_m_s), tail(beating))
    assert still == pytest.approx(0.1, rel=0.01)
    yawed = excursion_m(swum(0.03 * np.sin(PHASE), 0.0, speed_m_s), tail(beating))
    assert yawed == pytest.approx(0.1 - 2 * 0.03 * TAIL_M, rel=0.02), (
        "a nose to port takes its tail to starboard"
    )
    swayed = excursion_m(swum(0.0, 0.01 * np.sin(PHASE), speed_m_s), tail(beating))
    assert swayed == pytest.approx(0.12, rel=0.02)


def test_a_turn_takes_nothing_from_the_tips_way():
    radius_m, rate = 1.0, 0.4
    base = np.zeros((len(TIME_S), 6))
    base[:, 0], base[:, 1] = radius_m * np.sin(rate * TIME_S), radius_m * (1 - np.cos(rate * TIME_S))
    base[:, 3] = rate * TIME_S
    assert excursion_m(base, tail(0.05 * np.sin(PHASE))) == pytest.approx(0.1, rel=0.02)


def test_ends_where_no_whole_beat_is_known_are_left_out():
    base, beat_s = swum(0.0, 0.0, 0.4), np.full(len(TIME_S), 1 / BEAT_HZ)
    beside_m = beside_way_m(TIME_S, base, tip_in_world(base, tail(np.sin(PHASE))), beat_s, TAIL_M)
    unknown = np.isnan(beside_m)
    assert unknown[TIME_S < 0.39].all() and unknown[TIME_S[-1] - 0.39 < TIME_S].all()
    assert not unknown[(TIME_S > 0.41) & (TIME_S[-1] - 0.41 > TIME_S)].any()


@pytest.mark.parametrize(
    ("name", "scenario", "last_m"),
    [("fish", "articulated", 0.05), ("fish", "cruise", 0.05), ("snake", "turn", 0.08)],
)
def test_a_tip_hangs_on_the_last_joint_where_the_skeleton_has_it(name, scenario, last_m):
    vehicle = open_scenario(name, [], scenario)[0]
    plant = vehicle.plant
    skeleton = Skeleton(plant)
    gait = vehicle.settings["gait"]
    nodes = [node for node in skeleton.nodes if node.joint in gait["joints"]]
    joints = [node.joint for node in nodes]
    angles = np.random.default_rng(3).uniform(-0.6, 0.6, (5, len(joints)))
    tips = tip_in_base(plant, joints, angles, last_m)
    last = list(skeleton.nodes).index(nodes[-1])
    for row, tip in zip(angles, tips, strict=True):
        turns, places = skeleton.pose(dict(zip(joints, row, strict=True)))
        assert np.linalg.norm(tip - places[last]) == pytest.approx(last_m)
        straight = tip_in_base(plant, joints, np.zeros((1, len(joints))), last_m)[0]
        _, rest = skeleton.pose({})
        assert tip == pytest.approx(places[last] + turns[last] @ (straight - rest[last]), abs=1e-9)
