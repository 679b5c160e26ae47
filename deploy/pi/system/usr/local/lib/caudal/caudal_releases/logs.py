"""Limits the space that logs of runs take."""

import shutil
from typing import Any

from caudal_releases.computer import Computer


def tidy(computer: Computer, keep_mb: float, free_mb: float) -> dict[str, Any]:
    """Removes the oldest logs until both limits hold; never the newest, which may be open."""
    folder = computer.root / "var/log/caudal"
    logs = sorted(folder.glob("*.mcap"), key=lambda path: path.stat().st_mtime)
    sizes = [path.stat().st_size for path in logs]
    removed = 0
    while removed < len(logs) - 1:
        if sum(sizes[removed:]) <= keep_mb * 1e6 and shutil.disk_usage(folder).free >= free_mb * 1e6:
            break
        logs[removed].unlink(missing_ok=True)
        removed += 1
    return {"removed": removed, "logs": len(logs) - removed, "size_bytes": sum(sizes[removed:])}
