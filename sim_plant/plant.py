"""The plant's public door: read a vehicle file's plant, put it into a world, step, observe."""

from __future__ import annotations

from sim_plant.spec import PlantSpec, WorldSpec, read, read_worlds
from sim_plant.world import Body, World

__all__ = ["Body", "PlantSpec", "World", "WorldSpec", "read", "read_worlds"]
