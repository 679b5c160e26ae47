"""The panel that steers: which knobs a vehicle has, where they stand, and what a hand on them orders."""

from types import SimpleNamespace

import pytest

from caudal.onboard.log.reader import Event
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.faults.kinds import read_fault
from caudal.tools.log.recorded_run import Run, Snapshot
from caudal.tools.view.control_panel import ControlPanel


class Gui:
    """Handles as the page has them, without a page."""

    def __init__(self) -> None:
        self.handles: dict[str, list] = {}

    def __getattr__(self, name):
        def add(label, *values, **options):
            start = options.get("initial_value", values[-1] if values else None)
            handle = SimpleNamespace(label=label, value=start, options=values[0] if values else (), called=[])
            handle.on_update = handle.on_click = handle.called.append
            self.handles.setdefault(label, []).append(handle)
            return handle

        return add

    def add_folder(self, title, **_):
        from contextlib import nullcontext

        return nullcontext()

    def hand(self, label, value=None) -> None:
        (handle,) = self.handles[label]
        if value is not None:
            handle.value = value
        for call in handle.called:
            call(SimpleNamespace(client=object(), target=handle))


class Line(SimpleNamespace):
    def __init__(self, names) -> None:
        super().__init__(controls=names, injects_faults=True, events=[], told=[], faults=[])

    def send(self, vehicle, kind, *values) -> None:
        self.told.append((vehicle, kind, *values))

    def inject_fault(self, vehicle, fault) -> None:
        self.faults.append((vehicle, fault))


def panel(name: str, scenario: str, **wants):
    vehicle, scenario, _ = open_scenario(name, [], scenario)
    fields = {f"/{name}_1/counts": ["x"], f"/{name}_1/state": list(wants)}
    metadata = {"vehicle_file": vehicle.file.text, "vehicle": name, "scenario": scenario}
    source = SimpleNamespace(metadata=metadata, fields=fields, events=[])
    run, gui = Run(source), Gui()
    line = Line([f"{name}_1"])
    handler = ControlPanel(gui, run, line)
    snapshot = Snapshot(1.0, {f"/{name}_1/state": list(wants.values())})
    handler.keep(snapshot, looked_at=True)
    return handler, gui, line, snapshot


@pytest.mark.parametrize(("name", "scenario"), [("fish", "cruise"), ("snake", "turn"), ("ray", "cruise")])
def test_what_beats_has_frequency_amplitude_turn_and_wavelength_once_each(name, scenario):
    _, gui, _, _ = panel(name, scenario)
    for word in ("Frequency", "Amplitude", "Turn", "Wavelength"):
        found = [
            handle for label, handles in gui.handles.items() if label.startswith(word) for handle in handles
        ]
        assert len(found) == 1, word


def test_taking_it_in_hand_changes_nothing_but_what_is_moved():
    _, gui, line, _ = panel("fish", "cruise", want_frequency_hz=1.5, want_deflection_rad=0.0)
    assert not line.told, "what is commanded is shown, and orders nothing"
    gui.hand("Turn (°)", 9.0)
    assert ("fish_1", "mode", "manual") in line.told
    _, kind, ahead, port, up, turn = line.told[-1]
    assert kind == "sticks" and (ahead, port, up, turn) == pytest.approx((1.5 / 2.5, 0.0, 0.0, 0.2))


def test_a_hand_on_a_slider_is_not_overruled_before_the_panel_is_told_of_it():
    handler, gui, line, snapshot = panel("fish", "cruise", want_frequency_hz=1.5, want_deflection_rad=0.0)
    (frequency,) = gui.handles["Frequency (Hz)"]
    frequency.value = 0.5  # a browser's message; whom it calls is called later
    handler.keep(snapshot, looked_at=True)
    gui.hand("Frequency (Hz)")
    assert line.told[-1] == ("fish_1", "sticks", pytest.approx(0.2), 0.0, 0.0, 0.0)


def test_sliders_stand_where_parameters_were_set_by_whomever():
    handler, gui, line, snapshot = panel("snake", "turn")
    (wave,) = gui.handles["Wavelength (m)"]
    assert wave.value == pytest.approx(1.24 / 1.5)
    order = {
        "vehicle": "snake_1",
        "tick": 0,
        "kind": "load",
        "values": [[["GAIT_WAVES", 2.0], ["GAIT_AMP", 0.3]]],
    }
    line.events.append(Event(0, "order", order))
    refused = {"vehicle": "snake_1", "kind": "set", "values": ["GAIT_AMP", 9.0], "refused": "too much"}
    line.events.append(Event(9, "order", refused))
    handler.keep(snapshot, looked_at=True)
    assert wave.value == pytest.approx(0.62) and gui.handles["Amplitude (rad)"][0].value == pytest.approx(0.3)
    assert not line.told
    gui.hand("Wavelength (m)", 0.5)
    assert line.told == [("snake_1", "set", "GAIT_WAVES", pytest.approx(2.48))]


def test_a_fishs_amplitude_keeps_the_waves_shape():
    _, gui, line, _ = panel("fish", "cruise")
    (amplitude,) = gui.handles["Amplitude (m)"]
    gui.hand("Amplitude (m)", 1.2 * amplitude.value)
    assert line.told == [
        ("fish_1", "set", "GAIT_C1", pytest.approx(0.06)),
        ("fish_1", "set", "GAIT_C2", pytest.approx(0.3)),
    ]


def test_a_vehicle_with_thrusters_has_four_sticks():
    _, gui, line, _ = panel("rov", "station")
    for label, value in (("Ahead (%)", 50), ("Port (%)", -20), ("Up (%)", 10), ("Turn (%)", 100)):
        gui.hand(label, value)
    assert line.told[-1] == ("rov_1", "sticks", 0.5, -0.2, 0.1, 1.0)


@pytest.mark.parametrize(("name", "scenario"), [("fish", "cruise"), ("hybrid", "mode1")])
def test_every_fault_that_may_be_chosen_is_one_for_this_vehicle(name, scenario):
    handler, gui, line, _ = panel(name, scenario)
    (kinds,), (targets,) = gui.handles["Kind"], gui.handles["Of"]
    assert len(kinds.options) > 10
    gui.hand("For how long", "until the end")
    for kind in kinds.options:
        gui.hand("Kind", kind)
        assert targets.value in targets.options
        for target in targets.options:
            gui.hand("Of", target)
            gui.hand("Let it happen")
            fault = read_fault(line.faults[-1][1], handler._run.vehicle, now_s=3.0)
            assert (fault.kind.name, fault.target, fault.at_s) == (kind, target, 3.0)
            assert not fault.kind.needs
