"""The page: scene and panels together, kept up with moments as they come."""

from __future__ import annotations

import contextlib
import io
import logging
import socket
import time
from typing import Any

import numpy as np
import viser

from caudal.tools.common import output
from caudal.tools.log.live_run import LiveSource
from caudal.tools.log.recorded_run import RecordedRun, Run, Snapshot
from caudal.tools.view.control_panel import ControlPanel
from caudal.tools.view.force_arrows import WATER_HINT
from caudal.tools.view.scene import FOV_RAD, Stage
from caudal.tools.view.status_panels import LightsPanel, NewsPanel, StatePanel, TimingPanel
from caudal.tools.view.timeline import TimeLine
from caudal.tools.view.video import encoded, film_of, render
from caudal.tools.view.world import PLAN_S

SHOWS_A_SECOND = 30
WORDS_A_SECOND = 6
OPENED = 1.3, 0.6  # a window's width by its height, and how much of it panels leave free
PICTURED = 0.82
PLAN_HINT = f"of a trajectory in time the next {PLAN_S:g} s"
FORCES_HINT = "of each body, to one scale: pale weight, blue lift"
FILM_FPS = 25
LIGHT_HINT = "slow where no graphics card draws"


def serve(host: str, port: int) -> viser.ViserServer:
    """An empty page, for browsers to load while what it will show is read."""
    _check(host, port)
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # a browser that goes away is no news
    with contextlib.redirect_stdout(io.StringIO()):  # it would draw a frame round its address
        try:
            return viser.ViserServer(host=host, port=port, label="caudal", verbose=False)
        except OSError as error:
            raise output.UsageError(
                f"the page cannot be served on {host}:{port}: {error.strerror}"
            ) from error


def _check(host: str, port: int) -> None:
    """That there is such an address here: viser would take any other one for a port that is taken, and never return."""
    if port > 65535:
        raise output.UsageError(f"--port {port}: there are 65535 of them; take a smaller one")
    try:
        family, kind, *_, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.bind(address)
    except OSError as error:
        reason = f"{error.strerror}; give an address of this machine, or 0.0.0.0 for all"
        raise output.UsageError(f"the page cannot be served on {host}: {reason}") from error


def end(server: viser.ViserServer) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


class Page:
    def __init__(self, run: Run, server: viser.ViserServer) -> None:
        self.run = run
        self.server = server
        gui = self.server.gui
        gui.set_panel_label(run.title)
        gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=(24, 126, 166), control_width="medium"
        )
        self.server.initial_camera.fov = FOV_RAD
        self.stage = Stage(self.server, run)
        self._vehicle = run.names[0]
        self._time_line: TimeLine | None = None
        self._helm: ControlPanel | None = None
        self._recorded: RecordedRun | None = None
        self._told_news = 0
        self._words_s = 0.0
        self._due_s = 0.0
        self._last: tuple | None = None
        self._stale = 0  # counts what a person has changed: the same moment has to be shown again
        self._moment: Snapshot | None = None
        self._build(gui)

    def _build(self, gui: Any) -> None:
        if len(self.run.names) > 1:
            chosen = gui.add_dropdown("Vehicle", tuple(self.run.names))
            chosen.on_update(lambda _: self._choose(chosen.value))
        self._tabs = gui.add_tab_group()
        with self._tabs.add_tab("Vehicle"):
            self._state = StatePanel(gui, self.run)
            with gui.add_folder("Failsafes"):
                self._lights = LightsPanel(gui, self.run)
            with gui.add_folder("Loop"):
                self._timing = TimingPanel(gui, self.run)
            with gui.add_folder("Events"):
                self._news = NewsPanel(gui)
        self._show_tab(gui)
        with self._tabs.add_tab("Picture"):
            self._picture_tab(gui)

    def _show_tab(self, gui: Any) -> None:
        casts = list(self.stage.casts.values())

        def switch(label: str, start: bool, what: Any, hint: str | None = None) -> Any:
            box = gui.add_checkbox(label, start, hint=hint)

            def change(_: Any) -> None:
                what(box.value)
                self._stale += 1

            box.on_update(change)
            return box

        def each(what: str, part: str) -> Any:
            return lambda on: [setattr(getattr(cast, part), what, on) for cast in casts]

        with self._tabs.add_tab("Show"):
            follow = gui.add_dropdown(
                "Camera goes along with", ("nothing", *self.run.names), initial_value="nothing"
            )
            follow.on_update(lambda _: self.stage.follow(None if follow.value == "nothing" else follow.value))
            self._follow = follow
            if self.stage.world.pool:
                gui.add_button("See the whole pool").on_click(lambda event: self._see_all(event.client))
            self._light = switch("Shadows and reflections", False, self.stage.light, LIGHT_HINT)
            switch("Water", True, lambda on: setattr(self.stage.world.surface, "visible", on))
            switch("Trails", True, each("visible", "trail"))
            switch("Names", True, each("visible", "label"))
            switch("What is wanted", True, each("visible", "wanted"))
            if self.stage.world.plan is not None:
                switch(
                    "Planned way", True, lambda on: setattr(self.stage.world.plan, "visible", on), PLAN_HINT
                )
            self._sonar = switch("Sonar", False, each("visible", "sonar")) if casts[0].sonar else None
            if casts[0].figure.thrusters:
                switch("Thrust", True, each("thrust", "pushes"), "green ahead, red astern; longer is more")
            self._forces = (
                switch("Weight and lift", False, each("others", "pushes"), FORCES_HINT)
                if self.run.vehicle.plant.tree
                else None
            )
            self._water = (
                switch("Water's forces", False, each("visible", "forces"), WATER_HINT)
                if self.stage.water
                else None
            )

    def choose(self, sonar: bool, forces: bool, light: bool) -> None:
        self._light.value = light
        if sonar and self._sonar:
            self._sonar.value = True
        if forces and self._forces:
            self._forces.value = True
        if forces and self._water:
            self._water.value = True

    def _picture_tab(self, gui: Any) -> None:
        picture = gui.add_button("Save a picture")
        picture.on_click(lambda event: self._save_picture(event.client))
        self._film_s = gui.add_slider("Film (s)", min=1, max=120, step=1, initial_value=10)
        film = gui.add_button("Save a film", hint="from now on; the browser renders it, picture by picture")
        film.on_click(lambda event: self._save_film(event.client))
        self._filming = False

    def _choose(self, vehicle: str) -> None:
        self._vehicle = vehicle
        if self._helm:
            self._helm.choose(vehicle)
        self._stale += 1

    def add_time_line(self, recorded: RecordedRun) -> TimeLine:
        """Along the lower edge."""
        gui = self.server.gui
        panel = gui.add_panel()
        with panel.add_tab("Time line"):
            self._time_line = TimeLine(gui, recorded)
        panel.float(x=15, y=-15, width=460)
        self._recorded = recorded
        return self._time_line

    def add_helm(self, line: LiveSource) -> None:
        if line.controls:
            with self._tabs.add_tab("Steer"):
                self._helm = ControlPanel(self.server.gui, self.run, line)

    def first_look(self, snapshot: Snapshot) -> None:
        """Where a browser that opens the page looks from: near the first vehicle, and along with it."""
        self.stage.show(snapshot)
        position, at = self.stage.frame(snapshot, *OPENED)
        self.server.initial_camera.position, self.server.initial_camera.look_at = position, at
        self._follow.value = self._vehicle
        self.stage.follow(self._vehicle, at, position)
        self.server.on_client_connect(self.stage.meet)

    def put(self, snapshot: Snapshot, client: Any, size: tuple[int, int]) -> None:
        """This moment to this browser, at once, for a picture; the first says from where it is seen."""
        if self._last is None:
            self.stage.show(snapshot)
            self._last = ()
            position, at = self.stage.frame(snapshot, size[0] / size[1], PICTURED)
            client.camera.position, client.camera.look_at, client.camera.fov = position, at, FOV_RAD
            self.stage.follow(self._vehicle, at)
        self.stage.show(snapshot)

    def _see_all(self, client: Any) -> None:
        self._follow.value = "nothing"
        self.stage.follow(None)
        client.camera.position, client.camera.look_at = self.stage.frame_all()

    def keep_up(self, snapshot: Snapshot) -> None:
        """Show a moment, unless it is what is shown already."""
        self._moment = snapshot
        if self._filming:
            return
        seen = (snapshot.time_s, self._stale)
        if seen != self._last:
            self._last = seen
            self.stage.show(snapshot)
            if self._due_s >= self._words_s:
                self._words_s = self._due_s + 1 / WORDS_A_SECOND
                self._say(snapshot)
        elif self._words_s:
            self._say(snapshot)
            self._words_s = 0.0
        if self._helm:
            self._helm.keep(snapshot, self.looked_at)

    @property
    def looked_at(self) -> bool:
        return bool(self.server.get_clients())

    def rest(self, a_second: float = SHOWS_A_SECOND) -> None:
        """Until the next moment is due."""
        now = time.monotonic()
        self._due_s = max(self._due_s + 1 / a_second, now)
        time.sleep(self._due_s - now)

    def _say(self, snapshot: Snapshot) -> None:
        cast = self.stage.casts[self._vehicle]
        self._state.show(snapshot, self._vehicle, cast.figure, cast.immersed)
        self._lights.show(snapshot, self._vehicle)
        self._timing.show(snapshot, self._vehicle)
        if self._water and self._water.hint != cast.forces.hint:
            self._water.hint = cast.forces.hint
        source: Any = self.run.source
        self._news.show(source.events, source.start_ns, snapshot.time_s)
        if self._helm:
            self._tell_refusals(source.events)

    def _tell_refusals(self, events: list) -> None:
        """An order that was not done says why, to everybody who looks."""
        for event in events[self._told_news :]:
            if event.details.get("refused"):
                for client in self.server.get_clients().values():
                    client.add_notification(
                        "Not done", str(event.details["refused"]), auto_close_seconds=8, color="orange"
                    )
        self._told_news = len(events)

    def hide_words(self) -> None:
        """Names stay away from pictures of a lone vehicle."""
        if len(self.run.names) == 1:
            for cast in self.stage.casts.values():
                cast.label.visible = False

    def _save_picture(self, client: Any) -> None:
        camera = client.camera
        picture = render(client, camera.image_width, camera.image_height)
        client.send_file_download(
            f"caudal-{self.run.vehicle.name}.png", encoded(picture), save_immediately=True
        )

    def _save_film(self, client: Any) -> None:
        if self._filming or self._moment is None:
            return
        camera, start_s = client.camera, self._moment.time_s
        dims = camera.image_width // 2 * 2, camera.image_height // 2 * 2
        times_s = start_s + np.arange(0, self._film_s.value, 1 / FILM_FPS)
        note = client.add_notification(
            "Filming", f"{len(times_s)} pictures", loading=True, with_close_button=False
        )
        self._filming = True
        try:
            film = film_of(client, self._film_moment, times_s, dims, FILM_FPS)
            client.send_file_download(f"caudal-{self.run.vehicle.name}.mp4", film, save_immediately=True)
        except output.UsageError as error:
            client.add_notification("No film", str(error), color="red")
        finally:
            self._filming = False
            note.remove()

    def _film_moment(self, time_s: float) -> None:
        """Of a log any instant; of a run that goes on, what there is when it is time."""
        if self._recorded:
            self.stage.show(self._recorded.at(min(time_s, self._recorded.end_s)))
            return
        while (
            self._moment is not None
            and self._moment.time_s < time_s
            and not getattr(self.run.source, "ended", True)
        ):
            time.sleep(0.005)
        if self._moment is not None:
            self.stage.show(self._moment)
