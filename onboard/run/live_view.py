"""Streams a run to viewers while it is recorded."""

import contextlib
import subprocess
from collections.abc import Mapping

from caudal.hal.errors import CaudalError
from caudal.onboard.log.recorder import LogWriter, Recorder
from caudal.onboard.log.stream import InjectFault, SendCommand, StreamServer
from caudal.onboard.run.arming import Notify
from caudal.onboard.run.options import ViewOptions

LOOPBACK = "127.0.0.1"


class LiveView:
    """A recording that may be streamed, too; the run writes to `writer`."""

    def __init__(
        self, options: ViewOptions, recorder: Recorder, about: dict[str, str], notify: Notify
    ) -> None:
        self._viewer: subprocess.Popen[bytes] | None = None
        self._server: StreamServer | None = None
        self._open = options.open
        self._notify = notify
        self.writer: LogWriter = recorder
        if options.open or options.address:
            where = options.address or (LOOPBACK, 0)
            try:
                self._server = StreamServer(recorder, about, where, allow_control=options.allow_control)
            except OSError as error:
                raise CaudalError(
                    f"--stream: cannot listen at {where[0]}:{where[1]} ({error.strerror}); take another port"
                ) from error
            self.writer = self._server

    def start(self, handlers: Mapping[str, SendCommand], inject: InjectFault | None = None) -> None:
        """Starts the stream, once every topic exists, and the viewer."""
        if self._server is None:
            return
        for vehicle, send in handlers.items():
            self._server.add_vehicle(vehicle, send)
        self._server.inject = inject
        self._server.start()
        host, port = self._server.address
        if self._open:
            self._viewer = self._open(f"{LOOPBACK}:{port}")
        else:
            self._notify(f"caudal: caudal view {host}:{port} shows this run")

    def take(self, time_ns: int) -> None:
        """Executes what viewers have sent: between two ticks."""
        if self._server is not None:
            self._server.poll(time_ns)

    def close(self) -> None:
        """Ends the stream and the viewer."""
        if self._server is not None:
            self._server.close()
        if self._viewer is not None:
            self._viewer.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._viewer.wait(5)
