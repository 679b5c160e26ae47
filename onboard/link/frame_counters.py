"""What has come over a link, counted, and where each frame stands among those before it.

Ticks put frames in order, the sequence number tells frames of one tick apart and counts what was lost.
Portable: CPython and MicroPython; allocates nothing.
"""

NEW = 0
DUPLICATE = 1  # came already; whoever sent it may be waiting for the answer to it
LATE = 2  # a newer one came before it

TICKS = 0x3FFFFFFF  # tick numbers wrap here
_SEQUENCES = 0xFFFF
_UNKNOWN = -1


class FrameCounters:
    """Statistics of one direction of a link.

    good        frames that came intact, those that were duplicate or late among them
    bad         stretches of bytes that were no frame: damaged, cut short, garbage
    lost        frames sent that did not come, by gaps in the sequence (a gap of 32768 or more is a restart)
    duplicate, late
    round_trip_us, last_round_trip_us, worst_round_trip_us
                smoothed over about eight, the last one, the worst; 0 before the first
    """

    def __init__(self):
        self.good = 0
        self.bad = 0
        self.lost = 0
        self.duplicate = 0
        self.late = 0
        self.round_trip_us = 0
        self.last_round_trip_us = 0
        self.worst_round_trip_us = 0
        self._sequence = _UNKNOWN
        self._tick = _UNKNOWN
        self._late_sequence = _UNKNOWN
        self._late_tick = 0

    def place(self, first, sequence, tick):
        """Count an intact frame and say where it stands. `first`: its sender has just started.

        A late frame followed by one that comes after it means that the sender is really there: it started anew
        unheard, or a damaged frame that the CRC let through had set the tick ahead. The order starts again there,
        so that no single frame can silence a link.
        """
        self.good += 1
        if first or self._sequence == _UNKNOWN:
            self._take(sequence, _UNKNOWN if first else tick)
            return NEW
        step = (sequence - self._sequence) & _SEQUENCES
        if self._tick == _UNKNOWN or _follows(sequence, tick, self._sequence, self._tick):
            if 0 < step <= _SEQUENCES >> 1:
                self.lost += step - 1
            self._take(sequence, tick)
            return NEW
        if step == 0 and tick == self._tick:
            self.duplicate += 1
            return DUPLICATE
        if self._late_sequence != _UNKNOWN and _follows(sequence, tick, self._late_sequence, self._late_tick):
            self._take(sequence, tick)
            return NEW
        self.late += 1
        self._late_sequence = sequence
        self._late_tick = tick
        return LATE

    def round_trip(self, elapsed_us):
        """An answer came `elapsed_us` after its question."""
        self.last_round_trip_us = elapsed_us
        if elapsed_us > self.worst_round_trip_us:
            self.worst_round_trip_us = elapsed_us
        if self.round_trip_us == 0:
            self.round_trip_us = elapsed_us
        else:
            self.round_trip_us += (elapsed_us - self.round_trip_us) >> 3

    def _take(self, sequence, tick):
        self._sequence = sequence
        self._tick = tick
        self._late_sequence = _UNKNOWN


def _follows(sequence, tick, last_sequence, last_tick):
    ahead = (tick - last_tick) & TICKS
    if ahead == 0:
        return 0 < (sequence - last_sequence) & _SEQUENCES <= _SEQUENCES >> 1
    return ahead <= TICKS >> 1
