"""Six hours of swimming are run by hand; here the evaluation of their result is tested."""

import pytest

from tests.swim import six_hours


@pytest.mark.parametrize(
    "most_kb, identical, code",
    [(0, True, 0), (900, True, 0), (977, True, 1), (4000, True, 1), (0, False, 1)],
)
def test_a_megabyte_more_since_the_tenth_minute_or_another_replay_is_a_failure(
    most_kb, identical, code, monkeypatch, tmp_path
):
    swum = {"ticks": 1, "at_10_min_kb": 90_000, "grown_kb": 0, "most_kb": most_kb, "grown_blocks": 0}
    log = tmp_path / "log.mcap"
    log.write_bytes(b"")
    monkeypatch.setattr(six_hours, "swim", lambda *given: swum)
    monkeypatch.setattr(six_hours, "Log", lambda *given, **more: None)
    monkeypatch.setattr(six_hours, "replay", lambda log: {"identical": identical})
    monkeypatch.setattr("sys.argv", ["six_hours.py", "fish", "pool", "6", str(log)])
    with pytest.raises(SystemExit) as ended:
        six_hours.main()
    assert ended.value.code == code
