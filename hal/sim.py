"""The simulated board: passes device units between a board and a simulated body. Loaded only for simulations."""

from caudal.sim_plant.world.world import Body


class SimDriver:
    """The driver of a board on one vehicle's body in a simulated world."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def read(self, counts: list[int | None]) -> None:
        """Fills the list with one count per sensor."""
        self._body.read(counts)

    def write(self, outputs: list[int]) -> None:
        """Sends one output per actuator."""
        self._body.write(outputs)

    def close(self) -> None:
        """Ends all outputs: without pulses servos are limp."""
        self._body.write([0] * len(self._body.actuators))
