"""Control of a vehicle that swims with its tail: from acceleration and turn rate to joint commands, in two stages.

`SwimInverse` sets frequency, amplitude and deflection for the setpoint's acceleration and turn rate; `Tail` limits
them, passes them to the gait and runs it. Portable.
"""

from caudal.hal.core.fixed_point import ONE, to_q14, to_q14_or_none
from caudal.onboard.core.failsafe import SLOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.control.swim_model import SwimModel
    from caudal.onboard.core.state import State
    from caudal.onboard.gait.gait import Gait


class SwimInverse:
    """Inverts the swim model; an unknown speed counts as rest."""

    def __init__(self, model: "SwimModel") -> None:
        self._model = model

    def step(self, state: "State") -> None:
        """One step of guidance."""
        self._model.invert(state.setpoint, state.estimate.speed_m_s or 0.0)


class Tail:
    """A gait within the tail's limits; at half its frequency while a failsafe rule demands SLOW."""

    def __init__(self, gait: "Gait", frequency_max_hz: float, deflection_max_rad: float) -> None:
        self.gait = gait
        self._frequency_max = to_q14(frequency_max_hz)
        self._deflection_max = to_q14(deflection_max_rad)
        self._frequency_hz: float | None = (
            None  # of the last setpoint; None: convert the next one in any case
        )
        self._amplitude = 0.0
        self._deflection_rad = 0.0
        self._slow = False
        self.limit(None, ONE)

    def limit(self, frequency: "int | None", amplitude: int) -> None:
        """Sets what a gait around a jammed joint can do: fixed-point Hz (None: frequency_max_hz), share."""
        most = self._frequency_max
        self._frequency_most = most if frequency is None else min(frequency, most)
        self._amplitude_most = amplitude
        self._frequency_hz = None

    def changed(self) -> None:
        """Applies a limit that a parameter has changed (onboard/params/hot_update.py)."""
        self._frequency_hz = None

    def set_gait(self, state: "State") -> None:
        """One tick: passes the setpoint's tail-beat to the gait."""
        setpoint = state.setpoint
        if self._slow != (state.action == SLOW):
            self._slow = not self._slow
            self._frequency_hz = None
        if setpoint.beat_q14 is not None:
            self._set(setpoint.beat_q14[0], setpoint.beat_q14[1], setpoint.beat_q14[2])
            return
        if (
            setpoint.frequency_hz == self._frequency_hz
            and setpoint.amplitude == self._amplitude
            and setpoint.deflection_rad == self._deflection_rad
        ):
            return  # the gait has them already, and a conversion would allocate
        self._frequency_hz = setpoint.frequency_hz
        self._amplitude = setpoint.amplitude
        self._deflection_rad = setpoint.deflection_rad
        self._set(
            to_q14_or_none(setpoint.frequency_hz),
            to_q14_or_none(setpoint.amplitude),
            to_q14_or_none(setpoint.deflection_rad),
        )

    def _set(self, frequency: "int | None", amplitude: "int | None", deflection: "int | None") -> None:
        if self._slow and frequency is not None:
            frequency = frequency // 2 if frequency >= 0 else -(-frequency // 2)
        self.gait.ask(
            _within(frequency, self._frequency_most),
            _within(amplitude, self._amplitude_most),
            _within(deflection, self._deflection_max),
        )

    def step(self, state: "State") -> None:
        """One tick of the gait: commands the joints."""
        self.gait.step(state.commands)


def _within(count: "int | None", limit: int) -> int:
    """The count within +-limit; 0 for a setpoint that is not a number."""
    return 0 if count is None else min(max(count, -limit), limit)
