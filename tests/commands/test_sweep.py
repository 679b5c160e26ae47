"""`caudal sweep`: the same table from one thread, many, or two machines; after an interruption or a lost worker."""

import csv
import json
import signal
import subprocess
import sys

import pytest

from caudal.tools.cli.main import main
from caudal.tools.simulate import rollout
from tests.conftest import ROOT
from tests.waiting import LIMIT_S, wait_for

FREQUENCY = "scenario.cruise.rows.0.frequency_hz"
SHORT = ["sweep", "fish", "--scenario", "cruise", "--for", "5"]
LINE = [*SHORT, "--vary", f"{FREQUENCY}=0.5:2.0:5", "--metric", "mean_speed_m_s", "--metric", "turned_deg"]
PLANE = [*LINE, "--vary", "gait.c1=0.03:0.06:2", "--seeds", "2"]  # 20 points


def sweep(words, out, *more, code=0):
    assert main([*words, "--out", str(out), *map(str, more)]) == code
    return out


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    """The table of PLANE from one thread."""
    return sweep(PLANE, tmp_path_factory.mktemp("plane") / "a.csv", "--jobs", 1)


def test_table_has_a_row_for_every_combination_and_seed_in_grid_order(plane):
    rows = table(plane)
    assert list(rows[0]) == [FREQUENCY, "gait.c1", "seed", "mean_speed_m_s", "turned_deg", "error"]
    places = [(float(row[FREQUENCY]), float(row["gait.c1"]), int(row["seed"])) for row in rows]
    assert len(places) == len(set(places)) == 20 and places == sorted(places)
    assert places[0] == (0.5, 0.03, 0) and places[-1] == (2.0, 0.06, 1)
    assert not any(row["error"] for row in rows)


def test_several_threads_give_the_table_of_one_thread(plane, tmp_path):
    assert sweep(PLANE, tmp_path / "a.csv", "--jobs", 3).read_bytes() == plane.read_bytes()


def test_metrics_of_a_point_equal_those_of_a_run(caudal, plane):
    row = table(plane)[7]
    keys = [f"--set={key}={row[key]}" for key in (FREQUENCY, "gait.c1")]
    ran = caudal.json("run", "fish", "--scenario", "cruise", "--for", 5, "--seed", row["seed"], *keys)
    assert float(row["mean_speed_m_s"]) == pytest.approx(ran["mean_speed_m_s"], rel=1e-12)


def test_summary_gives_the_extremes_and_their_points(tmp_path, capsys):
    result_of(capsys)
    sweep(LINE, tmp_path / "a.csv", "--json")
    result, rows = result_of(capsys), table(tmp_path / "a.csv")
    speeds = [float(row["mean_speed_m_s"]) for row in rows]
    found = result["measures"]["mean_speed_m_s"]
    assert (found["min"], found["max"]) == (min(speeds), max(speeds))
    assert found["mean"] == pytest.approx(sum(speeds) / 5)
    assert found["max_at"] == {FREQUENCY: float(rows[speeds.index(max(speeds))][FREQUENCY])}
    assert (result["points"], result["failed"], result["resumed"]) == (5, 0, 0)
    assert (tmp_path / "a.svg").read_text().startswith("<?xml") and result["picture"] == str(
        tmp_path / "a.svg"
    )


def result_of(capsys):
    said = capsys.readouterr().out
    return json.loads(said) if said.startswith("{") else None


def test_parquet_and_csv_hold_the_same_table(tmp_path):
    arrow = pytest.importorskip("pyarrow.parquet")
    short = [*LINE, "--vary", "gait.table_size=18:36:2"]
    rows = table(sweep(short, tmp_path / "a.csv"))
    found = arrow.read_table(sweep(short, tmp_path / "a.parquet")).to_pylist()
    assert [row["mean_speed_m_s"] for row in found] == [float(row["mean_speed_m_s"]) for row in rows]
    assert [row["gait.table_size"] for row in found] == [18, 36] * 5


def test_failed_point_has_its_error_and_other_points_their_values(tmp_path, capsys):
    words = [*SHORT, "--metric", "mean_speed_m_s", "--vary", "gait.wavelength_m=-0.3:0.6:4"]
    rows = table(sweep(words, tmp_path / "a.csv", code=1))
    assert [bool(row["error"]) for row in rows] == [True, True, False, False]
    assert [bool(row["mean_speed_m_s"]) for row in rows] == [False, False, True, True]
    assert "wavelength_m" in rows[0]["error"] and "2 failed" in capsys.readouterr().out


def test_only_the_point_fails_whose_run_diverges(tmp_path, monkeypatch):
    measure = rollout.measure

    def diverges_once(vehicle, scenario, overrides, seed, seconds):
        if seed == 1:
            raise ArithmeticError("it diverged 2 s into the run")
        return measure(vehicle, scenario, overrides, seed, seconds)

    monkeypatch.setattr("caudal.tools.simulate.rollout.measure", diverges_once)
    rows = table(sweep([*LINE, "--seeds", "2"], tmp_path / "a.csv", code=1))
    assert [row["error"] for row in rows] == ["", "it diverged 2 s into the run"] * 5


# Interruptions ------------------------------------------------------------------------------------------------


def begin(words, out, *more):
    command = [sys.executable, "-m", "caudal.tools.cli.main", *words, "--out", str(out), *map(str, more)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def wait_for_points(count, journal, process):
    """Waits until the journal has so many points."""

    def has_points():
        assert process.poll() is None, process.communicate()
        return journal.exists() and journal.read_bytes().count(b"\n") > count

    wait_for(has_points, f"point {count} of {journal}")


def test_interrupted_sweep_continues_and_gives_the_same_table(plane, tmp_path, capsys):
    out, journal = tmp_path / "a.csv", tmp_path / "a.csv.partial"
    process = begin(PLANE, out)
    wait_for_points(3, journal, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=LIMIT_S)
    assert (
        process.returncode == 130 and "run the same command to continue" in said and "Traceback" not in said
    )
    assert not out.exists()
    done = journal.read_bytes().count(b"\n") - 1
    assert 3 <= done < 20
    journal.write_bytes(journal.read_bytes() + b'{"point": 19, "val')  # as a kill can leave it
    sweep(PLANE, out, "--json")
    assert result_of(capsys)["resumed"] == done
    assert out.read_bytes() == plane.read_bytes() and not journal.exists()


def test_resumed_sweep_does_not_repeat_points_of_its_journal(tmp_path, monkeypatch):
    ran = []

    def interrupts(vehicle, scenario, overrides, seed, seconds):
        ran.append(overrides[-1])
        if len(ran) == 4:
            raise KeyboardInterrupt
        return {"mean_speed_m_s": 1.0, "turned_deg": 2.0}

    monkeypatch.setattr("caudal.tools.simulate.rollout.measure", interrupts)
    sweep(LINE, tmp_path / "a.csv", "--jobs", 1, code=130)
    lines = (tmp_path / "a.csv.partial").read_text().splitlines()[1:]
    kept = {json.loads(line)["point"] for line in lines}
    assert 1 <= len(kept) < 5
    ran[:] = [""] * 4  # after its interruption
    rows = table(sweep(LINE, tmp_path / "a.csv", "--jobs", 1))
    again = [float(keys.partition("=")[2]) for keys in ran[4:]]
    assert again == [float(row[FREQUENCY]) for k, row in enumerate(rows) if k not in kept]


def test_journal_of_another_sweep_is_rejected_and_kept(tmp_path, monkeypatch, capsys):
    def interrupts(vehicle, scenario, overrides, seed, seconds):
        if "=2.0" in overrides[-1]:
            raise KeyboardInterrupt
        return {"mean_speed_m_s": 1.0, "turned_deg": 2.0}

    monkeypatch.setattr("caudal.tools.simulate.rollout.measure", interrupts)
    out, journal = tmp_path / "a.csv", tmp_path / "a.csv.partial"
    sweep(LINE, out, "--jobs", 1, code=130)
    before = journal.read_bytes()
    capsys.readouterr()
    for more in (["--seeds", 2], ["--set", "gait.c1=0.04"], ["--metric", "collisions"], ["--for", 6]):
        sweep(LINE, out, *more, code=2)
        said = capsys.readouterr().err
        assert "another sweep" in said and said.count("\n") == 1
    assert journal.read_bytes() == before
    journal.write_text("no journal\n")
    sweep(LINE, out, code=2)
    assert "is not the journal of a sweep" in capsys.readouterr().err


# Across machines ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A dask scheduler and two workers on this machine, as processes of their own: address, workers."""
    tmp_path = tmp_path_factory.mktemp("cluster")
    file, started = tmp_path / "scheduler.json", []

    def start(kind, *words):
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{kind}",
            "--scheduler-file",
            str(file),
            *words,
        ]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen(command, cwd=tmp_path, **quiet))

    start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    for _ in range(2):
        start("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path))
    wait_for(lambda: file.exists() and file.read_text().endswith("}"), "the scheduler's file")
    yield json.loads(file.read_text())["address"], started[1:]
    for process in started:
        process.kill()
        process.wait()


def test_two_machines_give_the_table_of_one_thread(plane, cluster, tmp_path):
    address, _ = cluster
    assert sweep(PLANE, tmp_path / "a.csv", "--dask", address).read_bytes() == plane.read_bytes()


def test_table_is_the_same_when_a_worker_dies(plane, cluster, tmp_path):
    address, workers = cluster
    out = tmp_path / "a.csv"
    process = begin(PLANE, out, "--dask", address, "--chunk", 2)  # the cluster's last sweep
    wait_for_points(5, tmp_path / "a.csv.partial", process)
    workers[0].kill()
    _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, said
    assert out.read_bytes() == plane.read_bytes()


# Bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, said",
    [
        (["--vary", "gait.nothing=1:2:2"], "is not a key of gait"),
        (["--vary", "nothing.c1=1:2:2"], "there is no table nothing"),
        (["--vary", "gait.c1=1:2"], "KEY=FROM:TO:COUNT"),
        (["--vary", "gait.c1"], "KEY=FROM:TO:COUNT"),
        (["--vary", "gait.c1=a:b:3"], "not two numbers"),
        (["--vary", "gait.c1=0:inf:3"], "must be finite"),
        (["--vary", "gait.c1=0:1:0"], "COUNT from 1"),
        (["--vary", "gait.c1=0:1:1"], "give a COUNT of 2 or more"),
        (["--vary", "gait.c1=0:1:1000", "--vary", "gait.table_size=0:1:1001"], "at most 1000000"),
        (["--vary", f"{FREQUENCY}=1:2:2"], "is given twice"),
        (["--metric", "happiness"], "there is no metric happiness; there are simulated_s"),
        (["--scenario", "sleep"], "it has pool"),
        (["--dask", "tcp://127.0.0.1:9"], "no dask scheduler responds at tcp://127.0.0.1:9"),
        (["--dask", "nowhere"], "tcp://HOST:PORT"),
        (["--out", "a.xlsx"], ".csv or .parquet"),
        (["--seeds", "0"], "whole number of 1 or more"),
    ],
)
def test_bad_input_is_rejected_in_one_sentence_without_any_file(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        code = main([*LINE, *words])
    except SystemExit as exit:  # argparse's own
        code = exit.code
    err = capsys.readouterr().err
    assert code == 2 and said in err and err.count("\n") == 1, err
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
