"""The panel by which a view steers: arming, modes, sliders of gait and sticks, parameters, and faults to rehearse."""

from __future__ import annotations

import math
import time
from typing import Any

from caudal.tools.faults.kinds import upsets_of
from caudal.tools.log.live_run import LiveSource
from caudal.tools.log.recorded_run import Run, Snapshot
from caudal.tools.view.gait_sliders import Knob, knobs

STICKS_S = 0.2  # between two orders of the sticks: they are heard to be alive
LASTS = {"1 s": 1.0, "5 s": 5.0, "20 s": 20.0, "until the end": math.inf}
LIKELY = ("silent", "depth")


class ControlPanel:
    """Orders for the vehicle chosen. What is not in this vehicle's file has no knob.

    A slider stands at what is so now: at what is commanded, and where a parameter was set to, by whomever. Only a
    hand on it gives an order.
    """

    def __init__(self, gui: Any, run: Run, line: LiveSource) -> None:
        self._run = run
        self._line = line
        self.vehicle = run.names[0]
        self._sticks_at_s = 0.0
        self._manual = False
        self._settings = run.vehicle.settings
        self._params = {param["name"]: param for param in self._settings.get("params") or []}
        start = {name: param["default"] for name, param in self._params.items()}
        self._values = {name: dict(start) for name in run.names}
        self._heard = 0
        self._sticks: dict[str, tuple[Any, int, float]] = {}  # slider, which stick, what a full one is
        self._sliders: list[tuple[Any, Knob]] = []
        self._told: dict[str, float] = {}  # where each slider was put last, by its label
        self._arming(gui)
        self._gait(gui)
        self._parameters(gui)
        if line.injects_faults:
            self._rehearsal(gui)

    def _arming(self, gui: Any) -> None:
        arm = gui.add_button("Arm", color="green")
        disarm = gui.add_button("Disarm", color="red")
        arm.on_click(lambda _: self._tell("arm"))
        disarm.on_click(lambda _: self._tell("disarm"))
        self._modes = _modes(self._run)
        modes = [mode for mode in self._modes if mode not in ("goto", "mission")]
        self._mode = gui.add_button_group("Mode", modes)
        self._mode.on_click(lambda event: self._ask_mode(event.target.value))

    def _ask_mode(self, mode: str) -> None:
        self._manual = mode == "manual"
        if self._manual:
            self._hold_sticks()
        self._tell("mode", mode)

    def _gait(self, gui: Any) -> None:
        """Sticks and what shapes the wave. Moving a stick takes the vehicle in hand (mode manual)."""
        shapes = knobs(self._settings)
        tail = self._settings["sticks"]
        if "manual" not in self._modes:
            tail = None
        elif not tail:
            with gui.add_folder("Sticks"):
                for k, label in enumerate(("Ahead", "Port", "Up", "Turn")):
                    self._stick(gui, f"{label} (%)", k, 100.0, 5.0, "of what control.cruise allows")
        if not (tail or shapes):
            return
        with gui.add_folder("Gait"):
            if tail:
                full_hz = tail["frequency_hz"]
                self._stick(gui, "Frequency (Hz)", 0, full_hz, 0.05, "tail-beat; backwards below 0")
                self._stick(gui, "Turn (°)", 3, tail["deflection_deg"], 1.0, "to port above 0")
                if tail["depth_m_s"]:
                    self._stick(gui, "Climb (m/s)", 2, tail["depth_m_s"], 0.01, "rate of the wanted depth")
            for knob in shapes:
                self._slider(gui, knob, (knob.high - knob.low) / 200)

    def _stick(self, gui: Any, label: str, stick: int, full: float, step: float, hint: str) -> None:
        slider = gui.add_slider(label, min=-full, max=full, step=step, initial_value=0.0, hint=hint)
        self._sticks[label] = slider, stick, full

        def moved(event: Any) -> None:
            if event.client is not None:
                self._told[label] = slider.value
                self._take_in_hand()

        self._told[label] = slider.value
        slider.on_update(moved)

    def _take_in_hand(self) -> None:
        if not self._manual:
            self._ask_mode("manual")
        self._hold_sticks()

    def _hold_sticks(self) -> None:
        shares = [0.0] * 4
        for slider, stick, full in self._sticks.values():
            shares[stick] = min(max(float(slider.value) / full, -1.0), 1.0)
        self._tell("sticks", *shares)
        self._sticks_at_s = time.monotonic()

    def _parameters(self, gui: Any) -> None:
        """A slider each number that the file marks as tunable, but for those that a knob of the gait turns alone."""
        alone = {knob.names[0] for _, knob in self._sliders if len(knob.names) == 1}
        rest = [param for name, param in self._params.items() if name not in alone]
        if not rest:
            return
        with gui.add_folder("Parameters", expand_by_default=False):
            for param in rest:
                low, high = float(param["low"]), float(param["high"])
                whole = param.get("kind") == "int"
                label = param["name"].lower() + (f" ({param['unit']})" if param["unit"] else "")
                knob = Knob(label, low, high, param.get("about") or "", (param["name"],))
                self._slider(gui, knob, 1.0 if whole else (high - low) / 200)

    def _slider(self, gui: Any, knob: Knob, step: float) -> None:
        slider = gui.add_slider(
            knob.label, min=knob.low, max=knob.high, step=step or 1.0,
            initial_value=_within(knob, knob.shown(self._values[self.vehicle])), hint=knob.about,
        )  # fmt: skip
        self._sliders.append((slider, knob))

        self._told[knob.label] = slider.value

        def moved(event: Any) -> None:
            if event.client is not None:  # a hand, and not what was heard
                self._told[knob.label] = slider.value
                for name, value in knob.orders(float(event.target.value), self._values[self.vehicle]):
                    self._tell(
                        "set", name, round(value) if self._params[name].get("kind") == "int" else value
                    )

        slider.on_update(moved)

    def _rehearsal(self, gui: Any) -> None:
        """What can befall this vehicle in a simulation: chosen, or in words."""
        fits: dict[str, list[str]] = {}
        for (name, target), kind in upsets_of(self._run.vehicle).items():
            if not kind.needs:
                fits.setdefault(name, []).append(target)
        name, target = LIKELY
        if target not in fits.get(name, ()):
            name, target = next((name, targets[0]) for name, targets in fits.items())
        with gui.add_folder("Rehearse a fault"):
            kinds = gui.add_dropdown("Kind", tuple(fits), initial_value=name)
            targets = gui.add_dropdown("Of", tuple(fits[name]), initial_value=target)
            lasts = gui.add_dropdown("For how long", tuple(LASTS), initial_value="5 s")
            text = gui.add_text("Fault", "", hint="KIND:TARGET@AT+FOR/PERIOD*SIZE, seconds; docs/faults.md")
            begin = gui.add_button("Let it happen", color="orange")

        def write(_: Any = None) -> None:
            if tuple(targets.options) != tuple(fits[kinds.value]):
                before = targets.value
                targets.options = tuple(fits[kinds.value])
                targets.value = before if before in fits[kinds.value] else fits[kinds.value][0]
            for_s = LASTS[lasts.value]
            text.value = f"{kinds.value}:{targets.value}+{for_s:g}"

        for choice in (kinds, targets, lasts):
            choice.on_update(write)
        write()
        begin.on_click(lambda _: self._line.inject_fault(self.vehicle, text.value))

    def _tell(self, kind: str, *values: Any) -> None:
        if self.vehicle in self._line.controls:
            self._line.send(self.vehicle, kind, *values)

    def choose(self, vehicle: str) -> None:
        """Another vehicle is steered from now on; the one before keeps what it was told last."""
        self.vehicle, self._manual = vehicle, False
        self._show_values()

    def keep(self, snapshot: Snapshot, looked_at: bool) -> None:
        """As long as somebody looks, sticks are heard; without anybody the vehicle's own failsafe takes over."""
        self._hear_orders()
        if not self._manual:
            self._show_commanded(snapshot)
            return
        if not looked_at:
            return
        if (
            self._run.mode(snapshot, self.vehicle) not in ("manual", None)
            and time.monotonic() > self._sticks_at_s + 1.0
        ):
            self._manual = False  # somebody else, or a failsafe, has another mode
            return
        if time.monotonic() >= self._sticks_at_s + STICKS_S:
            self._hold_sticks()

    def _show_commanded(self, snapshot: Snapshot) -> None:
        """Frequency and turn that are commanded, so that taking it in hand changes nothing but what is moved."""
        for label, field, unit in (
            ("Frequency (Hz)", "want_frequency_hz", 1.0),
            ("Turn (°)", "want_deflection_rad", math.degrees(1.0)),
        ):
            value = self._run.value(snapshot, f"/{self.vehicle}/state", field)
            if label in self._sticks and value is not None:
                slider, _, full = self._sticks[label]
                self._put(label, slider, min(max(round(value * unit, 3), -full), full))

    def _hear_orders(self) -> None:
        """Parameters that were set, whoever did it, or loaded in the first tick."""
        events = self._line.events
        fresh, self._heard = events[self._heard :], len(events)
        changed = False
        for event in fresh:
            details = event.details
            if event.kind != "order" or details.get("refused") or details.get("vehicle") not in self._values:
                continue
            values, given = self._values[details["vehicle"]], details.get("values") or ()
            pairs = given[0] if details.get("kind") == "load" else [given]
            if details.get("kind") in ("set", "load"):
                values.update({name: float(value) for name, value in pairs if name in values})
                changed = True
        if changed:
            self._show_values()

    def _show_values(self) -> None:
        for slider, knob in self._sliders:
            self._put(knob.label, slider, _within(knob, knob.shown(self._values[self.vehicle])))

    def _put(self, label: str, slider: Any, value: float) -> None:
        """Unless a hand has moved it: of that this panel is told a little later, and it reads the slider then."""
        if slider.value == self._told[label] and abs(slider.value - value) > 1e-9:
            slider.value = value
            self._told[label] = slider.value


def _within(knob: Knob, value: float) -> float:
    return min(max(value, knob.low), knob.high)


def _modes(run: Run) -> list[str]:
    """Of this vehicle in this scenario, as its loop has them."""
    from caudal.tools.vehicle_run.config import NullDriver

    return run.vehicle.build_loop(run.scenario, NullDriver()).handler.modes
