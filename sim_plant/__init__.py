"""The simulated plant: device units in, raw counts out; and any tree of bodies by `load`."""

__all__ = ["Model", "load"]


def __getattr__(name: str) -> object:
    # On demand, as the model brings numba with it.
    if name in __all__:
        from sim_plant import model

        return getattr(model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
