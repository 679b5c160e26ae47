"""What breaks inside the plant: a chamber, a battery. Other faults stand at its door (tools/faults/kinds.py)."""

from caudal.sim_plant.world.world import Body


def leak(body: Body, valve: str, share: float) -> None:
    """From now on the valve's chamber holds less, by this share; 0 mends it."""
    flat = body._world._flat
    row = flat.actuators[flat.bodies[body.index]["first_actuator"] + body.actuators.index(valve)]
    row["leak_us"], row["leak_share"] = body.time_us, share


def sag(body: Body, volts: float) -> None:
    """From now on the battery gives so much less, and with a negative number more again."""
    row = body._world._flat.bodies[body.index]
    row["full_v"] -= volts
    row["empty_v"] -= volts
