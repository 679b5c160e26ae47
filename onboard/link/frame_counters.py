"""Statistics of the frames received over a link, and whether each frame is new, a duplicate or late.

Ticks order the frames; the sequence number separates frames of one tick and counts lost frames.
Portable: CPython and MicroPython; allocates nothing.
"""

NEW = 0
DUPLICATE = 1  # received before; its sender may still wait for the answer
LATE = 2  # a newer frame came before it

TICKS = 0x3FFFFFFF  # tick numbers wrap here
_SEQUENCES = 0xFFFF
_UNKNOWN = -1


class FrameCounters:
    """Statistics of one direction of a link.

    good        intact frames, duplicate and late ones included
    bad         runs of bytes that are no frame: damaged, cut short, garbage
    lost        missing frames, by gaps in the sequence (a gap of 32768 or more is a restart)
    duplicate, late
    round_trip_us, last_round_trip_us, worst_round_trip_us
                smoothed over about eight, the last one, the worst; 0 before the first
    """

    def __init__(self) -> None:
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

    def classify(self, first: bool, sequence: int, tick: int) -> int:
        """Counts an intact frame: NEW, DUPLICATE or LATE. `first`: its sender has just started.

        A late frame and then one that follows it come from a sender that has restarted while the link was down, or
        a damaged frame that passed the CRC had set the tick ahead. The order starts again there, so that no single
        frame can block a link.
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

    def round_trip(self, elapsed_us: int) -> None:
        """Adds the time from a frame to its answer."""
        self.last_round_trip_us = elapsed_us
        if elapsed_us > self.worst_round_trip_us:
            self.worst_round_trip_us = elapsed_us
        if self.round_trip_us == 0:
            self.round_trip_us = elapsed_us
        else:
            self.round_trip_us += (elapsed_us - self.round_trip_us) >> 3

    def _take(self, sequence: int, tick: int) -> None:
        self._sequence = sequence
        self._tick = tick
        self._late_sequence = _UNKNOWN


def _follows(sequence: int, tick: int, last_sequence: int, last_tick: int) -> bool:
    ahead = (tick - last_tick) & TICKS
    if ahead == 0:
        return 0 < (sequence - last_sequence) & _SEQUENCES <= _SEQUENCES >> 1
    return ahead <= TICKS >> 1
