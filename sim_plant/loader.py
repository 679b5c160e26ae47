"""Loads the plant of a vehicle alone: as a tree of bodies, or with impulses for closed chains."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.sim_plant.tree.model import Model, Source, read

if TYPE_CHECKING:
    from caudal.sim_plant.maximal.model import ImpulseModel


@overload
def load(
    source: Source, gravity: bool = True, fluid: bool = True, impulses: Literal[False] = False
) -> Model: ...
@overload
def load(
    source: Source, gravity: bool = True, fluid: bool = True, *, impulses: Literal[True]
) -> ImpulseModel: ...
def load(
    source: Source, gravity: bool = True, fluid: bool = True, impulses: bool = False
) -> Model | ImpulseModel:
    """Load the plant of a vehicle, by name or path of its file, or from an open file.

    gravity, fluid: False leaves them out. impulses: every body has its own coordinates (sim_plant/maximal/model.py), so
    that chains may be closed.
    """
    file = source if isinstance(source, VehicleFile) else VehicleFile.open(_find(source))
    if impulses:
        from caudal.sim_plant.maximal.model import ImpulseModel

        return ImpulseModel(read(file), gravity, fluid, file.label)
    return Model(read(file), gravity, fluid, file.label)


def _find(name_or_path: str | os.PathLike[str]) -> str:
    """Path of a vehicle that comes with the project, found without importing onboard; otherwise the path itself."""
    onboard = importlib.util.find_spec("caudal.onboard")
    for folder in (onboard and onboard.submodule_search_locations) or []:
        own = Path(folder) / "vehicles" / f"{os.fspath(name_or_path)}.toml"
        if own.is_file():
            return str(own)
    return os.fspath(name_or_path)
