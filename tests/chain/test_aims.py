"""Aims of a chain: rows are the rates of what they lead, and what they ask goes to nothing at the lead."""

from __future__ import annotations

import arm
import numpy as np
import pytest

from caudal.onboard.chain.aims import LookAim, PoseAim, PositionAim, ShapeAim, SpeedAim, TurnAim
from caudal.onboard.chain.lead import Governor, PlaceLead, Rows, TurnLead, euler_angles

SETTINGS = {"name": "one", "damping": 0.01, "pole_per_s": 1.5, "sum_limit": 1.0, "leash": 0.2, "way": "up"}
PLACE = np.array([1.0, -2.0, -4.0])
AT = [0.5, 0.1, 0.0]
DT = 0.02


def aims() -> dict:
    frame = DT, 1, AT
    return {
        "position": PositionAim(SETTINGS, PlaceLead([]), *frame),
        "pose": PoseAim(SETTINGS, PlaceLead([]), *frame),
        "turn": TurnAim(SETTINGS, TurnLead([]), *frame),
        "look": LookAim(SETTINGS, PlaceLead([]), *frame),
        "shape": ShapeAim(SETTINGS, Rows([]), DT),
        "speed": SpeedAim(SETTINGS, Rows([]), *frame),
    }


@pytest.mark.parametrize("kind", ["position", "pose", "turn", "look", "shape"])
def test_at_rest_where_its_lead_starts_an_aim_asks_for_nothing_but_against_what_drifts(kind):
    chain, aim = arm.chain(), aims()[kind]
    arm.State(np.random.default_rng(1), still=True).update(chain)
    aim.start(chain, PLACE)
    _, asked = aim.rows(chain, PLACE)
    assert np.abs(asked).max() < 1e-9 and np.abs(aim.error).max() < 1e-9


@pytest.mark.parametrize("kind", ["position", "pose", "turn", "look", "shape"])
def test_along_what_an_aim_asks_for_its_error_grows_less(kind):
    rng = np.random.default_rng(2)
    for _ in range(20):
        chain, aim = arm.chain(), aims()[kind]
        state = arm.State(rng, still=True)
        state.update(chain)
        aim.start(chain, PLACE)
        other = arm.State(rng, still=True)
        other.q = state.q + rng.normal(0.0, 0.05, 8)
        other.turn = state.turn
        other.update(chain)
        rows, asked = aim.rows(chain, PLACE)
        before = np.linalg.norm(aim.error)
        push = np.linalg.pinv(rows[:, 6:]) @ asked  # by the joints alone, the base held
        moved = rows[:, 6:] @ push
        q = other.q + 1e-3 * push
        chain.update(other.turn, np.zeros(6), q, np.zeros(8), other.pressures)
        aim.rows(chain, PLACE)
        assert moved @ asked > 0 and np.linalg.norm(aim.error) < before


def test_a_far_error_asks_for_no_more_than_its_leash():
    chain, aim = arm.chain(), aims()["position"]
    arm.State(np.random.default_rng(3), still=True).update(chain)
    aim.start(chain, PLACE)
    asks = []
    for off_m in (0.1, 1.0, 10.0):
        _, asked = aim.rows(chain, PLACE + [off_m, 0.0, 0.0])
        asks.append(np.linalg.norm(asked))
    assert asks[0] == pytest.approx(3 * 1.5**2 * 0.1) and asks[1] == asks[2] == pytest.approx(
        3 * 1.5**2 * 0.2
    )


def test_a_sum_grows_only_while_the_aim_is_met_and_within_its_limit():
    chain, aim = arm.chain(), aims()["position"]
    arm.State(np.random.default_rng(4), still=True).update(chain)
    aim.start(chain, PLACE)
    aim.rows(chain, PLACE + [0.1, 0.0, 0.0])
    aim.learn(False)
    assert not np.any(aim.sum)
    for _ in range(10_000):
        aim.learn(True)
    assert np.abs(aim.sum).max() == pytest.approx(1.0)
    aim.forget()
    assert not np.any(aim.sum)


def test_a_speed_is_asked_for_along_its_own_axis_which_turns_with_its_frame():
    chain, rng = arm.chain(), np.random.default_rng(4)
    for _ in range(20):
        aim, state, dt = aims()["speed"], arm.State(rng), 1e-6
        state.update(chain)
        aim.lead.start([0.5])
        rows, asked = aim.rows(chain, PLACE)
        speed = aim.seen(chain, PLACE)
        push = rng.normal(size=14)
        more = 3 * 1.5 * (0.5 - speed)
        # a little later, in the base's own axes
        w = state.velocity[3:]
        spin = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        chain.update(
            state.turn @ (np.eye(3) + dt * spin),
            state.velocity + dt * push[:6],
            state.q + dt * state.qd,
            state.qd + dt * push[6:],
            state.pressures,
        )
        grown = (aim.seen(chain, PLACE) - speed) / dt
        assert rows @ push - asked == pytest.approx(grown - more, abs=1e-4)


def test_a_look_points_the_frame_at_its_place_and_leaves_its_roll_free():
    chain, aim = arm.chain(), aims()["look"]
    arm.State(np.random.default_rng(6), still=True).update(chain)
    aim.start(chain, PLACE)
    rows, _ = aim.rows(chain, PLACE)
    assert rows.shape[0] == 2
    turn, _ = aim.frame(chain)
    assert np.abs(rows[:, 3:6] @ turn[:, 0]).max() < 1e-12  # turning about its own axis changes nothing
    assert euler_angles(chain.turn).shape == (3,)


def test_a_governor_leads_out_of_obstacles_smoothly_and_back_to_the_path():
    governor = Governor(np.array([[0.0, 0.1, 0.0]]), np.array([0.5]), np.array([True]), 3.0, DT)
    before, worst, inside = np.zeros(3), 0.0, 0.0
    for k in range(3000):
        path = np.array([-3.0 + 0.1 * k * DT, 0.0, 0.0])
        governor.lead(path)
        led = path + governor.offset
        if k:
            worst = max(worst, float(np.linalg.norm(led - before)) / DT)
        inside = max(inside, 0.5 - float(np.hypot(led[0], led[1] - 0.1)))
        before = led
    assert inside < 2 * 0.1 / 3.0  # behind a moving path by two time constants of its speed
    assert worst < 0.5 and np.abs(governor.offset).max() < 1e-3
