"""Wires a vehicle's settings to a board: the only place that does. Portable: CPython and MicroPython.

Settings are plain dictionaries and lists: what onboard/vehicle.py makes of a vehicle file, or what a
microcontroller was sent. Each function imports the parts of its own stack: a board is sent those of its vehicle
alone, and has heap for no others.
"""

from hal.build import build_board
from onboard.loop import Loop, Stage
from onboard.safety import build_gate


def build_loop(settings, scenario, driver):
    """A loop ready to tick, disarmed. `scenario` is one of the settings' scenarios."""
    rate_hz = settings["rate_hz"]
    board = build_board(settings, driver, rate_hz)
    stages = STACKS[settings["control"]["kind"]](settings, scenario, board)
    gate = build_gate(settings["failsafes"], board, rate_hz)
    return Loop(board, stages, gate, rate_hz)


def tail_stages(settings, scenario, board):
    """A vehicle that swims with its tail: what it wants becomes tail settings, and a gait swims them."""
    from onboard.control.tail import Tail
    from onboard.gait.build import build_gait

    rate_hz = settings["rate_hz"]
    guide_hz = settings["guide_hz"]
    control = settings["control"]
    every = rate_hz // guide_hz
    gait = build_gait(settings["gait"], board, rate_hz)
    tail = Tail(gait, control["frequency_max_hz"], control["deflection_max_rad"])
    if scenario["task"] == "schedule":
        stages = _scheduled_stages(settings, scenario, board)
    else:
        stages = _guided_stages(settings, scenario, board)
    stages.append(Stage("tail", every, tail.ask))
    stages.append(Stage("gait", 1, tail.step))
    if control["dive"]:
        from onboard.control.dive import Dive

        dive = Dive(control["dive"], board, scenario["depth_m"], guide_hz)
        stages.append(Stage("dive", every, dive.step))
    return stages


def _scheduled_stages(settings, scenario, board):
    """Tail settings by the clock: nobody asks where it is, so nobody reckons it, and a tick allocates nothing."""
    from onboard.estimate.attitude import AttitudeEstimator
    from onboard.guidance.cycle import Schedule

    rate_hz = settings["rate_hz"]
    return [
        Stage("estimate", 1, AttitudeEstimator(settings["estimate"], board).step),
        Stage("guide", rate_hz // settings["guide_hz"], Schedule(scenario["rows"], board, rate_hz).step),
    ]


def _guided_stages(settings, scenario, board):
    """Guidance that decides by what it sees, and what its decisions ask of the tail."""
    from onboard.control.swim_law import SwimLaw
    from onboard.control.tail import Inverse
    from onboard.estimate.attitude import AttitudeEstimator
    from onboard.estimate.planar import PlanarEstimator
    from onboard.guidance.cycle import Cycle, Recoil
    from onboard.guidance.decide import Decider
    from onboard.guidance.detect import Detector
    from onboard.guidance.tasks import Pursue, Track, Wander

    guide_hz = settings["guide_hz"]
    every = settings["rate_hz"] // guide_hz
    law = SwimLaw(settings["control"])
    planar = PlanarEstimator(settings["estimate"], board, law, settings["rate_hz"])
    tasks = {"wander": Wander, "track": Track, "pursue": Pursue}
    task = tasks[scenario["task"]](scenario, board, guide_hz)
    detector = Detector(settings["sensors"], board, guide_hz)
    comfort_m = scenario["comfort_m"] or settings["guidance"]["comfort_m"]
    decider = Decider(settings["guidance"], comfort_m, law)
    recoil = Recoil(settings["guidance"], board, guide_hz)
    return [
        Stage("estimate", 1, planar.step),
        Stage("attitude", 1, AttitudeEstimator(settings["estimate"], board).lie),
        Stage("bumper", 1, recoil.watch),
        Stage("guide", every, Cycle(task, detector, decider, recoil).step),
        Stage("control", every, Inverse(law).step),
    ]


def undulate_stages(settings, scenario, board):
    """A long body that swims by undulation, and keeps itself level with shells and its gaze with the neck."""
    from onboard.control.tail import Tail
    from onboard.gait.build import build_gait

    rate_hz = settings["rate_hz"]
    control = settings["control"]
    gait = build_gait(settings["gait"], board, rate_hz)
    tail = Tail(gait, control["frequency_max_hz"], control["deflection_max_rad"])
    stages = _scheduled_stages(settings, scenario, board)
    stages.append(Stage("tail", rate_hz // settings["guide_hz"], tail.ask))
    stages.append(Stage("gait", 1, tail.step))
    if control["shells"] != "off":
        from onboard.control.shells import Shells

        stages.append(Stage("shells", 1, Shells(control["shell"], board, rate_hz).step))
    if control["gaze"] != "off":
        from onboard.control.gaze import GazeHold

        stages.append(Stage("gaze", 1, GazeHold(control["neck"], board, rate_hz).step))
    return stages


def wrench_stages(settings, scenario, board):
    """A vehicle that holds any pose with its thrusters."""
    from onboard.control.hold import PoseHold
    from onboard.estimate.pose import PoseEstimator
    from onboard.guidance.pose import POSE_TASKS

    rate_hz = settings["rate_hz"]
    control = settings["control"]
    task = POSE_TASKS[scenario["task"]](scenario, control, settings["guide_hz"])
    return [
        Stage("estimate", 1, PoseEstimator(settings["estimate"], control, board, rate_hz).step),
        Stage("guide", rate_hz // settings["guide_hz"], task.step),
        Stage("control", 1, PoseHold(control, board, rate_hz).step),
    ]


def chain_stages(settings, scenario, board):
    """A chain of modules and soft joints with aims in order of priority; the one stack that needs numpy."""
    from onboard.chain.stages import stages

    return stages(settings, scenario, board)


STACKS = {
    "tail": tail_stages,
    "undulate": undulate_stages,
    "wrench": wrench_stages,
    "chain": chain_stages,
}  # by control.kind
