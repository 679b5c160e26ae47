"""The tables of a vehicle file that do not belong to the control stack or the HAL."""

OWN = ("excite", "appearance")  # the commands' own


def known_tables() -> tuple[str, ...]:
    """Those of the plant and the commands; none if the plant is not installed, as its tables are unknown then."""
    try:
        from caudal.sim_plant.tables.read import TABLES
    except ImportError:
        return ()
    return (*TABLES, *OWN)
