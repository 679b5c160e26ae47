"""Faults inside the plant: chamber and battery. Other faults act at its interface (tools/faults/kinds.py)."""

from caudal.sim_plant.world.world import Body


def leak(body: Body, valve: str, share: float) -> None:
    """From now on the chamber of this valve holds a smaller share of its pressure; share 0 clears the fault."""
    flat = body._world._flat
    row = flat.actuators[flat.bodies[body.index]["first_actuator"] + body.actuators.index(valve)]
    row["leak_us"], row["leak_share"] = body.time_us, share


def sag(body: Body, volts: float) -> None:
    """From now on the battery's voltage is lower by this much (V); a negative number raises it again."""
    row = body._world._flat.bodies[body.index]
    row["full_v"] -= volts
    row["empty_v"] -= volts
