"""Is the service up: active, and its loop has said so lately."""

import time

from caudal_releases.computer import SERVICE, Computer

SETTLE_S = 10  # up for this long without a restart is up to stay
FED_S = 5  # the service's own watchdog would have ended it before
SHOWN = (
    "ActiveState",
    "SubState",
    "StatusText",
    "NRestarts",
    "WatchdogTimestampMonotonic",
    "ActiveEnterTimestampMonotonic",
)


def ask(computer: Computer) -> dict:
    """What systemd says of the service, times as seconds ago."""
    said = computer.systemctl("show", SERVICE, f"--property={','.join(SHOWN)}")
    state = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    active = state.get("ActiveState") == "active" and state.get("SubState") == "running"
    fed_us, active_us = (int(state.get(key) or 0) for key in SHOWN[-2:])
    return {
        "active": active,
        "state": f"{state.get('ActiveState', 'unknown')} ({state.get('SubState', 'unknown')})",
        "status": state.get("StatusText") or None,
        "restarts": int(state.get("NRestarts") or 0),
        "fed_s_ago": time.monotonic() - fed_us / 1e6 if active and fed_us else None,
        "active_for_s": time.monotonic() - active_us / 1e6 if active else None,
    }


def is_up(computer: Computer, for_s: float) -> bool:
    """Active for this long, its watchdog fed all the time."""
    said = ask(computer)
    if not said["active"] or said["fed_s_ago"] is None:
        return False
    return said["fed_s_ago"] < FED_S and said["active_for_s"] > for_s


def wait_until_up(computer: Computer, name: str, wait_s: float) -> bool:
    end = time.monotonic() + wait_s
    while time.monotonic() < end and computer.named("current") == name:
        if is_up(computer, SETTLE_S):
            return True
        time.sleep(0.5)
    return False


def health(computer: Computer) -> dict:
    """How the controller is: healthy when it is active and its loop ticks."""
    said = ask(computer)
    logs = (computer.root / "var/log/caudal").glob("*.mcap")
    newest = max(logs, key=lambda path: path.stat().st_mtime, default=None)
    return {
        "healthy": is_up(computer, 0),
        "service": said["state"],
        "status": said["status"],
        "active_for_s": said["active_for_s"],
        "watchdog_fed_s_ago": said["fed_s_ago"],
        "restarts": said["restarts"],
        "release": computer.named("current"),
        "previous": computer.named("previous"),
        "on_trial": bool(computer.read("trial.json")),
        "went_back": computer.read("went-back.json") or None,
        "log": str(newest) if newest else None,
    }
