"""Looks at the service from inside the emulated machine; each command prints one JSON object. Python's library alone.

up S            wait until the loop has been ticking, at most S seconds
kill SIGNAL     to the controller; how long until another one ticks
rate S          ticks a second, by the service's own status, over S seconds
bus             what a transaction on /dev/i2c-1 comes to, and how long it takes
"""

import json
import os
import re
import signal
import subprocess
import sys
import time

WORDS = "ActiveState,SubState,MainPID,NRestarts,StatusText,ActiveEnterTimestampMonotonic"


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
            took = int(state["ActiveEnterTimestampMonotonic"]) / 1e6 - start
            return {"restarted": True, "seconds": took, "restarts": int(state["NRestarts"])}
        time.sleep(0.1)
    return {"restarted": False, **show()}


def rate(seconds: str) -> dict:
    def next_status() -> tuple[float, int]:
        first = show()["StatusText"]
        while True:
            text = show()["StatusText"]
            if text != first:
                return time.monotonic(), int(re.findall(r"tick (\d+)", text)[0])
            time.sleep(0.02)

    start_s, start = next_status()
    time.sleep(float(seconds))
    end_s, end = next_status()
    return {"ticks_per_s": (end - start) / (end_s - start_s), "status": show()["StatusText"]}


def bus() -> dict:
    sys.path.insert(0, "/opt/caudal/current/site")
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
    print(json.dumps({"up": up, "kill": kill, "rate": rate, "bus": bus}[command](*words)))
