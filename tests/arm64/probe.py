"""Looks at the service from inside the emulated machine; each command prints one JSON object. Python's library alone.

up S            wait until the loop has been ticking, at most S seconds
kill SIGNAL     to the controller; how long until systemd has begun another one, and until that ticks
rate S          ticks a second and the longest gap between two, over S seconds
bus             what a transaction on /dev/i2c-1 comes to, and how long it takes
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SITE = "/opt/caudal/current/site"
WORDS = "ActiveState,SubState,MainPID,NRestarts,StatusText,"
WORDS += "ActiveEnterTimestampMonotonic,ExecMainStartTimestampMonotonic"


def show() -> dict:
    said = subprocess.run(["systemctl", "show", "caudal", "-p", WORDS], capture_output=True, text=True).stdout
    return dict(line.split("=", 1) for line in said.splitlines() if "=" in line)


def running(state: dict) -> bool:
    return state["ActiveState"] == "active" and state["SubState"] == "running"


def up(seconds: str) -> dict:
    end = time.monotonic() + float(seconds)
    state = show()
    while not running(state) and time.monotonic() < end:
        time.sleep(0.5)
        state = show()
    return {"up": running(state), "at_s": int(state["ActiveEnterTimestampMonotonic"] or 0) / 1e6, **state}


def kill(name: str) -> dict:
    before = show()
    start = time.monotonic()
    os.kill(int(before["MainPID"]), getattr(signal, name))
    while time.monotonic() - start < 120:
        state = show()
        if running(state) and state["MainPID"] not in ("0", before["MainPID"]):
            begun, ticks = (
                int(state[f"{word}TimestampMonotonic"]) / 1e6 - start
                for word in ("ExecMainStart", "ActiveEnter")
            )
            return {
                "restarted": True,
                "begun_s": begun,
                "seconds": ticks,
                "restarts": int(state["NRestarts"]),
            }
        time.sleep(0.1)
    return {"restarted": False, **show()}


def rate(seconds: str) -> dict:
    """From the controller's own log, which has the time of every tick: a look from outside is too slow here."""
    sys.path.insert(0, SITE)
    from mcap.reader import make_reader

    time.sleep(float(seconds) + 5)
    newest = max(Path("/var/log/caudal").glob("*.mcap"), key=lambda path: path.stat().st_mtime)
    with newest.open("rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        counts = summary.statistics.channel_message_counts
        topic = summary.channels[max(counts, key=counts.get)].topic  # one message a tick
        start_ns = summary.statistics.message_end_time - int(float(seconds) * 1e9)
        times = [message.log_time for _, _, message in reader.iter_messages([topic], start_time=start_ns)]
    gaps = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
    per_s = len(gaps) / (times[-1] - times[0]) * 1e9
    return {"ticks_per_s": per_s, "longest_gap_s": max(gaps) / 1e9, "ticks": len(times), "topic": topic}


def bus() -> dict:
    sys.path.insert(0, SITE)
    from smbus2 import SMBus

    start = time.monotonic()
    try:
        with SMBus(1) as line:
            line.read_byte_data(0x40, 0)
        said = "it answered"
    except OSError as error:
        said = f"OSError {error.errno}"
    return {"said": said, "seconds": time.monotonic() - start}


if __name__ == "__main__":
    command, *words = sys.argv[1:]
    commands = {"up": up, "kill": kill, "rate": rate, "bus": bus}
    print(json.dumps(commands[command](*words)))
