"""The computer that releases are installed on: its files under a root, its links, its service manager."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

SERVICE = "caudal.service"


class Refused(Exception):
    """An error that the user can correct; its text is the message."""


class Computer:
    """The computer whose files are under `root`; `live` if it is this one and systemd runs it."""

    def __init__(self, root: str) -> None:
        self.root = Path(root)
        self.home = self.root / "opt/caudal"
        self.releases = self.home / "releases"
        self.live = self.root.resolve() == Path("/") and Path("/run/systemd/system").is_dir()
        self.notes: list[str] = []

    def named(self, link: str) -> str | None:
        """The release that the link `current` or `previous` points to."""
        try:
            name = Path(os.readlink(self.home / link)).name
        except OSError:
            return None
        return name if (self.releases / name).is_dir() else None

    def point(self, link: str, name: str | None) -> None:
        """Sets a link in one step, so that it points to a whole release even after a power failure."""
        if name is None:
            (self.home / link).unlink(missing_ok=True)
        else:
            replace_link(self.home / link, f"releases/{name}")

    def read(self, name: str) -> dict[str, Any]:
        """The content of a JSON file, {} if it is missing or corrupt."""
        try:
            content: dict[str, Any] = json.loads((self.home / name).read_text())
            return content
        except (OSError, ValueError):
            return {}

    def write(self, name: str, content: dict[str, Any] | None) -> None:
        """Writes a JSON file as a whole; without content, removes it."""
        path = self.home / name
        if content is None:
            path.unlink(missing_ok=True)
            return
        new = path.with_name(f".{name}")
        new.write_text(json.dumps(content) + "\n")
        os.replace(new, path)

    def sync(self) -> None:
        """Writes all files to the disk, as a power failure may follow; a mounted image is synced when unmounted."""
        if self.root.resolve() == Path("/"):
            os.sync()

    def systemctl(self, *words: str) -> str:
        """Runs systemctl and returns its output."""
        done = subprocess.run(["systemctl", *words], capture_output=True, text=True)
        return done.stdout


def put(source: Path, target: Path) -> None:
    """Copies a file with its mode, in one step; an identical file is not touched."""
    mode = source.stat().st_mode & 0o777
    if target.is_file() and not target.is_symlink() and target.read_bytes() == source.read_bytes():
        target.chmod(mode)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{target.name}.new")
    shutil.copyfile(source, new)
    new.chmod(mode)
    os.replace(new, target)


def replace_link(link: Path, target: str) -> None:
    """Makes a link point to a target, in one step."""
    link.parent.mkdir(parents=True, exist_ok=True)
    new = link.with_name(f".{link.name}.new")
    new.unlink(missing_ok=True)
    new.symlink_to(target)
    os.replace(new, link)
