"""The control panel: which sliders a vehicle has, what they show, and which commands they send."""

from types import SimpleNamespace

import pytest

from caudal.onboard.log.reader import Event
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.faults.kinds import read_fault
from caudal.tools.log.recorded_run import Run, Snapshot
from caudal.tools.view.control_panel import ControlPanel


class Gui:
    """Stands for the controls of a page."""

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

    def change(self, label, value=None) -> None:
        """Does what a user does in the browser."""
        (handle,) = self.handles[label]
        if value is not None:
            handle.value = value
        for call in handle.called:
            call(SimpleNamespace(client=object(), target=handle))


class Source(SimpleNamespace):
    def __init__(self, names) -> None:
        super().__init__(controls=names, injects_faults=True, events=[], sent=[], faults=[])

    def send(self, vehicle, kind, *values) -> None:
        self.sent.append((vehicle, kind, *values))

    def inject_fault(self, vehicle, fault) -> None:
        self.faults.append((vehicle, fault))


def panel(name: str, scenario: str, **wants):
    vehicle, scenario, _ = open_scenario(name, [], scenario)
    fields = {f"/{name}_1/counts": ["x"], f"/{name}_1/state": list(wants)}
    metadata = {"vehicle_file": vehicle.file.text, "vehicle": name, "scenario": scenario}
    source = SimpleNamespace(metadata=metadata, fields=fields, events=[])
    run, gui = Run(source), Gui()
    source = Source([f"{name}_1"])
    control_panel = ControlPanel(gui, run, source)
    snapshot = Snapshot(1.0, {f"/{name}_1/state": list(wants.values())})
    control_panel.update(snapshot, viewed=True)
    return control_panel, gui, source, snapshot


@pytest.mark.parametrize(("name", "scenario"), [("fish", "cruise"), ("snake", "turn"), ("ray", "cruise")])
def test_panel_has_each_gait_slider_once(name, scenario):
    _, gui, _, _ = panel(name, scenario)
    for word in ("Frequency", "Amplitude", "Turn", "Wavelength"):
        found = [
            handle for label, handles in gui.handles.items() if label.startswith(word) for handle in handles
        ]
        assert len(found) == 1, word


def test_switching_to_manual_changes_only_the_moved_stick():
    _, gui, source, _ = panel("fish", "cruise", setpoint_frequency_hz=1.5, setpoint_deflection_rad=0.0)
    assert not source.sent, "showing a set-point sent a command"
    gui.change("Turn (°)", 9.0)
    assert ("fish_1", "mode", "manual") in source.sent
    _, kind, ahead, port, up, turn = source.sent[-1]
    assert kind == "sticks" and (ahead, port, up, turn) == pytest.approx((1.5 / 2.5, 0.0, 0.0, 0.2))


def test_update_keeps_a_slider_that_the_user_has_just_moved():
    control_panel, gui, source, snapshot = panel(
        "fish", "cruise", setpoint_frequency_hz=1.5, setpoint_deflection_rad=0.0
    )
    (frequency,) = gui.handles["Frequency (Hz)"]
    frequency.value = 0.5  # a browser's message; the callback comes later
    control_panel.update(snapshot, viewed=True)
    gui.change("Frequency (Hz)")
    assert source.sent[-1] == ("fish_1", "sticks", pytest.approx(0.2), 0.0, 0.0, 0.0)


def test_sliders_show_parameters_set_by_any_source():
    control_panel, gui, source, snapshot = panel("snake", "turn")
    (wave,) = gui.handles["Wavelength (m)"]
    assert wave.value == pytest.approx(1.24 / 1.5)
    command = {
        "vehicle": "snake_1",
        "tick": 0,
        "kind": "load",
        "values": [[["GAIT_WAVES", 2.0], ["GAIT_AMP", 0.3]]],
    }
    source.events.append(Event(0, "command", command))
    refused = {"vehicle": "snake_1", "kind": "set", "values": ["GAIT_AMP", 9.0], "refused": "too much"}
    source.events.append(Event(9, "command", refused))
    control_panel.update(snapshot, viewed=True)
    assert wave.value == pytest.approx(0.62) and gui.handles["Amplitude (rad)"][0].value == pytest.approx(0.3)
    assert not source.sent
    gui.change("Wavelength (m)", 0.5)
    assert source.sent == [("snake_1", "set", "GAIT_WAVES", pytest.approx(2.48))]


def test_amplitude_of_the_fish_keeps_the_shape_of_its_wave():
    _, gui, source, _ = panel("fish", "cruise")
    (amplitude,) = gui.handles["Amplitude (m)"]
    gui.change("Amplitude (m)", 1.2 * amplitude.value)
    assert source.sent == [
        ("fish_1", "set", "GAIT_C1", pytest.approx(0.06)),
        ("fish_1", "set", "GAIT_C2", pytest.approx(0.3)),
    ]


def test_vehicle_with_thrusters_has_four_sticks():
    _, gui, source, _ = panel("rov", "station")
    for label, value in (("Ahead (%)", 50), ("Port (%)", -20), ("Up (%)", 10), ("Turn (%)", 100)):
        gui.change(label, value)
    assert source.sent[-1] == ("rov_1", "sticks", 0.5, -0.2, 0.1, 1.0)


@pytest.mark.parametrize(("name", "scenario"), [("fish", "cruise"), ("hybrid", "mode1")])
def test_every_listed_fault_suits_the_vehicle(name, scenario):
    control_panel, gui, source, _ = panel(name, scenario)
    (kinds,), (targets,) = gui.handles["Kind"], gui.handles["Target"]
    assert len(kinds.options) > 10
    gui.change("Duration", "until the end")
    for kind in kinds.options:
        gui.change("Kind", kind)
        assert targets.value in targets.options
        for target in targets.options:
            gui.change("Target", target)
            gui.change("Inject")
            fault = read_fault(source.faults[-1][1], control_panel._run.vehicle, now_s=3.0)
            assert (fault.kind.name, fault.target, fault.at_s) == (kind, target, 3.0)
            assert not fault.kind.needs
