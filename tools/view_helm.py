"""The panel by which a view steers: arming, modes, sliders of the gait, parameters, and faults to rehearse."""

from __future__ import annotations

import time
from typing import Any

from tools.view_line import Watched
from tools.view_run import Moment, Run

STICKS_S = 0.2  # between two orders of the sticks: they are heard to be alive


class HelmPanel:
    """Orders for the vehicle chosen. What is not in this vehicle's file has no knob."""

    def __init__(self, gui: Any, run: Run, line: Watched) -> None:
        self._run = run
        self._line = line
        self.vehicle = run.names[0]
        self._sticks_at_s = 0.0
        self._manual = False
        self._settings = run.vehicle.settings
        self._arming(gui)
        if self._settings["sticks"]:
            self._gait(gui)
        self._parameters(gui)
        if line.rehearses:
            self._rehearsal(gui)

    def _arming(self, gui: Any) -> None:
        arm = gui.add_button("Arm", color="green")
        disarm = gui.add_button("Disarm", color="red")
        arm.on_click(lambda _: self._tell("arm"))
        disarm.on_click(lambda _: self._tell("disarm"))
        modes = [mode for mode in _modes(self._run) if mode not in ("goto", "mission")]
        self._mode = gui.add_button_group("Mode", modes)
        self._mode.on_click(lambda event: self._ask_mode(event.target.value))

    def _ask_mode(self, mode: str) -> None:
        self._manual = mode == "manual"
        if self._manual:
            self._hold_sticks()
        self._tell("mode", mode)

    def _gait(self, gui: Any) -> None:
        """Frequency and turn are a pilot's sticks: moving one takes the vehicle in hand (mode manual)."""
        sticks = self._settings["sticks"]
        with gui.add_folder("Gait"):
            top = sticks["frequency_hz"]
            self._frequency = gui.add_slider(
                "Frequency (Hz)",
                min=-top,
                max=top,
                step=0.05,
                initial_value=0.0,
                hint="tail-beat; backwards below 0",
            )
            most = sticks["deflection_deg"]
            self._turn = gui.add_slider(
                "Turn (°)", min=-most, max=most, step=1.0, initial_value=0.0, hint="to port above 0"
            )
        for slider in (self._frequency, self._turn):
            slider.on_update(lambda _: self._take_in_hand())

    def _take_in_hand(self) -> None:
        if not self._manual:
            self._ask_mode("manual")
        self._hold_sticks()

    def _hold_sticks(self) -> None:
        sticks = self._settings["sticks"]
        ahead, turn = 0.0, 0.0
        if sticks:
            ahead = self._frequency.value / sticks["frequency_hz"]
            turn = self._turn.value / sticks["deflection_deg"]
        self._tell("sticks", float(ahead), 0.0, 0.0, float(turn))
        self._sticks_at_s = time.monotonic()

    def _parameters(self, gui: Any) -> None:
        """A slider each number that the file marks as tunable: amplitude and wavelength among a gait's."""
        params = self._settings.get("params") or []
        groups = {"Wave": [p for p in params if p["key"].startswith("gait.")]}
        groups["Parameters"] = [p for p in params if p not in groups["Wave"]]
        for title, found in groups.items():
            if not found:
                continue
            with gui.add_folder(title, expand_by_default=title == "Wave"):
                for param in found:
                    self._parameter(gui, param)

    def _parameter(self, gui: Any, param: dict[str, Any]) -> None:
        low, high = float(param["low"]), float(param["high"])
        label = param["name"].lower()
        if param["key"].startswith("gait."):
            unit = param["unit"]
            label = (
                param["key"]
                .rpartition(".")[2]
                .removesuffix(f"_{unit.lower()}")
                .replace("_", " ")
                .capitalize()
            )
            label += f" ({unit})" if unit else ""
        start = min(max(float(param["default"]), low), high)
        whole = param.get("kind") == "int"
        slider = gui.add_slider(
            label, min=int(low) if whole else low, max=int(high) if whole else high,
            step=1 if whole else (high - low) / 200 or 1.0, initial_value=int(start) if whole else start,
            hint=param.get("about"),
        )  # fmt: skip
        slider.on_update(lambda event: self._tell("set", param["name"], event.target.value))

    def _rehearsal(self, gui: Any) -> None:
        sensors = [sensor["name"] for sensor in self._settings["sensors"]]
        likely = "depth" if "depth" in sensors else sensors[0]
        with gui.add_folder("Rehearse a fault"):
            text = gui.add_text("Fault", f"silent:{likely}@0+5", hint="KIND:TARGET@AT+FOR, seconds")
            begin = gui.add_button("Let it happen", color="orange")
            begin.on_click(lambda _: self._line.rehearse(self.vehicle, text.value))

    def _tell(self, kind: str, *values: Any) -> None:
        if self.vehicle in self._line.steers:
            self._line.tell(self.vehicle, kind, *values)

    def keep(self, moment: Moment, looked_at: bool) -> None:
        """As long as somebody looks, sticks are heard; without anybody the vehicle's own failsafe takes over."""
        if not (self._manual and looked_at):
            return
        if (
            self._run.mode(moment, self.vehicle) not in ("manual", None)
            and time.monotonic() > self._sticks_at_s + 1.0
        ):
            self._manual = False  # somebody else, or a failsafe, has another mode
            return
        if time.monotonic() >= self._sticks_at_s + STICKS_S:
            self._hold_sticks()


def _modes(run: Run) -> list[str]:
    """Of this vehicle in this scenario, as its loop has them."""
    from tools.controlled import NoDriver

    return run.vehicle.build_loop(run.scenario, NoDriver()).helm.modes
