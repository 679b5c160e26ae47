"""The commands as a user types them: output, exit codes, errors and interruptions."""

import csv
import json
import re
import signal
import subprocess
import sys

import pytest

from caudal.onboard.log.reader import Log
from caudal.tools.cli.main import main
from caudal.tools.common import output
from tests.conftest import ROOT
from tests.waiting import LIMIT_S, wait_for


def test_gait_writes_a_csv_table_with_small_errors(caudal):
    result = caudal.json("gait", "fish", "--rows", 18)
    assert result["lateral_error_mm"] < 0.6
    assert result["chord_error_mm"] < 3
    assert result["node_error_m"] < 1e-9
    with open(caudal.folder / result["csv"], newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 1 + 18 and all(len(row) == 4 for row in rows)
    assert all(abs(float(cell)) < 1 for row in rows[1:] for cell in row)
    assert (caudal.folder / result["plot"]).read_text().startswith("<?xml")


def test_gait_writes_its_table_to_the_given_file(caudal):
    assert caudal("gait", "fish", "--rows", 18, "--csv", "table.csv").returncode == 0
    with open(caudal.folder / "table.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 1 + 18 and all(name.endswith("_rad") for name in rows[0])
    assert not (caudal.folder / "runs").exists()


def test_gait_rejects_a_vehicle_without_a_gait(caudal):
    done = caudal("gait", "rov")
    assert done.returncode == 2 and "rov has no gait" in done.stderr and done.stderr.count("\n") == 1


def test_list_names_every_scenario(caudal):
    assert set(caudal.json("list")["fish"]) == {"pool", "articulated", "cruise", "figures", "track", "pursue"}
    assert "pool" in caudal("list").stdout


def test_run_prints_a_table_and_the_paths_of_log_and_report(caudal):
    done = caudal("run", "fish", "--for", 3, "--report")
    assert done.returncode == 0 and "fish_3" in done.stdout
    page = (caudal.folder / "runs" / "fish-pool-0.html").read_text()
    assert "runs/fish-pool-0.html" in done.stdout and (caudal.folder / "runs" / "fish-pool-0.mcap").exists()
    titles = ("Trajectory", "Speed", "Speed and Strouhal number", "Joint angles", "Clearance", "Loop timing")
    for title in (*titles, "Parameters changed", "Events"):
        assert f"<h2>{title}</h2>" in page
    assert page.count("<svg") == len(titles)
    # one page, nothing fetched: addresses stand only as names of XML dialects and licence notes
    assert not re.search(r"(src|href)=['\"]https?:", page) and "<script" not in page


def test_run_prints_one_json_object_with_json(caudal):
    done = caudal("run", "fish", "--for", 1, "--json")
    result = json.loads(done.stdout)
    assert result["collisions"] == 0 and len(result["vehicles"]) == 3
    assert result["mean_speed_m_s"] == min(vehicle["mean_speed_m_s"] for vehicle in result["vehicles"])


def test_run_does_not_overwrite_the_log_of_an_earlier_run(caudal):
    first = caudal.json("run", "fish", "--for", 1)["log"]
    second = caudal.json("run", "fish", "--for", 1)["log"]
    assert first != second


def test_run_does_not_change_an_earlier_log_when_it_is_rejected(caudal):
    caudal.json("run", "fish", "--for", 1, "--log", "a.mcap")
    before = (caudal.folder / "a.mcap").read_bytes()
    done = caudal("run", "fish", "--log", "a.mcap", "--set", "world.pool.vehicles=60")
    assert done.returncode == 2 and "no place" in done.stderr
    assert (caudal.folder / "a.mcap").read_bytes() == before


def test_run_prints_one_sentence_when_its_log_cannot_be_written(caudal):
    (caudal.folder / "file").write_text("")
    done = caudal("run", "fish", "--for", 1, "--log", "file/a.mcap")
    said = [line for line in done.stderr.splitlines() if line.startswith("caudal: ")]
    assert done.returncode == 2 and len(said) == 1 and "--log" in said[0] and "Traceback" not in done.stderr


def test_run_ends_safe_with_exit_code_1_when_the_controller_raises(tmp_path, monkeypatch, capsys):
    def fails(self, state):
        if state.tick >= 250:
            raise OverflowError("a bug")

    monkeypatch.setattr("caudal.onboard.guidance.avoid.AvoidanceGuidance.step", fails)
    log_path = tmp_path / "a.mcap"
    assert main(["run", "fish", "--for", "5", "--log", str(log_path)]) == 1
    log = Log(log_path)
    faults = [event for event in log.events if event.kind == "fault"]
    assert faults[0].details["reason"] == "guide: OverflowError: a bug" and faults[0].details["tick"] == 250
    assert "OverflowError: a bug" in capsys.readouterr().out
    assert log.topics["/fish_1/outputs"].rows[-1] == (0, 0, 0, 0, 0)
    assert len(log.topics["/fish_1/outputs"]) == 251


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_run_ends_safe_with_a_complete_log_when_stopped_by_signal(tmp_path, stop):
    log_path = tmp_path / "a.mcap"
    command = [sys.executable, "-m", "caudal", "run", "fish", "--for", "36000", "--log", str(log_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    wait_for(lambda: log_path.exists() and log_path.stat().st_size > 100_000, "ticks in the log")
    process.send_signal(stop)
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1 and "actuators are in their safe state" in err and "Traceback" not in err
    assert "fish_1" in out and Log(log_path).complete


def test_run_prints_only_interrupted_when_stopped_before_its_first_tick(tmp_path, monkeypatch, capsys):
    def interrupted(simulation, late_us):
        raise KeyboardInterrupt

    monkeypatch.setattr("caudal.tools.simulate.simulation.Simulation.step", interrupted)
    assert main(["run", "fish", "--for", "5", "--log", str(tmp_path / "a.mcap")]) == 130
    out, err = capsys.readouterr()
    assert out == "" and err.splitlines()[-1] == "caudal: interrupted" and Log(tmp_path / "a.mcap").complete


@pytest.mark.parametrize(
    "passed_s, done, total, line",
    [
        (240.0, 96, 2000, "swimming: 96 of 2000 runs, 0.4 per second, 79 min left"),
        (20.0, 1000, 2000, "swimming: 1000 of 2000 runs, 50 per second, 20 s left"),
        (7200.0, 1, 3, "swimming: 1 of 3 runs, 0.0 per second, 4.0 h left"),
        (10.0, 1e6, None, "swimming: 1000000 runs, 100000 per second"),
    ],
)
def test_progress_prints_count_rate_and_remaining_time(passed_s, done, total, line, capsys, monkeypatch):
    now_s = 1000.0
    monkeypatch.setattr(output.time, "monotonic", lambda: now_s)
    progress = output.Progress("swimming", total, "runs")
    now_s += passed_s
    progress.at(done)
    assert capsys.readouterr().err == line + "\n"


def test_bench_prints_the_cost_of_a_tick(caudal):
    result = caudal.json("bench", "--for", 2)
    assert result["tick_median_us"] > 0 and result["tick_p99_us"] >= result["tick_median_us"]
    assert result["lockstep_ticks_per_s"] > 0 and result["simulated_s_per_wall_s"] > 0
    assert abs(result["tick_growth_bytes"]) < 8
