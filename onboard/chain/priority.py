"""Task-priority controller of a chain of modules and soft joints. Needs numpy.

Every tick: the model at the present estimate; the rows of tasks and barriers; the solver's thrusts, within what
thrusters can give and reach in a tick; pressures for the desired shape (posture.py), which are slow and weak and so
count in the model as measured; and the acceleration that all this should cause, for the estimator's next step.
`fields` and `values` are the tick's diagnostics, for the log.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from caudal.hal.core.board import Board
from caudal.hal.core.fixed_point import ONE, to_q14_or_none
from caudal.onboard.chain.arrays import solved
from caudal.onboard.chain.barriers import BarrierRows, Clearance, JointLimits, stacked
from caudal.onboard.chain.estimate import ChainEstimator
from caudal.onboard.chain.gain_schedule import GainSchedule
from caudal.onboard.chain.hierarchy import HierarchicalSolver
from caudal.onboard.chain.model import ChainModel
from caudal.onboard.chain.null_space_projection import NullSpaceProjection
from caudal.onboard.chain.planned_tasks import PlannedTasks
from caudal.onboard.chain.posture import Posture
from caudal.onboard.chain.references import (
    AttitudeReference,
    ObstacleGovernor,
    PositionReference,
    RowReference,
)
from caudal.onboard.chain.rotations import flip_z
from caudal.onboard.chain.shape_hold import ShapeHold
from caudal.onboard.chain.shape_plan import ShapePlan
from caudal.onboard.chain.straight_run import StraightRunTask
from caudal.onboard.chain.tasks import (
    AttitudeTask,
    LookTask,
    PoseTask,
    PositionTask,
    ShapeTask,
    SpeedTask,
    Task,
)
from caudal.onboard.chain.thrusters import Thrusters
from caudal.onboard.core.modes import AUTO
from caudal.onboard.core.state import State
from caudal.onboard.tables import chain as tables

GOVERNOR_PER_S = 3.0
# A plan stays this far below the limit of a bend; the second where there are obstacles.
PLAN_LESS_DEG, PLAN_LESS_CLEAR_DEG = 3.0, 6.0
LEFT_TICKS = 25  # a limit that has not been active for so long is no longer shown as active
# Shortfall of a task up to which its error is integrated: a share of its demand, and m/s2.
MET, MET_LEAST = 0.1, 0.01
BRAKE_M_S2 = 0.15
ONE_NUMBER = SpeedTask, StraightRunTask  # tasks whose reference is one


class TaskPriorityControl:
    """Thrusts and chamber pressures for a scenario's tasks; `schedule` belongs to a run among its tasks."""

    def __init__(
        self,
        control: tables.Chain,
        rate_hz: int,
        scenario: tables.PrioritisedTasks,
        board: Board,
        chain: ChainModel,
        thrusters: Thrusters,
        estimator: ChainEstimator,
        schedule: GainSchedule | None,
    ) -> None:
        self._dt = 1 / rate_hz
        self._estimator = estimator
        self.chain, self._thrusters = chain, thrusters
        self._valves = [board.actuator(name) for soft in control.soft for name in soft.chambers]
        self.solver = solver_of(control)(thrusters.scale)
        most_pa = min(board.actuators[i].high / ONE for i in self._valves)
        self.posture = Posture(chain.chambers, control.posture, most_pa, rate_hz)
        self.clearance = Clearance(chain, control.clearance, scenario.obstacles)
        bend_max_deg = scenario.bend_max_deg or control.limits.bend_max_deg
        self.limits = JointLimits(chain, control.limits, bend_max_deg)
        self.tasks = [self._task(aim, schedule) for aim in scenario.tasks]
        self._shape = next((task for task in self.tasks if isinstance(task, ShapeTask)), None)
        self.planned = self._plan(scenario.tasks, control, bend_max_deg)
        self._served = self.planned.served if self.planned else self.tasks
        self._holding = False  # the plan as one state
        self._stopped = False
        self._time_s: float | None = None
        self._left = np.full(len(control.soft) + len(scenario.obstacles), LEFT_TICKS)
        self.fields = self._fields(control, scenario)
        self.values: list[float | None] = [None] * len(self.fields)

    def _task(self, aim: tables.AnyTask, schedule: GainSchedule | None) -> Task[Any]:
        dt = self._dt
        if isinstance(aim, tables.RunTaskTable):
            assert schedule is not None, "stages.py makes one for a run"
            return StraightRunTask(aim, RowReference(aim.rows), dt, schedule, self._thrusters)
        if isinstance(aim, tables.ShapeTaskTable):
            return ShapeTask(aim, RowReference(aim.rows), dt)
        frame = self._frame(aim)
        if isinstance(aim, tables.SpeedTaskTable):
            return SpeedTask(aim, RowReference(aim.rows), dt, *frame)
        if isinstance(aim, tables.TurnTaskTable):
            return AttitudeTask(aim, AttitudeReference(aim.rows), dt, *frame)
        if isinstance(aim, tables.LookTaskTable):
            return LookTask(aim, PositionReference(aim.rows), dt, *frame)
        reference = PositionReference(aim.rows, self._governor())
        if isinstance(aim, tables.PoseTaskTable):
            return PoseTask(aim, reference, dt, *frame)
        return PositionTask(aim, reference, dt, *frame)

    def _frame(self, aim: tables.FrameTaskTable) -> tuple[int, list[float]]:
        """(module, position in its frame): its front end, the base's rear end, or where the table says."""
        base = aim.frame == "base"
        module = 0 if base else self.chain.modules.index(aim.frame)
        return module, aim.at_m or [0.0 if base else self.chain.lengths_m[module], 0.0, 0.0]

    def _governor(self) -> ObstacleGovernor | None:
        clear = self.clearance
        if not len(clear.radii):
            return None
        return ObstacleGovernor(clear.centres, clear.radii, clear.upright, GOVERNOR_PER_S, self._dt)

    def _plan(
        self, tasks: Sequence[tables.AnyTask], control: tables.Chain, bend_max_deg: float
    ) -> PlannedTasks | None:
        """A plan of the shape, for tasks that are the front end, a position of the base, and a free shape."""
        if len(tasks) < 3:
            return None
        hand_aim, base_aim, shape_aim = tasks[:3]
        hand, base, shape = self.tasks[:3]
        if not (
            isinstance(hand_aim, tables.PoseTaskTable | tables.PositionTaskTable)
            and isinstance(base_aim, tables.PositionTaskTable)
            and isinstance(shape_aim, tables.ShapeTaskTable)
            and isinstance(hand, PoseTask | PositionTask)
            and isinstance(base, PositionTask)
            and isinstance(shape, ShapeTask)
        ):
            return None
        if hand_aim.at_m or base_aim.at_m or shape_aim.rows or not hand_aim.rows:
            return None
        if hand_aim.frame != self.chain.modules[-1] or base_aim.frame != "base":
            return None
        less_deg = PLAN_LESS_CLEAR_DEG if len(self.clearance.radii) else PLAN_LESS_DEG
        bend_max = math.radians(bend_max_deg - less_deg)
        rows, ease_pa = (hand_aim.rows, base_aim.rows), control.posture.ease_pa
        plan = ShapePlan(self.chain, *rows, self.clearance, bend_max, ease_pa, self._dt)
        attitude = None
        if isinstance(hand, PositionTask):
            aim = tables.TurnTaskTable(
                name="turn",
                frame=hand_aim.frame,
                pole_per_s=hand_aim.pole_per_s,
                integral_limit=hand_aim.integral_limit,
                error_limit=hand_aim.error_limit,
                damping=hand_aim.damping,
            )
            attitude = AttitudeTask(aim, AttitudeReference([]), self._dt, *self._frame(aim))
        hold = ShapeHold(control, self._thrusters, self._dt)
        others = self.tasks[3:]
        return PlannedTasks(hand, attitude, base, shape, others, plan, hold, self._thrusters, self._dt)

    def step(self, state: State) -> None:
        """One tick: fill the commands of thrusters and valves, and the diagnostics."""
        estimator = self._estimator
        if not estimator.known:
            self._stand_by(state)
            return
        chain, position = self.chain, estimator.position
        chain.update(estimator.rotation, estimator.velocity, estimator.q, estimator.qd, estimator.pressures)
        self._step_references(state.commands_applied, state.mode != AUTO)
        levels = [(*task.rows(chain, position), task.damping) for task in self._served]
        planned = self.planned if self._time_s is not None else None
        self._holding = planned is not None and planned.needs_hold(chain)
        served: Sequence[Task[Any] | ShapeHold] = self._served
        if planned is not None and self._holding:
            levels, served = [planned.hold_level(chain, position)], [planned.hold]
        barriers = stacked([self.limits.rows(chain), self.clearance.rows(chain, position)])
        thrust = self.solver.solve(chain, levels, barriers, *self._thrusters.reach())
        for one, (_, demand, _), missed in zip(served, levels, self.solver.missed, strict=False):
            one.missed = missed
            one.integrate(
                state.commands_applied and missed <= MET * float(np.linalg.norm(demand)) + MET_LEAST
            )
        self._served[0].missed = self.solver.missed[0]
        for channel, value in zip(self._thrusters.channels, thrust.tolist(), strict=True):
            state.commands[channel] = to_q14_or_none(value)
        self._command_valves(state)
        self._expect_acceleration()
        self._diagnose(barriers)

    def _stand_by(self, state: State) -> None:
        for channel in (*self._thrusters.channels, *self._valves):
            state.commands[channel] = 0

    def _step_references(self, free: bool, stop: bool) -> None:
        """Time runs while the output limiter lets commands through (`free`). After it did not, references begin again
        where the chain is. They also do when it is to stop, and when that is over. A speed is brought to 0 first."""
        stopped, self._stopped = self._stopped, stop
        if stop and stopped and self._time_s is not None:
            for task in self.tasks:
                if isinstance(task, ONE_NUMBER):
                    task.reference.slow(BRAKE_M_S2, self._dt)
            return
        if not free or self._time_s is None or stop != stopped:
            for task in self._served:
                task.start(self.chain, self._estimator.position)
                task.reset_integral()
            if self.planned:
                self.planned.start(self.chain)
            self._time_s = 0.0 if free else None
            return
        self._time_s += self._dt
        for task in self.tasks:
            task.reference.step(self._time_s)
        if self.planned:
            self.planned.step(self._time_s)

    def _command_valves(self, state: State) -> None:
        commanded = [(state.outputs[c] or 0) / ONE for c in self._valves]
        lost = [state.not_following[c] for c in self._valves]
        measured = self._estimator.pressures.tolist()
        pressures = self.posture.pressures(self._rest(), commanded, measured, lost)
        for channel, value in zip(self._valves, pressures, strict=True):
            state.commands[channel] = to_q14_or_none(value)

    def _rest(self) -> list[float]:
        """Bend vectors at which the joints would rest without load."""
        first = self.tasks[0]
        if isinstance(first, StraightRunTask):
            return first.rest
        if self.planned and self._holding:
            return self.planned.hold.rest
        rest: list[float] = (self._shape.reference.value if self._shape else self.chain.bend).tolist()
        return rest

    def _expect_acceleration(self) -> None:
        """The acceleration of the model under the actuators' present forces, for the estimator."""
        chain = self.chain
        given = chain.free_b @ self._thrusters.force
        self._estimator.acceleration[chain.free] = solved(chain.free_mass, given - chain.free_load)

    def _fields(self, control: tables.Chain, scenario: tables.PrioritisedTasks) -> list[str]:
        fields = ["clearance_m", "broken"]
        fields += [f"{soft.name}_limit" for soft in control.soft]
        fields += [f"obstacle_{k + 1}" for k in range(len(scenario.obstacles))]
        for task in self.tasks:
            fields += [f"{task.name}_missed", f"{task.name}_error"]
            fields += [f"{task.name}_setpoint"] if isinstance(task, ONE_NUMBER) else []
            if isinstance(task.reference, PositionReference):
                fields += [
                    f"{task.name}_{part}_{key}"
                    for part in ("path", "lead")
                    for key in ("x_m", "y_m", "depth_m")
                ]
        return fields

    def _diagnose(self, barriers: BarrierRows) -> None:
        """Fill `values`: which limits are active, each task's error, and by how much it is missed."""
        owner = barriers.owner[self.solver.binding]
        pressed = np.zeros(len(self._left), dtype=bool)
        pressed[owner[owner >= 0]] = True
        self._left = np.where(pressed, 0, self._left + 1)
        values: list[float | None] = [
            self.clearance.least_m,
            self.solver.violation,
            *(self._left < LEFT_TICKS).astype(float).tolist(),
        ]
        for task in self.tasks:
            values += [task.missed, float(np.linalg.norm(task.error))]
            values += [float(task.reference.value[0])] if isinstance(task, ONE_NUMBER) else []
            if isinstance(task.reference, PositionReference):
                values += [*flip_z(task.reference.path).tolist(), *flip_z(task.reference.position).tolist()]
        self.values = values


def solver_of(control: tables.Chain) -> type[HierarchicalSolver] | type[NullSpaceProjection]:
    """The solver that control.solver names."""
    return NullSpaceProjection if control.solver == "law" else HierarchicalSolver
