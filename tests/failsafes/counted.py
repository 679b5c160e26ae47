"""Failsafe rules times benches, as executed: counted over all processes of a test run.

tests/conftest.py takes the hooks in. A run of the whole file that executed fewer than all of them has failed.
"""

import re

from caudal.onboard.tables.failsafe import TABLE

BENCHES = ("sim", "hil")
ALL = {f"{row}-{bench}" for row in TABLE for bench in BENCHES}
_ROW = re.compile(r"failsafes/test_rows\.py::test_a_row_acts_\w+\[(.+)\]$")
_executed: set[str] = set()


def row_of(node_id: str) -> str | None:
    """`leak-hil` of the test that executes it, else None."""
    match = _ROW.search(node_id)
    return match[1] if match else None


def pytest_runtest_logreport(report) -> None:
    row = row_of(report.nodeid)
    if row and report.when == "call" and report.passed:
        _executed.add(row)


def pytest_sessionfinish(session) -> None:
    config = session.config
    chosen = config.option.keyword or config.option.markexpr or any("::" in word for word in config.args)
    stopped = config.option.maxfail or getattr(config.option, "lf", False)
    if not _executed or hasattr(config, "workerinput"):
        return
    print(f"\nfailsafe rules x benches executed: {said(_executed)}")
    if not (chosen or stopped) and ALL - _executed:
        print("not executed:", *sorted(ALL - _executed))
        session.exitstatus = session.exitstatus or 1


def said(executed: set[str]) -> str:
    return f"{len(executed & ALL)} of {len(ALL)}, {100 * len(executed & ALL) / len(ALL):.0f} %"
