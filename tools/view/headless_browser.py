"""A browser without a window, which renders screenshots and videos of a view."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from types import TracebackType

from caudal.tools.common.output import UsageError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No network traffic, no sandbox (impossible as root), and rendering on the processor without a graphics card.
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--mute-audio", "--hide-scrollbars",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-dev-shm-usage",
    "--disable-renderer-backgrounding", "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
)  # fmt: skip


def find() -> str:
    """Returns the path of an installed browser."""
    for name in (os.environ.get("CAUDAL_BROWSER", ""), *NAMES):
        if name and (path := shutil.which(name)):
            return path
    raise UsageError(
        "screenshots and videos need a browser; install chromium ('sudo apt-get install chromium') or name another "
        "one in CAUDAL_BROWSER"
    )


class HeadlessBrowser:
    """A browser that opens a page and keeps it open."""

    def __init__(self, url: str, width: int, height: int) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="caudal-browser-", ignore_cleanup_errors=True)
        size = f"--window-size={width},{height}"
        command = [find(), *FLAGS, size, f"--user-data-dir={self._home.name}", url]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def ended(self) -> bool:
        """Whether the browser has exited."""
        return self._process.poll() is not None

    def __enter__(self) -> HeadlessBrowser:
        """Returns itself."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Ends the browser and deletes its files."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._home.cleanup()
