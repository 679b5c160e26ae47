"""Control panel of a view: arming, modes, sliders of gait and manual control, parameters, fault injection."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from caudal.tools.faults.kinds import possible_faults
from caudal.tools.log.live_run import LiveSource
from caudal.tools.log.recorded_run import Run, Snapshot
from caudal.tools.view.gait_sliders import Quantity, quantities
from caudal.tools.view.handles import set_value

if TYPE_CHECKING:
    from viser import GuiApi, GuiButtonGroupHandle, GuiEvent, GuiSliderHandle

STICKS_S = 0.2  # between two manual-control commands, which also keep the link from timing out
DURATIONS = {"1 s": 1.0, "5 s": 5.0, "20 s": 20.0, "until the end": math.inf}
FIRST_FAULT = ("silent", "depth")


class ControlPanel:
    """Sends commands to the chosen vehicle; it shows controls only for what the vehicle file offers.

    Sliders show the current values: set-points, and parameters from any source. Only a change by the user sends a
    command.
    """

    def __init__(self, gui: GuiApi, run: Run, source: LiveSource) -> None:
        self._run = run
        self._source = source
        self.vehicle = run.names[0]
        self._sticks_at_s = 0.0
        self._manual = False
        self._settings = run.vehicle.settings
        self._params = {param.name: param for param in self._settings.params}
        start = {name: param.default for name, param in self._params.items()}
        self._values: dict[str, dict[str, float]] = {name: dict(start) for name in run.names}
        self._events_read = 0
        self._sticks: dict[
            str, tuple[GuiSliderHandle[float], int, float]
        ] = {}  # slider, stick, value at 100 %
        self._sliders: list[tuple[GuiSliderHandle[float], Quantity]] = []
        self._shown: dict[str, float] = {}  # last value that the panel gave a slider, by its label
        self._add_arming(gui)
        self._add_gait(gui)
        self._add_parameters(gui)
        if source.injects_faults:
            self._add_faults(gui)

    def _add_arming(self, gui: GuiApi) -> None:
        arm = gui.add_button("Arm", color="green")
        disarm = gui.add_button("Disarm", color="red")
        arm.on_click(lambda _: self._send("arm"))
        disarm.on_click(lambda _: self._send("disarm"))
        self._modes = _modes(self._run)
        modes = [mode for mode in self._modes if mode not in ("goto", "mission")]
        mode: GuiButtonGroupHandle = gui.add_button_group("Mode", modes)
        mode.on_click(lambda event: self._request_mode(event.target.value))

    def _request_mode(self, mode: str) -> None:
        self._manual = mode == "manual"
        if self._manual:
            self._send_sticks()
        self._send("mode", mode)

    def _add_gait(self, gui: GuiApi) -> None:
        """Adds manual control and the shape of the wave; moving a stick switches to mode manual."""
        shapes = quantities(self._settings)
        tail = self._settings.sticks
        if "manual" not in self._modes:
            tail = None
        elif not tail:
            with gui.add_folder("Manual control"):
                for k, label in enumerate(("Ahead", "Port", "Up", "Turn")):
                    self._add_stick(
                        gui, f"{label} (%)", k, 100.0, 5.0, "share of the limit in control.cruise"
                    )
        if not (tail or shapes):
            return
        with gui.add_folder("Gait"):
            if tail:
                full_hz = tail.frequency_hz
                self._add_stick(gui, "Frequency (Hz)", 0, full_hz, 0.05, "tail beat; negative swims backward")
                self._add_stick(gui, "Turn (°)", 3, tail.deflection_deg, 1.0, "positive to port")
                if tail.depth_m_s:
                    hint = "rate of change of the depth set-point"
                    self._add_stick(gui, "Climb (m/s)", 2, tail.depth_m_s, 0.01, hint)
            for quantity in shapes:
                self._add_slider(gui, quantity, (quantity.high - quantity.low) / 200)

    def _add_stick(self, gui: GuiApi, label: str, stick: int, full: float, step: float, hint: str) -> None:
        slider = gui.add_slider(label, min=-full, max=full, step=step, initial_value=0.0, hint=hint)
        self._sticks[label] = slider, stick, full

        def moved(event: GuiEvent[GuiSliderHandle[float]]) -> None:
            if event.client is not None:
                self._shown[label] = slider.value
                if not self._manual:
                    self._request_mode("manual")
                self._send_sticks()

        self._shown[label] = slider.value
        slider.on_update(moved)

    def _send_sticks(self) -> None:
        shares = [0.0] * 4
        for slider, stick, full in self._sticks.values():
            shares[stick] = min(max(float(slider.value) / full, -1.0), 1.0)
        self._send("sticks", *shares)
        self._sticks_at_s = time.monotonic()

    def _add_parameters(self, gui: GuiApi) -> None:
        """Adds a slider for each tunable parameter that no slider of the gait changes alone."""
        alone = {quantity.names[0] for _, quantity in self._sliders if len(quantity.names) == 1}
        rest = [param for name, param in self._params.items() if name not in alone]
        if not rest:
            return
        with gui.add_folder("Parameters", expand_by_default=False):
            for param in rest:
                low, high = float(param.low), float(param.high)
                label = param.name.lower() + (f" ({param.unit})" if param.unit else "")
                quantity = Quantity(label, low, high, param.description or "", (param.name,))
                self._add_slider(gui, quantity, 1.0 if param.kind == "int" else (high - low) / 200)

    def _add_slider(self, gui: GuiApi, quantity: Quantity, step: float) -> None:
        slider = gui.add_slider(
            quantity.label, min=quantity.low, max=quantity.high, step=step or 1.0, initial_value=self._value(quantity),
            hint=quantity.description,
        )  # fmt: skip
        self._sliders.append((slider, quantity))
        self._shown[quantity.label] = slider.value

        def moved(event: GuiEvent[GuiSliderHandle[float]]) -> None:
            if event.client is not None:  # a user, not this panel
                self._shown[quantity.label] = slider.value
                for name, value in quantity.changes(float(slider.value), self._values[self.vehicle]):
                    self._send("set", name, round(value) if self._params[name].kind == "int" else value)

        slider.on_update(moved)

    def _add_faults(self, gui: GuiApi) -> None:
        """Adds fault injection into a simulation: chosen from lists, or as text."""
        fits: dict[str, list[str]] = {}
        for (name, target), kind in possible_faults(self._run.vehicle).items():
            if not kind.needs:
                fits.setdefault(name, []).append(target)
        name, target = FIRST_FAULT
        if target not in fits.get(name, ()):
            name, target = next((name, targets[0]) for name, targets in fits.items())
        with gui.add_folder("Inject a fault"):
            kinds = gui.add_dropdown("Kind", tuple(fits), initial_value=name)
            targets = gui.add_dropdown("Target", tuple(fits[name]), initial_value=target)
            durations = gui.add_dropdown("Duration", tuple(DURATIONS), initial_value="5 s")
            text = gui.add_text(
                "Fault", "", hint="KIND:TARGET@AT+FOR/PERIOD*SIZE, seconds; see docs/faults.md"
            )
            inject = gui.add_button("Inject", color="orange")

        def write(_: object = None) -> None:
            if tuple(targets.options) != tuple(fits[kinds.value]):
                before = targets.value
                targets.options = tuple(fits[kinds.value])
                set_value(targets, before if before in fits[kinds.value] else fits[kinds.value][0])
            set_value(text, f"{kinds.value}:{targets.value}+{DURATIONS[durations.value]:g}")

        for choice in (kinds, targets, durations):
            choice.on_update(write)
        write()
        inject.on_click(lambda _: self._source.inject_fault(self.vehicle, text.value))

    def _send(self, kind: str, *values: Any) -> None:
        if self.vehicle in self._source.controls:
            self._source.send(self.vehicle, kind, *values)

    def choose(self, vehicle: str) -> None:
        """Controls another vehicle from now on; the one before keeps its last command."""
        self.vehicle, self._manual = vehicle, False
        self._show_values()

    def update(self, snapshot: Snapshot, viewed: bool) -> None:
        """Updates the sliders; in mode manual it repeats the sticks while a browser is connected.

        Without a browser the vehicle's link timeout takes over.
        """
        self._read_events()
        if not self._manual:
            self._show_set_points(snapshot)
            return
        if not viewed:
            return
        if (
            self._run.mode(snapshot, self.vehicle) not in ("manual", None)
            and time.monotonic() > self._sticks_at_s + 1.0
        ):
            self._manual = False  # another user, or a failsafe, has changed the mode
            return
        if time.monotonic() >= self._sticks_at_s + STICKS_S:
            self._send_sticks()

    def _show_set_points(self, snapshot: Snapshot) -> None:
        """Shows frequency and turn set-points, so that switching to manual changes only what the user moves."""
        for label, field, unit in (
            ("Frequency (Hz)", "setpoint_frequency_hz", 1.0),
            ("Turn (°)", "setpoint_deflection_rad", math.degrees(1.0)),
        ):
            value = self._run.value(snapshot, f"/{self.vehicle}/state", field)
            if label in self._sticks and value is not None:
                slider, _, full = self._sticks[label]
                self._show(label, slider, min(max(round(value * unit, 3), -full), full))

    def _read_events(self) -> None:
        """Reads parameters that any source has set, or that were loaded in the first tick."""
        events = self._source.events
        fresh, self._events_read = events[self._events_read :], len(events)
        changed = False
        for event in fresh:
            details = event.details
            if (
                event.kind != "command"
                or details.get("refused")
                or details.get("vehicle") not in self._values
            ):
                continue
            values, given = self._values[details["vehicle"]], details.get("values") or []
            if details.get("kind") in ("set", "load"):
                pairs = given[0] if details["kind"] == "load" else [given]
                values.update({name: float(value) for name, value in pairs if name in values})
                changed = True
        if changed:
            self._show_values()

    def _show_values(self) -> None:
        for slider, quantity in self._sliders:
            self._show(quantity.label, slider, self._value(quantity))

    def _value(self, quantity: Quantity) -> float:
        """Returns the current value of a quantity, within the range of its slider."""
        return min(max(quantity.value(self._values[self.vehicle]), quantity.low), quantity.high)

    def _show(self, label: str, slider: GuiSliderHandle[float], value: float) -> None:
        """Moves a slider unless a user has just moved it; that call comes later and reads the slider then."""
        if slider.value == self._shown[label] and abs(slider.value - value) > 1e-9:
            set_value(slider, value)
            self._shown[label] = slider.value


def _modes(run: Run) -> list[str]:
    """Returns the modes of the vehicle in this scenario."""
    from caudal.onboard.run.null_driver import NullDriver

    modes: list[str] = run.vehicle.build_loop(run.scenario, NullDriver()).handler.modes
    return modes
