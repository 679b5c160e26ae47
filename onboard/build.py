"""Wires a vehicle's settings to a board: the only place that does. Portable: CPython and MicroPython.

Settings are plain dictionaries and lists: what onboard/vehicles.py makes of a vehicle file, or what a
microcontroller was sent. Each function imports the parts of its own stack: a board is sent those of its vehicle
alone, and has heap for no others.
"""

from caudal.hal.core.build import build_board
from caudal.onboard.core import modes
from caudal.onboard.core.command_handler import CommandHandler
from caudal.onboard.core.failsafe import FailsafeMonitor, FailsafeRule
from caudal.onboard.core.limiter import OutputLimiter
from caudal.onboard.core.loop import Loop, Stage
from caudal.onboard.core.state import State
from caudal.onboard.guidance.switch import Switch


def build_loop(settings, scenario, driver):
    """A loop ready to tick, disarmed. `scenario` is one of the settings' scenarios."""
    rate_hz = settings.rate_hz
    board = build_board(settings, driver, rate_hz)
    state = State(board, 1000000 // rate_hz)
    estimators, stages, available = STACKS[settings.control.kind](settings, scenario, board)
    if [1 for channel in settings.actuators if channel.feedback]:
        from caudal.onboard.core.actuator_monitor import build_monitor

        monitor, probe = build_monitor(settings, board)
        estimators.insert(0, Stage("observe", 1, monitor.step))
        if probe:
            stages.append(Stage("probe", 1, probe.step))
    if settings.surface:
        from caudal.onboard.control.surface import Surface

        stages.append(Stage("surface", 1, Surface(settings.surface, board).step))
    rows = build_rows(settings, board, available)
    handler = CommandHandler(state, available, rows, settings.surface)
    loop = Loop(
        board,
        state,
        estimators,
        FailsafeMonitor(rows, available),
        stages,
        OutputLimiter(board, rate_hz),
        handler,
        rate_hz,
    )
    if settings.params:
        handler.params = build_params(settings, scenario, loop)
    return loop


def build_params(settings, scenario, loop):
    """What may be set while it runs: other settings build another loop, without parameters and without a driver."""
    from caudal.onboard.params.update import Params, without_params

    names = [name for name in settings.scenarios if settings.scenarios[name] is scenario]

    def build(changed):
        return build_loop(without_params(changed), changed.scenarios[names[0]] if names else scenario, None)

    def rows(changed):
        return build_rows(changed, loop.board, loop.handler.available)

    return Params(settings, loop, build, rows)


def build_rows(settings, board, available):
    rate_hz = settings.rate_hz
    return [FailsafeRule(rule, board, rate_hz, available) for rule in settings.failsafes]


def tail_stages(settings, scenario, board):
    """Stages of a vehicle with a tail: set-points become tail settings, and a gait generates the joint commands."""
    rate_hz = settings.rate_hz
    guide_hz = settings.guide_hz
    control = settings.control
    if scenario.task == "schedule":
        estimators, guides = _scheduled(settings, scenario, board)
    else:
        estimators, guides = _guided(settings, scenario, board)
    stages, available = _tail(settings, board, guides)
    if control.dive:
        from caudal.onboard.control.dive import Dive

        dive = Dive(control.dive, board, scenario.depth_m, guide_hz)
        stages.append(Stage("dive", rate_hz // guide_hz, dive.step))
    return estimators, stages, available


def _tail(settings, board, guides):
    """Stages from set-points to joint commands, and the available modes."""
    from caudal.onboard.control.tail import Tail
    from caudal.onboard.gait.build import build_gait
    from caudal.onboard.guidance.tail_modes import FixedBeat

    rate_hz = settings.rate_hz
    control = settings.control
    surface = settings.surface
    gait = build_gait(settings.gait, board, rate_hz)
    tail = Tail(gait, control.frequency_max_hz, control.deflection_max_rad)
    guides[modes.HOLD] = FixedBeat(0.0)
    guides[modes.SURFACE] = FixedBeat(surface.frequency_hz if surface else 0.0)
    if settings.sticks:
        from caudal.onboard.guidance.tail_modes import TailSticks

        guides[modes.MANUAL] = TailSticks(settings.sticks, settings.guide_hz)
    available = {mode: needs for mode, needs in modes.TAIL.items() if mode in guides}
    guide = Switch(guides, rate_hz // settings.guide_hz)
    stages = [Stage("guide", 1, guide.step), Stage("tail", 1, tail.set_gait), Stage("gait", 1, tail.step)]
    around = _around(settings, tail, board)
    if around:
        stages.append(Stage("around", 1, around.step))
    return stages, available


def _around(settings, tail, board):
    """The gait around jammed joints; None if a joint has no feedback, which gives its position."""
    feedback = [settings.actuators[joint].feedback for joint in tail.gait.joints]
    if not all(feedback):
        return None
    from caudal.onboard.gait.around import Around
    from caudal.onboard.gait.shape import places_of

    sensors = [board.sensor(settings.actuators[joint].feedback) for joint in tail.gait.joints]
    convergence_per_s = settings.gait.convergence_per_s
    return Around(tail, sensors, places_of(settings.gait), board, settings.rate_hz, convergence_per_s)


def _scheduled(settings, scenario, board):
    """Tail settings by a schedule: no stage needs a position, so none is estimated, and a tick allocates nothing."""
    from caudal.onboard.estimate.attitude import AttitudeEstimator
    from caudal.onboard.guidance.schedule import Schedule

    estimator = AttitudeEstimator(settings.estimate, board)
    schedule = Schedule(scenario.rows, board, settings.rate_hz)
    return [Stage("estimate", 1, estimator.step)], {modes.AUTO: schedule}


def _guided(settings, scenario, board):
    """Guidance that decides by what it sees, and what its decisions ask of the tail."""
    from caudal.onboard.control.swim_model import SwimModel
    from caudal.onboard.control.tail import SwimInverse
    from caudal.onboard.estimate.attitude import AttitudeEstimator
    from caudal.onboard.estimate.planar import PlanarEstimator
    from caudal.onboard.guidance.avoid import AvoidanceGuidance, BumperRecoil
    from caudal.onboard.guidance.decide import Decider
    from caudal.onboard.guidance.detect import Detector
    from caudal.onboard.guidance.tail_modes import Guided
    from caudal.onboard.guidance.tasks import Pursue, Track, Wander

    guide_hz = settings.guide_hz
    law = SwimModel(settings.control)
    planar = PlanarEstimator(settings.estimate, board, law, settings.rate_hz)
    tasks = {"wander": Wander, "track": Track, "pursue": Pursue}
    task = tasks[scenario.task](scenario, board, guide_hz)
    detector = Detector(settings.sensors, board, guide_hz)
    comfort_m = scenario.comfort_m or settings.guidance.comfort_m
    decider = Decider(settings.guidance, comfort_m, law)
    recoil = BumperRecoil(settings.guidance, board, guide_hz)
    inverse = SwimInverse(law)
    guides = {modes.AUTO: Guided(AvoidanceGuidance(task, detector, decider, recoil), inverse)}
    if settings.mission:
        from caudal.onboard.guidance.waypoints import SwimTo

        for mode in (modes.GOTO, modes.MISSION):
            errand = SwimTo(settings.mission, guide_hz, mode == modes.MISSION)
            guides[mode] = Guided(AvoidanceGuidance(errand, detector, decider, recoil), inverse)
    estimators = [
        Stage("estimate", 1, planar.step),
        Stage("attitude", 1, AttitudeEstimator(settings.estimate, board).fill_attitude),
        Stage("bumper", 1, recoil.watch),
    ]
    return estimators, guides


def undulate_stages(settings, scenario, board):
    """Stages of a long undulating body, which shells keep level, and of the neck that stabilizes the gaze."""
    rate_hz = settings.rate_hz
    control = settings.control
    estimators, guides = _scheduled(settings, scenario, board)
    stages, available = _tail(settings, board, guides)
    if control.shells != "off":
        from caudal.onboard.control.shells import Shells

        stages.append(Stage("shells", 1, Shells(control.shell, board, rate_hz).step))
    if control.gaze != "off":
        from caudal.onboard.control.gaze import GazeHold

        stages.append(Stage("gaze", 1, GazeHold(control.neck, board, rate_hz).step))
    return estimators, stages, available


def wrench_stages(settings, scenario, board):
    """Stages of a vehicle that holds any pose with its thrusters."""
    from caudal.onboard.control.pose_control import PoseControl
    from caudal.onboard.estimate.pose import PoseEstimator
    from caudal.onboard.guidance.pose import POSE_TASKS
    from caudal.onboard.guidance.pose_modes import GoTo, HoldMode, IdleMode, ManualMode, MissionMode

    rate_hz = settings.rate_hz
    guide_hz = settings.guide_hz
    control = settings.control
    near_m = settings.mission.near_m if settings.mission else 0.1
    guides = {
        modes.AUTO: POSE_TASKS[scenario.task](scenario, control, guide_hz),
        modes.MANUAL: ManualMode(control, guide_hz),
        modes.HOLD: HoldMode(control, guide_hz),
        modes.GOTO: GoTo(control, guide_hz),
        modes.MISSION: MissionMode(near_m, control, guide_hz),
        modes.SURFACE: IdleMode(),
    }
    estimator = PoseEstimator(settings.estimate, control, board, rate_hz)
    stages = [
        Stage("guide", 1, Switch(guides, rate_hz // guide_hz).step),
        Stage("control", 1, PoseControl(control, board, rate_hz).step),
    ]
    return [Stage("estimate", 1, estimator.step)], stages, modes.WRENCH


def chain_stages(settings, scenario, board):
    """Stages of a chain of modules and soft joints with prioritised tasks; the one stack that needs numpy."""
    from caudal.onboard.chain.stages import stages

    estimators, others = stages(settings, scenario, board)
    return estimators, others, modes.CHAIN


STACKS = {
    "tail": tail_stages,
    "undulate": undulate_stages,
    "wrench": wrench_stages,
    "chain": chain_stages,
}  # by control.kind
