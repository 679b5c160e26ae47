"""The stages of a chain's loop. Needs numpy and daqp."""

from onboard.chain.estimate import ChainEstimator
from onboard.chain.priority import Priority
from onboard.loop import Stage


def stages(settings, scenario, board):
    estimator = ChainEstimator(settings["estimate"], settings["control"], board, settings["rate_hz"])
    priority = Priority(settings, scenario, board, estimator)
    return [Stage("estimate", 1, estimator.step), Stage("aims", 1, priority.step, priority)]
