"""The board: the one door between the control stack and the world.

Channels have names; names become indices once, when the stack is built. Above the board stand SI units
(commands in fixed point), below it a driver that knows device units alone:

    driver.read(counts)     fill the list: an integer, or None where there is no new reading
    driver.write(outputs)   one integer a channel, all taking effect together
    driver.close()

Portable: CPython and MicroPython.
"""

NEVER = 1 << 29  # age of a reading that has not come yet, in ticks


class Actuator:
    """One output channel. Limits, slew (a second) and the safe state are fixed-point SI; None is off."""

    def __init__(self, name, port, map, low, high, slew, safe, follows=None):
        self.name = name
        self.port = port
        self.map = map
        self.low = low
        self.high = high
        self.slew = slew
        self.safe = safe
        self.follows = follows  # the sensor that its map goes by: a battery's voltage, a chamber's pressure


class Sensor:
    """One input channel. A reading older than `max_age` ticks is absent."""

    def __init__(self, name, port, map, max_age):
        self.name = name
        self.port = port
        self.map = map
        self.max_age = max_age


class Board:
    def __init__(self, actuators, sensors, driver):
        self.actuators = actuators
        self.sensors = sensors
        self.driver = driver
        self.counts = [None] * len(sensors)  # what came this tick, as it came
        self.outputs = [a.map.idle for a in actuators]
        self.age = [NEVER] * len(sensors)
        self._last = [0] * len(sensors)
        self.safe_outputs = [_device(a, a.safe) for a in actuators]
        self._followed = [(a.map, self.sensor(a.follows)) for a in actuators if a.follows]

    def actuator(self, name):
        return _index(self.actuators, name, "actuator")

    def sensor(self, name):
        return _index(self.sensors, name, "sensor")

    def sense(self):
        """Take what the drivers have; a count its map calls invalid is as good as none."""
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

    def reading(self, index):
        """SI value of the latest reading, or None if it is absent or too old."""
        sensor = self.sensors[index]
        if self.age[index] > sensor.max_age:
            return None
        return sensor.map.to_si(self._last[index])

    def q20_reading(self, index):
        """The same as an integer, in 2**-20 of the SI unit."""
        sensor = self.sensors[index]
        if self.age[index] > sensor.max_age:
            return None
        return sensor.map.to_q20(self._last[index])

    def act(self, commands):
        """Send one command a channel: fixed-point SI, or None for off."""
        i = 0
        for actuator in self.actuators:
            self.outputs[i] = _device(actuator, commands[i])
            i += 1
        self.driver.write(self.outputs)

    def safe(self):
        """Put every actuator into its safe state, at once."""
        i = 0
        for output in self.safe_outputs:
            self.outputs[i] = output
            i += 1
        self.driver.write(self.outputs)

    def close(self):
        self.driver.close()


def _device(actuator, command):
    return actuator.map.idle if command is None else actuator.map.to_device(command)


def _index(channels, name, kind):
    for i, channel in enumerate(channels):
        if channel.name == name:
            return i
    raise KeyError(f"no {kind} is called {name!r}; there are " + ", ".join([c.name for c in channels]))
