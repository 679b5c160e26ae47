"""Vehicles killed while they store their parameters: the file always holds a complete old or new value.

    python tests/params/kills.py [KILLS]        1,000 of them; the suite has a few dozen

Each vehicle is a process of its own with a real loop that receives one set after the other, and the real store that
writes them; it is killed (SIGKILL) at a random instant. The sets that it received and those that
it reported as stored are in memory that outlives it: the file must be between the two.
"""

import mmap
import os
import random
import signal
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from caudal.onboard.params.store import ParamStore, ParamWriter
from tests.params.tuned import loop_of, settings_of

NAME, STEP = "FS_DEPTH", 1e-6  # the k-th set is 1 + k STEP


def live(loop: Any, store: ParamStore, told: mmap.mmap, start: int) -> None:
    """Sets one after the other, until it is killed."""
    store.load()
    keeper = ParamWriter(store)
    save = store.save

    def noted(values: dict[str, float]) -> None:
        save(values)
        struct.pack_into("<q", told, 8, round((values[NAME] - 1) / STEP))

    store.save = noted  # type: ignore[method-assign]
    for k in range(start, start + 1_000_000):
        struct.pack_into("<q", told, 0, k)
        loop.send("set", NAME, 1 + k * STEP)
        loop.tick()
        keeper.update(loop)


def kill_some(kills: int, folder: Path, seed: int = 1) -> dict[str, int]:
    """What was found; anything but an old or a new value is an AssertionError."""
    chance = random.Random(seed)
    settings = settings_of("rov")
    path = folder / "rov.params"
    told = mmap.mmap(-1, 16)
    struct.pack_into("<qq", told, 0, 0, 0)
    found = {"kills": 0, "old": 0, "new": 0, "amid_a_write": 0, "saved": 0}
    loop = loop_of(settings)
    loop.tick()
    for _ in range(kills):
        start, saved = struct.unpack("<qq", told)
        child = os.fork()
        if child == 0:
            try:
                live(loop, ParamStore(path, "rov", settings.params), told, start + 1)
            finally:
                os._exit(1)
        while struct.unpack("<qq", told)[1] <= saved:  # the first is on the disk
            time.sleep(0.0005)
        time.sleep(chance.uniform(0.0, 0.02))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "it ended by itself"
        found["amid_a_write"] += path.with_name("rov.params.new").exists()
        last, saved = struct.unpack("<qq", told)
        store = ParamStore(path, "rov", settings.params)
        values = store.load()
        assert not store.notes and list(values) == [NAME], (store.notes, values)
        k = round((values[NAME] - 1) / STEP)
        assert saved <= k <= last, (saved, k, last)
        found["old" if k == saved else "new"] += 1
        found["kills"] += 1
        found["saved"] = saved
        struct.pack_into("<q", told, 8, k)
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(kill_some(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, Path(folder)))
