"""A gait as its user sees it: ask for frequency, amplitude and turn; take joint angles every tick.

    ask(frequency, amplitude, turn)     fixed-point Hz (negative: the wave runs tail to head), share of the
                                        shape's amplitude, rad of deflection
    reshape(shape)                      another wavelength or envelope
    step(commands)                      one tick: writes the joints' commands, fixed-point rad

Whatever is asked, joints move smoothly: each setting goes through a critically damped lag. Where the wave's
angles come from is the vehicle file's `source`: "table" or "cpg". The turning offset is shared out over the
joints (for a tail of four, half each on joints 1 and 2). Portable; a tick is integer arithmetic alone.
"""

from caudal.hal.core.fixed_point import BITS, ONE, to_q14
from caudal.onboard.gait.phase import MASK, Lag


class Gait:
    """What table and oscillators share; a subclass brings `advance(phase_step, gain)` and `angle(i)`."""

    def __init__(self, shape, joints, turn_share, rate_hz, convergence_per_s):
        self.joints = joints  # command index of each joint
        self.frequency = Lag(convergence_per_s, rate_hz)
        self.amplitude = Lag(convergence_per_s, rate_hz)
        self.turn = Lag(convergence_per_s, rate_hz)
        self.shape = shape
        self.share = [to_q14(share) for share in turn_share]
        self._rate_hz = rate_hz

    def ask(self, frequency, amplitude, turn):
        self.frequency.target = frequency
        self.amplitude.target = amplitude
        self.turn.target = turn

    def stop(self):
        """Still the wave; the turning offset goes back to zero with it."""
        self.ask(0, 0, 0)

    def reshape(self, shape):
        self.shape = shape

    def step(self, commands):
        # a fixed-point frequency is f * 2**14, a phase step f * 2**24 / rate
        self.advance((self.frequency.step() << 10) // self._rate_hz, self.amplitude.step())  # type: ignore[attr-defined]
        turn = self.turn.step()
        i = 0
        for joint in self.joints:
            wave = self.angle(i)  # type: ignore[attr-defined]
            commands[joint] = wave + ((turn * self.share[i]) >> BITS)
            i += 1


class TableGait(Gait):
    """The look-up table, walked at the tail-beat's phase with straight lines between its rows."""

    def __init__(self, shape, joints, turn_share, rate_hz, convergence_per_s):
        super().__init__(shape, joints, turn_share, rate_hz, convergence_per_s)
        self.phase = 0
        self._gain = 0
        self._row = 0
        self._next_row = 0
        self._part = 0

    def advance(self, phase_step, gain):
        self.phase = (self.phase + phase_step) & MASK
        self._gain = gain
        place = (self.phase >> 4) * self.shape.rows  # rows * 2**20 to the turn
        row = place >> 20
        self._row = row * self.shape.joints
        self._next_row = 0 if row + 1 == self.shape.rows else self._row + self.shape.joints
        self._part = (place >> 6) & (ONE - 1)

    def angle(self, i):
        low = self.shape.angles[self._row + i]
        angle = low + (((self.shape.angles[self._next_row + i] - low) * self._part) >> BITS)
        return (angle * self._gain) >> BITS
