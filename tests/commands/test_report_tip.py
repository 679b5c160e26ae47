"""Excursion of the tail's tip across the mean path of the vehicle, recoil of the head included."""

import numpy as np
import pytest

from caudal.tools.config.vehicle import open_scenario
from caudal.tools.log.poses import Skeleton
from caudal.tools.report.tail_beat import beats
from caudal.tools.report.tail_tip import lateral_m, tip_in_base, tip_in_world

RATE_HZ, BEAT_HZ = 100, 1.25
TIME_S = np.arange(0, 20, 1 / RATE_HZ)
PHASE = 2 * np.pi * BEAT_HZ * TIME_S
TAIL_M, LEAST_M = 0.4, 0.004


def excursion_m(base: np.ndarray, tip: np.ndarray) -> float:
    """From side to side, mean over all beats."""
    beat_s = np.full(len(TIME_S), 1 / BEAT_HZ)
    offset_m = lateral_m(TIME_S, base, tip_in_world(base, tip), beat_s, TAIL_M)
    found = beats(TIME_S, offset_m, np.full(len(TIME_S), 0.4), LEAST_M)
    assert np.allclose(found.frequency_hz, BEAT_HZ, rtol=0.03)
    return float(found.excursion_m.mean())


def moving(heading_rad: np.ndarray | float, sway_m: np.ndarray | float, speed_m_s: float) -> np.ndarray:
    """A base (tick, 6) on a straight path at a heading of 0.7 rad, with yaw and sway of the head added."""
    along = np.array([np.cos(0.7), np.sin(0.7)])
    port = np.array([-along[1], along[0]])
    base = np.zeros((len(TIME_S), 6))
    base[:, :2] = np.outer(speed_m_s * TIME_S, along) + np.outer(np.zeros(len(TIME_S)) + sway_m, port)
    base[:, 3] = 0.7 + heading_rad
    return base


def tail(offset_m: np.ndarray) -> np.ndarray:
    """A tip (tick, 3) in the base's frame, behind the base and offset to port."""
    return np.column_stack([np.full(len(TIME_S), -TAIL_M), offset_m, np.zeros(len(TIME_S))])


@pytest.mark.parametrize("speed_m_s", [0.4, -0.2, 0.0])
def test_excursion_includes_the_recoil_of_the_head(speed_m_s):
    beat = 0.05 * np.sin(PHASE)
    still = excursion_m(moving(0.0, 0.0, speed_m_s), tail(beat))
    assert still == pytest.approx(0.1, rel=0.01)
    yawed = excursion_m(moving(0.03 * np.sin(PHASE), 0.0, speed_m_s), tail(beat))
    assert yawed == pytest.approx(0.1 - 2 * 0.03 * TAIL_M, rel=0.02), (
        "a nose to port moves the tail to starboard"
    )
    swayed = excursion_m(moving(0.0, 0.01 * np.sin(PHASE), speed_m_s), tail(beat))
    assert swayed == pytest.approx(0.12, rel=0.02)


def test_excursion_is_unchanged_by_a_turn():
    radius_m, rate = 1.0, 0.4
    base = np.zeros((len(TIME_S), 6))
    base[:, 0], base[:, 1] = radius_m * np.sin(rate * TIME_S), radius_m * (1 - np.cos(rate * TIME_S))
    base[:, 3] = rate * TIME_S
    assert excursion_m(base, tail(0.05 * np.sin(PHASE))) == pytest.approx(0.1, rel=0.02)


def test_lateral_is_absent_within_half_a_beat_of_the_ends():
    base, beat_s = moving(0.0, 0.0, 0.4), np.full(len(TIME_S), 1 / BEAT_HZ)
    offset_m = lateral_m(TIME_S, base, tip_in_world(base, tail(np.sin(PHASE))), beat_s, TAIL_M)
    unknown = np.isnan(offset_m)
    assert unknown[TIME_S < 0.39].all() and unknown[TIME_S[-1] - 0.39 < TIME_S].all()
    assert not unknown[(TIME_S > 0.41) & (TIME_S[-1] - 0.41 > TIME_S)].any()


@pytest.mark.parametrize(
    ("name", "scenario", "last_m"),
    [("fish", "articulated", 0.05), ("fish", "cruise", 0.05), ("snake", "turn", 0.08)],
)
def test_tip_is_at_the_end_of_the_last_link(name, scenario, last_m):
    vehicle = open_scenario(name, [], scenario)[0]
    plant = vehicle.plant
    skeleton = Skeleton(plant)
    gait = vehicle.settings.gait
    nodes = [node for node in skeleton.nodes if node.joint in gait.joints]
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
