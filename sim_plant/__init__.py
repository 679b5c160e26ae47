"""The simulated plant: device units in, raw counts out; and any tree of bodies by `load`, one or many at once."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim_plant.many import batch
    from sim_plant.model import Model, load

__all__ = ["Model", "batch", "load"]
HOMES = {"Model": "model", "load": "model", "batch": "many"}


def __getattr__(name: str) -> object:
    # On demand, as the model brings numba with it.
    if name in HOMES:
        return getattr(import_module(f"sim_plant.{HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
