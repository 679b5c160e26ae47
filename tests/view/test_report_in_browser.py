"""The pages of `caudal report` in a real browser, opened from the disk: they load nothing and are readable."""

import re

import pytest

from caudal.tools.cli.main import main

# The plots that each vehicle's page must have, and the shortest run that has them.
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
        ["Task errors", "Hull clearance", "Active limits", "Chamber pressures"],
    ),
}
ALWAYS = ["Trajectory", "Speed", "Loop timing"]
UNIT = re.compile(r", (s|m|mm|deg|rad|m/s|Hz|N|V|kPa|us|%|1|deg²/Hz|on or off)$")
# matplotlib draws letters as outlines and adds the text as a comment: this reads what is drawn
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
    """Returns the texts of the page's figures, after a check that it requested nothing else."""
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    requested, errors = [], []
    page.on("request", lambda request: requested.append(request.url))
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    found = page.evaluate(READ)
    wide = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()
    assert requested == [path.as_uri()] and not errors
    assert wide, "the page scrolls sideways"
    return found


def check(figures):
    for figure in figures:
        title = figure["title"]
        assert title == figure["heading"]
        assert re.fullmatch(r"[^.]*(\.\d[^.]*)*\.", figure["caption"]), (
            f"{title}: caption is not one sentence"
        )
        assert figure["legend"], f"{title} has no legend"
        assert figure["height"] > 0.2 * figure["width"], f"{title} is too flat"
        for words in figure["axes"]:
            assert any(UNIT.search(word) for word in words), (
                f"{title}: no axis label with a unit among {words}"
            )
        labels = [word for words in figure["axes"] for word in words if UNIT.search(word)]
        assert len(labels) > len(figure["axes"]), f"{title}: every axis needs a label, not only {labels}"


@pytest.mark.parametrize("vehicle", PAGES)
def test_page_has_the_vehicles_plots_with_units_legends_and_captions(chromium, logs, vehicle):
    figures = read(chromium, logs / f"{vehicle}.html")
    titles = [figure["title"] for figure in figures]
    for title in (*ALWAYS, *PAGES[vehicle][1]):
        assert title in titles
    check(figures)


def test_legend_names_all_fourteen_joints_of_the_snake(chromium, logs):
    (joints,) = [f for f in read(chromium, logs / "snake.html") if f["title"] == "Joint angles"]
    assert len({word for word in joints["legend"] if re.fullmatch(r"[qr]\d", word)}) == 14


def test_page_of_two_logs_has_both_plots_and_loads_nothing(chromium, logs):
    assert main(["report", str(logs / "fish.mcap"), str(logs / "ray.mcap"), "--json"]) == 0
    figures = read(chromium, logs / "fish-and-ray.html")
    assert [figure["title"] for figure in figures].count("Speed and Strouhal number") == 2
    check(figures)


def test_page_of_a_glide_has_path_and_polar(chromium, logs):
    words = ["run", "ray", "--scenario", "glide", "--for", "8", "--log", str(logs / "glide.mcap")]
    assert main([*words, "--report", "--json"]) == 0
    figures = read(chromium, logs / "glide.html")
    assert {"Glide path", "Glide polar"} <= {figure["title"] for figure in figures}
    check(figures)
