"""What a run offers next to its sessions: the log, the stream, ground stations and stored parameters."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from caudal.hal.errors import CaudalError
from caudal.onboard.log.recorder import LogWriter, Recorder
from caudal.onboard.log.stream import InjectFault
from caudal.onboard.params.store import ParamStore
from caudal.onboard.run.arming import Notify
from caudal.onboard.run.config import Controlled
from caudal.onboard.run.ground_station import Rehearsal, open_stations
from caudal.onboard.run.live_view import LiveView
from caudal.onboard.run.options import RunOptions
from caudal.onboard.run.param_keeper import ParamKeeper, open_store
from caudal.onboard.run.recording import about_run, next_log_path, open_recorder
from caudal.onboard.run.session import Session


class Services:
    """A context manager: whatever happens, all that was opened is closed, the log last."""

    def __init__(
        self,
        options: RunOptions,
        vehicle: Controlled,
        scenario_name: str,
        on: str,
        notify: Notify,
        *,
        params: Path | None = None,
        about: dict[str, str] | None = None,
        lossless: bool = True,
    ) -> None:
        self.log = options.log or next_log_path(vehicle, scenario_name, options.seed)
        self.about = about_run(vehicle, scenario_name, on, seed=options.seed, realtime=options.realtime)
        self.about |= about or {}
        self.recorder: Recorder | None = None
        self._options = options
        self._vehicle = vehicle
        self._notify = notify
        self._lossless = lossless
        self._params = options.params or params
        if options.params and not vehicle.settings.params:
            raise CaudalError(
                f"{vehicle.name} has no parameters to store; its file needs [param.NAME] tables"
            )
        self._live: LiveView | None = None
        self._opened = ExitStack()
        self._attached = ExitStack()

    def __enter__(self) -> "Services":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._opened:
            self._attached.close()

    def attach(
        self,
        sessions: Sequence[Session],
        origin: tuple[float, float] | None = None,
        rehearsal: Rehearsal | None = None,
    ) -> LogWriter:
        """Gives these sessions, in place of earlier ones, their ground stations and parameters; the writer of the log.

        All take what was stored; what is set in the first is stored, as it is the one that stations speak to.
        """
        self._attached.close()
        options, vehicle = self._options, self._vehicle
        stations = open_stations(
            options.stations,
            vehicle.settings,
            [(session.name, session.loop) for session in sessions],
            self.log.parent,
            origin,
            rehearsal,
        )
        if stations:
            self._attached.callback(stations.stop)
            for session, link in zip(sessions, stations.vehicle_links, strict=True):
                session.bridge = link.bridge
        writer = self._open_log()
        if self._params and vehicle.settings.params:
            self._keep(sessions, open_store(self._params, vehicle))
        if stations:
            stations.start()
        return writer

    def stream(self, sessions: Sequence[Session], inject: InjectFault | None = None) -> None:
        """Starts the stream to viewers, once every topic of the log exists."""
        if self._live:
            self._live.start({session.name: session.loop.send for session in sessions}, inject)

    def take(self, time_ns: int) -> None:
        """Executes what viewers have sent: between two ticks."""
        if self._live:
            self._live.take(time_ns)

    def _open_log(self) -> LogWriter:
        if self._live is None:
            self.recorder = open_recorder(self.log, self.about, self._lossless)
            self._opened.callback(self.recorder.close)
            self._live = LiveView(self._options.view, self.recorder, self.about, self._notify)
            self._opened.callback(self._live.close)
        return self._live.writer

    def _keep(self, sessions: Sequence[Session], store: ParamStore) -> None:
        for k, session in enumerate(sessions):
            session.params = keeper = ParamKeeper(store, session.loop, keep=k == 0)
            self._attached.callback(self._close, keeper)

    def _close(self, keeper: ParamKeeper) -> None:
        for text in keeper.close():
            self._notify(text)
