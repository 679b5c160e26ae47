"""`caudal report`: metrics of known motions, changed parameters, incomplete logs, two logs at once."""

import json
import re
from contextlib import contextmanager

import numpy as np
import pytest

from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.run.recording import about_run
from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.log.recorded_run import RecordedRun
from caudal.tools.report.command import write_report
from caudal.tools.report.html import EVENTS
from caudal.tools.report.params import changes
from caudal.tools.report.plot import ReportData
from caudal.tools.report.roll import envelope, power, stability
from caudal.tools.report.tail_beat import beats, beats_of, links_m, rest_m_s, steady, tip_m
from caudal.tools.simulate.simulation import Simulation
from caudal.tools.summary.trial import summarise_trial
from tests.record.logs import without

TIME_S = np.arange(0, 20, 0.01)
LEAST_M = 0.003  # smallest excursion of a beat


def recorded(folder, vehicle: str, *more: str, seconds: float = 1.0):
    path = folder / f"{vehicle}.mcap"
    assert main(["run", vehicle, "--for", str(seconds), "--log", str(path), "--json", *more]) == 0
    return path


@contextmanager
def swimming(path, *overrides: str):
    """A recorded simulation of the fish, which the test steps."""
    vehicle, name, _ = open_scenario("fish", list(overrides), "cruise")
    simulation = Simulation(vehicle, name, 0)
    about = about_run(vehicle, name, "sim")
    with Recorder(path, about, lossless=True) as recorder:
        simulation.record(recorder)
        yield simulation
        simulation.safe()


def test_beats_have_frequency_excursion_and_strouhal_number():
    tip = 0.03 * np.sin(2 * np.pi * 2.0 * TIME_S)
    found = beats(TIME_S, tip, np.full(len(TIME_S), 0.4), LEAST_M)
    assert len(found.time_s) > 70
    assert np.allclose(found.frequency_hz, 2.0, rtol=0.03) and np.allclose(found.excursion_m, 0.06, rtol=0.01)
    assert np.allclose(found.strouhal(0.02), 0.3, rtol=0.03)


def test_strouhal_number_ignores_steering_and_is_absent_at_rest():
    speed = np.where(TIME_S < 10, 0.4, 0.001)
    bent = 0.1 + 0.03 * np.sin(2 * np.pi * 2.0 * TIME_S)
    found = beats(TIME_S, bent, speed, LEAST_M)
    numbers = found.strouhal(0.02)
    moving, resting = found.time_s < 9, found.time_s > 11
    assert np.allclose(numbers[moving], 0.3, rtol=0.03) and np.isnan(numbers[resting]).all()


def test_beats_are_counted_during_a_wide_turn():
    swept = 0.2 * np.tanh(TIME_S - 10) + 0.005 * np.sin(2 * np.pi * 2.0 * TIME_S)
    assert len(beats(TIME_S, swept, np.full(len(TIME_S), 0.4), LEAST_M).time_s) > 50


def test_beats_are_absent_when_the_tail_is_still():
    assert len(beats(TIME_S, np.zeros(len(TIME_S)), np.ones(len(TIME_S)), LEAST_M).time_s) == 0
    assert len(beats(TIME_S[:0], TIME_S[:0], TIME_S[:0], LEAST_M).time_s) == 0


def test_tip_is_off_the_axis_by_the_links_when_the_tail_bends():
    assert tip_m(np.zeros((1, 3)), [0.1, 0.1, 0.1])[0] == 0
    assert tip_m(np.array([[np.pi / 2, 0.0, -np.pi / 2]]), [0.1, 0.1, 0.1])[0] == pytest.approx(0.2)


def test_fish_swims_at_the_strouhal_number_of_its_model(tmp_path):
    data = ReportData(Log(recorded(tmp_path, "fish", "--scenario", "cruise", seconds=20)))
    found = beats_of(data)
    assert found is not None and len(links_m(data.settings.gait)) == 4
    late = found.time_s > 18
    assert found.frequency_hz[late] == pytest.approx(2.0, rel=0.03)
    assert found.strouhal(rest_m_s(data))[late] == pytest.approx(0.3, abs=0.02)  # physics/fish.md
    periods = steady(data)
    assert [round(one.frequency_hz) for one in periods] == [1, 2]
    assert periods[0].speed_m_s < periods[1].speed_m_s and not periods[0].settled


def test_roll_spectrum_peaks_at_the_beat_and_sums_to_the_variance():
    roll = 3.0 * np.sin(2 * np.pi * 1.25 * TIME_S)
    with_beat, against = stability(TIME_S, roll, 1.25), stability(TIME_S, roll, 2.0)
    assert with_beat["roll_power_at_beat"] > 0.99 and against["roll_power_at_beat"] < 0.01
    assert with_beat["roll_rms_deg"] == pytest.approx(3 / np.sqrt(2), rel=0.01)
    assert with_beat["roll_largest_deg"] == pytest.approx(3.0, rel=0.01)
    at_hz, density = power(TIME_S, roll)
    assert density.sum() * at_hz[1] == pytest.approx(4.5, rel=0.02)
    low, high = envelope(roll, 80)
    assert (low <= roll).all() and (roll <= high).all() and np.allclose(high[100:-100], 3.0, rtol=0.01)


def test_report_lists_each_parameter_change_with_time_old_and_new_value(tmp_path):
    path = tmp_path / "set.mcap"
    with swimming(path, "gait.wavelength_m=0.5") as simulation:
        loop = simulation.instances[0].loop
        loop.send("load", [["BEAT_MAX", 2.5]])
        for tick in range(60):
            if tick in (20, 40):
                loop.send("set", "GAIT_C1", 0.06 if tick == 20 else 0.07)
            if tick == 50:
                loop.send("set", "GAIT_C1", 9.0)
            simulation.step()
    listed = changes(ReportData(Log(path)))
    assert [(one.time, one.parameter.split(" ")[0], one.before, one.after) for one in listed[:4]] == [
        ("start", "gait.wavelength_m", "0.45", "0.5"),
        ("0.00 s", "BEAT_MAX", "3 Hz", "2.5 Hz"),
        ("0.20 s", "GAIT_C1", "0.05", "0.06"),
        ("0.40 s", "GAIT_C1", "0.06", "0.07"),
    ]
    assert listed[4].after.startswith("rejected: ") and "out of range" in listed[4].after and len(listed) == 5
    page = write_report(path).read_text()
    assert "<h2>Parameters changed</h2>" in page and "GAIT_C1 (gait.c1)" in page
    assert "command: set" not in page, "set commands are in their table, not among the events"


def test_report_shows_all_other_events_when_manual_control_repeats(tmp_path):
    """Several commands arrive per second: the page of a few minutes would show nothing else."""
    path = tmp_path / "sticks.mcap"
    with swimming(path) as simulation:
        loop = simulation.instances[0].loop
        for tick in range(2 * EVENTS):
            loop.send("sticks", 0.1, 0.0, 0.0, tick / 2000)
            if tick in (20, 2 * EVENTS - 1):
                loop.send("mode", "manual" if tick == 20 else "hold")
            simulation.step()
    sticks = [e for e in Log(path).events if e.details.get("kind") == "sticks"]
    assert len(sticks) > EVENTS
    page = write_report(path).read_text()
    assert (
        page.count("command: sticks") <= 4 and "command: mode manual" in page and "command: mode hold" in page
    )
    shown = RecordedRun(path).events
    assert sum(event.details.get("kind") == "sticks" for event in shown) <= 4
    assert [e for e in shown if e not in sticks] == [e for e in Log(path).events if e not in sticks]


def test_report_says_so_when_all_parameters_are_at_their_defaults(tmp_path):
    assert "All parameters were at their defaults" in write_report(recorded(tmp_path, "fish")).read_text()


@pytest.mark.parametrize(
    "vehicle, tick_s", [("fish", 0.01), ("snake", 0.01), ("ray", 0.01), ("rov", 0.02), ("hybrid", 0.02)]
)
def test_report_has_a_page_when_the_run_is_a_single_tick(tmp_path, vehicle, tick_s):
    path = recorded(tmp_path, vehicle, "--report", seconds=tick_s)
    assert len(Log(path).topics[f"/{vehicle}_1/loop"]) == 1
    page = path.with_suffix(".html").read_text()
    assert page.count("<figcaption>") == page.count("<svg") > 2


def test_report_omits_loop_timing_when_ticks_were_not_timed(tmp_path):
    """In HIL lockstep the controller does not measure time: a line at one microsecond would be false."""
    path = tmp_path / "hil.mcap"
    assert main(["hil", "run", "fish", "--for", "1", "--log", str(path), "--json"]) == 0
    page = write_report(path).read_text()
    assert "<h2>Speed</h2>" in page and "Loop timing" not in page
    assert "<h2>Loop timing</h2>" in write_report(recorded(tmp_path, "fish")).read_text()


def test_report_shows_the_glide_of_a_glide_trial(tmp_path, capsys):
    heavy = [
        "--set",
        "plant.tree.body.0.mass_kg=4.241",
        "--set",
        "plant.tree.body.0.com_m=[0.034,0.0,-0.009]",
    ]
    path = recorded(tmp_path, "ray", "--scenario", "glide", "--report", *heavy, seconds=20)
    page = path.with_suffix(".html").read_text()
    for title in ("Glide path", "Glide polar", "Speed", "Attitude and depth", "Parameters changed"):
        assert f"<h2>{title}</h2>" in page
    found = summarise_trial(Log(path))
    assert found["sink_m_s"] > 0.1 and 10 < found["glide_angle_deg"] < 60
    assert main(["report", str(path)]) == 0
    out = capsys.readouterr().out
    assert (
        "glide_angle_deg" in out and "base_distance_m" in out
    )  # not the path of its centre of mass, which a run gives


def test_report_rejects_a_log_when_its_vehicle_file_lacks_the_scenario(tmp_path, capsys):
    path = recorded(tmp_path, "fish")
    without(path, tmp_path / "odd.mcap", lambda *_: False, scenario="regatta")
    capsys.readouterr()
    assert main(["report", str(tmp_path / "odd.mcap")]) == 2
    message = capsys.readouterr().err
    assert 'no scenario "regatta"' in message and message.count("\n") == 1


def test_report_shows_no_seed_when_the_log_has_none(tmp_path, capsys):
    path = tmp_path / "odd.mcap"
    without(recorded(tmp_path, "fish"), path, lambda *_: False, seed=None)
    capsys.readouterr()
    assert main(["report", str(path)]) == 0 and "(seed" not in capsys.readouterr().out
    assert main(["report", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seed"] is None


def test_report_says_so_when_the_log_is_incomplete(tmp_path, capsys):
    path = recorded(tmp_path, "fish")
    assert main(["report", str(path)]) == 0
    assert "The log is incomplete" not in capsys.readouterr().out
    path.write_bytes(path.read_bytes()[:-200])
    assert main(["report", str(path)]) == 0
    assert "The log is incomplete" in capsys.readouterr().out


def test_report_shows_roll_and_no_glide_of_an_undulation_trial(tmp_path):
    path = recorded(tmp_path, "snake", "--scenario", "undulate", "--report", seconds=3)
    page = path.with_suffix(".html").read_text()
    assert "<h2>Spectrum of roll</h2>" in page and "beat, 1.36 Hz" in page and "Glide" not in page
    assert "glide_angle_deg" not in summarise_trial(Log(path))


def test_report_shows_the_differences_of_two_logs(tmp_path, capsys):
    for name, more in (("a", []), ("b", ["--set", "gait.wavelength_m=0.6"])):
        run = ["run", "fish", "--scenario", "cruise", "--for", "4", "--log", str(tmp_path / f"{name}.mcap")]
        assert main([*run, "--json", *more]) == 0
    both = [str(tmp_path / "a.mcap"), str(tmp_path / "b.mcap")]
    capsys.readouterr()
    assert main(["report", *both]) == 0
    message = capsys.readouterr()
    assert message.err == "" and re.search(r"mean_speed_m_s .* %\)", message.out)
    page = (tmp_path / "a-and-b.html").read_text()
    assert page.count("<h2>Speed</h2>") == 1 and page.count("data-title='Speed'") == 2
    assert "second minus first" in page and page.count("<figcaption>") == page.count("<svg")
    assert main(["report", *both, "--json", "--page", str(tmp_path / "c.html")]) == 0
    assert (tmp_path / "c.html").exists()


def test_report_compares_logs_of_different_vehicles(tmp_path):
    first, second = recorded(tmp_path, "fish"), recorded(tmp_path, "rov")
    assert main(["report", str(first), str(second)]) == 0
    page = (tmp_path / "fish-and-rov.html").read_text()
    assert "This log has no such plot." in page and "Tracking error" in page


def test_share_limits_gives_two_figures_the_same_limits():
    from caudal.tools.common.pyplot import pyplot
    from caudal.tools.report.comparison import share_limits

    drawn = []
    for reach in (1.0, 5.0):
        figure, axes = pyplot().subplots(figsize=(4, reach))
        axes.plot([0, reach], [0, -reach])
        axes.set(xlabel="time, s", ylabel="depth, m")
        axes.invert_yaxis()
        drawn.append(figure)
    share_limits(*drawn)
    a, b = (figure.axes[0] for figure in drawn)
    assert a.get_xlim() == b.get_xlim() and a.get_ylim() == b.get_ylim() and a.get_ylim()[0] > a.get_ylim()[1]
    assert a.get_xlim()[1] >= 5 and drawn[0].get_figheight() == 5
    for figure in drawn:
        pyplot().close(figure)


def test_report_rejects_three_logs(tmp_path, capsys):
    path = str(recorded(tmp_path, "fish", seconds=0.1))
    capsys.readouterr()
    assert main(["report", path, path, path]) == 2
    message = capsys.readouterr()
    assert message.out == "" and message.err.count("\n") == 1 and "two side by side" in message.err


def test_trajectory_is_no_sliver_when_the_run_is_straight(tmp_path):
    from caudal.tools.report.path import trajectory

    data = ReportData(Log(recorded(tmp_path, "fish", "--scenario", "cruise", seconds=3)))
    wide, high = trajectory(data).figure.get_size_inches()
    assert high / wide > 0.25
