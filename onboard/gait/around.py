"""A gait around jammed joints: the other joints are replanned, so that the tail fits the wave as well as it can.

Two links with a jammed joint between them are one longer link. The joints at its ends turn so that these stay on the
wave: each takes a part of the jammed joint's swing, the nearer one more. Without a moving joint ahead of it they are
the next two behind it; behind the last moving joint the tip is the end.

A jammed joint is bent, and steers. Joints with a share of the turn are assumed to steer alike, by the sum of their
bending angles: what a jammed joint steers is subtracted from the commanded deflection, and the moving joints make the
rest, as far as their limits leave range in addition to the wave.
If the wave alone needs more range or speed than they have, it is made smaller or slower. A jammed joint still gets its
own wave as command: otherwise it could not show that it follows again. Portable; a tick is integer arithmetic and
allocates nothing.
"""

from caudal.hal.core.fixed_point import BITS, ONE, q20_to_q14
from caudal.onboard.gait.phase import Lag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from caudal.hal.core.board import Board
    from caudal.onboard.control.tail import Tail
    from caudal.onboard.core.state import State

_NEARLY = 64  # counts: a weight below this counts as 0
_PLACES = 10000  # of joint positions, to the metre


class Around:
    """Replans the gait of a tail. `sensors`: of each joint's angle; `joint_positions_m`: also of the tip."""

    def __init__(
        self,
        tail: "Tail",
        sensors: "list[int]",
        joint_positions_m: "Sequence[float]",
        board: "Board",
        rate_hz: int,
        convergence_per_s: float,
    ) -> None:
        self._tail = tail
        self._gait = tail.gait
        self._sensors = sensors
        self._board = board
        self._places = [int(place_m * _PLACES + 0.5) for place_m in joint_positions_m]
        self._low = [board.actuators[joint].low for joint in self._gait.joints]
        self._high = [board.actuators[joint].high for joint in self._gait.joints]
        self._slew = [board.actuators[joint].slew for joint in self._gait.joints]
        count = len(sensors)
        whole = sum([abs(share) for share in self._gait.share])
        self._steers = [_sign(share) * ONE * ONE // whole if whole else 0 for share in self._gait.share]
        self._angles = [Lag(convergence_per_s, rate_hz) for _ in range(count)]
        self._weight = Lag(convergence_per_s, rate_hz)
        self._jammed = [False] * count  # as planned for
        self._planned = False
        self._wave = [0] * count
        self._share = [0] * count
        self._give = [0] * (count * count)  # row i: the part of each joint's swing that joint i takes
        self._rest_low = self._rest_high = 0

    def step(self, state: "State") -> None:
        """One tick, after the gait: replaces the commands of the moving joints."""
        if not self._planned and not self._found(state):
            return
        changed = self._changed(state)
        self._weight.target = 0 if changed else ONE
        if changed and self._weight.value < _NEARLY:
            self._plan(state)
        if self._planned:
            self._swim(state.commands)

    def _found(self, state: "State") -> bool:
        for joint in self._gait.joints:
            if state.not_following[joint]:
                return True
        return False

    def _changed(self, state: "State") -> bool:
        k = 0
        for joint in self._gait.joints:
            if state.not_following[joint] != self._jammed[k]:
                return True
            k += 1
        return False

    def _swim(self, commands: "list[int | None]") -> None:
        gait = self._gait
        weight = self._weight.step()
        turn = gait.turn.value
        rest = turn
        k = 0
        for joint in gait.joints:
            self._wave[k] = (commands[joint] or 0) - ((turn * gait.share[k]) >> BITS)
            if self._jammed[k]:
                rest -= (self._steers[k] * self._angle(k)) >> BITS
            k += 1
        rest = min(max(rest, self._rest_low), self._rest_high)
        count = len(self._wave)
        k = 0
        for joint in gait.joints:
            if not self._jammed[k]:
                angle = self._wave[k] + ((rest * self._share[k]) >> BITS)
                j = 0
                while j < count:
                    angle += (self._give[k * count + j] * self._wave[j]) >> BITS
                    j += 1
                command = commands[joint] or 0
                commands[joint] = command + (((angle - command) * weight) >> BITS)
            k += 1

    def _angle(self, k: int) -> int:
        """The angle of a jammed joint."""
        reading = self._board.q20_reading(self._sensors[k])
        if reading is not None:
            self._angles[k].target = q20_to_q14(reading)
        return self._angles[k].step()

    def _plan(self, state: "State") -> None:
        """For the jammed joints: which joints take their swing, which turn, and what limits leave of it."""
        self._planned = False
        k = 0
        for joint in self._gait.joints:
            jammed = state.not_following[joint]
            if jammed and not self._jammed[k]:
                reading = self._board.q20_reading(self._sensors[k])
                self._angles[k].jump(0 if reading is None else q20_to_q14(reading))
            self._jammed[k] = jammed
            if jammed:
                self._planned = True
            k += 1
        self._weight.jump(0)
        if not self._planned:
            self._tail.limit(None, ONE)
            return
        self._weight.target = ONE
        self._distribute_swing()
        self._distribute_turn()
        self._limit()

    def _distribute_swing(self) -> None:
        count = len(self._jammed)
        places = self._places
        k = 0
        while k < count * count:
            self._give[k] = 0
            k += 1
        j = 0
        while j < count:
            if self._jammed[j]:
                first = j - 1
                while first >= 0 and self._jammed[first]:
                    first -= 1
                if first < 0:
                    first = self._next(j)
                second = self._next(max(j, first))
                if first < count:
                    takes = (places[second] - places[j]) * ONE // (places[second] - places[first])
                    self._give[first * count + j] = takes
                    if second < count:
                        self._give[second * count + j] = ONE - takes
            j += 1

    def _next(self, k: int) -> int:
        """The next moving joint behind it, or the tip."""
        k += 1
        while k < len(self._jammed) and self._jammed[k]:
            k += 1
        return k

    def _distribute_turn(self) -> None:
        """The moving joints make the turn in proportion to their shares; all alike if they have none."""
        share = self._gait.share
        able = free = 0
        for k in range(len(share)):
            if not self._jammed[k]:
                free += 1
                able += (share[k] * self._steers[k]) >> BITS
        for k in range(len(share)):
            if self._jammed[k]:
                self._share[k] = 0
            elif able > 0:
                self._share[k] = share[k] * ONE // able
            else:
                self._share[k] = ONE // free

    def _limit(self) -> None:
        """Fits the wave into each joint's range and rate; the range that is left is for the turn."""
        count = len(self._jammed)
        amplitude = ONE
        frequency: int | None = None
        self._rest_low = -4 * ONE
        self._rest_high = 4 * ONE
        for k in range(count):
            if self._jammed[k]:
                continue
            reach = self._gait.shape.amplitudes[k]
            for j in range(count):
                reach += (abs(self._give[k * count + j]) * self._gait.shape.amplitudes[j]) >> BITS
            room = min(self._high[k], -self._low[k])
            if reach > room > 0:
                amplitude = min(amplitude, room * ONE // reach)
                reach = room
            if reach > 0:  # f = slew / (2 pi reach)
                most = ((self._slew[k] << 6) // reach) * 40
                frequency = most if frequency is None else min(frequency, most)
            share = self._share[k]
            if share:
                left = (room - reach) * ONE // abs(share)
                self._rest_low = max(self._rest_low, -left)
                self._rest_high = min(self._rest_high, left)
        self._tail.limit(frequency, amplitude)


def _sign(value: int) -> int:
    return 1 if value > 0 else -1 if value < 0 else 0
