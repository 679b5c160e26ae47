"""The journal of a sweep: a line per finished point, so that an interrupted sweep continues where it stopped.

JSON lines: first the sweep's settings, then the rows as they come, each flushed. A truncated last line is dropped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from caudal.tools.common.output import UsageError


class Journal:
    """FILE.partial, next to the table FILE that it becomes."""

    def __init__(self, out: Path, sweep: dict[str, Any]) -> None:
        self.path = out.with_name(f"{out.name}.partial")
        self.rows: dict[int, dict[str, Any]] = {}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            text = self.path.read_bytes() if self.path.exists() else b""
            whole = text[: text.rfind(b"\n") + 1]
            if whole:
                self._resume(whole.decode(), sweep)
            self._file = self.path.open("r+b" if text else "wb")
            self._file.truncate(len(whole))
            self._file.seek(len(whole))
        except OSError as error:
            raise UsageError(
                f"cannot write {self.path}: {error.strerror}; choose another file with --out"
            ) from error
        if not whole:
            self._write(sweep)

    def _resume(self, text: str, sweep: dict[str, Any]) -> None:
        try:
            first, *rows = [json.loads(line) for line in text.splitlines()]
            self.rows = {row["point"]: row for row in rows}
        except (ValueError, KeyError, TypeError):
            raise UsageError(
                f"{self.path} is not the journal of a sweep; move it away or choose another --out"
            ) from None
        differs = [key for key in sweep if not isinstance(first, dict) or first.get(key) != sweep[key]]
        if differs:
            raise UsageError(
                f"{self.path} is the journal of another sweep (they differ in {differs[0]}); "
                f"finish that one, move it away, or choose another --out"
            )

    def add(self, row: dict[str, Any]) -> None:
        """Adds the row of a finished point."""
        self.rows[row["point"]] = row
        self._write(row)

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Closes the file, and removes it if it has no rows."""
        self._file.close()
        if not self.rows:
            self.remove()

    def remove(self) -> None:
        """Removes the file, once its table is written."""
        self.path.unlink(missing_ok=True)
