"""Builds the stages of a chain's loop. Needs numpy and daqp."""

from caudal.hal.core.board import Board
from caudal.onboard.chain.estimate import ChainEstimator
from caudal.onboard.chain.gain_schedule import GainSchedule
from caudal.onboard.chain.model import ChainModel
from caudal.onboard.chain.priority import TaskPriorityControl
from caudal.onboard.chain.straight_estimate import StraightRunEstimator
from caudal.onboard.chain.thrusters import Thrusters
from caudal.onboard.core.loop import Stage
from caudal.onboard.tables.chain import Chain, PrioritisedTasks, RunTaskTable
from caudal.onboard.tables.read import Settings


def stages(settings: Settings, scenario: PrioritisedTasks, board: Board) -> tuple[list[Stage], list[Stage]]:
    """(estimators, stages after the failsafe monitor) for a scenario of a vehicle with control.kind "chain"."""
    control, table, rate_hz = settings.control, settings.estimate, settings.rate_hz
    noise = table.filter
    assert isinstance(control, Chain) and noise is not None, "the reader makes sure of it"
    chain, thrusters = ChainModel(control), Thrusters(control, board, 1 / rate_hz)
    common = table, noise, control, board, rate_hz, thrusters
    schedule, estimator = None, ChainEstimator(*common)
    for run in (aim for aim in scenario.tasks if isinstance(aim, RunTaskTable)):
        joint_rad, ease_pa = control.filter.angle_rad, control.posture.ease_pa
        schedule = GainSchedule(chain, thrusters, run, noise, joint_rad, ease_pa, 1 / rate_hz)
        estimator = StraightRunEstimator(*common, chain, schedule)
    priority = TaskPriorityControl(control, rate_hz, scenario, board, chain, thrusters, estimator, schedule)
    return [Stage("estimate", 1, estimator.step)], [Stage("tasks", 1, priority.step, priority)]
