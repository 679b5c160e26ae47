"""How long a ten-minute log takes to open, and to show another instant: `python -m tests.view.long_log [LOG]`.

Without a LOG it swims one first. Opening is from the command to a page that shows the vehicle's state in a browser that
already runs; a scrub is from a number typed next to the slider to that instant's state in the page.
"""

import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from caudal.tools.view.headless_browser import FLAGS, find
from tests.conftest import ROOT
from tests.view.conftest import Seen

OPEN_S, OPENINGS = 5.0, 5
SCRUB_S, SCRUBS = 1.0, 12


def main(log: Path) -> int:
    opened_s: list[float] = []
    took_s: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        for _ in range(OPENINGS):
            begun_s = time.monotonic()
            view = subprocess.Popen(
                [sys.executable, "-m", "caudal.tools.cli.main", "view", str(log)],
                cwd=ROOT,
                stderr=subprocess.PIPE,
                text=True,
            )
            try:
                assert view.stderr is not None
                said = view.stderr.readline()
                url = re.search(r"http://\S+", said)
                assert url, said
                seen = Seen(browser, url[0])
                opened_s.append(seen.shown_s - begun_s)
                if len(opened_s) == OPENINGS:
                    took_s = scrubbed(seen)
                seen.page.close()
            finally:
                view.terminate()
                view.wait()
        browser.close()
    print("opened after " + ", ".join(f"{s:.2f}" for s in opened_s) + " s")
    print("scrubs: " + ", ".join(f"{s:.2f}" for s in took_s) + " s")
    kept = statistics.median(opened_s) < OPEN_S and statistics.median(took_s) < SCRUB_S
    if not kept:
        print(f"limits, as medians: open in {OPEN_S:g} s, scrub in {SCRUB_S:g} s")
    return 0 if kept else 1


def scrubbed(seen: Seen) -> list[float]:
    """How long each of some instants took to be there."""
    seen.press("Pause")
    seen.page.get_by_role("button", name="Play", exact=True).wait_for()  # nothing moves the slider but us
    took_s = []
    for _ in range(SCRUBS):
        to_s = f"{random.uniform(1, 590):.2f}"
        before_s = time.monotonic()
        seen.slide("Time (s)", to_s)
        seen.page.wait_for_function(
            f"document.querySelector('[data-cd=time]').innerText == '{to_s}'", polling=20
        )
        took_s.append(time.monotonic() - before_s)
    return took_s


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "long.mcap"
        swim = ["run", "fish", "--scenario", "pool", "--for", "600", "--log", str(made), "--json"]
        subprocess.run(
            [sys.executable, "-m", "caudal.tools.cli.main", *swim],
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        sys.exit(main(made))
