"""`caudal bench priorities`: two solvers in one run, and vehicles that it rejects."""

import json

import pytest

from caudal.tools.cli.main import main


def test_hierarchy_takes_at_most_twice_the_time_of_the_law(capsys, monkeypatch):
    monkeypatch.setattr("caudal.tools.bench.priorities.GROWTH_TICKS", 300)
    assert main(["bench", "priorities", "--for", "4", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["vehicle"] == "hybrid" and result["ticks_with_hull_rows"] > 100
    assert 0 < result["tick_median_us"] <= result["tick_p99_us"]
    assert result["hierarchy_to_law"] <= 2.0 and abs(result["kept_bytes_a_tick"]) < 8


@pytest.mark.parametrize(
    "words, said",
    [(["fish"], "no tasks with priorities"), (["hybrid", "ray"], "bench priorities takes one vehicle")],
)
def test_bench_aims_takes_one_vehicle_with_tasks(capsys, words, said):
    assert main(["bench", "priorities", *words, "--scenario", "cruise"]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
