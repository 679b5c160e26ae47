"""Which guidance runs: that of the mode in effect. Portable."""

from caudal.onboard.core.modes import AUTO


class Switch:
    """`guides`: by mode, each with `begin(state)` and `step(state)`. Every n-th tick, and at once in a new mode."""

    def __init__(self, guides, every):
        self.guides = guides
        self._every = every
        self._mode = AUTO

    def step(self, state):
        mode = state.mode
        if mode != self._mode:
            self._mode = mode
            self.guides[mode].begin(state)
        elif state.tick % self._every:
            return
        self.guides[mode].step(state)
