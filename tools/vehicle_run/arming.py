"""Whether a run's own arming came to anything: a refusal is said at once, and counts if it stays so."""

from typing import Any

from caudal.tools.common import output


class Arming:
    def __init__(self) -> None:
        self._refused: dict[str, str] = {}
        self._armed: set[str] = set()

    @property
    def refusal(self) -> str | None:
        """Why a vehicle was never armed, or None."""
        reasons = [f"{name} {why}" for name, why in self._refused.items() if name not in self._armed]
        return "; ".join(reasons) or None

    def update(self, name: str, loop: Any) -> None:
        """After each tick. An order with a ticket is a station's, which is told by itself."""
        if loop.state.armed:
            self._armed.add(name)
        for kind, _, ticket, refusal in loop.taken:
            if kind == "arm" and ticket is None and refusal and self._refused.get(name) != refusal:
                self._refused[name] = refusal
                output.note(f"{name} {refusal}")
