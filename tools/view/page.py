"""The page of a view: scene and panels, updated with each snapshot."""

from __future__ import annotations

import contextlib
import io
import logging
import socket
import time
from collections.abc import Callable

import numpy as np
import viser

from caudal.onboard.log.reader import Event
from caudal.tools.common import output
from caudal.tools.log.live_run import LiveSource
from caudal.tools.log.recorded_run import RecordedRun, Run, Snapshot
from caudal.tools.view.control_panel import ControlPanel
from caudal.tools.view.force_arrows import WATER_HINT
from caudal.tools.view.handles import set_value
from caudal.tools.view.scene import FOV_RAD, Scene, VehicleView
from caudal.tools.view.status_panels import EventsPanel, FailsafePanel, StatePanel, TimingPanel
from caudal.tools.view.timeline import Timeline
from caudal.tools.view.video import Size, encoded, render, video_bytes
from caudal.tools.view.world import PLAN_S

UPDATES_PER_S = 30
PANELS_PER_S = 6
OPENED = 1.3, 0.6  # width by height of a browser window, and the share of it that panels leave free
PICTURED = 0.82  # share of a screenshot that the vehicle takes
PLAN_HINT = f"of a time-based trajectory the next {PLAN_S:g} s"
FORCES_HINT = "per body, to the same scale: pale weight, blue buoyancy"
VIDEO_FPS = 25
LIGHT_HINT = "slow without a graphics card"
NOBODY = "nothing"  # choice of the camera that follows no vehicle


def serve(host: str, port: int) -> viser.ViserServer:
    """Starts to serve an empty page, which browsers load while the run is read."""
    _check(host, port)
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # a browser that disconnects is not an error
    with contextlib.redirect_stdout(io.StringIO()):  # viser prints its address in a frame
        try:
            return viser.ViserServer(host=host, port=port, label="caudal", verbose=False)
        except OSError as error:
            raise output.UsageError(
                f"the page cannot be served on {host}:{port}: {error.strerror}"
            ) from error


def _check(host: str, port: int) -> None:
    """Raises UsageError for an address that is not on this machine; viser would search for a free port for ever."""
    if port > 65535:
        raise output.UsageError(f"--port {port} is out of range; the largest port is 65535")
    try:
        family, kind, *_, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.bind(address)
    except OSError as error:
        reason = f"{error.strerror}; give an address of this machine, or 0.0.0.0 for all"
        raise output.UsageError(f"the page cannot be served on {host}: {reason}") from error


def stop(server: viser.ViserServer) -> None:
    """Stops serving a page."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


class Page:
    """A page with the scene of a run and its panels."""

    def __init__(self, run: Run, server: viser.ViserServer) -> None:
        self.run = run
        self.server = server
        gui = self.server.gui
        gui.set_panel_label(run.title)
        gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=(24, 126, 166), control_width="medium"
        )
        self.server.initial_camera.fov = FOV_RAD
        self.scene = Scene(self.server, run)
        self._vehicle = run.names[0]
        self._control_panel: ControlPanel | None = None
        self._recorded: RecordedRun | None = None
        self._events_read = 0
        self._panels_s = 0.0
        self._due_s = 0.0
        self._shown: tuple[float, int] | None = None
        self._framed = False
        self._changes = 0  # of options: the same snapshot has to be shown again
        self._snapshot: Snapshot | None = None
        self._recording = False
        if len(run.names) > 1:
            vehicle = gui.add_dropdown("Vehicle", tuple(run.names))
            vehicle.on_update(lambda _: self._choose(vehicle.value))
        self._tabs = gui.add_tab_group()
        with self._tabs.add_tab("Vehicle"):
            self._state = StatePanel(gui, run)
            with gui.add_folder("Failsafes"):
                self._failsafes = FailsafePanel(gui, run)
            with gui.add_folder("Loop"):
                self._timing = TimingPanel(gui, run)
            with gui.add_folder("Events"):
                self._events = EventsPanel(gui)
        with self._tabs.add_tab("Show"):
            self._add_options(gui)
        with self._tabs.add_tab("Export"):
            self._add_export(gui)

    def _add_options(self, gui: viser.GuiApi) -> None:
        scene, vehicles = self.scene, list(self.scene.vehicles.values())

        def option(
            label: str, start: bool, apply: Callable[[bool], None], hint: str | None = None
        ) -> viser.GuiCheckboxHandle:
            box = gui.add_checkbox(label, start, hint=hint)

            def change(_: object) -> None:
                apply(box.value)
                self._changes += 1

            box.on_update(change)
            return box

        def of_each(part: Callable[[VehicleView], object], what: str = "visible") -> Callable[[bool], None]:
            def apply(on: bool) -> None:
                for vehicle in vehicles:
                    setattr(part(vehicle), what, on)

            return apply

        self._follow = gui.add_dropdown("Camera follows", (NOBODY, *self.run.names), initial_value=NOBODY)
        self._follow.on_update(
            lambda _: scene.follow(None if self._follow.value == NOBODY else self._follow.value)
        )
        if scene.world.pool:
            gui.add_button("Show the whole pool").on_click(lambda event: self._show_pool(event.client))
        self._light = option("Shadows and reflections", False, scene.light, LIGHT_HINT)
        option("Water", True, lambda on: setattr(scene.world.surface, "visible", on))
        option("Trails", True, of_each(lambda vehicle: vehicle.trail))
        option("Names", True, of_each(lambda vehicle: vehicle.label))
        option("Position set-point", True, of_each(lambda vehicle: vehicle.set_point))
        if plan := scene.world.plan:
            option("Planned path", True, lambda on: setattr(plan.handle, "visible", on), PLAN_HINT)
        self._sonar = self._weight = self._water = None
        if vehicles[0].sonar:
            self._sonar = option("Sonar", False, of_each(lambda vehicle: vehicle.sonar))
        if vehicles[0].meshes.thrusters:
            hint = "green ahead, red astern; longer is stronger"
            option("Thrust", True, of_each(lambda vehicle: vehicle.arrows, "thrust"), hint)
        if self.run.vehicle.plant.tree:
            apply = of_each(lambda vehicle: vehicle.arrows, "weight")
            self._weight = option("Weight and buoyancy", False, apply, FORCES_HINT)
        if scene.water:
            apply = of_each(lambda vehicle: vehicle.water_arrows)
            self._water = option("Forces of the water", False, apply, WATER_HINT)

    def set_options(self, sonar: bool, forces: bool, light: bool) -> None:
        """Sets options as if a user did; those that the run does not have stay off."""
        set_value(self._light, light)
        for box, on in ((self._sonar, sonar), (self._weight, forces), (self._water, forces)):
            if box and on:
                set_value(box, True)

    def _add_export(self, gui: viser.GuiApi) -> None:
        gui.add_button("Save a screenshot").on_click(lambda event: self._save_screenshot(event.client))
        self._video_s = gui.add_slider("Video (s)", min=1, max=120, step=1, initial_value=10)
        video = gui.add_button("Save a video", hint="from now on; your browser renders it frame by frame")
        video.on_click(lambda event: self._save_video(event.client))

    def _choose(self, vehicle: str) -> None:
        self._vehicle = vehicle
        if self._control_panel:
            self._control_panel.choose(vehicle)
        self._changes += 1

    def add_timeline(self, recorded: RecordedRun) -> Timeline:
        """Adds the timeline of a log at the lower edge."""
        panel = self.server.gui.add_panel()
        with panel.add_tab("Timeline"):
            timeline = Timeline(self.server.gui, recorded)
        panel.float(x=15, y=-15, width=460)
        self._recorded = recorded
        return timeline

    def add_control_panel(self, source: LiveSource) -> None:
        """Adds the control panel if the run accepts commands."""
        if source.controls:
            with self._tabs.add_tab("Control"):
                self._control_panel = ControlPanel(self.server.gui, self.run, source)

    def open(self, snapshot: Snapshot) -> None:
        """Shows the first snapshot and lets the camera follow the first vehicle from nearby."""
        self.scene.show(snapshot)
        position, aim = self.scene.frame(snapshot, *OPENED)
        self.server.initial_camera.position, self.server.initial_camera.look_at = position, aim
        set_value(self._follow, self._vehicle)
        self.scene.follow(self._vehicle, aim, position)
        self.server.on_client_connect(self.scene.welcome)

    def show_in(self, client: viser.ClientHandle, snapshot: Snapshot, size: Size) -> None:
        """Shows a snapshot in a browser for a screenshot; the first one sets the camera."""
        if not self._framed:
            self.scene.show(snapshot)
            self._framed = True
            position, aim = self.scene.frame(snapshot, size[0] / size[1], PICTURED)
            client.camera.position, client.camera.look_at, client.camera.fov = position, aim, FOV_RAD
            self.scene.follow(self._vehicle, aim)
        self.scene.show(snapshot)

    def _show_pool(self, client: viser.ClientHandle | None) -> None:
        set_value(self._follow, NOBODY)
        self.scene.follow(None)
        if client:
            client.camera.position, client.camera.look_at = self.scene.frame_all()

    def update(self, snapshot: Snapshot) -> None:
        """Shows a snapshot unless it is shown already."""
        self._snapshot = snapshot
        if self._recording:
            return
        now = (snapshot.time_s, self._changes)
        if now != self._shown:
            self._shown = now
            self.scene.show(snapshot)
            if self._due_s >= self._panels_s:
                self._panels_s = self._due_s + 1 / PANELS_PER_S
                self._update_panels(snapshot)
        elif self._panels_s:
            self._update_panels(snapshot)
            self._panels_s = 0.0
        if self._control_panel:
            self._control_panel.update(snapshot, self.viewed)

    @property
    def viewed(self) -> bool:
        """Whether a browser is connected."""
        return bool(self.server.get_clients())

    def wait(self, per_second: float = UPDATES_PER_S) -> None:
        """Waits until the next update is due."""
        now = time.monotonic()
        self._due_s = max(self._due_s + 1 / per_second, now)
        time.sleep(self._due_s - now)

    def _update_panels(self, snapshot: Snapshot) -> None:
        vehicle, source = self.scene.vehicles[self._vehicle], self.run.source
        self._state.show(snapshot, self._vehicle, vehicle.immersed)
        self._failsafes.show(snapshot, self._vehicle)
        self._timing.show(snapshot, self._vehicle)
        if self._water and self._water.hint != vehicle.water_arrows.hint:
            self._water.hint = vehicle.water_arrows.hint
        self._events.show(source.events, source.start_ns, snapshot.time_s)
        if self._control_panel:
            self._notify_rejections(source.events)

    def _notify_rejections(self, events: list[Event]) -> None:
        """Notifies all browsers why a command was rejected."""
        for event in events[self._events_read :]:
            if event.details.get("refused"):
                for client in self.server.get_clients().values():
                    client.add_notification(
                        "Command rejected",
                        str(event.details["refused"]),
                        auto_close_seconds=8,
                        color="orange",
                    )
        self._events_read = len(events)

    def hide_labels(self) -> None:
        """Hides the name of a single vehicle for screenshots."""
        if len(self.run.names) == 1:
            for vehicle in self.scene.vehicles.values():
                vehicle.label.visible = False

    def _save_screenshot(self, client: viser.ClientHandle | None) -> None:
        if client is None:
            return
        picture = render(client, client.camera.image_width, client.camera.image_height)
        client.send_file_download(
            f"caudal-{self.run.vehicle.name}.png", encoded(picture), save_immediately=True
        )

    def _save_video(self, client: viser.ClientHandle | None) -> None:
        if client is None or self._recording or self._snapshot is None:
            return
        camera = client.camera
        size = camera.image_width // 2 * 2, camera.image_height // 2 * 2
        times_s = self._snapshot.time_s + np.arange(0, self._video_s.value, 1 / VIDEO_FPS)
        notification = client.add_notification(
            "Recording a video", f"{len(times_s)} frames", loading=True, with_close_button=False
        )
        self._recording = True
        try:
            video = video_bytes(client, self._show_frame, times_s, size, VIDEO_FPS)
            client.send_file_download(f"caudal-{self.run.vehicle.name}.mp4", video, save_immediately=True)
        except output.UsageError as error:
            client.add_notification("The video failed", str(error), color="red")
        finally:
            self._recording = False
            notification.remove()

    def _show_frame(self, time_s: float) -> None:
        """Shows an instant of a log; of a run in progress, waits for it."""
        if self._recorded:
            self.scene.show(self._recorded.at(min(time_s, self._recorded.end_s)))
            return
        while (
            self._snapshot is not None
            and self._snapshot.time_s < time_s
            and not getattr(self.run.source, "ended", True)
        ):
            time.sleep(0.005)
        if self._snapshot is not None:
            self.scene.show(self._snapshot)
