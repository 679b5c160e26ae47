"""The page without a browser: where its cameras look, what its panels offer and say."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from tools.cli import main
from tools.view_page import Page
from tools.view_run import Recorded, Run


class Eye:
    """One who looks on, with the page's own kind of camera."""

    def __init__(self, position, look_at) -> None:
        import viser

        self._websock_connection = SimpleNamespace(queue_message=lambda message: None)
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
            made[path] = Recorded(path)
        return made[path]

    return log


@pytest.fixture
def page():
    pages = []

    def open_page(source) -> Page:
        pages.append(Page(Run(source), "127.0.0.1", 8420))
        return pages[-1]

    yield open_page
    for made in pages:
        made.close()


def test_a_camera_that_goes_along_keeps_its_vehicle_in_the_middle_whatever_is_still_under_way(
    logs, page, monkeypatch
):
    recorded = logs("ray", "cruise", 6.0)
    shown = page(recorded)
    shown.first_look(recorded.at(0.0))
    cast = shown.stage.casts["ray_1"]
    start = cast.middle_m
    eye = Eye(start + [0.5, -0.4, 0.3], start)
    monkeypatch.setattr(shown.server, "get_clients", lambda: {0: eye})
    late = []
    for time_s in np.arange(0.0, recorded.end_s, 0.1):
        late.append(copy.copy(eye.camera._state))
        shown.stage.show(recorded.at(time_s))
        assert np.abs(eye.camera.look_at - cast.middle_m).max() < 0.003
        assert np.allclose(eye.camera.position - eye.camera.look_at, [0.5, -0.4, 0.3])
        eye.camera._state = late[-3:][0]  # what the browser says of itself is old
    assert np.linalg.norm(cast.middle_m - start) > 0.3, "it has swum"
