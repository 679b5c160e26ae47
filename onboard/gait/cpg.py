"""Central pattern generator: a chain of amplitude-controlled phase oscillators (Ijspeert's form).

    phase_i' = w + k * sum over neighbours j of sin(phase_j - phase_i - (lead_j - lead_i))
    angle_i  = amplitude_i sin(phase_i)

Amplitudes and leads come from the first harmonic of the gait's table, so the chain generates the same wave. When
the shape changes, the phases converge to the new leads and the amplitudes to the new ones: no joint ever steps, as it
would when switching tables. Portable; integers only.
"""

import math

from caudal.hal.core.fixed_point import BITS
from caudal.onboard.gait.gait import Gait
from caudal.onboard.gait.phase import MASK, TURN, Lag, sine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from caudal.onboard.gait.shape import Shape


class CpgGait(Gait):
    """A gait of coupled phase oscillators, one a joint."""

    STATE = ("phases",)  # converge to leads that a parameter changes (onboard/params/hot_update.py)

    def __init__(
        self,
        shape: "Shape",
        joints: "list[int]",
        turn_share: "Sequence[float]",
        rate_hz: int,
        convergence_per_s: float,
        coupling_per_s: float,
    ) -> None:
        super().__init__(shape, joints, turn_share, rate_hz, convergence_per_s)
        # phase counts per tick at sin = 1, in units of 64 so that the product with a sine stays small
        self._pull = int(coupling_per_s / rate_hz / (2 * math.pi) * TURN / 64 + 0.5)
        self.phases = [lead for lead in shape.leads]
        self._steps = [0] * len(joints)
        self._amplitudes = [Lag(convergence_per_s, rate_hz, a) for a in shape.amplitudes]
        self._gain = 0

    def reshape(self, shape: "Shape") -> None:
        """Converges to another wavelength or envelope."""
        super().reshape(shape)
        for lag, amplitude in zip(self._amplitudes, shape.amplitudes):
            lag.target = amplitude

    def advance(self, phase_step: int, gain: int) -> None:
        """Steps the oscillators by one tick."""
        self._gain = gain
        phases = self.phases
        leads = self.shape.leads
        last = len(phases) - 1
        i = 0
        while i <= last:
            pull = 0
            own = phases[i] - leads[i]
            if i > 0:
                pull = sine(phases[i - 1] - leads[i - 1] - own)
            if i < last:
                pull += sine(phases[i + 1] - leads[i + 1] - own)
            self._steps[i] = phase_step + ((self._pull * pull) >> 8)
            i += 1
        i = 0
        while i <= last:
            phases[i] = (phases[i] + self._steps[i]) & MASK
            self._amplitudes[i].step()
            i += 1

    def angle(self, i: int) -> int:
        """The wave's angle of joint i."""
        return (((self._amplitudes[i].value * sine(self.phases[i])) >> BITS) * self._gain) >> BITS
