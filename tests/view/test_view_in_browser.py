"""`caudal view` in a real browser: what a person sees, and what their hand on a knob does to a vehicle."""

import argparse

import pytest

from onboard.live import Live
from onboard.log import Log
from onboard.record import Recorder
from tests.view.conftest import Swum
from tools.cli import main
from tools.fleet import Fleet
from tools.recording import about_run
from tools.shown import helms_of, rehearsed
from tools.vehicles import open_scenario


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "fish.mcap"
    assert main(["run", "fish", "--scenario", "cruise", "--for", "12", "--log", str(path), "--json"]) == 0
    return path


def test_a_log_plays_scrubs_and_asks_no_foreign_host_for_anything(view, log):
    seen = view(log)
    seen.press("Pause")
    seen.page.get_by_role("button", name="Play", exact=True).wait_for()  # nothing moves the slider but us
    seen.slide("Time (s)", "5")
    seen.wait("document.querySelector('[data-cd=time]').innerText == '5.00'")
    seen.wait("document.querySelector('[data-cd=want_frequency_hz]').innerText == '1.00'")
    there = seen.canvas()
    seen.slide("Time (s)", "11.5")
    seen.wait("document.querySelector('[data-cd=time]').innerText == '11.50'")
    recorded = Log(log)
    topic = recorded.topics["/fish_1/state"]
    row = max(k for k, time_ns in enumerate(topic.time_ns) if time_ns <= 11_500_000_000)
    asked_hz = topic.rows[row][topic.fields.index("want_frequency_hz")]
    assert asked_hz == 2.0, "the schedule's second row; 1.0 before it"
    seen.wait("document.querySelector('[data-cd=want_frequency_hz]').innerText == '2.00'")
    assert seen.canvas() != there, "it has swum: other pixels"
    seen.press("Play")
    seen.wait("+document.querySelector('[data-cd=time]').innerText > 11.6")
    own = seen.url.partition("//")[2]
    foreign = [url for url in seen.asked if own not in url and not url.startswith(("data:", "blob:"))]
    assert seen.asked and not foreign


def test_knobs_in_the_page_steer_the_controller_and_a_rehearsed_fault_lights_its_light(view, tmp_path):
    vehicle, name, _ = open_scenario("fish", ["world.open.vehicles=1"], "cruise")
    path = tmp_path / "steered.mcap"
    about = about_run(argparse.Namespace(seed=0, realtime=True), vehicle, name, "sim")
    recorder = Recorder(path, about, lossless=True)
    live = Live(recorder, about, ("127.0.0.1", 0))
    fleet = Fleet(vehicle, name, 0)
    fleet.record(live)
    for whose, tell in helms_of(fleet.swimmers).items():
        live.helm(whose, tell)
    live.rehearse = rehearsed(fleet)
    live.start()
    swum = Swum(fleet, live)
    state = fleet.swimmers[0].loop.state
    try:
        seen = view(f"127.0.0.1:{live.address[1]}")
        seen.wait("document.querySelector('[data-cd=armed]').innerText == 'armed'")
        seen.tab("Steer")
        seen.press("Disarm")
        swum.until(lambda: not state.armed, "disarmed")
        seen.press("Arm")
        swum.until(lambda: state.armed, "armed again")
        seen.slide("Frequency (Hz)", "1.75")
        swum.until(lambda: abs(state.want.frequency_hz - 1.75) < 1e-9, "1.75 Hz in the controller")
        params = fleet.swimmers[0].loop.helm.params
        seen.slide("Wavelength (m)", "0.6")
        swum.until(lambda: abs(params.value("GAIT_WAVE") - 0.6) < 1e-9, "a longer wave")
        seen.slide("Fault", "silent:depth@0")
        seen.press("Let it happen")
        seen.tab("Vehicle")
        seen.wait("document.querySelector('[data-light=depth_lost]').dataset.on == '1'")
        assert [
            row.name for row in fleet.swimmers[0].loop.watch.rows if row.active and row.name == "depth_lost"
        ]
    finally:
        swum.close()
        recorder.close()
    orders = [event.details["kind"] for event in Log(path).events if event.kind == "order"]
    assert {"arm", "disarm", "mode", "sticks"} <= set(orders), "all of it stands in the log"
    assert main(["replay", str(path)]) == 0, "and replays to the bit"
