"""Runs the guidance of the mode in effect. Portable."""

from caudal.onboard.core.modes import AUTO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from caudal.onboard.core.state import State

    class Guidance(Protocol):
        """Guidance of one mode."""

        def begin(self, state: State) -> None:
            """Starts: another mode was in effect before."""

        def step(self, state: State) -> None:
            """One step of guidance."""


class Switch:
    """Steps one of `guides`, which are by mode: every n-th tick, and at once in a new mode."""

    def __init__(self, guides: "dict[int, Guidance]", every: int) -> None:
        self.guides = guides
        self._every = every
        self._mode = AUTO

    def step(self, state: "State") -> None:
        """One tick."""
        mode = state.mode
        if mode != self._mode:
            self._mode = mode
            self.guides[mode].begin(state)
        elif state.tick % self._every:
            return
        self.guides[mode].step(state)
