"""The board: interface between the control stack and the devices.

Channels have names; names become indices once, when the stack is built. Above the board are SI units (commands in
fixed point), below it a driver that knows only device units. Portable: CPython and MicroPython.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from caudal.hal.core.maps import ActuatorMap, SensorMap

    class Driver(Protocol):
        """Devices behind a board."""

        def read(self, counts: list[int | None]) -> None:
            """Fills the list: an integer per sensor, None where there is no new reading."""

        def write(self, outputs: list[int]) -> None:
            """Sends one integer per actuator; all take effect together."""

        def close(self) -> None:
            """Releases the devices."""


NEVER = 1 << 29  # age in ticks of a reading that has not come yet


class Actuator:
    """One output channel. Limits, slew (per second) and the safe state are fixed-point SI; None is off."""

    def __init__(
        self,
        name: str,
        port: int,
        map: "ActuatorMap",
        low: int,
        high: int,
        slew: int,
        safe: "int | None",
        follows: str = "",
    ) -> None:
        self.name = name
        self.port = port
        self.map = map
        self.low = low
        self.high = high
        self.slew = slew
        self.safe = safe
        self.follows = follows  # sensor whose reading its map needs: battery voltage, chamber pressure


class Sensor:
    """One input channel. A reading older than `max_age` ticks is absent."""

    def __init__(self, name: str, port: int, map: "SensorMap", max_age: int) -> None:
        self.name = name
        self.port = port
        self.map = map
        self.max_age = max_age


class Board:
    """Actuators and sensors of a vehicle, and the driver of their devices."""

    def __init__(self, actuators: "list[Actuator]", sensors: "list[Sensor]", driver: "Driver") -> None:
        self.actuators = actuators
        self.sensors = sensors
        self.driver = driver
        self.counts: list[int | None] = [None] * len(sensors)  # of this tick, as the driver gave them
        self.outputs = [a.map.idle for a in actuators]
        self.age = [NEVER] * len(sensors)
        self._last = [0] * len(sensors)
        self.safe_outputs = [_device(a, a.safe) for a in actuators]
        self._followed = [(a.map, self.sensor(a.follows)) for a in actuators if a.follows]

    def actuator(self, name: str) -> int:
        """Index of an actuator."""
        return _index(self.actuators, name, "actuator")

    def sensor(self, name: str) -> int:
        """Index of a sensor."""
        return _index(self.sensors, name, "sensor")

    def sense(self) -> None:
        """Reads the driver; a count outside its map's range is no reading."""
        counts = self.counts
        self.driver.read(counts)
        i = 0
        for sensor in self.sensors:
            count = counts[i]
            if count is not None and sensor.map.valid(count):
                self._last[i] = count
                self.age[i] = 0
            elif self.age[i] < NEVER:
                self.age[i] += 1
            i += 1
        for map, index in self._followed:
            sensor = self.sensors[index]
            map.follow(sensor.map, None if self.age[index] > sensor.max_age else self._last[index])

    def reading(self, index: int) -> "float | None":
        """SI value of the latest reading, or None if it is absent or too old."""
        sensor = self.sensors[index]
        if self.age[index] > sensor.max_age:
            return None
        return sensor.map.to_si(self._last[index])

    def q20_reading(self, index: int) -> "int | None":
        """The same as an integer, in 2**-20 of the SI unit."""
        sensor = self.sensors[index]
        if self.age[index] > sensor.max_age:
            return None
        return sensor.map.to_q20(self._last[index])

    def act(self, commands: "Sequence[int | None]") -> None:
        """Sends one command per actuator: fixed-point SI, or None for off."""
        i = 0
        for actuator in self.actuators:
            self.outputs[i] = _device(actuator, commands[i])
            i += 1
        self.driver.write(self.outputs)

    def safe(self) -> None:
        """Puts every actuator into its safe state at once."""
        i = 0
        for output in self.safe_outputs:
            self.outputs[i] = output
            i += 1
        self.driver.write(self.outputs)

    def close(self) -> None:
        """Closes the driver."""
        self.driver.close()


def _device(actuator: Actuator, command: "int | None") -> int:
    return actuator.map.idle if command is None else actuator.map.to_device(command)


def _index(channels: "Sequence[Actuator | Sensor]", name: str, kind: str) -> int:
    for i, channel in enumerate(channels):
        if channel.name == name:
            return i
    raise KeyError(f"no {kind} is called {name!r}; there are " + ", ".join([c.name for c in channels]))
