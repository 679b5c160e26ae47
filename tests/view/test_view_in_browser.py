"""`caudal view` in a real browser: what a user sees, and what its controls do to a vehicle."""

import io
from urllib.parse import urlsplit

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.log.stream import StreamServer
from caudal.onboard.run.recording import about_run
from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.simulate.on_request_faults import on_request
from caudal.tools.simulate.simulation import Simulation
from tests.view.conftest import SteppedSimulation


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "fish.mcap"
    assert main(["run", "fish", "--scenario", "cruise", "--for", "12", "--log", str(path), "--json"]) == 0
    return path


def changed(one: bytes, other: bytes) -> float:
    """Returns the share of pixels that differ clearly, in the part of two screenshots that no panel covers."""
    a, b = (
        np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")).astype(int) for picture in (one, other)
    )
    high, wide, _ = a.shape
    part = np.s_[high // 3 : high * 5 // 8, : wide * 17 // 32]
    return float((np.abs(a[part] - b[part]).max(axis=-1) > 24).mean())


def test_log_plays_and_scrubs_and_the_page_loads_nothing_from_elsewhere(view, log):
    seen = view(log)
    seen.press("Pause")
    seen.page.get_by_role(
        "button", name="Play", exact=True
    ).wait_for()  # so that only the test moves the slider
    seen.slide("Time (s)", "5")
    seen.wait("document.querySelector('[data-cd=time]').innerText == '5.00'")
    seen.wait("document.querySelector('[data-cd=setpoint_frequency_hz]').innerText == '1.00'")
    there = seen.canvas()
    seen.slide("Time (s)", "11.5")
    seen.wait("document.querySelector('[data-cd=time]').innerText == '11.50'")
    recorded = Log(log)
    topic = recorded.topics["/fish_1/state"]
    row = max(k for k, time_ns in enumerate(topic.time_ns) if time_ns <= 11_500_000_000)
    wanted_hz = topic.rows[row][topic.fields.index("setpoint_frequency_hz")]
    assert wanted_hz == 2.0, "the schedule's second row; 1.0 before it"
    seen.wait("document.querySelector('[data-cd=setpoint_frequency_hz]').innerText == '2.00'")
    for _ in range(60):  # panels are updated before the scene
        if changed(there, seen.canvas()) > 0.02:
            break
        seen.page.wait_for_timeout(500)
    else:
        pytest.fail("the view did not change")
    seen.press("Play")
    seen.wait("+document.querySelector('[data-cd=time]').innerText > 11.6")
    foreign = {urlsplit(url).netloc for url in seen.requests if urlsplit(url).scheme not in ("data", "blob")}
    assert foreign == {urlsplit(seen.url).netloc}


def test_bookmarks_and_speed_change_the_instant(view, log):
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


def test_view_saves_screenshots_and_videos_without_a_window(chromium, log, tmp_path, capsys):
    picture, video_file = tmp_path / "fish.png", tmp_path / "fish.mp4"
    words = ["--no-shadows", "--size", "160x120", "--at", "3"]
    assert main(["view", str(log), "--screenshot", str(picture), *words]) == 0
    pixels = np.asarray(Image.open(picture).convert("RGB")).astype(int)
    assert pixels.shape == (120, 160, 3)
    middle = pixels[30:90, 40:120].reshape(-1, 3)
    orange = (middle[:, 0] > middle[:, 2] + 60).mean()
    assert orange > 0.15, "the fish is not near or not in the centre"
    assert main(["view", str(log), "--video", str(video_file), "--for", "1", "--fps", "4", *words]) == 0
    assert "4 frames" in capsys.readouterr().out
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(video_file))
    assert (count, seconds) == (4, pytest.approx(1.0))


def test_interrupted_video_leaves_no_file_and_exits_with_130(chromium, log, tmp_path, monkeypatch, capsys):
    video_file, rendered = tmp_path / "fish.mp4", []
    from caudal.tools.view import video

    def render(client, *size):
        rendered.append(video_file.exists())
        if rendered[-2:] == [True, True]:
            raise KeyboardInterrupt
        return np.zeros((*size[::-1], 3), np.uint8)

    monkeypatch.setattr(video, "render", render)
    words = ["--no-shadows", "--size", "160x120", "--for", "5"]
    assert main(["view", str(log), "--video", str(video_file), *words]) == 130
    assert rendered[-1] and not video_file.exists() and not capsys.readouterr().out


def test_control_panel_changes_the_controller_and_injects_a_fault(view, tmp_path):
    vehicle, name, _ = open_scenario("fish", ["world.open.vehicles=1"], "cruise")
    path = tmp_path / "steered.mcap"
    about = about_run(vehicle, name, "sim", realtime=True)
    recorder = Recorder(path, about, lossless=True)
    live = StreamServer(recorder, about, ("127.0.0.1", 0))
    simulation = Simulation(vehicle, name, 0)
    simulation.record(live)
    for session in simulation.sessions:
        live.add_vehicle(session.name, session.loop.send)
    live.inject = on_request(simulation)
    live.start()
    stepped = SteppedSimulation(simulation, live)
    state = simulation.instances[0].loop.state
    try:
        seen = view(f"127.0.0.1:{live.address[1]}")
        seen.wait("document.querySelector('[data-cd=armed]').innerText == 'armed'")
        seen.tab("Control")
        seen.press("Disarm")
        stepped.until(lambda: not state.armed, "disarmed")
        seen.press("Arm")
        stepped.until(lambda: state.armed, "armed again")
        seen.slide("Frequency (Hz)", "1.75")
        stepped.until(lambda: abs(state.setpoint.frequency_hz - 1.75) < 1e-9, "1.75 Hz in the controller")
        params = simulation.instances[0].loop.handler.params
        seen.slide("Wavelength (m)", "0.6")
        stepped.until(lambda: abs(params.value("GAIT_WAVE") - 0.6) < 1e-9, "a longer wave")
        seen.slide("Fault", "silent:depth@0")
        seen.press("Inject")
        seen.tab("Vehicle")
        seen.wait("document.querySelector('[data-light=depth_lost]').dataset.on == '1'")
        assert [
            row.name
            for row in simulation.instances[0].loop.monitor.rules
            if row.active and row.name == "depth_lost"
        ]
    finally:
        stepped.close()
        recorder.close()
    commands = [event.details["kind"] for event in Log(path).events if event.kind == "command"]
    assert {"arm", "disarm", "mode", "sticks"} <= set(commands), "a command is missing in the log"
    assert main(["replay", str(path)]) == 0, "the replay differs"
