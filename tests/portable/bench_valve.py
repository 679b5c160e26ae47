"""A valve and its chamber in whole numbers, so that every runtime sees the same: dead-band, play, lag, noise."""

PA_PER_COUNT = 25
LAG_MS = 120
_KEEP_BITS = 20
_SHARE = 8702  # of the way to its target that a chamber of 120 ms goes in a millisecond, in 2**-20


class BenchValve:
    """Current in uA in, counts of 25 Pa out. Its spool follows the current with play_ua to either side."""

    def __init__(self, cracking_current_ua, play_ua, noise_counts=3, seed=1):
        self.cracking_current_ua = cracking_current_ua
        self.play_ua = play_ua
        self.stuck = False
        self.spool_ua = 0
        self._noise_counts = noise_counts
        self._seed = seed
        self._fine = 0  # pressure in 1/256 Pa

    @property
    def pressure_pa(self):
        return self._fine >> 8

    def run(self, current_ua, ms):
        for _ in range(ms):
            if not self.stuck:
                self.spool_ua = max(self.spool_ua, current_ua - self.play_ua)
                self.spool_ua = min(self.spool_ua, current_ua + self.play_ua)
            target = min(max(2 * (self.spool_ua - self.cracking_current_ua), 0), 1000000) << 8
            self._fine += ((target - self._fine) * _SHARE) >> _KEEP_BITS

    def count(self):
        self._seed = (self._seed * 1103515245 + 12345) & 0x7FFFFFFF
        noise = (self._seed >> 8) % (2 * self._noise_counts + 1) - self._noise_counts
        return self.pressure_pa // PA_PER_COUNT + noise
