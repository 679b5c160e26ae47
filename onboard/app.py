"""Wires a vehicle's settings to a board: the only place that does. Portable: CPython and MicroPython.

Settings are plain dictionaries and lists: what onboard/vehicle.py makes of a vehicle file, or what a
microcontroller was sent.
"""

from hal.build import build_board
from onboard.control.dive import Dive
from onboard.control.gaze import GazeHold
from onboard.control.hold import PoseHold
from onboard.control.shells import Shells
from onboard.control.swim_law import SwimLaw
from onboard.control.tail import Inverse, Tail
from onboard.estimate.attitude import AttitudeEstimator
from onboard.estimate.planar import PlanarEstimator
from onboard.estimate.pose import PoseEstimator
from onboard.gait.build import build_gait
from onboard.guidance.cycle import Cycle, Recoil, Schedule
from onboard.guidance.decide import Decider
from onboard.guidance.detect import Detector
from onboard.guidance.pose import POSE_TASKS
from onboard.guidance.tasks import Pursue, Track, Wander
from onboard.loop import Loop, Stage
from onboard.safety import build_gate

TASKS = {"wander": Wander, "track": Track, "pursue": Pursue}


def build_loop(settings, scenario, driver):
    """A loop ready to tick, disarmed. `scenario` is one of the settings' scenarios."""
    rate_hz = settings["rate_hz"]
    board = build_board(settings, driver, rate_hz)
    stages = STACKS[settings["control"]["kind"]](settings, scenario, board)
    gate = build_gate(settings["failsafes"], board, rate_hz)
    return Loop(board, stages, gate, rate_hz)


def tail_stages(settings, scenario, board):
    """A vehicle that swims with its tail: what it wants becomes tail settings, and a gait swims them."""
    rate_hz = settings["rate_hz"]
    guide_hz = settings["guide_hz"]
    every = rate_hz // guide_hz
    law = SwimLaw(settings["control"])
    gait = build_gait(settings["gait"], board, rate_hz)
    tail = Tail(gait, law.frequency_max_hz, law.deflection_max_rad)
    stages = [Stage("estimate", 1, PlanarEstimator(settings["estimate"], board, law, rate_hz).step)]
    if scenario["task"] == "schedule":
        stages.append(Stage("guide", every, Schedule(scenario["rows"], board, rate_hz).step))
    else:
        task = TASKS[scenario["task"]](scenario, board, guide_hz)
        detector = Detector(settings["sensors"], board, guide_hz)
        comfort_m = scenario["comfort_m"] or settings["guidance"]["comfort_m"]
        decider = Decider(settings["guidance"], comfort_m, law)
        recoil = Recoil(settings["guidance"], board, guide_hz)
        stages.append(Stage("bumper", 1, recoil.watch))
        stages.append(Stage("guide", every, Cycle(task, detector, decider, recoil).step))
        stages.append(Stage("control", every, Inverse(law).step))
    stages.append(Stage("tail", every, tail.ask))
    stages.append(Stage("gait", 1, tail.step))
    if settings["control"]["dive"]:
        dive = Dive(settings["control"]["dive"], board, scenario["depth_m"], guide_hz)
        stages.insert(1, Stage("attitude", 1, AttitudeEstimator(settings["estimate"], board).lie))
        stages.append(Stage("dive", every, dive.step))
    return stages


def undulate_stages(settings, scenario, board):
    """A long body that swims by undulation, and keeps itself level with shells and its gaze with the neck."""
    rate_hz = settings["rate_hz"]
    control = settings["control"]
    every = rate_hz // settings["guide_hz"]
    gait = build_gait(settings["gait"], board, rate_hz)
    tail = Tail(gait, control["frequency_max_hz"], control["deflection_max_rad"])
    stages = [
        Stage("estimate", 1, AttitudeEstimator(settings["estimate"], board).step),
        Stage("guide", every, Schedule(scenario["rows"], board, rate_hz).step),
        Stage("tail", every, tail.ask),
        Stage("gait", 1, tail.step),
    ]
    if control["shells"] != "off":
        stages.append(Stage("shells", 1, Shells(control["shell"], board, rate_hz).step))
    if control["gaze"] != "off":
        stages.append(Stage("gaze", 1, GazeHold(control["neck"], board, rate_hz).step))
    return stages


def wrench_stages(settings, scenario, board):
    """A vehicle that holds any pose with its thrusters."""
    rate_hz = settings["rate_hz"]
    control = settings["control"]
    task = POSE_TASKS[scenario["task"]](scenario, control, settings["guide_hz"])
    return [
        Stage("estimate", 1, PoseEstimator(settings["estimate"], control, board, rate_hz).step),
        Stage("guide", rate_hz // settings["guide_hz"], task.step),
        Stage("control", 1, PoseHold(control, board, rate_hz).step),
    ]


STACKS = {"tail": tail_stages, "undulate": undulate_stages, "wrench": wrench_stages}  # by control.kind
