"""A real browser without a window, views that it opens, and a run for a view to show."""

import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import start
from tests.conftest import ROOT, left_out
from tests.waiting import LIMIT_S, wait_for

SIZE = {"width": 720, "height": 540}
TIMEOUT_MS = 1000 * LIMIT_S  # of a page that is rendered on a busy processor


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    found = subprocess.run(
        ["sh", str(ROOT / "tests" / "view" / "get-chromium")], capture_output=True, text=True, timeout=900
    )
    if found.returncode:
        left_out(found.stderr.strip())
    from playwright.sync_api import sync_playwright

    from caudal.tools.view.headless_browser import FLAGS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found.stdout.strip(), args=list(FLAGS), timeout=TIMEOUT_MS
        )
        yield browser
        browser.close()


class Seen:
    """A page in the browser, and the URLs that it requested."""

    def __init__(self, browser: Any, url: str) -> None:
        self.url = url
        self.page = browser.new_page(viewport=SIZE)
        self.page.set_default_timeout(TIMEOUT_MS)
        self.requests: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.goto(url)
        self.page.wait_for_selector("[data-cd=time]")
        self.shown_s = time.monotonic()
        close = self.page.get_by_role(
            "button", name="Close notification"
        )  # the notice about rendering on the processor
        if close.count():
            close.first.click()

    def wait(self, expression: str) -> None:
        self.page.wait_for_function(expression, polling=250)  # not per frame: frames are slow here

    def text(self, name: str) -> str:
        return self.page.locator(f"[data-cd={name}]").first.inner_text()

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name, exact=True).click()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def slide(self, label: str, value: str) -> None:
        """Types a number into the field next to a slider."""
        field = self.page.locator(
            f"xpath=//label[normalize-space(.)='{label}']/following::input[not(@type='hidden')][1]"
        )
        field.fill(value)
        field.press("Enter")

    def canvas(self) -> bytes:
        return self.page.locator("canvas").first.screenshot()


class Views:
    """Starts `caudal view ...`; each ends with its test."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self._browser = browser
        self._folder = folder
        self._processes: list[subprocess.Popen] = []
        self._pages: list[Seen] = []

    def __call__(self, *words: object) -> Seen:
        process = start("view", *words, cwd=self._folder, stderr=subprocess.PIPE)
        self._processes.append(process)
        assert process.stderr is not None
        line = process.stderr.readline()
        url = re.search(r"http://\S+", line)
        assert url, line
        seen = Seen(self._browser, url[0])
        self._pages.append(seen)
        return seen

    def close(self) -> None:
        for seen in self._pages:
            seen.page.close()
        for process in self._processes:
            process.terminate()
            process.wait(LIMIT_S)
            if process.stderr:
                process.stderr.close()


@pytest.fixture
def view(chromium: Any, tmp_path: Path) -> Iterator[Views]:
    views = Views(chromium, tmp_path)
    yield views
    views.close()


class SteppedSimulation:
    """A simulation that runs in real time in a thread and polls its stream between two ticks."""

    def __init__(self, simulation: Any, live: Any) -> None:
        self.simulation = simulation
        self.live = live
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run)
        simulation.arm()
        self._thread.start()

    def _run(self) -> None:
        while not self._ending.wait(self.simulation.period_us / 1e6):
            self.live.poll(self.simulation.world.time_us * 1000)
            self.simulation.step()

    def until(self, holds: Callable[[], bool], what: str) -> None:
        wait_for(holds, what)

    def close(self) -> None:
        self._ending.set()
        self._thread.join()
        self.simulation.safe()
        self.live.close()
