"""Guidance of a vehicle that holds any pose: setpoints of x, y, depth, heading and their rates. One class per task.

    hold      station keeping, at a given pose or at the first one known
    follow    a trajectory in time, after an approach to its start
    manual    recorded stick movements: each stick commands a speed, and a released stick holds
    pilot     the same sticks, moved by a simulated pilot who flies to random positions in a box

There is no setpoint before the pose is known. Portable; floats.
"""

import math

from caudal.onboard.core.angles import wrap
from caudal.onboard.core.state import known
from caudal.onboard.guidance.bezier import Trajectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.core.state import Setpoint, State
    from caudal.onboard.tables import thrusters as tables

NEAR_M = 0.05  # from the start of a trajectory...
NEAR_RAD = 0.05
SETTLE_S = 2.0  # ...for so long, before it begins
SLOWER = 0.31  # frequency ratio of the two sines of a rocking vehicle


class PoseTask:
    """Moves the pose setpoint, which starts at the first pose known; a subclass says how in `lead`.

    With `rock` the vehicle rolls and pitches meanwhile, each as a sum of two sines: with one frequency alone, an
    identification could not separate inertia and righting moment.
    """

    def __init__(self, rock: "tables.Rock | None", control: "tables.Wrench", guidance_rate_hz: int) -> None:
        self._roll = (rock.roll_rad, rock.roll_s) if rock else None
        self._pitch = (rock.pitch_rad, rock.pitch_s) if rock else None
        self._rocked_s = 0.0
        self._cruise = control.cruise  # m/s, m/s, m/s, rad/s
        self._dt = 1 / guidance_rate_hz

    def step(self, state: "State") -> None:
        """One step of guidance."""
        estimate, setpoint = state.estimate, state.setpoint
        pose = known(estimate.x_m, estimate.y_m, estimate.depth_m, estimate.heading_rad)
        if pose is None:
            return
        target = known(setpoint.x_m, setpoint.y_m, setpoint.depth_m, setpoint.heading_rad) or list(pose)
        self.lead(state, pose, target)
        setpoint.x_m, setpoint.y_m, setpoint.depth_m, setpoint.heading_rad = target
        if self._roll and self._pitch and state.commands_applied:
            self._rocked_s += self._dt
            setpoint.roll_rad = two_sines(self._roll[0], self._roll[1], self._rocked_s)
            setpoint.pitch_rad = two_sines(self._pitch[0], self._pitch[1], self._rocked_s)

    def begin(self, state: "State") -> None:
        """Starts the setpoint at the present pose: another mode was in effect before."""
        setpoint = state.setpoint
        setpoint.heading_rad = None
        setpoint.roll_rad = setpoint.pitch_rad = 0.0
        for k in range(4):
            setpoint.pose_rate[k] = setpoint.pose_acceleration[k] = 0.0

    def lead(self, state: "State", pose: list[float], target: list[float]) -> None:
        """Moves `target`, the pose setpoint, in place and sets its rates; `pose` is the estimate."""
        raise NotImplementedError

    def approach(self, setpoint: "Setpoint", target: list[float], goal: list[float]) -> None:
        """Moves the setpoint towards a goal, at cruise speed and slower near it."""
        for k in range(4):
            gap = goal[k] - target[k] if k < 3 else wrap(goal[k] - target[k])
            rate = min(max(0.5 * gap, -self._cruise[k]), self._cruise[k])
            setpoint.pose_rate[k] = rate
            setpoint.pose_acceleration[k] = 0.0
            target[k] += rate * self._dt
        target[3] = wrap(target[3])


class Hold(PoseTask):
    """Station keeping: approaches the scenario's pose, or holds the first one known."""

    def __init__(self, scenario: "tables.HoldTask", control: "tables.Wrench", guidance_rate_hz: int) -> None:
        super().__init__(scenario.rock, control, guidance_rate_hz)
        self._goal = scenario.pose

    def lead(self, state: "State", pose: list[float], target: list[float]) -> None:
        """Approaches the goal."""
        if self._goal is None:
            self._goal = list(target)
        self.approach(state.setpoint, target, self._goal)


class Follow(PoseTask):
    """Follows a trajectory in time, once the vehicle has settled at its start."""

    def __init__(self, scenario: "tables.Follow", control: "tables.Wrench", guidance_rate_hz: int) -> None:
        super().__init__(scenario.rock, control, guidance_rate_hz)
        self.trajectory = Trajectory(scenario.trajectory)
        self._near_s = 0.0
        self._joined = False  # whether the setpoint is on the trajectory, not on the way to it
        self._time_s = 0.0  # of the trajectory

    def begin(self, state: "State") -> None:
        """Returns to where the setpoint left the trajectory."""
        super().begin(state)
        self._joined = False
        self._near_s = 0.0

    def lead(self, state: "State", pose: list[float], target: list[float]) -> None:
        """Approaches the trajectory, or follows it."""
        setpoint, goal = state.setpoint, self.trajectory.pose
        if not self._joined:
            self.approach(setpoint, target, goal)
            near = distance_m(pose, goal) < NEAR_M and abs(wrap(goal[3] - pose[3])) < NEAR_RAD
            self._near_s = self._near_s + self._dt if near and state.commands_applied else 0.0
            self._joined = self._near_s >= SETTLE_S
            return
        self._time_s += self._dt
        self.trajectory.at(self._time_s)
        for k in range(4):
            target[k] = goal[k]
            setpoint.pose_rate[k] = self.trajectory.velocity[k]
            setpoint.pose_acceleration[k] = self.trajectory.acceleration[k]
        target[3] = wrap(target[3])


class Sticks:
    """Moves the pose setpoint by speeds in the base frame: ahead, to port, up, turn; shares of the cruise speeds."""

    def __init__(self, control: "tables.Wrench", guidance_rate_hz: int) -> None:
        self._dt = 1 / guidance_rate_hz
        self._cruise = control.cruise
        self._leash_m = control.max_lead_m
        self._change = self._dt / control.stick_s
        self._share = [0.0] * 4  # the sticks, limited in rate

    def reset(self) -> None:
        """Starts from rest."""
        for k in range(4):
            self._share[k] = 0.0

    def move(self, setpoint: "Setpoint", pose: list[float], target: list[float], stick: list[float]) -> None:
        """One step of guidance."""
        rate, acceleration = setpoint.pose_rate, setpoint.pose_acceleration
        share, cruise = self._share, self._cruise
        for k in range(4):  # a stick may jump; the speed follows within stick_s
            gap = stick[k] - share[k]
            share[k] += min(max(gap, -self._change), self._change)
        c = math.cos(target[3])
        s = math.sin(target[3])
        ahead = share[0] * cruise[0]
        port = share[1] * cruise[1]
        world = (c * ahead - s * port, s * ahead + c * port, -share[2] * cruise[2], share[3] * cruise[3])
        for k in range(4):
            acceleration[k] = (world[k] - rate[k]) / self._dt
            rate[k] = world[k]
            target[k] += rate[k] * self._dt
        target[2] = max(target[2], 0.0)
        target[3] = wrap(target[3])
        # the setpoint stays near a vehicle that is held back by a wall or a current
        gap_m = distance_m(pose, target)
        if gap_m > self._leash_m:
            share_m = self._leash_m / gap_m
            for k in range(3):
                target[k] = pose[k] + (target[k] - pose[k]) * share_m


class Manual(PoseTask):
    """Recorded stick movements: rows of at_s and stick."""

    def __init__(
        self, scenario: "tables.ManualTask", control: "tables.Wrench", guidance_rate_hz: int
    ) -> None:
        super().__init__(scenario.rock, control, guidance_rate_hz)
        self._rows = [(row.at_s, row.stick) for row in scenario.rows]
        self._sticks = Sticks(control, guidance_rate_hz)
        self._time_s = 0.0
        self._next = 0
        self._stick = [0.0] * 4

    def lead(self, state: "State", pose: list[float], target: list[float]) -> None:
        """Moves the setpoint by the row that has come last."""
        while self._next < len(self._rows) and self._rows[self._next][0] <= self._time_s:
            self._stick = self._rows[self._next][1]
            self._next += 1
        self._sticks.move(state.setpoint, pose, target, self._stick)
        self._time_s += self._dt


class Pilot(PoseTask):
    """A simulated pilot: picks a position in the box, flies there with full or half sticks, picks another.

    Yaw and depth are random too. The random numbers are its own, so that a run repeats on every runtime.
    """

    def __init__(self, scenario: "tables.PilotTask", control: "tables.Wrench", guidance_rate_hz: int) -> None:
        super().__init__(scenario.rock, control, guidance_rate_hz)
        self._low = scenario.low
        self._high = scenario.high
        self._change_s = scenario.change_s
        self._sticks = Sticks(control, guidance_rate_hz)
        self._left_s = 0.0
        self._stick = [0.0] * 4
        self._goal = [0.0] * 4  # x, y, depth, share of the yaw stick
        self._size = 1.0  # of the sticks' deflection
        self._seed = scenario.seed * 2 + 1

    def lead(self, state: "State", pose: list[float], target: list[float]) -> None:
        """Moves the sticks, and the setpoint by them."""
        self._left_s -= self._dt
        near = abs(pose[0] - self._goal[0]) + abs(pose[1] - self._goal[1]) < 0.3
        if self._left_s <= 0.0 or near:
            self._pick()
        self._steer(pose)
        self._sticks.move(state.setpoint, pose, target, self._stick)

    def _pick(self) -> None:
        """Picks the next position, yaw stick and deflection."""
        self._left_s = self._change_s * (0.5 + self._draw())
        for k in range(3):
            self._goal[k] = self._low[k] + (self._high[k] - self._low[k]) * self._draw()
        self._goal[3] = 2.0 * self._draw() - 1.0
        self._size = (0.0, 0.5, 1.0, 1.0)[int(4 * self._draw())]

    def _steer(self, pose: list[float]) -> None:
        """Deflects the sticks towards the position."""
        dx = self._goal[0] - pose[0]
        dy = self._goal[1] - pose[1]
        c = math.cos(pose[3])
        s = math.sin(pose[3])
        far = max(math.sqrt(dx * dx + dy * dy), 0.2)
        self._stick[0] = self._size * (c * dx + s * dy) / far
        self._stick[1] = self._size * (c * dy - s * dx) / far
        up = pose[2] - self._goal[2]
        self._stick[2] = 0.0 if abs(up) < 0.1 else math.copysign(self._size, up)
        self._stick[3] = self._goal[3] * self._size

    def _draw(self) -> float:
        """A random number from 0 to 1."""
        self._seed = (self._seed * 48271) % 2147483647  # Lehmer's
        return self._seed / 2147483647


def two_sines(most_rad: float, period_s: float, time_s: float) -> float:
    """An angle within +-most_rad that swings with one period and a longer one."""
    phase = 2 * math.pi * time_s / period_s
    return 0.5 * most_rad * (math.sin(phase) + math.sin(SLOWER * phase))


def distance_m(pose: list[float], goal: list[float]) -> float:
    """The distance between two positions: x, y, depth."""
    dx = goal[0] - pose[0]
    dy = goal[1] - pose[1]
    dz = goal[2] - pose[2]
    return math.sqrt(dx * dx + dy * dy + dz * dz)


POSE_TASKS = {"hold": Hold, "follow": Follow, "manual": Manual, "pilot": Pilot}
