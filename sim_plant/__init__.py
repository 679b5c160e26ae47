"""The simulated plant: device units in, raw counts out; and any tree of bodies by `load`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim_plant.model import Model, load

__all__ = ["Model", "load"]


def __getattr__(name: str) -> object:
    # On demand, as the model brings numba with it.
    if name in __all__:
        from sim_plant import model

        return getattr(model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
