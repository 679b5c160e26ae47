"""A gait's interface: set frequency, amplitude and turn; each tick commands the joints.

    ask(frequency, amplitude, turn)     fixed-point Hz (negative: the wave runs tail to head), share of the
                                        shape's amplitude, rad of deflection
    reshape(shape)                      another wavelength or envelope
    step(commands)                      one tick: writes the joints' commands, fixed-point rad

Joints move smoothly: each setting passes a critically damped lag. The vehicle file's `source` selects what makes the
wave: "table" or "cpg". The turning offset is distributed over the joints (for a tail of four, half each on joints 1
and 2). Portable; a tick is integer arithmetic alone.
"""

from caudal.hal.core.fixed_point import BITS, ONE, to_q14
from caudal.onboard.gait.phase import MASK, Lag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from caudal.onboard.gait.shape import Shape


class Gait:
    """The settings of a gait and their lags; a subclass makes the wave."""

    def __init__(
        self,
        shape: "Shape",
        joints: "list[int]",
        turn_share: "Sequence[float]",
        rate_hz: int,
        convergence_per_s: float,
    ) -> None:
        self.joints = joints  # command index of each joint
        self.frequency = Lag(convergence_per_s, rate_hz)
        self.amplitude = Lag(convergence_per_s, rate_hz)
        self.turn = Lag(convergence_per_s, rate_hz)
        self.shape = shape
        self.share = [to_q14(share) for share in turn_share]
        self._rate_hz = rate_hz

    def ask(self, frequency: int, amplitude: int, turn: int) -> None:
        """Sets the targets of frequency, amplitude and turn."""
        self.frequency.target = frequency
        self.amplitude.target = amplitude
        self.turn.target = turn

    def stop(self) -> None:
        """Stops the wave; the turning offset goes back to zero with it."""
        self.ask(0, 0, 0)

    def reshape(self, shape: "Shape") -> None:
        """Takes another wavelength or envelope."""
        self.shape = shape

    def advance(self, phase_step: int, gain: int) -> None:
        """Advances the wave by one tick; `gain` is the share of the shape's amplitude."""
        raise NotImplementedError

    def angle(self, i: int) -> int:
        """The wave's angle of joint i, fixed-point rad."""
        raise NotImplementedError

    def step(self, commands: "list[int | None]") -> None:
        """One tick: commands the joints."""
        # a fixed-point frequency is f * 2**14, a phase step f * 2**24 / rate
        self.advance((self.frequency.step() << 10) // self._rate_hz, self.amplitude.step())
        turn = self.turn.step()
        i = 0
        for joint in self.joints:
            wave = self.angle(i)
            commands[joint] = wave + ((turn * self.share[i]) >> BITS)
            i += 1


class TableGait(Gait):
    """A gait of a look-up table, linearly interpolated at the tail-beat's phase."""

    def __init__(
        self,
        shape: "Shape",
        joints: "list[int]",
        turn_share: "Sequence[float]",
        rate_hz: int,
        convergence_per_s: float,
    ) -> None:
        super().__init__(shape, joints, turn_share, rate_hz, convergence_per_s)
        self.phase = 0
        self._gain = 0
        self._row = 0
        self._next_row = 0
        self._part = 0

    def advance(self, phase_step: int, gain: int) -> None:
        """Advances the phase by one tick."""
        self.phase = (self.phase + phase_step) & MASK
        self._gain = gain
        place = (self.phase >> 4) * self.shape.rows  # rows * 2**20 to the turn
        row = place >> 20
        self._row = row * self.shape.joints
        self._next_row = 0 if row + 1 == self.shape.rows else self._row + self.shape.joints
        self._part = (place >> 6) & (ONE - 1)

    def angle(self, i: int) -> int:
        """The wave's angle of joint i."""
        low = self.shape.angles[self._row + i]
        angle = low + (((self.shape.angles[self._next_row + i] - low) * self._part) >> BITS)
        return (angle * self._gain) >> BITS
