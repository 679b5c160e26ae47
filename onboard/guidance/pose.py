"""Tasks of a vehicle that holds any pose: what it wants of x, y, depth and heading, and of their rates.

    hold      keep station, at a pose given or where it is
    follow    a trajectory in time; it goes to the start first
    manual    sticks by the clock: each commands a speed, and what is let go is held
    pilot     the same sticks, moved by a made-up pilot who flies from place to place in a box

Nothing is wanted before the vehicle knows where it is. Portable; floats.
"""

import math

from caudal.onboard.core.angles import wrap
from caudal.onboard.guidance.bezier import Trajectory

NEAR_M = 0.05  # at the start of a trajectory...
NEAR_RAD = 0.05
SETTLE_S = 2.0  # ...for so long
SLOWER = 0.31  # of the two beats of a rocking vehicle


class PoseTask:
    """Wants the pose it has when it first knows one; `lead(state)` says what next.

    With `rock` it rolls and pitches meanwhile, each with a period of its own and a slower one on top: at one period
    alone inertia and righting moment look the same.
    """

    error_m = None

    def __init__(self, settings, control, guide_hz):
        self._rock = settings["rock"]
        self._rocked_s = 0.0
        self._cruise = control["cruise"]  # m/s, m/s, m/s, rad/s
        self._dt = 1 / guide_hz

    def step(self, state):
        estimate, want = state.estimate, state.setpoint
        if estimate.x_m is None or estimate.heading_rad is None:
            return
        if want.heading_rad is None:
            want.x_m, want.y_m = estimate.x_m, estimate.y_m
            want.depth_m, want.heading_rad = estimate.depth_m, estimate.heading_rad
        self.lead(state)
        if self._rock and state.commands_applied:
            self._rocked_s += self._dt
            want.roll_rad = swung(self._rock["roll_rad"], self._rock["roll_s"], self._rocked_s)
            want.pitch_rad = swung(self._rock["pitch_rad"], self._rock["pitch_s"], self._rocked_s)

    def begin(self, state):
        """Another mode has had the vehicle: want what it has, and go on from there."""
        want = state.setpoint
        want.heading_rad = None
        want.roll_rad = want.pitch_rad = 0.0
        for k in range(4):
            want.pose_rate[k] = want.pose_acceleration[k] = 0.0

    def lead(self, state):
        raise NotImplementedError


class Hold(PoseTask):
    """Keeps the wanted pose, `settings["pose"]` or the first one known, approached at no more than cruise speed."""

    def __init__(self, settings, control, guide_hz):
        super().__init__(settings, control, guide_hz)
        self._goal = settings["pose"]

    def lead(self, state):
        estimate, want = state.estimate, state.setpoint
        if self._goal is None:
            self._goal = [want.x_m, want.y_m, want.depth_m, want.heading_rad]
        approach(want, self._goal, self._cruise, self._dt)
        self.error_m = off_m(estimate, self._goal)


class Follow(PoseTask):
    """Tracks a trajectory in time, once it has settled at its start."""

    def __init__(self, settings, control, guide_hz):
        super().__init__(settings, control, guide_hz)
        self.trajectory = Trajectory(settings["trajectory"])
        self._near_s = 0.0
        self._joined = False  # is it on the trajectory, not on the way to it
        self.time_s = None  # of the trajectory; None on the way to its start

    def begin(self, state):
        """Back to where it left the trajectory."""
        super().begin(state)
        self._joined = False
        self._near_s = 0.0

    def lead(self, state):
        estimate, want, free = state.estimate, state.setpoint, state.commands_applied
        if not self._joined:
            goal = self.trajectory.pose
            approach(want, goal, self._cruise, self._dt)
            near = off_m(estimate, goal) < NEAR_M and abs(wrap(goal[3] - estimate.heading_rad)) < NEAR_RAD
            self._near_s = self._near_s + self._dt if near and free else 0.0
            if self._near_s >= SETTLE_S:
                self._joined = True
                self.time_s = self.time_s or 0.0
            return
        self.time_s += self._dt
        self.trajectory.at(self.time_s)
        pose = self.trajectory.pose
        want.x_m, want.y_m, want.depth_m, want.heading_rad = pose[0], pose[1], pose[2], wrap(pose[3])
        for k in range(4):
            want.pose_rate[k] = self.trajectory.velocity[k]
            want.pose_acceleration[k] = self.trajectory.acceleration[k]
        self.error_m = off_m(estimate, pose)


class Sticks:
    """Speeds in the base frame (ahead, to port, up, turn; shares of the vehicle's cruise) move the wanted pose."""

    def __init__(self, control, guide_hz):
        self._dt = 1 / guide_hz
        self._cruise = control["cruise"]
        self._leash_m = control["leash_m"]
        self._change = self._dt / control["stick_s"]
        self._felt = [0.0] * 4

    def rest(self):
        for k in range(4):
            self._felt[k] = 0.0

    def move(self, estimate, want, stick):
        rate, push = want.pose_rate, want.pose_acceleration
        for k in range(4):  # a stick is moved at once; the wanted speed follows within stick_s
            gap = stick[k] - self._felt[k]
            self._felt[k] += min(max(gap, -self._change), self._change)
        c = math.cos(want.heading_rad)
        s = math.sin(want.heading_rad)
        ahead = self._felt[0] * self._cruise[0]
        port = self._felt[1] * self._cruise[1]
        for k, value in enumerate(
            (c * ahead - s * port, s * ahead + c * port, -self._felt[2] * self._cruise[2])
        ):
            push[k] = (value - rate[k]) / self._dt
            rate[k] = value
        push[3] = (self._felt[3] * self._cruise[3] - rate[3]) / self._dt
        rate[3] = self._felt[3] * self._cruise[3]
        want.x_m += rate[0] * self._dt
        want.y_m += rate[1] * self._dt
        want.depth_m = max(want.depth_m + rate[2] * self._dt, 0.0)
        want.heading_rad = wrap(want.heading_rad + rate[3] * self._dt)
        # a vehicle that is held back (a wall, a current) does not leave its wanted pose far behind
        gap_m = off_m(estimate, (want.x_m, want.y_m, want.depth_m))
        if gap_m > self._leash_m:
            share = self._leash_m / gap_m
            want.x_m = estimate.x_m + (want.x_m - estimate.x_m) * share
            want.y_m = estimate.y_m + (want.y_m - estimate.y_m) * share
            want.depth_m = estimate.depth_m + (want.depth_m - estimate.depth_m) * share


class Manual(PoseTask):
    """Sticks by the clock: rows of at_s and stick."""

    def __init__(self, settings, control, guide_hz):
        super().__init__(settings, control, guide_hz)
        self._rows = settings["rows"]
        self._sticks = Sticks(control, guide_hz)
        self._time_s = 0.0
        self._next = 0
        self._stick = [0.0] * 4

    def lead(self, state):
        while self._next < len(self._rows) and self._rows[self._next]["at_s"] <= self._time_s:
            self._stick = self._rows[self._next]["stick"]
            self._next += 1
        self._sticks.move(state.estimate, state.setpoint, self._stick)
        self._time_s += self._dt


class Pilot(PoseTask):
    """A made-up pilot: picks a place in the box, leans on the sticks towards it at once, lets go, picks another.

    Turns and dives at random on the way. Its own random numbers, so that a run repeats on every runtime.
    """

    def __init__(self, settings, control, guide_hz):
        super().__init__(settings, control, guide_hz)
        self._low = settings["low"]
        self._high = settings["high"]
        self._change_s = settings["change_s"]
        self._sticks = Sticks(control, guide_hz)
        self._left_s = 0.0
        self._stick = [0.0] * 4
        self._goal = [0.0] * 4
        self._push = 1.0
        self._seed = settings["seed"] * 2 + 1

    def lead(self, state):
        estimate = state.estimate
        self._left_s -= self._dt
        near = abs(estimate.x_m - self._goal[0]) + abs(estimate.y_m - self._goal[1]) < 0.3
        if self._left_s <= 0.0 or near:
            self._pick()
        self._lean(estimate)
        self._sticks.move(estimate, state.setpoint, self._stick)

    def _pick(self):
        self._left_s = self._change_s * (0.5 + self._draw())
        for k in range(3):
            self._goal[k] = self._low[k] + (self._high[k] - self._low[k]) * self._draw()
        self._goal[3] = 2.0 * self._draw() - 1.0  # the yaw stick
        self._push = (0.0, 0.5, 1.0, 1.0)[int(4 * self._draw())]

    def _lean(self, estimate):
        dx = self._goal[0] - estimate.x_m
        dy = self._goal[1] - estimate.y_m
        c = math.cos(estimate.heading_rad)
        s = math.sin(estimate.heading_rad)
        far = max(math.sqrt(dx * dx + dy * dy), 0.2)
        self._stick[0] = self._push * (c * dx + s * dy) / far
        self._stick[1] = self._push * (c * dy - s * dx) / far
        up = estimate.depth_m - self._goal[2]
        self._stick[2] = 0.0 if abs(up) < 0.1 else math.copysign(self._push, up)
        self._stick[3] = self._goal[3] * self._push

    def _draw(self):
        self._seed = (self._seed * 48271) % 2147483647  # Lehmer's
        return self._seed / 2147483647


def swung(most_rad, period_s, time_s):
    turns = 2 * math.pi * time_s / period_s
    return 0.5 * most_rad * (math.sin(turns) + math.sin(SLOWER * turns))


def approach(want, goal, cruise, dt):
    """Let the wanted pose go to the goal no faster than cruise, slower near it."""
    here = (want.x_m, want.y_m, want.depth_m, want.heading_rad)
    for k in range(4):
        gap = goal[k] - here[k] if k < 3 else wrap(goal[k] - here[k])
        want.pose_rate[k] = min(max(0.5 * gap, -cruise[k]), cruise[k])
        want.pose_acceleration[k] = 0.0
    want.x_m += want.pose_rate[0] * dt
    want.y_m += want.pose_rate[1] * dt
    want.depth_m += want.pose_rate[2] * dt
    want.heading_rad = wrap(want.heading_rad + want.pose_rate[3] * dt)


def off_m(estimate, pose):
    dx = pose[0] - estimate.x_m
    dy = pose[1] - estimate.y_m
    dz = pose[2] - estimate.depth_m
    return math.sqrt(dx * dx + dy * dy + dz * dz)


POSE_TASKS = {"hold": Hold, "follow": Follow, "manual": Manual, "pilot": Pilot}
