"""The simulated board: where board and plant meet, below the maps, in device units.

Loaded only when a simulated board is asked for.
"""

from caudal.sim_plant.world.world import Body


class SimDriver:
    """One vehicle's body in a world, behind the same door as real drivers."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def read(self, counts: list) -> None:
        self._body.read(counts)

    def write(self, outputs: list) -> None:
        self._body.write(outputs)

    def close(self) -> None:
        """Without pulses the servos go limp."""
        self._body.write([0] * len(self._body.actuators))
