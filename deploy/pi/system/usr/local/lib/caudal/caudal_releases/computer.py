"""The computer that releases stand on: its files below a root, its links, its service manager."""

import json
import os
import shutil
import subprocess
from pathlib import Path

SERVICE = "caudal.service"


class Refused(Exception):
    """The sentence for the user."""


class Computer:
    """The computer whose files stand below `root`; live when it is this one and systemd runs it."""

    def __init__(self, root: str) -> None:
        self.root = Path(root)
        self.home = self.root / "opt/caudal"
        self.releases = self.home / "releases"
        self.live = self.root.resolve() == Path("/") and Path("/run/systemd/system").is_dir()
        self.notes: list[str] = []

    def named(self, link: str) -> str | None:
        """The release that `current` or `previous` is."""
        try:
            name = Path(os.readlink(self.home / link)).name
        except OSError:
            return None
        return name if (self.releases / name).is_dir() else None

    def point(self, link: str, name: str | None) -> None:
        """In one step, so that there is always a whole release behind it, wherever the power fails."""
        if name is None:
            (self.home / link).unlink(missing_ok=True)
        else:
            replace_link(self.home / link, f"releases/{name}")

    def read(self, name: str) -> dict:
        try:
            return json.loads((self.home / name).read_text())
        except (OSError, ValueError):
            return {}

    def write(self, name: str, content: dict | None) -> None:
        path = self.home / name
        if content is None:
            path.unlink(missing_ok=True)
            return
        new = path.with_name(f".{name}")
        new.write_text(json.dumps(content) + "\n")
        os.replace(new, path)

    def sync(self) -> None:
        """A name that outlives a power cut must have its content; a mounted image is synced when it is unmounted."""
        if self.root.resolve() == Path("/"):
            os.sync()

    def systemctl(self, *words: str) -> str:
        done = subprocess.run(["systemctl", *words], capture_output=True, text=True)
        return done.stdout


def put(source: Path, target: Path) -> None:
    """A file into place whole, with its mode; untouched where it is the same."""
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
    link.parent.mkdir(parents=True, exist_ok=True)
    new = link.with_name(f".{link.name}.new")
    new.unlink(missing_ok=True)
    new.symlink_to(target)
    os.replace(new, link)
