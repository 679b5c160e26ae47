"""The parameter store of a run: its path, its values at the start, and what is set while the run goes on."""

import os
from pathlib import Path

from caudal.onboard.core.loop import Loop
from caudal.onboard.params.store import ParamStore, ParamWriter
from caudal.onboard.run.config import Controlled


def default_path(vehicle: str) -> Path:
    """Where an on-vehicle run stores its parameters: the service's folder, or the user's for such files."""
    service = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    if service:
        return Path(service) / f"{vehicle}.params"
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "caudal" / f"{vehicle}.params"


def open_store(path: Path, vehicle: Controlled) -> ParamStore:
    """A vehicle's parameter store in a file."""
    return ParamStore(path, vehicle.name, vehicle.settings.params)


class ParamKeeper:
    """One loop and its parameter store. Stored values are sent before anything else, as one command of the first tick.

    Without `keep` what is set during the run is not stored.
    """

    def __init__(self, store: ParamStore, loop: Loop, keep: bool = True) -> None:
        values = store.load()
        if values:
            loop.send("load", sorted([key, value] for key, value in values.items()))
        self._loop = loop
        self._writer = ParamWriter(store) if keep else None
        self._lost = False  # as the loop knows
        self._sentences = list(store.notes) if keep else []  # for the first tick

    def after_tick(self) -> list[str]:
        """Stores what was set in this tick; sentences about what was not stored."""
        writer = self._writer
        if writer is None:
            return []
        writer.update(self._loop)
        sentences, self._sentences = [*self._sentences, *writer.news()], []
        if writer.failing != self._lost:
            self._lost = not self._lost
            self._loop.send("host", "params_lost", int(self._lost))
        return sentences

    def close(self) -> list[str]:
        """Waits until all is stored; the last sentences."""
        if self._writer is None:
            return []
        self._writer.close()
        return self._writer.news()
