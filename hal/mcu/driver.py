"""The driver of a microcontroller: pulses out of its pins, counts in from wherever each sensor is wired.

Portable; allocates nothing while buses answer.
"""


class McuDriver:
    """`sources[i]` has `count()` for sensor i; a sensor that is not fitted has None."""

    def __init__(self, pulses, sources, line=None):
        self._pulses = pulses
        self._sources = sources
        self._line = line

    def read(self, counts):
        if self._line is not None:
            self._line.take()
        i = 0
        for source in self._sources:
            counts[i] = None if source is None else source.count()
            i += 1

    def write(self, outputs):
        self._pulses.write(outputs)

    def close(self):
        self._pulses.close()
