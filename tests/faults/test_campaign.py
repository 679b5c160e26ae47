"""The fault campaign: no violation on five vehicles, planted bugs found and minimized, equal results on all workers."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from caudal.onboard.core import failsafe, limiter
from caudal.onboard.core.loop import Loop
from caudal.onboard.log.tick_log import TickLog
from caudal.sim_plant.tree.model import PlantDiverged
from caudal.tools.campaign.campaign import Case, Outcome, plan, run_case
from caudal.tools.campaign.minimize import command, minimize, save
from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.faults.kinds import read_fault
from caudal.tools.simulate.simulation import Simulation
from tests.conftest import EEL, ROOT
from tests.waiting import LIMIT_S

FISH = Case("fish", ("world.pool.vehicles=1",), "pool", 1, 4.0, ())
RUNS = {"fish": 40, "ray": 40, "snake": 30, "rov": 40, "hybrid": 8}


def faults(capsys, *words: str, code: int = 0) -> dict:
    capsys.readouterr()
    assert main(["faults", *words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("vehicle", RUNS)
def test_campaign_finds_no_violation_on_any_vehicle(vehicle, capsys, tmp_path):
    seconds = "2" if vehicle == "hybrid" else "4"
    words = ("--runs", str(RUNS[vehicle]), "--seed", "31", "--for", seconds, "--jobs", "1")
    result = faults(capsys, vehicle, *words, "--out", str(tmp_path))
    print(vehicle, result["runs"], "runs", result["ticks"], "ticks", result["faults"])
    assert result["broken"] == [] and result["runs"] == RUNS[vehicle]
    assert result["worst_row_late_ticks"] <= 2


def test_campaign_reports_its_results_when_interrupted(capsys, tmp_path, monkeypatch):
    ran: list[Case] = []

    def run_some(case: Case):
        if len(ran) == 3:
            raise KeyboardInterrupt
        ran.append(case)
        return run_case(case)

    monkeypatch.setattr("caudal.tools.campaign.command.run_case", run_some)
    words = ("--runs", "9", "--for", "1", "--jobs", "1", "--out", str(tmp_path))
    result = faults(capsys, "fish", *words, code=1)
    assert (result["runs"], result["stopped_early"], result["broken"]) == (3, True, [])


def interrupted_in_its_fifth(case: Case) -> Outcome:
    Path(f"ran-{case.index}").touch()
    if case.index == 4:
        raise KeyboardInterrupt
    return Outcome(case, ["planted"])


def test_campaign_starts_no_further_run_when_interrupted(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("caudal.tools.campaign.command.run_case", interrupted_in_its_fifth)
    result = faults(capsys, "fish", "--runs", "60", "--jobs", "2", "--out", "broken", code=1)
    assert result["stopped_early"] and result["runs"] < 60
    assert len(list(tmp_path.glob("ran-*"))) < 60


def kills_its_worker(case: Case) -> Outcome:
    if case.index in (2, 7):
        os._exit(1)
    return Outcome(case, ["planted"])


def test_campaign_loses_only_one_run_when_a_worker_dies(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("caudal.tools.campaign.command.run_case", kills_its_worker)
    result = faults(capsys, "fish", "--runs", "30", "--jobs", "2", "--out", str(tmp_path), code=1)
    assert (result["runs"], result["stopped_early"]) == (30, False)
    assert [entry["run"] for entry in result["broken"]] == [2, 7]
    assert all(entry["broken"][0].startswith("alive: ") for entry in result["broken"])


def test_plan_starts_faults_early_enough_in_a_run_of_one_second():
    vehicle, _, _ = open_scenario("fish", list(FISH.set), "pool")
    cases = plan(vehicle, Case(**{**FISH.__dict__, "seconds": 1.0}), 200, [])
    for case in cases:
        for text in case.faults:
            assert case.seconds - read_fault(text, vehicle).at_s > 0.3, text


def test_plan_depends_on_the_seed_alone_and_has_every_family():
    vehicle, _, _ = open_scenario("fish", ["world.pool.vehicles=1"], "pool")
    cases = plan(vehicle, FISH, 400, [])
    assert cases[:50] == plan(vehicle, FISH, 50, [])
    assert cases != plan(vehicle, Case(**{**FISH.__dict__, "seed": 2}), 400, [])
    texts = [text for case in cases for text in case.faults]
    for kind in (
        "jammed",
        "nack",
        "killed",
        "cut",
        "nan",
        "exception",
        "late",
        "floods",
        "fails",
        "rearms",
        "sags",
    ):
        assert any(text.startswith(kind) for text in texts), kind
    assert any("/" in text for text in texts) and any(len(case.faults) > 1 for case in cases)
    assert all(
        text.startswith("nack:") for case in plan(vehicle, FISH, 9, ["nack"]) for text in case.faults[:1]
    )


def no_slew(limiter, i, ask, low, high):
    limiter._last[i] = int(min(max(ask, low), high))
    return limiter._last[i]


def never(row, state):
    row._condition(state)
    return False


def forgets_the_latch(row, state):
    row.latched = False
    return STEP(row, state)


STEP = failsafe.FailsafeRule.step
PLANTED = {
    "slew": (limiter.OutputLimiter, "_limit", no_slew, ["station"]),
    "safe": (failsafe.FailsafeRule, "step", never, ["bus"]),
    "rules": (failsafe.FailsafeRule, "step", forgets_the_latch, ["nan"]),
    "alive": (Loop, "fail", lambda loop, reason: setattr(loop, "fault", reason), ["exception"]),
    "recorded": (TickLog, "_record_changes", lambda box, time_ns: None, ["bus"]),
}


@pytest.mark.parametrize("invariant", PLANTED)
def test_campaign_finds_minimizes_and_repeats_a_planted_bug(invariant, monkeypatch, tmp_path, capsys):
    owner, name, wrong, kinds = PLANTED[invariant]
    monkeypatch.setattr(owner, name, wrong)
    vehicle, _, _ = open_scenario("fish", list(FISH.set), "pool")
    found = (run_case(case) for case in plan(vehicle, FISH, 40, kinds))
    outcome = next(one for one in found if invariant in one.invariants)
    outcome.invariants.sort(key=lambda one: one != invariant)
    small, runs = minimize(outcome)
    print(invariant, outcome.case.faults, "->", small.case.faults, small.case.seconds, "s in", runs, "runs")
    assert invariant in small.invariants and len(small.case.faults) == 1
    assert "/" not in small.case.faults[0] and small.case.seconds <= outcome.case.seconds
    small.invariants.sort(key=lambda one: one != invariant)
    path = save(small, tmp_path)
    assert tomllib.loads(path.read_text())["scenario"]["pool"]["faults"] == list(small.case.faults)
    words = command(small.case, path).split()[1:]
    capsys.readouterr()
    assert main([*words, "--log", str(tmp_path / "again.mcap"), "--json"]) == 1
    assert any(line.startswith(invariant) for line in json.loads(capsys.readouterr().out)["broken"])
    monkeypatch.undo()
    assert run_case(small.case).violations == []


def plant_diverges_in_run(monkeypatch, run: int) -> None:
    """Makes the plant diverge in the second tick of the run with this seed."""
    step = Simulation.step

    def wrong(simulation, *given):
        if (
            simulation.world.seed == run
            and simulation.instances[0].loop is not None
            and simulation.instances[0].loop.ticks == 2
        ):
            raise PlantDiverged("second 0.02: made up")
        step(simulation, *given)

    monkeypatch.setattr(Simulation, "step", wrong)


def test_campaign_reports_a_diverged_plant_apart_from_other_runs(monkeypatch, capsys, tmp_path):
    plant_diverges_in_run(monkeypatch, 31 + 2)
    words = ("fish", "--runs", "4", "--seed", "31", "--for", "1", "--jobs", "1", "--out", str(tmp_path))
    result = faults(capsys, *words, "--kind", "host", code=1)
    assert result["runs"] == 4 and result["diverged_runs"] == 1 and result["broken"] == []
    assert sum(row["runs"] for row in result["kinds"]) == 3
    (entry,) = result["diverged"]
    assert entry["run"] == 2 and "made up" in entry["why"]
    again = tomllib.loads(Path(entry["file"]).read_text())["scenario"]["pool"]
    assert again["faults"] == entry["faults"] and entry["file"] in entry["command"]
    assert main(["faults", *words, "--kind", "host"]) == 1
    assert "again: caudal run fish" in capsys.readouterr().out


def test_campaign_prints_runs_faults_and_worst_time_to_safe(capsys, tmp_path):
    words = ("rov", "--runs", "3", "--seed", "1", "--for", "2", "--jobs", "1", "--out", str(tmp_path))
    result = faults(capsys, *words, "--kind", "hung")
    assert main(["faults", *words, "--kind", "hung"]) == 0
    said = {tuple(line.split()) for line in capsys.readouterr().out.splitlines()}
    assert ("runs", "3") in said and result["worst_to_safe_s"] > 0
    assert ("worst_to_safe_s", f"{result['worst_to_safe_s']:.4g}") in said
    for kind, count in result["faults"].items():
        assert (*kind.split(), str(count)) in said


def test_campaign_gives_equal_results_on_dask_and_in_processes(capsys, tmp_path):
    words = ("rov", "--runs", "10", "--seed", "5", "--for", "2", "--out", str(tmp_path))
    alone = faults(capsys, *words, "--jobs", "1")
    assert faults(capsys, *words, "--jobs", "2") == alone
    code = (
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:\n"
        "        print(cluster.scheduler_address, flush=True)\n"
        "        input()\n"
    )
    cluster = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert cluster.stdout
        address = re.search(r"tcp://\S+", cluster.stdout.readline())
        assert address
        assert faults(capsys, *words, "--dask", address[0]) == alone
    finally:
        cluster.communicate("\n", timeout=LIMIT_S)


def test_campaign_rejects_bad_arguments_before_any_run(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("caudal.tools.campaign.command.run_case", lambda case: pytest.fail("it ran"))
    (tmp_path / "file").touch()
    for words, sentence in (
        (("fish", "--for", "0.3"), "faults begin after half a second"),
        (("fish", "--out", str(tmp_path / "file")), "cases cannot be saved there (File exists)"),
        (("fish", "--out", "/sys"), "cases cannot be saved there"),  # not even by root
        ((str(EEL), "--kind", "chip"), "eel cannot have faults of the kind chip"),
        (("fish", "--dask", "nowhere"), "write the scheduler's address"),
        (("fish", "--scenario", "none"), "no scenario"),
    ):
        assert main(["faults", *words, "--runs", "1"]) == 2
        said = capsys.readouterr().err
        assert sentence in said and said.count("\n") == 1
    with pytest.raises(SystemExit):
        main(["faults", "fish", "--kind", "bent"])
