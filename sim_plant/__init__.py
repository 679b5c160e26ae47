"""The simulated plant: device units in, raw counts out. `load` and `batch` simulate any tree of bodies alone.

world/world.py is a world with its vehicles, tree/model.py one tree of bodies as a library. All laws are checked by
something independent of the code (docs/physics.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from caudal.sim_plant.loader import load
    from caudal.sim_plant.tree.batch import batch
    from caudal.sim_plant.tree.model import Model

__all__ = ["Model", "batch", "load"]
HOMES = {"Model": "tree.model", "load": "loader", "batch": "tree.batch"}


def __getattr__(name: str) -> object:
    # On demand, because the model imports numba.
    if name in HOMES:
        return getattr(import_module(f"caudal.sim_plant.{HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
