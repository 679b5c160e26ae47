"""A log keeps its recorded messages after a kill of the process, a full disk or a damaged file.

`python -m tests.record.test_survival 50` kills fifty recording processes in sequence.
"""

import itertools
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from mcap.reader import make_reader

from caudal.onboard.log import recorder as record
from caudal.onboard.log.reader import Log, LogError
from caudal.onboard.log.recorder import Recorder
from tests.record.logs import (
    FLUSH_S,
    PAGE_BYTES,
    RUN,
    on_disk,
    record_ticks,
    standard_messages,
)
from tests.waiting import LIMIT_S, wait_for

# ---- damaged files -----------------------------------------------------------------------------------


def chunk_ends(data: bytes) -> tuple[int, list[int], int]:
    """The end of the metadata, of each chunk, and of the file without its summary."""
    at, metadata_end, ends = 8, 0, []
    while True:
        opcode, length = struct.unpack_from("<BQ", data, at)
        at += 9 + length
        if opcode == 0x0C:
            metadata_end = at
        elif opcode == 0x06:
            ends.append(at)
        elif opcode == 0x0F:
            return metadata_end, ends, at


def small_log(folder) -> tuple[bytes, list[int]]:
    """A log of a few chunks, and the number of messages in the first n of them."""
    record_ticks(folder / "whole.mcap", 40)
    with open(folder / "whole.mcap", "rb") as file:
        indexes = make_reader(file).get_summary().chunk_indexes
        counts = [0]
        for index in indexes:
            inside = 0
            for offset in index.message_index_offsets.values():
                file.seek(offset + 11)
                inside += struct.unpack("<I", file.read(4))[0] // 16
            counts.append(counts[-1] + inside)
    return (folder / "whole.mcap").read_bytes(), counts


@pytest.mark.parametrize("rest", [b"", bytes(64), bytes(range(256)) * 2], ids=["cut", "zeros", "garbage"])
def test_log_cut_at_any_byte_opens_up_to_its_last_complete_chunk(tmp_path, rest):
    data, counts = small_log(tmp_path)
    metadata_end, ends, _ = chunk_ends(data)
    path = tmp_path / "cut.mcap"
    for cut in range(len(data)):
        path.write_bytes(data[:cut] + rest)
        try:
            log = Log(path)
        except LogError:
            assert cut < metadata_end
            continue
        assert log.run == RUN or cut < metadata_end
        assert on_disk(path) == counts[sum(end <= cut for end in ends)]
        assert not log.complete
        if log.topics:
            rows = log.topics["/board/readings"].rows
            assert [row[2] for row in rows] == list(range(len(rows)))


def test_damaged_chunk_affects_no_other(tmp_path):
    data, counts = small_log(tmp_path)
    _, ends, _ = chunk_ends(data)
    assert len(ends) >= 5
    for number, end in enumerate(ends):  # also the chunks that define the topics
        damaged = bytearray(data)
        damaged[end - 20] ^= 0xFF
        (tmp_path / "damaged.mcap").write_bytes(damaged)
        assert not Log(tmp_path / "damaged.mcap").complete
        assert on_disk(tmp_path / "damaged.mcap") == counts[-1] - (counts[number + 1] - counts[number])


def test_mcap_package_opens_the_file_after_every_page_written(tmp_path, monkeypatch):
    """A kill cuts a write between two pages: read the file at each of these points."""
    path = tmp_path / "run.mcap"
    real_pwrite = os.pwrite
    seen = []

    def paged_pwrite(fd, data, at):
        data = bytes(data)
        first = PAGE_BYTES - at % PAGE_BYTES
        cuts = [0, *range(first, len(data), PAGE_BYTES), len(data)]
        for low, high in itertools.pairwise(cuts):
            real_pwrite(fd, data[low:high], at + low)
            if at > 0:  # the very first write makes the file
                found = len(standard_messages(path))
                assert found >= (seen[-1] if seen else 0)
                assert sum(map(len, Log(path).topics.values())) == found
                seen.append(found)
        return len(data)

    monkeypatch.setattr(record.os, "pwrite", paged_pwrite)
    noise = random.Random(1)
    with Recorder(path, RUN, lossless=True, flush_s=FLUSH_S) as recorder:
        topic = recorder.topic("/noise", [("float64", f"x_{n}") for n in range(40)])
        for tick in range(600):
            topic.write(tick, [noise.random() for _ in range(40)])
            if tick % 50 == 0:
                wait_for(lambda written=tick + 1: recorder.failed or seen[-1:] == [written])
    assert recorder.failed is None and recorder.lost == 0
    assert seen[-1] == 600 and len(set(seen)) > 5 and len(seen) > 60


# ---- kills -------------------------------------------------------------------------------------------

RECORD_UNTIL_KILLED = """
import mmap, sys, time
from caudal.onboard.log.recorder import Recorder
path, note = sys.argv[1:]
with open(note, "r+b") as file:
    last_ns = mmap.mmap(file.fileno(), 8)
recorder = Recorder(path, {"vehicle": "x" * 5000}, lossless=False)
topics = [recorder.topic(f"/board/{n}", [("float64", "depth_m"), ("int32", "tick")]) for n in range(5)]
tick = 0
while True:
    time_ns = time.monotonic_ns()
    for topic in topics:
        topic.write(time_ns, (0.1 * tick, tick))
    last_ns[:] = time_ns.to_bytes(8, "little")
    tick += 1
    time.sleep(0.002)
"""


def check_killed_recording(folder: Path, seed: int) -> float:
    """Kills a recording at a random time and reads it; the seconds that are missing at its end."""
    path, note = folder / f"killed_{seed}.mcap", folder / f"note_{seed}"
    note.write_bytes(bytes(8))
    child = subprocess.Popen([sys.executable, "-c", RECORD_UNTIL_KILLED, str(path), str(note)])
    try:
        wait_for(lambda: any(note.read_bytes()))
        time.sleep(random.Random(seed).uniform(0.6, 2.2))
    finally:
        child.kill()
        assert child.wait() == -signal.SIGKILL
    with open(note, "rb") as file, mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ) as last:
        last_ns = int.from_bytes(last[:], "little")
    messages = standard_messages(path)
    log = Log(path)
    assert not log.complete and log.run == {"vehicle": "x" * 5000}
    assert sum(map(len, log.topics.values())) == len(messages)
    for columns in log.topics.values():
        assert columns.column("tick") == list(range(len(columns))) and columns.lost == 0
    return (last_ns - messages[-1].log_time) / 1e9


@pytest.mark.parametrize("seed", range(4))
def test_log_of_a_killed_process_reads_the_same_with_the_mcap_package(tmp_path, seed):
    # How much is missing depends on the machine: `python -m tests.record.test_survival 50` checks it.
    print(f"{check_killed_recording(tmp_path, seed):.3f} s missing")


def test_log_is_complete_when_the_program_ends_without_closing_it(tmp_path):
    path = tmp_path / "run.mcap"
    code = (
        "import sys; from caudal.onboard.log.recorder import Recorder\n"
        "topic = Recorder(sys.argv[1], {}, lossless=False).topic('/board', [('int32', 'tick')])\n"
        "for tick in range(100): topic.write(tick, [tick])\n"
        "raise SystemExit('leak')"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], stderr=subprocess.DEVNULL)
    assert Log(path).complete and Log(path).topics["/board"].column("tick") == list(range(100))


# ---- disks -------------------------------------------------------------------------------------------

FILL_THE_DISK = """
import json, random, resource, signal, sys, time
from caudal.onboard.log.recorder import Recorder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
recorder = Recorder(sys.argv[1], {}, lossless=sys.argv[2] == "lossless", flush_s=0.01, limit=2000)
topic = recorder.topic("/board", [("float64", "noise"), ("int64", "tick")])
written = 0
while recorder.failed is None or written % 5000:
    topic.write(written, (random.random(), written))
    written += 1
    if written % 100 == 0:
        time.sleep(0.001)
recorder.event(written, "too late")
recorder.close()
print(json.dumps({"failed": recorder.failed, "lost": recorder.lost, "written": written}))
"""


@pytest.mark.parametrize("mode", ["lossless", "lossy"])
def test_full_disk_neither_stops_the_control_thread_nor_damages_the_log(tmp_path, mode):
    path = tmp_path / "run.mcap"
    done = subprocess.run(
        [sys.executable, "-c", FILL_THE_DISK, str(path), mode], capture_output=True, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert "File too large" in result["failed"] and str(path) in result["failed"]
    messages = standard_messages(path)
    log = Log(path)
    assert len(messages) == len(log.topics["/board"]) > 1000
    assert len(messages) + result["lost"] == result["written"] + 1
    assert not log.complete


def test_disk_that_fills_up_during_a_write_keeps_the_log_before_it(tmp_path, monkeypatch):
    path = tmp_path / "run.mcap"
    real_pwrite = os.pwrite
    room = [10**9]

    def pwrite(fd, data, at):
        if len(data) > room[0]:
            if room[0] < 60:
                raise OSError(28, "No space left on device")
            data, room[0] = data[: room[0]], 0
        return real_pwrite(fd, data, at)

    monkeypatch.setattr(record.os, "pwrite", pwrite)
    with Recorder(path, RUN, lossless=True, flush_s=FLUSH_S) as recorder:
        topic = recorder.topic("/board", [("float64", "noise")])
        for tick in range(100):
            topic.write(tick, [random.random()])
        wait_for(lambda: on_disk(path) == 100)
        room[0] = 400
        for tick in range(100, 1000):
            topic.write(tick, [random.random()])
        wait_for(lambda: recorder.failed)
        room[0] = 10**9
    assert "No space left on device" in recorder.failed
    stored = len(standard_messages(path))
    assert 100 <= stored == len(Log(path).topics["/board"]) and stored + recorder.lost == 1000


def stalled_disk(monkeypatch) -> threading.Event:
    """Makes writes hang until the returned event is set."""
    gate = threading.Event()
    real_pwrite = os.pwrite

    def pwrite(fd, data, at):
        gate.wait()
        return real_pwrite(fd, data, at)

    monkeypatch.setattr(record.os, "pwrite", pwrite)
    return gate


def test_lossy_recorder_counts_the_messages_that_a_stalled_disk_loses(tmp_path, monkeypatch):
    path = tmp_path / "run.mcap"
    recorder = Recorder(path, RUN, lossless=False, flush_s=FLUSH_S, limit=100)
    topic = recorder.topic("/board", [("int32", "tick")])
    gate = stalled_disk(monkeypatch)
    for tick in range(1000):
        topic.write(tick, [tick])
    recorder.event(1000, "stalled")
    assert recorder.lost >= 500
    gate.set()
    wait_for(lambda: on_disk(path) + recorder.lost == 1001)
    topic.write(2000, [2000])
    recorder.close()
    columns = Log(path).topics["/board"]
    assert len(columns) + recorder.lost == 1001
    assert columns.lost == recorder.lost
    assert Log(path).events == [(1000, "stalled", {})]


def test_lossless_recorder_waits_for_a_stalled_disk(tmp_path, monkeypatch):
    path = tmp_path / "run.mcap"
    recorder = Recorder(path, RUN, lossless=True, flush_s=FLUSH_S, limit=100)
    topic = recorder.topic("/board", [("int32", "tick")])
    gate = stalled_disk(monkeypatch)
    threading.Timer(0.3, gate.set).start()
    for tick in range(5000):
        topic.write(tick, [tick])
    recorder.close()
    assert recorder.lost == 0
    assert Log(path).topics["/board"].column("tick") == list(range(5000))


def test_recorder_counts_writes_after_close_as_lost(tmp_path):
    recorder = Recorder(tmp_path / "run.mcap", RUN, lossless=True)
    topic = recorder.topic("/board", [("int32", "tick")])
    recorder.close()
    topic.write(0, [0])
    recorder.event(0, "late")
    recorder.close()
    assert recorder.lost == 2
    assert Log(tmp_path / "run.mcap").complete


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for attempt in range(int(sys.argv[1])):
            missing_s = check_killed_recording(Path(scratch), 1000 + attempt)
            print(f"kill {attempt + 1}: {missing_s:.3f} s missing")
            assert missing_s <= 1.0
