"""Modes of a vehicle that swims with its tail: manual, hold and surface, and guidance that decides. Portable."""

from caudal.hal.core.fixed_point import to_q14

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.onboard.control.tail import SwimInverse
    from caudal.onboard.core.state import State
    from caudal.onboard.guidance.avoid import AvoidanceGuidance
    from caudal.onboard.tables.modes import SticksTable


class FixedBeat:
    """A constant tail-beat: none in mode hold, that of [surface] in mode surface."""

    def __init__(self, frequency_hz: float) -> None:
        self._frequency_hz = frequency_hz
        self._amplitude = 1.0 if frequency_hz else 0.0
        self._beat_q14 = (to_q14(frequency_hz), to_q14(self._amplitude), 0)
        self._again = False

    def changed(self) -> None:
        """Applies a frequency that a parameter has changed (onboard/params/hot_update.py)."""
        self._again = True

    def begin(self, state: "State") -> None:
        """Sets the tail-beat."""
        setpoint = state.setpoint
        setpoint.frequency_hz = self._frequency_hz
        setpoint.amplitude = self._amplitude
        setpoint.deflection_rad = 0.0
        setpoint.beat_q14 = self._beat_q14

    def step(self, state: "State") -> None:
        """One step of guidance."""
        if self._again:
            self._again = False
            self.begin(state)


class TailSticks:
    """Manual control: ahead is the tail-beat frequency, turn the deflection, up the rate of the depth setpoint."""

    def __init__(self, table: "SticksTable", guidance_rate_hz: int) -> None:
        self._frequency_hz = table.frequency_hz
        self._deflection_rad = table.deflection_deg * 0.017453292519943295
        self._depth_m = table.depth_m_s / guidance_rate_hz

    def begin(self, state: "State") -> None:
        """The setpoint's floats count from now on."""
        state.setpoint.beat_q14 = None

    def step(self, state: "State") -> None:
        """One step of guidance."""
        setpoint, sticks = state.setpoint, state.manual_input
        setpoint.frequency_hz = sticks[0] * self._frequency_hz
        setpoint.amplitude = 1.0 if sticks[0] else 0.0
        setpoint.deflection_rad = sticks[3] * self._deflection_rad
        if setpoint.depth_m is not None and sticks[2]:
            setpoint.depth_m = max(setpoint.depth_m - sticks[2] * self._depth_m, 0.0)
            setpoint.depth_q20 = None


class Guided:
    """Guidance that decides acceleration and turn rate, and the tail settings for them."""

    def __init__(self, guidance: "AvoidanceGuidance", inverse: "SwimInverse") -> None:
        self._guidance = guidance
        self._inverse = inverse

    def begin(self, state: "State") -> None:
        """The setpoint's floats count from now on."""
        state.setpoint.beat_q14 = None

    def step(self, state: "State") -> None:
        """One step of guidance."""
        self._guidance.step(state)
        self._inverse.step(state)
