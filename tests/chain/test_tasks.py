"""Tasks of a chain: rows are the rates of their values, and their demand is 0 at the reference."""

from __future__ import annotations

import arm
import numpy as np
import pytest

from caudal.onboard.chain.references import (
    AttitudeReference,
    ObstacleGovernor,
    PositionReference,
    RowReference,
)
from caudal.onboard.chain.rotations import euler_angles, euler_rotation
from caudal.onboard.chain.tasks import (
    AttitudeTask,
    LookTask,
    PoseTask,
    PositionTask,
    ShapeTask,
    SpeedTask,
    Task,
)
from caudal.onboard.tables.chain import ShapeTaskTable, SpeedTaskTable, TaskRow

COMMON = {"name": "one", "damping": 0.01, "pole_per_s": 1.5, "integral_limit": 1.0, "error_limit": 0.2}
FRAME = SpeedTaskTable(**COMMON, frame="mid", direction="up")
BASE_M = np.array([1.0, -2.0, -4.0])
AT_M = [0.5, 0.1, 0.0]
DT = 0.02
KINDS = ["position", "pose", "attitude", "look", "shape"]


def task_of(kind: str) -> Task:
    frame = DT, 1, AT_M
    tasks = {
        "position": PositionTask(FRAME, PositionReference([]), *frame),
        "pose": PoseTask(FRAME, PositionReference([]), *frame),
        "attitude": AttitudeTask(FRAME, AttitudeReference([]), *frame),
        "look": LookTask(FRAME, PositionReference([]), *frame),
        "shape": ShapeTask(ShapeTaskTable(**COMMON), RowReference([]), DT),
        "speed": SpeedTask(FRAME, RowReference([]), *frame),
    }
    return tasks[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_task_demands_nothing_at_rest_where_its_reference_starts(kind):
    chain, task = arm.chain(), task_of(kind)
    arm.State(np.random.default_rng(1), still=True).update(chain)
    task.start(chain, BASE_M)
    _, demand = task.rows(chain, BASE_M)
    assert np.abs(demand).max() < 1e-9 and np.abs(task.error).max() < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_task_error_decreases_along_its_demand(kind):
    rng = np.random.default_rng(2)
    for _ in range(20):
        chain, task = arm.chain(), task_of(kind)
        state = arm.State(rng, still=True)
        state.update(chain)
        task.start(chain, BASE_M)
        other = arm.State(rng, still=True)
        other.q = state.q + rng.normal(0.0, 0.05, 8)
        other.rotation = state.rotation
        other.update(chain)
        rows, demand = task.rows(chain, BASE_M)
        before = np.linalg.norm(task.error)
        step = np.linalg.pinv(rows[:, 6:]) @ demand  # by the joints alone, the base held
        moved = rows[:, 6:] @ step
        q = other.q + 1e-3 * step
        chain.update(other.rotation, np.zeros(6), q, np.zeros(8), other.pressures)
        task.rows(chain, BASE_M)
        assert moved @ demand > 0 and np.linalg.norm(task.error) < before


def test_far_error_demands_no_more_than_one_of_its_leash():
    chain, task = arm.chain(), task_of("position")
    arm.State(np.random.default_rng(3), still=True).update(chain)
    task.start(chain, BASE_M)
    sizes = []
    for off_m in (0.1, 1.0, 10.0):
        _, demand = task.rows(chain, BASE_M + [off_m, 0.0, 0.0])
        sizes.append(np.linalg.norm(demand))
    assert sizes[0] == pytest.approx(3 * 1.5**2 * 0.1)
    assert sizes[1] == sizes[2] == pytest.approx(3 * 1.5**2 * 0.2)


def test_integral_grows_only_while_the_task_is_met_and_up_to_its_limit():
    chain, task = arm.chain(), task_of("position")
    arm.State(np.random.default_rng(4), still=True).update(chain)
    task.start(chain, BASE_M)
    task.rows(chain, BASE_M + [0.1, 0.0, 0.0])
    task.integrate(False)
    assert not np.any(task.integral)
    for _ in range(10_000):
        task.integrate(True)
    assert np.abs(task.integral).max() == pytest.approx(1.0)
    task.reset_integral()
    assert not np.any(task.integral)


def test_speed_task_follows_an_axis_that_turns_with_its_frame():
    chain, rng = arm.chain(), np.random.default_rng(4)
    for _ in range(20):
        task, state, dt = task_of("speed"), arm.State(rng), 1e-6
        state.update(chain)
        task.reference.start(np.array([0.5]))
        rows, demand = task.rows(chain, BASE_M)
        speed = task.measured(chain, BASE_M)
        acceleration = rng.normal(size=14)
        more = 3 * 1.5 * (0.5 - speed)
        # a little later, in the base's own axes
        w = state.velocity[3:]
        spin = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        chain.update(
            state.rotation @ (np.eye(3) + dt * spin),
            state.velocity + dt * acceleration[:6],
            state.q + dt * state.qd,
            state.qd + dt * acceleration[6:],
            state.pressures,
        )
        change = (task.measured(chain, BASE_M) - speed) / dt
        assert rows @ acceleration - demand == pytest.approx(change - more, abs=1e-4)


def test_look_task_leaves_the_roll_of_its_frame_free():
    chain, task = arm.chain(), task_of("look")
    arm.State(np.random.default_rng(6), still=True).update(chain)
    task.start(chain, BASE_M)
    rows, _ = task.rows(chain, BASE_M)
    assert rows.shape[0] == 2
    rotation, _ = task.frame(chain)
    assert np.abs(rows[:, 3:6] @ rotation[:, 0]).max() < 1e-12  # turning about its own axis changes nothing
    assert euler_angles(chain.rotation).shape == (3,)


def test_governor_leads_around_obstacles_smoothly_and_back_to_the_path():
    governor = ObstacleGovernor(np.array([[0.0, 0.1, 0.0]]), np.array([0.5]), np.array([True]), 3.0, DT)
    before, fastest, inside = np.zeros(3), 0.0, 0.0
    for k in range(3000):
        path = np.array([-3.0 + 0.1 * k * DT, 0.0, 0.0])
        governor.step(path)
        position = path + governor.offset
        if k:
            fastest = max(fastest, float(np.linalg.norm(position - before)) / DT)
        inside = max(inside, 0.5 - float(np.hypot(position[0], position[1] - 0.1)))
        before = position
    assert inside < 2 * 0.1 / 3.0  # behind a moving path by two time constants of its speed
    assert fastest < 0.5 and np.abs(governor.offset).max() < 1e-3


def test_pose_reference_starts_at_the_present_pose_and_ends_at_its_row():
    row = TaskRow(at_s=4.0, to=[1.0, 2.0, 3.0, 0.1, 0.2, 0.3], within_s=2.0)
    reference = PositionReference([row])
    reference.start(np.zeros(6))
    reference.step(2.0)
    assert not reference.position.any() and not reference.velocity.any()
    reference.step(3.0)
    assert reference.position == pytest.approx([0.5, 1.0, -1.5]) and reference.velocity[0] > 0.5
    reference.step(9.0)
    assert reference.position == pytest.approx([1.0, 2.0, -3.0]) and not reference.velocity.any()
    assert euler_angles(reference.rotation) == pytest.approx([0.1, 0.2, 0.3])
    assert np.abs(euler_rotation(0.1, 0.2, 0.3) - reference.rotation).max() < 1e-12
