"""`caudal view` in a real browser: what a person sees, and what their hand on a knob does to a vehicle."""

import argparse
import io
from urllib.parse import urlsplit

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.log.stream import StreamServer
from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.simulation import Simulation
from caudal.tools.vehicle_run.live_view import helms_of, rehearsed
from caudal.tools.vehicle_run.recording import about_run
from tests.view.conftest import Swum


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "fish.mcap"
    assert main(["run", "fish", "--scenario", "cruise", "--for", "12", "--log", str(path), "--json"]) == 0
    return path


def changed(one: bytes, other: bytes) -> float:
    """The share of pixels that differ plainly, in the part of two pictures that no panel covers."""
    a, b = (
        np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")).astype(int) for picture in (one, other)
    )
    high, wide, _ = a.shape
    part = np.s_[high // 3 : high * 5 // 8, : wide * 17 // 32]
    return float((np.abs(a[part] - b[part]).max(axis=-1) > 24).mean())


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
    for _ in range(60):  # words come before pixels
        if changed(there, seen.canvas()) > 0.02:
            break
        seen.page.wait_for_timeout(500)
    else:
        pytest.fail("it has swum: there should be other pixels")
    seen.press("Play")
    seen.wait("+document.querySelector('[data-cd=time]').innerText > 11.6")
    foreign = {urlsplit(url).netloc for url in seen.asked if urlsplit(url).scheme not in ("data", "blob")}
    assert foreign == {urlsplit(seen.url).netloc}


def test_bookmarks_and_speed_move_the_time_line(view, log):
    seen = view(log, "--at", "6")
    seen.press("Pause")
    seen.page.get_by_role("button", name="Play", exact=True).wait_for()
    seen.press("previous")
    seen.wait("+document.querySelector('[data-cd=time]').innerText < 1")
    before_s = float(seen.text("time"))
    seen.page.get_by_label("Speed").click()
    seen.page.get_by_role("option", name="16", exact=True).click()
    seen.press("Play")
    seen.wait(f"+document.querySelector('[data-cd=time]').innerText > {before_s} + 8")


def test_pictures_and_films_are_made_without_a_window(chromium, log, tmp_path, capsys):
    picture, film = tmp_path / "fish.png", tmp_path / "fish.mp4"
    words = ["--no-shadows", "--size", "160x120", "--at", "3"]
    assert main(["view", str(log), "--screenshot", str(picture), *words]) == 0
    pixels = np.asarray(Image.open(picture).convert("RGB")).astype(int)
    assert pixels.shape == (120, 160, 3)
    middle = pixels[30:90, 40:120].reshape(-1, 3)
    orange = (middle[:, 0] > middle[:, 2] + 60).mean()
    assert orange > 0.15, "the fish, near and in the middle"
    assert main(["view", str(log), "--video", str(film), "--for", "1", "--fps", "4", *words]) == 0
    assert "4 frames" in capsys.readouterr().out
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(film))
    assert (count, seconds) == (4, pytest.approx(1.0))


def test_a_film_that_is_interrupted_leaves_no_file_and_is_no_success(
    chromium, log, tmp_path, monkeypatch, capsys
):
    film, rendered = tmp_path / "fish.mp4", []
    from caudal.tools.view import video

    def render(client, *size):
        rendered.append(film.exists())
        if rendered[-2:] == [True, True]:
            raise KeyboardInterrupt
        return np.zeros((*size[::-1], 3), np.uint8)

    monkeypatch.setattr(video, "render", render)
    words = ["--no-shadows", "--size", "160x120", "--for", "5"]
    assert main(["view", str(log), "--video", str(film), *words]) == 130
    assert rendered[-1] and not film.exists() and not capsys.readouterr().out


def test_knobs_in_the_page_steer_the_controller_and_a_rehearsed_fault_lights_its_light(view, tmp_path):
    vehicle, name, _ = open_scenario("fish", ["world.open.vehicles=1"], "cruise")
    path = tmp_path / "steered.mcap"
    about = about_run(argparse.Namespace(seed=0, realtime=True), vehicle, name, "sim")
    recorder = Recorder(path, about, lossless=True)
    live = StreamServer(recorder, about, ("127.0.0.1", 0))
    simulation = Simulation(vehicle, name, 0)
    simulation.record(live)
    for whose, send in helms_of(simulation.instances).items():
        live.handler(whose, send)
    live.rehearse = rehearsed(simulation)
    live.start()
    swum = Swum(simulation, live)
    state = simulation.instances[0].loop.state
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
        params = simulation.instances[0].loop.handler.params
        seen.slide("Wavelength (m)", "0.6")
        swum.until(lambda: abs(params.value("GAIT_WAVE") - 0.6) < 1e-9, "a longer wave")
        seen.slide("Fault", "silent:depth@0")
        seen.press("Let it happen")
        seen.tab("Vehicle")
        seen.wait("document.querySelector('[data-light=depth_lost]').dataset.on == '1'")
        assert [
            row.name
            for row in simulation.instances[0].loop.monitor.rows
            if row.active and row.name == "depth_lost"
        ]
    finally:
        swum.close()
        recorder.close()
    orders = [event.details["kind"] for event in Log(path).events if event.kind == "order"]
    assert {"arm", "disarm", "mode", "sticks"} <= set(orders), "all of it stands in the log"
    assert main(["replay", str(path)]) == 0, "and replays to the bit"
