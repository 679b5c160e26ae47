"""The page without a browser: where its cameras look, what its panels offer and say."""

import copy
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from caudal.tools.cli.main import main
from caudal.tools.log.poses import attitude
from caudal.tools.log.recorded_run import RecordedRun, Run
from caudal.tools.view.command import url
from caudal.tools.view.page import Page, end, serve
from caudal.tools.view.world import planned


class Eye:
    """One who looks on, with the page's own kind of camera."""

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
        end(made.server)


def test_a_camera_that_goes_along_keeps_its_vehicle_in_the_middle_whatever_is_still_under_way(
    logs, page, monkeypatch
):
    monkeypatch.setattr("caudal.tools.view.scene.NEW_S", 0.0)
    recorded = logs("ray", "cruise", 6.0)
    shown = page(recorded)
    shown.first_look(recorded.at(0.0))
    cast = shown.stage.casts["ray_1"]
    start = cast.middle_m
    aim = shown.server.initial_camera.look_at
    eye = Eye(aim + [0.5, -0.4, 0.3], aim)
    monkeypatch.setattr(shown.server, "get_clients", lambda: {0: eye})
    late = []
    for time_s in np.arange(0.0, recorded.end_s, 0.1):
        late.append(copy.copy(eye.camera._state))
        shown.stage.show(recorded.at(time_s))
        assert np.abs(eye.camera.look_at - cast.middle_m - (aim - start)).max() < 0.003
        assert np.allclose(eye.camera.position - eye.camera.look_at, [0.5, -0.4, 0.3])
        eye.camera._state = late[-3:][0]  # what the browser says of itself is old
    assert np.linalg.norm(cast.middle_m - start) > 0.3, "it has swum"


def test_a_browser_that_has_just_come_looks_from_near_whatever_its_empty_page_says(logs, page, monkeypatch):
    recorded = logs("ray", "cruise", 6.0)
    shown = page(recorded)
    shown.first_look(recorded.at(0.0))
    opened = shown.server.initial_camera
    way = opened.position - opened.look_at
    eye = Eye([3.0, 3.0, 3.0], [0.0, 0.0, 0.0])
    shown.stage.meet(eye)
    assert np.allclose(eye.camera.position, opened.position) and np.allclose(
        eye.camera.look_at, opened.look_at
    )
    monkeypatch.setattr(shown.server, "get_clients", lambda: {0: eye})
    eye.camera._state = Eye([3.0, 3.0, 3.0], [0.0, 0.0, 0.0]).camera._state  # said before it heard of it
    shown.stage.show(recorded.at(1.0))
    assert np.allclose(eye.camera.position - eye.camera.look_at, way)


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
def test_a_page_for_other_machines_steers_only_if_that_is_asked_for(monkeypatch, words, controls):
    run = SimpleNamespace(source=SimpleNamespace(updates=1, newest=None, ended=True), title="eel")
    server = SimpleNamespace(atomic=nullcontext, get_host=lambda: "", get_port=lambda: 8360)
    called: list[str] = []

    class Page:
        def __getattr__(self, name):
            return lambda *_, **__: called.append(name)

    monkeypatch.setattr("caudal.tools.view.command.LiveSource", lambda address: run.source)
    monkeypatch.setattr("caudal.tools.view.command.Run", lambda watched: run)
    monkeypatch.setattr("caudal.tools.view.page.serve", lambda host, port: server)
    monkeypatch.setattr("caudal.tools.view.page.end", lambda server: None)
    monkeypatch.setattr("caudal.tools.view.page.Page", lambda run, server: Page())
    assert main(["view", "127.0.0.1:9360", *words]) == 0
    assert "first_look" in called and ("add_helm" in called) == controls


def on_picture(points, position, at, aspect):
    """(point, 2): where points are seen, from -1 to 1 to the right and up."""
    back = (position - at) / np.linalg.norm(position - at)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    rel = points - position
    depth = -(rel @ back) * np.tan(0.72 / 2)
    return np.column_stack([rel @ right / depth / aspect, rel @ np.cross(back, right) / depth])


@pytest.mark.parametrize(("vehicle", "scenario"), [("fish", "pool"), ("rov", "station"), ("hybrid", "mode1")])
@pytest.mark.parametrize("aspect", [0.6, 16 / 9])
def test_a_picture_holds_the_whole_vehicle_in_its_middle_and_is_filled_by_it(
    logs, page, vehicle, scenario, aspect
):
    recorded = logs(vehicle, scenario, 1.0)
    stage = page(recorded).stage
    snapshot = recorded.at(1.0)
    stage.show(snapshot)
    figure = stage.casts[f"{vehicle}_1"].figure
    joints = {joint: stage.run.joint(snapshot, f"{vehicle}_1", joint) for joint in figure.skeleton.joints}
    x_m, y_m, depth_m, heading, roll, pitch = stage.run.base(snapshot, f"{vehicle}_1")
    drawn = figure.points(*figure.skeleton.pose(joints)) @ attitude(roll, pitch, heading).T
    seen = on_picture(drawn + [x_m, y_m, -depth_m], *stage.frame(snapshot, aspect, 0.8), aspect)
    assert np.abs(seen).max() == pytest.approx(0.8, abs=0.02)
    assert np.abs(seen.min(axis=0) + seen.max(axis=0)).max() < 0.04, "in the middle"


def test_an_arrow_of_a_push_that_counts_ends_outside_the_duct(logs, page):
    recorded = logs("rov", "station", 1.0)
    stage = page(recorded).stage
    snapshot = recorded.at(1.0)
    cast = stage.casts["rov_1"]
    fields = recorded.fields["/rov_1/truth"]
    little = list(snapshot.rows["/rov_1/truth"])
    pushes = [-0.6, 0.6, 1.0, -1.0, 5.0, -5.0, 40.0]
    for thruster, push_n in zip(cast.figure.thrusters, pushes, strict=True):
        little[fields.index(f"{thruster}_n")] = push_n
    stage.show(type(snapshot)(1.0, {**snapshot.rows, "/rov_1/truth": little}))
    arrows = np.asarray(cast.pushes._handle.points)
    for (start, tip), (_, _, axis, radius_m), push_n in zip(
        arrows, cast.figure.thrusters.values(), pushes, strict=True
    ):
        along = (tip - start) @ axis * np.sign(push_n)
        head_m = cast.pushes._handle.head_length
        assert along - head_m > 0.45 * radius_m, "the whole head"


def test_of_a_trajectory_in_time_only_what_comes_next_is_drawn(logs, page):
    recorded = logs("rov", "excite", 20.0)
    stage = page(recorded).stage
    whole, times_s = planned(stage.run)
    assert times_s[-1] == pytest.approx(280.0)
    snapshot = recorded.at(20.0)
    stage.show(snapshot)
    wanted = [stage.run.value(snapshot, "/rov_1/state", f"want_{f}") for f in ("x_m", "y_m", "depth_m")]
    ahead = stage.world.plan.ahead
    assert np.allclose(ahead[0], np.array(wanted) * [1, 1, -1], atol=0.05), "from where it is"
    assert len(ahead) == pytest.approx(30 / 280 * len(whole), rel=0.05)


def test_what_there_is_nothing_to_touch_says_of_no_clearance(logs, page):
    for vehicle, scenario, near in (("ray", "cruise", False), ("fish", "pool", True)):
        recorded = logs(vehicle, scenario, 6.0 if vehicle == "ray" else 1.0)
        shown = page(recorded)
        shown.keep_up(recorded.at(1.0))
        said = shown._state._handle.content
        assert "inf" not in said and ("clearance" in said) == near


def test_sonar_that_is_asked_for_is_seen_as_far_as_it_hears(logs, page):
    recorded = logs("fish", "pool", 1.0)
    shown = page(recorded)
    shown.choose(sonar=True, forces=False, light=False)
    shown.stage.show(recorded.at(1.0))
    sonar = shown.stage.casts["fish_1"].sonar
    assert len(sonar._handles) == 13, "twelve sonars and an infrared eye"
    for wedge, rim in zip(sonar._handles, sonar._rims, strict=True):
        assert wedge.visible and rim.visible and wedge.opacity >= 0.15
        assert np.allclose(np.asarray(rim.points)[:, 0], wedge.vertices)


def test_a_page_opens_without_what_takes_a_browser_seconds_and_has_it_when_asked(logs, page, monkeypatch):
    recorded = logs("fish", "pool", 1.0)
    shown = page(recorded)
    asked = []
    scene = shown.server.scene
    monkeypatch.setattr(scene, "configure_environment_map", lambda hdri, **_: asked.append(hdri))
    monkeypatch.setattr(scene, "configure_default_lights", lambda cast_shadow: asked.append(cast_shadow))
    assert not shown.stage.casts["fish_1"].sonar._handles and shown.stage._daylight.visible
    shown.choose(sonar=False, forces=False, light=True)
    assert asked == ["city", True] and not shown.stage._daylight.visible
    shown.choose(sonar=False, forces=False, light=False)
    assert asked[2:] == [None, False] and shown.stage._daylight.visible


def test_once_the_button_says_play_the_slider_stands(logs, page):
    recorded = logs("ray", "cruise", 6.0)
    line = page(recorded).add_time_line(recorded)
    told = []
    line._slider, line._play = Told(told, "slider"), Told(told, "button")
    for _ in range(3):
        line._tick_s -= 0.2  # so much later
        line.now_s()
        line.send()
    line._pressed = True  # as the button's callback does, in a thread of its own
    for _ in range(3):
        line._tick_s -= 0.2
        line.now_s()
        line.send()
    assert told[-2][0] == "slider" and told[-1] == ("button", "Play")


class Told:
    """A handle of the page that remembers what was changed in it, in order."""

    def __init__(self, told: list[tuple[str, object]], name: str) -> None:
        vars(self).update(_told=told, _name=name, value=0.0)

    def __setattr__(self, key: str, value: object) -> None:
        if vars(self).get(key) != value:
            self._told.append((self._name, value))
        vars(self)[key] = value


def test_a_hand_on_the_time_line_is_never_overruled_however_late_the_page_tells_of_it(logs, page):
    recorded = logs("ray", "cruise", 6.0)
    line = page(recorded).add_time_line(recorded)
    line.now_s()
    line.send()
    for to_s in (3.21, 0.5, 5.55):
        line._slider._impl.value = to_s  # as a browser's message does, before anybody is told
        line.send()
        assert line.now_s() == to_s and line._slider.value == to_s
    line.play(True)
    line.now_s()
    line.send()
    line._slider._impl.value = 1.25
    line.send()
    assert line.now_s() == 1.25, "and it stands still there"


@pytest.mark.parametrize(
    ("host", "shown"),
    [("0.0.0.0", "127.0.0.1:8360"), ("::1", "[::1]:8360"), ("10.0.0.2", "10.0.0.2:8360")],
)
def test_the_address_that_is_told_can_be_opened_as_it_stands(host, shown):
    server = SimpleNamespace(get_host=lambda: host, get_port=lambda: 8360)
    assert url(server) == f"http://{shown}"
