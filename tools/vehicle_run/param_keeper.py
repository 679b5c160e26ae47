"""A run's parameter store: where it lies, what of it the loop is given, and what becomes of sets while it runs."""

import argparse
import os
from pathlib import Path
from typing import Any

from caudal.onboard.core.loop import Loop
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.params.store import ParamStore, ParamWriter
from caudal.tools.common import output
from caudal.tools.vehicle_run.config import Controlled


def add_params(command: argparse.ArgumentParser, help: str) -> None:
    command.add_argument("--params", metavar="FILE", type=Path, help=help)


def default_path(vehicle: str) -> Path:
    """Where a vehicle's own run keeps its parameters: the service's folder, or the user's for such things."""
    service = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    if service:
        return Path(service) / f"{vehicle}.params"
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "caudal" / f"{vehicle}.params"


def open_store(path: Path, vehicle: Controlled) -> ParamStore:
    return ParamStore(path, vehicle.name, vehicle.settings["params"])


class ParamKeeper:
    """One loop and its store. What was kept is told before anything else, as one order of the first tick."""

    def __init__(
        self, store: ParamStore, loop: Loop, recorder: Recorder, name: str, keep: bool = True
    ) -> None:
        values = store.load()
        if values:
            loop.send("load", sorted([key, value] for key, value in values.items()))
        self._loop = loop
        self._recorder = recorder
        self._name = name
        self._keeper = ParamWriter(store) if keep else None
        self._told = False
        self._sentences = list(store.notes) if keep else []  # for the first tick

    def after_tick(self, time_ns: int) -> None:
        keeper = self._keeper
        if keeper is None:
            return
        keeper.update(self._loop)
        for sentence in (*self._sentences, *keeper.news()):
            output.note(sentence)
            self._recorder.event(time_ns, "params", vehicle=self._name, reason=sentence)
        self._sentences = []
        if keeper.failing != self._told:
            self._told = not self._told
            self._loop.send("host", "params_lost", int(self._told))

    def close(self) -> None:
        if self._keeper is None:
            return
        self._keeper.close()
        for sentence in self._keeper.news():
            output.note(sentence)


def kept_by(args: Any, vehicle: Controlled) -> ParamStore | None:
    """The store that a run asks for; a plain one depends on nothing in a home folder."""
    if getattr(args, "params", None) is None:
        return None
    if not vehicle.settings["params"]:
        raise output.UsageError(
            f"{vehicle.name} has no parameters to keep; its file needs [param.NAME] tables"
        )
    return open_store(args.params, vehicle)


def keep(instances: list[Any], store: ParamStore, recorder: Recorder) -> None:
    """All vehicles of a fleet take what was kept; sets of the first are kept, as it is the one that is spoken to."""
    for k, instance in enumerate(instances):
        instance.kept = ParamKeeper(store, instance.loop, recorder, instance.name, keep=k == 0)


def close_all(instances: list[Any]) -> None:
    for instance in instances:
        if instance.kept:
            instance.kept.close()
