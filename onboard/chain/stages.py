"""The stages of a chain's loop. Needs numpy and daqp."""

from caudal.onboard.chain.estimate import ChainEstimator
from caudal.onboard.chain.model import Chain
from caudal.onboard.chain.priority import Priority
from caudal.onboard.chain.run_estimate import RunEstimator
from caudal.onboard.chain.straight import Straight
from caudal.onboard.chain.thrusters import Thrusters
from caudal.onboard.core.loop import Stage


def stages(settings, scenario, board):
    control, estimate, rate_hz = settings["control"], settings["estimate"], settings["rate_hz"]
    chain, thrusters = Chain(control), Thrusters(control, board, 1 / rate_hz)
    common = estimate, control, board, rate_hz, thrusters
    straight, estimator = None, ChainEstimator(*common)
    for run in (aim for aim in scenario["aims"] if aim["kind"] == "run"):
        noise = {**estimate["filter"], "joint_rad": control["filter"]["angle_rad"]}
        straight = Straight(chain, thrusters, run, noise, control["posture"]["ease_pa"], 1 / rate_hz)
        estimator = RunEstimator(*common, chain, straight)
    priority = Priority(settings, scenario, board, chain, thrusters, estimator, straight)
    return [Stage("estimate", 1, estimator.step)], [Stage("aims", 1, priority.step, priority)]
