"""The pages of `caudal report` in a real browser, opened from the disk: nothing is fetched, all of it can be read."""

import re

import pytest

from caudal.tools.cli.main import main

# What a researcher of each vehicle looks for first, and the shortest run that has it.
PAGES = {
    "fish": (
        ["--scenario", "cruise", "--for", "4"],
        ["Speed and Strouhal number", "Speed against tail-beat frequency"],
    ),
    "snake": (["--for", "5"], ["Roll", "Spectrum of roll"]),
    "ray": (["--for", "6"], ["Speed against tail-beat frequency", "Attitude and depth"]),
    "rov": (["--for", "4"], ["Pose", "Tracking error", "Normalised innovation residuals", "Thrusters"]),
    "hybrid": (
        ["--scenario", "arm-obstacles", "--for", "2"],
        ["Errors of the aims", "Clearance of the hull", "Active limits", "Pressures of the chambers"],
    ),
}
ALWAYS = ["Trajectory", "Speed", "Loop timing"]
UNIT = re.compile(r", (s|m|mm|deg|rad|m/s|Hz|N|V|kPa|us|%|1|deg²/Hz|on or off)$")
# matplotlib draws letters as outlines and leaves the words beside them as comments: what is drawn, not what was meant
READ = """() => [...document.querySelectorAll('figure')].map(figure => {
    const words = node => {
        const walker = document.createTreeWalker(node, NodeFilter.SHOW_COMMENT), out = [];
        while (walker.nextNode()) out.push(walker.currentNode.data.trim());
        return out;
    };
    const box = figure.querySelector('svg').getBoundingClientRect();
    return {
        title: figure.dataset.title,
        heading: figure.closest('section').querySelector('h2').innerText,
        caption: (figure.querySelector('figcaption') || {innerText: ''}).innerText,
        axes: [...figure.querySelectorAll('g[id^=axes_]')].map(words),
        legend: [...figure.querySelectorAll('g[id^=legend_]')].flatMap(words),
        width: box.width, height: box.height,
    };
})"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for vehicle, (words, _) in PAGES.items():
        path = folder / f"{vehicle}.mcap"
        assert main(["run", vehicle, *words, "--log", str(path), "--report", "--json"]) == 0
    return folder


def read(browser, path):
    """What the page's figures show, after a look at whom it asked for anything."""
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    found = page.evaluate(READ)
    wide = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()
    assert asked == [path.as_uri()] and not errors
    assert wide, "it needs no sideways scrolling"
    return found


def check(figures):
    for figure in figures:
        title = figure["title"]
        assert title == figure["heading"]
        assert re.fullmatch(r"[^.]*(\.\d[^.]*)*\.", figure["caption"]), f"{title}: a caption of one sentence"
        assert figure["legend"], f"{title} has a legend"
        assert figure["height"] > 0.2 * figure["width"], f"{title} is no sliver"
        for words in figure["axes"]:
            assert any(UNIT.search(word) for word in words), (
                f"{title}: an axis label with its unit among {words}"
            )
        labels = [word for words in figure["axes"] for word in words if UNIT.search(word)]
        assert len(labels) > len(figure["axes"]), f"{title}: one across and one up each, not only {labels}"


@pytest.mark.parametrize("vehicle", PAGES)
def test_a_vehicles_page_has_its_plots_with_units_legends_and_captions_and_asks_nobody(
    chromium, logs, vehicle
):
    figures = read(chromium, logs / f"{vehicle}.html")
    titles = [figure["title"] for figure in figures]
    for title in (*ALWAYS, *PAGES[vehicle][1]):
        assert title in titles
    check(figures)


def test_the_snakes_fourteen_joints_are_all_in_the_legend(chromium, logs):
    (joints,) = [f for f in read(chromium, logs / "snake.html") if f["title"] == "Joint angles"]
    assert len({word for word in joints["legend"] if re.fullmatch(r"[qr]\d", word)}) == 14


def test_two_logs_beside_each_other_ask_nobody_either(chromium, logs):
    assert main(["report", str(logs / "fish.mcap"), str(logs / "ray.mcap"), "--json"]) == 0
    figures = read(chromium, logs / "fish-and-ray.html")
    assert [figure["title"] for figure in figures].count("Speed and Strouhal number") == 2
    check(figures)


def test_a_glides_page_has_path_and_polar(chromium, logs):
    words = ["run", "ray", "--scenario", "glide", "--for", "8", "--log", str(logs / "glide.mcap")]
    assert main([*words, "--report", "--json"]) == 0
    figures = read(chromium, logs / "glide.html")
    assert {"Glide path", "Glide polar"} <= {figure["title"] for figure in figures}
    check(figures)
