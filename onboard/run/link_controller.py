"""The controller side of a HIL link on a computer: each loop runs as a session. CPython only."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from caudal.onboard.build import build_loop
from caudal.onboard.core.loop import Loop
from caudal.onboard.link.controller import Controller
from caudal.onboard.run.session import Session
from caudal.onboard.tables.read import Scenario, Settings

if TYPE_CHECKING:
    from caudal.onboard.link.controller import Port


class SessionController(Controller):
    """`make(loop)` gives the armed session of each new plant's loop; `time_ns()` is its time in the log."""

    def __init__(
        self,
        settings: Settings,
        scenario: Scenario,
        digest: str,
        port: "Port",
        make: Callable[[Loop], Session],
        time_ns: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(settings, scenario, digest, port)
        self.session: Session | None = None
        self._make = make
        self._period_ns = 1_000_000_000 // settings.rate_hz
        self._time_ns = time_ns or self._plant_time_ns

    def start(self) -> None:
        """Builds a loop and its session."""
        self.loop = build_loop(self._settings, self._scenario, self._driver)
        self.session = self._make(self.loop)

    def tick(self) -> None:
        """One tick of the session."""
        assert self.session is not None, "a loop has a session"
        self.session.tick(self._time_ns(), 0)

    def _plant_time_ns(self) -> int:
        """The simulated time of the readings."""
        return self.decoder.tick * self._period_ns
