"""The page without a browser: its cameras, options, panels and timeline."""

import copy
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from caudal.tools.cli.main import main
from caudal.tools.log.recorded_run import RecordedRun, Run
from caudal.tools.view.command import url
from caudal.tools.view.page import Page, serve, stop
from caudal.tools.view.world import planned


class Client:
    """A browser with the page's own kind of camera."""

    def __init__(self, position, look_at) -> None:
        import viser

        self._websock_connection = SimpleNamespace(queue_message=lambda message: None)
        self.client_id = 0
        self.camera = viser.CameraHandle(self)  # type: ignore[arg-type]
        state = self.camera._state
        state.position, state.look_at, state.update_timestamp = np.array(position), np.array(look_at), 1.0
        state.up_direction = np.array([0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("page"), {}

    def log(vehicle: str, scenario: str, seconds: float, *words: str):
        path = folder / f"{vehicle}-{scenario}.mcap"
        if path not in made:
            length = ["--for", str(seconds), "--log", str(path), "--json"]
            assert main(["run", vehicle, "--scenario", scenario, *length, *words]) == 0
            made[path] = RecordedRun(path)
        return made[path]

    return log


@pytest.fixture
def page():
    pages = []

    def open_page(source) -> Page:
        pages.append(Page(Run(source), serve("127.0.0.1", 8420)))
        return pages[-1]

    yield open_page
    for made in pages:
        stop(made.server)


def test_camera_keeps_the_vehicle_centred_when_its_reports_are_late(logs, page, monkeypatch):
    monkeypatch.setattr("caudal.tools.view.scene.NEW_S", 0.0)
    recorded = logs("ray", "cruise", 6.0)
    shown = page(recorded)
    shown.open(recorded.at(0.0))
    vehicle = shown.scene.vehicles["ray_1"]
    start = vehicle.centre_m
    aim = shown.server.initial_camera.look_at
    client = Client(aim + [0.5, -0.4, 0.3], aim)
    monkeypatch.setattr(shown.server, "get_clients", lambda: {0: client})
    late = []
    for time_s in np.arange(0.0, recorded.end_s, 0.1):
        late.append(copy.copy(client.camera._state))
        shown.scene.show(recorded.at(time_s))
        assert np.abs(client.camera.look_at - vehicle.centre_m - (aim - start)).max() < 0.003
        assert np.allclose(client.camera.position - client.camera.look_at, [0.5, -0.4, 0.3])
        client.camera._state = late[-3:][0]  # a browser reports an old camera
    assert np.linalg.norm(vehicle.centre_m - start) > 0.3, "it did not move"


def test_camera_of_a_new_browser_starts_near_the_vehicle(logs, page, monkeypatch):
    recorded = logs("ray", "cruise", 6.0)
    shown = page(recorded)
    shown.open(recorded.at(0.0))
    opened = shown.server.initial_camera
    way = opened.position - opened.look_at
    client = Client([3.0, 3.0, 3.0], [0.0, 0.0, 0.0])
    shown.scene.welcome(client)
    assert np.allclose(client.camera.position, opened.position) and np.allclose(
        client.camera.look_at, opened.look_at
    )
    monkeypatch.setattr(shown.server, "get_clients", lambda: {0: client})
    client.camera._state = Client(
        [3.0, 3.0, 3.0], [0.0, 0.0, 0.0]
    ).camera._state  # reported before the update arrived
    shown.scene.show(recorded.at(1.0))
    assert np.allclose(client.camera.position - client.camera.look_at, way)


@pytest.mark.parametrize(
    ("words", "controls"),
    [
        ([], True),
        (["--host", "localhost"], True),
        (["--host", "0.0.0.0"], False),
        (["--host", "::"], False),
        (["--host", "192.0.2.7"], False),
        (["--host", "0.0.0.0", "--allow-control"], True),
    ],
    ids=str,
)
def test_page_for_other_machines_has_controls_only_with_allow_control(monkeypatch, words, controls):
    run = SimpleNamespace(source=SimpleNamespace(updates=1, newest=None, ended=True), title="eel")
    server = SimpleNamespace(atomic=nullcontext, get_host=lambda: "", get_port=lambda: 8360)
    called: list[str] = []

    class Page:
        def __getattr__(self, name):
            return lambda *_, **__: called.append(name)

    monkeypatch.setattr("caudal.tools.view.command.LiveSource", lambda address: run.source)
    monkeypatch.setattr("caudal.tools.view.command.Run", lambda watched: run)
    monkeypatch.setattr("caudal.tools.view.page.serve", lambda host, port: server)
    monkeypatch.setattr("caudal.tools.view.page.stop", lambda server: None)
    monkeypatch.setattr("caudal.tools.view.page.Page", lambda run, server: Page())
    assert main(["view", "127.0.0.1:9360", *words]) == 0
    assert "open" in called and ("add_control_panel" in called) == controls


def in_frame(points, position, at, aspect):
    """Returns the points in the frame (point, 2), from -1 to 1 to the right and up."""
    back = (position - at) / np.linalg.norm(position - at)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    rel = points - position
    depth = -(rel @ back) * np.tan(0.72 / 2)
    return np.column_stack([rel @ right / depth / aspect, rel @ np.cross(back, right) / depth])


@pytest.mark.parametrize(("vehicle", "scenario"), [("fish", "pool"), ("rov", "station"), ("hybrid", "mode1")])
@pytest.mark.parametrize("aspect", [0.6, 16 / 9])
def test_camera_frames_the_whole_vehicle(logs, page, vehicle, scenario, aspect):
    recorded = logs(vehicle, scenario, 1.0)
    scene = page(recorded).scene
    snapshot = recorded.at(1.0)
    scene.show(snapshot)
    meshes = scene.vehicles[f"{vehicle}_1"].meshes
    points = meshes.points(scene.run.pose(snapshot, f"{vehicle}_1", meshes.skeleton))
    pixels = in_frame(points, *scene.frame(snapshot, aspect, 0.8), aspect)
    assert np.abs(pixels).max() == pytest.approx(0.8, abs=0.02)
    assert np.abs(pixels.min(axis=0) + pixels.max(axis=0)).max() < 0.04, "not in the centre"


def test_thrust_arrow_ends_outside_the_duct(logs, page):
    recorded = logs("rov", "station", 1.0)
    scene = page(recorded).scene
    snapshot = recorded.at(1.0)
    vehicle = scene.vehicles["rov_1"]
    fields = recorded.fields["/rov_1/truth"]
    row = list(snapshot.rows["/rov_1/truth"])
    thrusts_n = [-0.6, 0.6, 1.0, -1.0, 5.0, -5.0, 40.0]
    for thruster, thrust_n in zip(vehicle.meshes.thrusters, thrusts_n, strict=True):
        row[fields.index(f"{thruster}_n")] = thrust_n
    scene.show(type(snapshot)(1.0, {**snapshot.rows, "/rov_1/truth": row}))
    handle = vehicle.arrows._arrows.handle
    arrows = np.asarray(handle.points)
    for (start, tip), (_, _, axis, radius_m), thrust_n in zip(
        arrows, vehicle.meshes.thrusters.values(), thrusts_n, strict=True
    ):
        along = (tip - start) @ axis * np.sign(thrust_n)
        assert along - handle.head_length > 0.45 * radius_m, "part of the head is inside"


def test_planned_path_shows_only_the_next_part_of_a_trajectory(logs, page):
    recorded = logs("rov", "excite", 20.0)
    scene = page(recorded).scene
    whole, times_s = planned(scene.run)
    assert times_s[-1] == pytest.approx(280.0)
    snapshot = recorded.at(20.0)
    scene.show(snapshot)
    wanted = [scene.run.value(snapshot, "/rov_1/state", f"setpoint_{f}") for f in ("x_m", "y_m", "depth_m")]
    ahead = scene.world.plan.ahead
    assert np.allclose(ahead[0], np.array(wanted) * [1, 1, -1], atol=0.05), "does not start at the set-point"
    assert len(ahead) == pytest.approx(30 / 280 * len(whole), rel=0.05)


def test_state_panel_omits_clearance_in_open_water(logs, page):
    for vehicle, scenario, near in (("ray", "cruise", False), ("fish", "pool", True)):
        recorded = logs(vehicle, scenario, 6.0 if vehicle == "ray" else 1.0)
        shown = page(recorded)
        shown.update(recorded.at(1.0))
        content = shown._state._handle.content
        assert "inf" not in content and ("clearance" in content) == near


def test_sonar_beams_are_visible_up_to_their_range_when_switched_on(logs, page):
    recorded = logs("fish", "pool", 1.0)
    shown = page(recorded)
    shown.set_options(sonar=True, forces=False, light=False)
    shown.scene.show(recorded.at(1.0))
    sonar = shown.scene.vehicles["fish_1"].sonar
    assert len(sonar._handles) == 13, "twelve sonars and an infrared sensor"
    for wedge, rim in zip(sonar._handles, sonar._rims, strict=True):
        assert wedge.visible and rim.visible and wedge.opacity >= 0.15
        assert np.allclose(np.asarray(rim.points)[:, 0], wedge.vertices)


def test_page_opens_without_sonar_and_shadows(logs, page, monkeypatch):
    recorded = logs("fish", "pool", 1.0)
    shown = page(recorded)
    calls = []
    scene = shown.server.scene
    monkeypatch.setattr(scene, "configure_environment_map", lambda hdri, **_: calls.append(hdri))
    monkeypatch.setattr(scene, "configure_default_lights", lambda cast_shadow: calls.append(cast_shadow))
    assert not shown.scene.vehicles["fish_1"].sonar._handles and shown.scene._daylight.visible
    shown.set_options(sonar=False, forces=False, light=True)
    assert calls == ["city", True] and not shown.scene._daylight.visible
    shown.set_options(sonar=False, forces=False, light=False)
    assert calls[2:] == [None, False] and shown.scene._daylight.visible


def test_slider_stops_before_the_button_says_play(logs, page):
    recorded = logs("ray", "cruise", 6.0)
    timeline = page(recorded).add_timeline(recorded)
    changes = []
    timeline._slider, timeline._play = Control(changes, "slider"), Control(changes, "button")
    for _ in range(3):
        timeline._tick_s -= 0.2  # as if 0.2 s had passed
        timeline.now_s()
        timeline.update()
    timeline._pressed = True  # as the button's callback does, in another thread
    for _ in range(3):
        timeline._tick_s -= 0.2
        timeline.now_s()
        timeline.update()
    assert changes[-2][0] == "slider" and changes[-1] == ("button", "Play")


class Control:
    """A control of the page that records its changes in order."""

    def __init__(self, changes: list[tuple[str, object]], name: str) -> None:
        vars(self).update(_changes=changes, _name=name, value=0.0)

    def __setattr__(self, key: str, value: object) -> None:
        if vars(self).get(key) != value:
            self._changes.append((self._name, value))
        vars(self)[key] = value


def test_timeline_keeps_the_slider_where_the_user_moves_it(logs, page):
    recorded = logs("ray", "cruise", 6.0)
    timeline = page(recorded).add_timeline(recorded)
    timeline.now_s()
    timeline.update()
    for to_s in (3.21, 0.5, 5.55):
        timeline._slider._impl.value = to_s  # as a browser's message does, before the callback
        timeline.update()
        assert timeline.now_s() == to_s and timeline._slider.value == to_s
    timeline.play(True)
    timeline.now_s()
    timeline.update()
    timeline._slider._impl.value = 1.25
    timeline.update()
    assert timeline.now_s() == 1.25, "it did not pause there"


@pytest.mark.parametrize(
    ("host", "shown"),
    [("0.0.0.0", "127.0.0.1:8360"), ("::1", "[::1]:8360"), ("10.0.0.2", "10.0.0.2:8360")],
)
def test_url_can_be_opened_for_every_host(host, shown):
    server = SimpleNamespace(get_host=lambda: host, get_port=lambda: 8360)
    assert url(server) == f"http://{shown}"
