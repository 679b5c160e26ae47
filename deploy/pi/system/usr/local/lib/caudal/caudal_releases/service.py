"""The state of the service: it is up if it is active and its loop has fed the watchdog lately."""

import time
from typing import Any

from caudal_releases.computer import SERVICE, Computer

SETTLE_S = 10  # a release that is up for this long without a restart stays
FED_S = 5  # the service's own watchdog expires earlier
SHOWN = (
    "ActiveState",
    "SubState",
    "StatusText",
    "NRestarts",
    "WatchdogTimestampMonotonic",
    "ActiveEnterTimestampMonotonic",
)


def query(computer: Computer) -> dict[str, Any]:
    """The service's state as systemd reports it, with times as seconds ago."""
    shown = computer.systemctl("show", SERVICE, f"--property={','.join(SHOWN)}")
    state = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
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
    """Whether it has been active for this long and its watchdog is fed."""
    state = query(computer)
    if not state["active"] or state["fed_s_ago"] is None:
        return False
    return bool(state["fed_s_ago"] < FED_S and state["active_for_s"] > for_s)


def wait_until_up(computer: Computer, name: str, wait_s: float) -> bool:
    """Waits until a release has been up for SETTLE_S; False after `wait_s`, or if another becomes current."""
    end = time.monotonic() + wait_s
    while time.monotonic() < end and computer.named("current") == name:
        if is_up(computer, SETTLE_S):
            return True
        time.sleep(0.5)
    return False


def health(computer: Computer) -> dict[str, Any]:
    """The controller's state: healthy if it is active and its loop ticks."""
    state = query(computer)
    logs = (computer.root / "var/log/caudal").glob("*.mcap")
    newest = max(logs, key=lambda path: path.stat().st_mtime, default=None)
    return {
        "healthy": is_up(computer, 0),
        "service": state["state"],
        "status": state["status"],
        "active_for_s": state["active_for_s"],
        "watchdog_fed_s_ago": state["fed_s_ago"],
        "restarts": state["restarts"],
        "release": computer.named("current"),
        "previous": computer.named("previous"),
        "on_trial": bool(computer.read("trial.json")),
        "went_back": computer.read("went-back.json") or None,
        "log": str(newest) if newest else None,
    }
