"""Builds a vehicle's loop from its settings and a board's driver. Portable: CPython and MicroPython.

Settings are the objects of onboard/tables/read.py; a microcontroller has plain objects with the same attributes. Each
function imports the parts of its own stack: a board's image holds those of its vehicle only.
"""

from caudal.hal.core.build import build_board
from caudal.onboard.core import modes
from caudal.onboard.core.command_handler import CommandHandler
from caudal.onboard.core.failsafe import FailsafeMonitor, FailsafeRule
from caudal.onboard.core.limiter import OutputLimiter
from caudal.onboard.core.loop import Loop, Stage
from caudal.onboard.core.state import State
from caudal.onboard.guidance.switch import Switch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from caudal.hal.core.board import Board, Driver
    from caudal.onboard.control.tail import Tail
    from caudal.onboard.core.modes import Needs
    from caudal.onboard.gait.around import Around
    from caudal.onboard.guidance.switch import Guidance
    from caudal.onboard.guidance.tasks import SwimTask
    from caudal.onboard.params.update import Params
    from caudal.onboard.tables.chain import Chain, PrioritisedTasks
    from caudal.onboard.tables.read import Scenario, Settings
    from caudal.onboard.tables.scenario import Guided, Schedule
    from caudal.onboard.tables.stack import TailControl, UndulateControl
    from caudal.onboard.tables.thrusters import LoopPoseTask, Wrench

    Stack = tuple[list[Stage], list[Stage], Needs]  # estimators, other stages, modes
    Guides = tuple[list[Stage], dict[int, Guidance]]  # estimators, guidance by mode


def build_loop(settings: "Settings", scenario: "Scenario", driver: "Driver") -> Loop:
    """A loop ready to tick, disarmed. `scenario` is one of the settings' scenarios."""
    rate_hz = settings.rate_hz
    board = build_board(settings, driver, rate_hz)
    state = State(board, 1000000 // rate_hz)
    build_stack = STACKS[settings.control.kind]
    estimators, stages, available = build_stack(settings, settings.control, scenario, board)
    if [1 for table in settings.actuators if table.feedback]:
        from caudal.onboard.core.actuator_monitor import build_monitor

        actuator_monitor, probe = build_monitor(settings, board)
        estimators.insert(0, Stage("observe", 1, actuator_monitor.step))
        if probe:
            stages.append(Stage("probe", 1, probe.step))
    if settings.surface:
        from caudal.onboard.control.surface import Surface

        stages.append(Stage("surface", 1, Surface(settings.surface, board).step))
    rules = build_rules(settings, board, available)
    handler = CommandHandler(state, available, rules, settings.surface)
    loop = Loop(
        board,
        state,
        estimators,
        FailsafeMonitor(rules, available),
        stages,
        OutputLimiter(board, rate_hz),
        handler,
        rate_hz,
    )
    if settings.params:
        handler.params = build_params(settings, scenario, loop)
    return loop


def build_params(settings: "Settings", scenario: "Scenario", loop: Loop) -> "Params":
    """The loop's parameters: changed settings build a second loop, without parameters, that never ticks."""
    from caudal.onboard.params.update import Params, without_params

    names = [name for name in settings.scenarios if settings.scenarios[name] is scenario]

    def build(changed: "Settings") -> Loop:
        changed_scenario = changed.scenarios[names[0]] if names else scenario
        return build_loop(without_params(changed), changed_scenario, loop.board.driver)

    def rules(changed: "Settings") -> "list[FailsafeRule]":
        return build_rules(changed, loop.board, loop.handler.available)

    return Params(settings, loop, build, rules)


def build_rules(settings: "Settings", board: "Board", available: "Needs") -> "list[FailsafeRule]":
    """The failsafe rules in the order of the settings."""
    return [FailsafeRule(table, board, settings.rate_hz, available) for table in settings.failsafes]


def tail_stages(
    settings: "Settings", control: "TailControl", scenario: "Schedule | Guided", board: "Board"
) -> "Stack":
    """A vehicle that swims with its tail: setpoints become tail settings, and a gait makes joint commands of them."""
    build_guides: Callable[..., Guides] = _scheduled if scenario.task == "schedule" else _guided
    estimators, guides = build_guides(settings, scenario, board, control)
    stages, available = _tail(settings, control, board, guides)
    if control.dive:
        from caudal.onboard.control.dive import Dive

        dive = Dive(control.dive, board, scenario.depth_m, settings.guidance_rate_hz)
        stages.append(Stage("dive", settings.rate_hz // settings.guidance_rate_hz, dive.step))
    return estimators, stages, available


def _tail(
    settings: "Settings",
    control: "TailControl | UndulateControl",
    board: "Board",
    guides: "dict[int, Guidance]",
) -> "tuple[list[Stage], Needs]":
    """From setpoints to joints; and the modes."""
    from caudal.onboard.control.tail import Tail
    from caudal.onboard.gait.build import build_gait
    from caudal.onboard.guidance.tail_modes import FixedBeat

    assert settings.gait
    gait = build_gait(settings.gait, board, settings.rate_hz)
    tail = Tail(gait, control.frequency_max_hz, control.deflection_max_rad)
    guides[modes.HOLD] = FixedBeat(0.0)
    guides[modes.SURFACE] = FixedBeat(settings.surface.frequency_hz if settings.surface else 0.0)
    if settings.sticks:
        from caudal.onboard.guidance.tail_modes import TailSticks

        guides[modes.MANUAL] = TailSticks(settings.sticks, settings.guidance_rate_hz)
    available = {mode: needs for mode, needs in modes.TAIL.items() if mode in guides}
    guide = Switch(guides, settings.rate_hz // settings.guidance_rate_hz)
    stages = [Stage("guide", 1, guide.step), Stage("tail", 1, tail.set_gait), Stage("gait", 1, tail.step)]
    around = _around(settings, tail, board)
    if around:
        stages.append(Stage("around", 1, around.step))
    return stages, available


def _around(settings: "Settings", tail: "Tail", board: "Board") -> "Around | None":
    """The gait around jammed joints; None unless all joints have feedback."""
    sensors = [settings.actuators[joint].feedback for joint in tail.gait.joints]
    if not all(sensors):
        return None
    from caudal.onboard.gait.around import Around
    from caudal.onboard.gait.shape import places_of

    assert settings.gait
    indices = [board.sensor(name) for name in sensors]
    convergence_per_s = settings.gait.convergence_per_s
    return Around(tail, indices, places_of(settings.gait), board, settings.rate_hz, convergence_per_s)


def _scheduled(
    settings: "Settings", scenario: "Schedule", board: "Board", control: "TailControl | UndulateControl"
) -> "Guides":
    """Tail settings by time: no guidance, so no estimate of position, and a tick allocates nothing."""
    from caudal.onboard.estimate.attitude import AttitudeEstimator
    from caudal.onboard.guidance.schedule import Schedule

    estimator = AttitudeEstimator(settings.estimate, board)
    schedule = Schedule(scenario.rows, board, settings.rate_hz)
    return [Stage("estimate", 1, estimator.step)], {modes.AUTO: schedule}


def _guided(settings: "Settings", scenario: "Guided", board: "Board", control: "TailControl") -> "Guides":
    """Guidance that avoids obstacles, and the inverse of the swim model."""
    from caudal.onboard.control.swim_model import SwimModel
    from caudal.onboard.control.tail import SwimInverse
    from caudal.onboard.estimate.attitude import AttitudeEstimator
    from caudal.onboard.estimate.planar import PlanarEstimator
    from caudal.onboard.guidance.avoid import AvoidanceGuidance, BumperRecoil
    from caudal.onboard.guidance.decide import Decider
    from caudal.onboard.guidance.detect import Detector
    from caudal.onboard.guidance.tail_modes import Guided
    from caudal.onboard.guidance.tasks import Pursue, Track, Wander

    guidance = settings.guidance
    guidance_rate_hz = settings.guidance_rate_hz
    assert guidance
    model = SwimModel(control)
    planar = PlanarEstimator(settings.estimate, board, model, settings.rate_hz)
    tasks: dict[str, Callable[..., SwimTask]] = {"wander": Wander, "track": Track, "pursue": Pursue}
    task = tasks[scenario.task](scenario, board, guidance_rate_hz)
    detector = Detector(settings.sensors, board, guidance_rate_hz)
    decider = Decider(guidance, scenario.preferred_clearance_m or guidance.preferred_clearance_m, model)
    recoil = BumperRecoil(guidance, board, guidance_rate_hz)
    inverse = SwimInverse(model)
    guides: dict[int, Guidance] = {
        modes.AUTO: Guided(AvoidanceGuidance(task, detector, decider, recoil), inverse)
    }
    if settings.mission:
        from caudal.onboard.guidance.waypoints import SwimTo

        for mode in (modes.GOTO, modes.MISSION):
            errand = SwimTo(settings.mission, guidance_rate_hz, mode == modes.MISSION)
            guides[mode] = Guided(AvoidanceGuidance(errand, detector, decider, recoil), inverse)
    estimators = [
        Stage("estimate", 1, planar.step),
        Stage("attitude", 1, AttitudeEstimator(settings.estimate, board).fill_attitude),
        Stage("bumper", 1, recoil.watch),
    ]
    return estimators, guides


def undulate_stages(
    settings: "Settings", control: "UndulateControl", scenario: "Schedule", board: "Board"
) -> "Stack":
    """A long undulating body; shells level its roll, and the neck stabilises its gaze."""
    estimators, guides = _scheduled(settings, scenario, board, control)
    stages, available = _tail(settings, control, board, guides)
    if control.shell and control.shells != "off":
        from caudal.onboard.control.shells import Shells

        stages.append(Stage("shells", 1, Shells(control.shell, board, settings.rate_hz).step))
    if control.neck and control.gaze != "off":
        from caudal.onboard.control.gaze import GazeHold

        stages.append(Stage("gaze", 1, GazeHold(control.neck, board, settings.rate_hz).step))
    return estimators, stages, available


def wrench_stages(
    settings: "Settings", control: "Wrench", scenario: "LoopPoseTask", board: "Board"
) -> "Stack":
    """A vehicle that holds any pose with its thrusters."""
    from caudal.onboard.control.pose_control import PoseControl
    from caudal.onboard.estimate.pose import PoseEstimator
    from caudal.onboard.guidance.pose import POSE_TASKS
    from caudal.onboard.guidance.pose_modes import GoTo, HoldMode, IdleMode, ManualMode, MissionMode

    guidance_rate_hz = settings.guidance_rate_hz
    radius_m = settings.mission.acceptance_radius_m if settings.mission else 0.1
    guides: dict[int, Guidance] = {
        modes.AUTO: POSE_TASKS[scenario.task](scenario, control, guidance_rate_hz),
        modes.MANUAL: ManualMode(control, guidance_rate_hz),
        modes.HOLD: HoldMode(control, guidance_rate_hz),
        modes.GOTO: GoTo(control, guidance_rate_hz),
        modes.MISSION: MissionMode(radius_m, control, guidance_rate_hz),
        modes.SURFACE: IdleMode(),
    }
    estimator = PoseEstimator(settings.estimate, control, board, settings.rate_hz)
    stages = [
        Stage("guide", 1, Switch(guides, settings.rate_hz // guidance_rate_hz).step),
        Stage("control", 1, PoseControl(control, board, settings.rate_hz).step),
    ]
    return [Stage("estimate", 1, estimator.step)], stages, modes.WRENCH


def chain_stages(
    settings: "Settings", control: "Chain", scenario: "PrioritisedTasks", board: "Board"
) -> "Stack":
    """A chain of modules and soft joints with tasks in order of priority; the one stack that needs numpy."""
    from caudal.onboard.chain.stages import stages

    estimators, others = stages(settings, scenario, board)
    return estimators, others, modes.CHAIN


STACKS: "dict[str, Callable[..., Stack]]" = {
    "tail": tail_stages,
    "undulate": undulate_stages,
    "wrench": wrench_stages,
    "chain": chain_stages,
}  # by control.kind
