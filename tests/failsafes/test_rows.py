"""Every failsafe rule, executed: in simulation, and over a HIL link."""

import re
import subprocess

import pytest

from caudal.onboard import vehicles
from caudal.onboard.core import modes
from caudal.onboard.core.failsafe import DISARM, DROP, HOLD, NEUTRAL, SLOW, SURFACE
from caudal.onboard.tables.failsafe import TABLE
from caudal.tools.cli.failsafes import markdown
from caudal.tools.config.vehicle import open_vehicle
from tests.conftest import ROOT
from tests.failsafes import counted
from tests.failsafes.provoked import CAUSES, Bench, Cuttable, Simulated, Wired
from tests.waiting import wait_for

BENCHES = {"sim": Simulated, "hil": Wired}
SETTLED_TICKS = 60


@pytest.mark.parametrize("where", BENCHES)
@pytest.mark.parametrize("name", TABLE)
def test_a_row_acts_within_its_delay_and_two_ticks_and_clears_as_it_says(name, where):
    if (name, where) == ("wire_lost", "hil"):
        a_cut_wire_acts_and_mended_the_vehicle_goes_on()
        return
    cause = CAUSES[name]
    bench = BENCHES[where](cause.vehicle, cause.scenario, [], cause.begin if cause.early else None)
    try:
        if not cause.early:
            bench.step(SETTLED_TICKS)
            assert bench.loop.state.armed and bench.loop.state.action == 0
            cause.before(bench)
            bench.step()
            cause.begin(bench)
        row = bench.row(name)
        took = ticks_until(bench, lambda: row.active, cause.slack(bench) + row.delay_ticks + 2)
        print(f"{name} {where}: {took} ticks, {cause.slack(bench)} of them the cause's own")
        assert took > row.delay_ticks
        acts(bench, row)
        cause.end(bench)
        clears(bench, row)
    finally:
        bench.close()


def a_cut_wire_acts_and_mended_the_vehicle_goes_on() -> None:
    """No reading reaches the loop, so no row of it can act: each end does what the row says, by itself."""
    bench = Cuttable("rov", "station", [], None)
    try:
        bench.step(SETTLED_TICKS)
        assert bench.loop.state.armed and bench.loop.state.action == 0 and any(bench.remote.outputs)
        row, off, ticks = bench.row("wire_lost"), [0] * len(bench.remote.outputs), bench.loop.ticks
        bench.cut()
        took = ticks_until(bench, lambda: bench.remote.outputs == off, row.delay_ticks + 2)
        print(f"wire_lost hil: {took} ticks, then no pulses")
        bench.wait_for_link_timeout()
        assert bench.loop.board.outputs == bench.loop.board.safe_outputs
        bench.step(row.delay_ticks)
        assert bench.remote.gone and bench.remote.outputs == off and bench.loop.ticks <= ticks + 1
        bench.clear()
        wait_for(lambda: bench.step() or any(bench.remote.outputs), "pulses")
        assert not bench.remote.gone
        assert bench.loop.fault is None and bench.loop.state.armed and bench.loop.ticks > ticks
    finally:
        bench.clear()
        bench.close()


def ticks_until(bench: Bench, wanted, most: int) -> int:
    for tick in range(1, most + 1):
        bench.step()
        if wanted():
            return tick
    raise AssertionError(f"not within {most} ticks")


def acts(bench: Bench, row) -> None:
    """What the row's action is to the vehicle, in the very tick in which the row is active."""
    loop, state = bench.loop, bench.loop.state
    assert loop.fault is None
    assert state.action >= row.action
    if state.action == DISARM:
        assert not state.armed and state.outputs == [None] * len(state.outputs)
    elif state.action == NEUTRAL:
        assert loop.board.outputs == loop.board.safe_outputs
    elif state.action in (SURFACE, DROP):
        assert state.mode == modes.SURFACE
        for name, command in bench.vehicle.settings.surface.commands:
            assert state.commands[loop.board.actuator(name)] == command
    elif state.action == HOLD:
        assert state.mode == modes.HOLD
    elif state.action == SLOW:
        bench.step(30)
        for output, actuator in zip(state.outputs, loop.board.actuators, strict=True):
            assert not actuator.map.pushes or actuator.low // 2 <= output <= actuator.high // 2 + 1


def clears(bench: Bench, row) -> None:
    """A row whose cause is gone clears by itself, or once a person has acknowledged it; then the vehicle may go on."""
    slow_notice = row._clear_ticks + 10 * bench.rate_hz
    if not row.latched:
        ticks_until(bench, lambda: not row.active, slow_notice)
        return
    bench.step(row._clear_ticks + bench.rate_hz)
    assert row.active and "not armed" in str(bench.loop.handler.arming_refusal())
    bench.loop.send("disarm")
    bench.step(2)
    assert not row.active
    ticks_until(bench, lambda: bench.loop.handler.arming_refusal() is None, slow_notice)


def test_every_row_has_a_cause_and_every_vehicle_the_rows_that_its_parts_allow():
    assert sorted(CAUSES) == sorted(TABLE)
    rows = {}
    for name in vehicles.names():
        rows[name] = [row.name for row in open_vehicle(name).settings.failsafes]
        assert len(rows[name]) <= 30, f"{name}: more rows than a microcontroller's integer has bits"
    assert set().union(*rows.values()) >= set(TABLE)
    assert sorted(BENCHES) == sorted(counted.BENCHES)
    print({name: len(found) for name, found in rows.items()})


def test_two_causes_at_once_the_stronger_action_wins_and_the_weaker_is_back_when_it_has_cleared():
    bench = Simulated("rov", "station", [], None)
    bench.step(SETTLED_TICKS)
    for name in ("station_lost", "depth_lost"):
        CAUSES[name].before(bench)
    CAUSES["depth_lost"].begin(bench)
    bench.loop.send("host", "computer_hot", 1)
    bench.step(100)
    assert bench.row("depth_lost").active and bench.row("computer_hot").active
    assert bench.loop.state.action == SURFACE
    CAUSES["depth_lost"].end(bench)
    bench.step(2 * bench.rate_hz + 20)
    assert not bench.row("depth_lost").active and bench.loop.state.action == SLOW


def test_leak_seen_while_disarmed_blocks_arming_until_it_is_acknowledged():
    bench = Simulated("rov", "station", [], None)
    bench.step(SETTLED_TICKS)
    bench.loop.disarm()
    bench.step(2)
    CAUSES["leak"].begin(bench)
    bench.step(20)
    CAUSES["leak"].end(bench)
    bench.step(200)
    bench.loop.arm()
    bench.step()
    assert "leak" in bench.loop.taken[0][3] and not bench.loop.state.armed
    bench.loop.disarm()
    bench.step()
    bench.loop.arm()
    bench.step()
    assert bench.loop.state.armed


@pytest.mark.parametrize(
    "vehicle, scenario", [("rov", "station"), ("fish", "articulated"), ("ray", "cruise")]
)
def test_surfacing_goes_up_in_the_plant(vehicle, scenario):
    bench = Simulated(vehicle, scenario, ["world.pool.vehicles=1"] if vehicle == "fish" else [], None)
    bench.step(5 * bench.rate_hz)
    before = truth(bench)["depth_m"]
    CAUSES["leak"].begin(bench)
    bench.step(20 * bench.rate_hz)
    after = truth(bench)["depth_m"]
    print(f"{vehicle}: {before:.2f} to {after:.2f} m deep in 20 s")
    assert after < before - 0.2


def test_the_documentation_is_the_table():
    written = (ROOT / "docs" / "failsafes.md").read_text(encoding="utf-8")
    assert written == markdown(), "write it again: caudal failsafes --markdown > docs/failsafes.md"


def test_the_documentation_names_the_tests_that_execute_its_rows(request):
    """A run of this file has all of them; a selection has those."""
    written = set(re.findall(r"`\[(\w+-\w+)\]`", markdown()))
    assert written == counted.ALL
    present = {row for item in request.session.items if (row := counted.row_of(item.nodeid))}
    assert present <= written


def test_a_row_that_was_not_executed_is_missed_in_the_count():
    node = (
        "tests/failsafes/test_rows.py::test_a_row_acts_within_its_delay_and_two_ticks_and_clears_as_it_says"
    )
    assert counted.row_of(f"{node}[leak-hil]") == "leak-hil" and counted.row_of(node) is None
    assert counted.said(counted.ALL).endswith("100 %")
    assert counted.said(counted.ALL - {"leak-hil"}).startswith(f"{len(counted.ALL) - 1} of")


def test_the_command_shows_a_vehicles_table(caudal):
    shown = caudal.json("failsafes", "rov")
    assert [row["name"] for row in shown["rows"]][:2] == ["not_armed", "bad_command"]
    assert "leak" in caudal("failsafes", "rov").stdout
    refused = caudal("failsafes", "nobody")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "change, sentence",
    [
        ('failsafe.leak={ action = "warn" }', 'weaker than this rule allows; at least "surface"'),
        ("failsafe.leak={ delay_s = 600 }", "longer than this rule may wait; at most 1"),
        ("failsafe.not_armed={ delay_s = 0.1 }", "longer than this rule may wait; at most 0"),
        ("failsafe.not_armed={ clear_s = 1.0 }", "arming clears this rule at once"),
        ("failsafe.not_armed={ latched = true }", "arming clears this rule at once"),
        ("failsafe.leak={ latched = false }", "stays active until a person acknowledges it"),
        ("failsafe.leak={ high = 2.0 }", "would never act: sensor leak reads 1 at most"),
        ("failsafe.battery_critical={ low = -1.0 }", "would never act: sensor battery reads"),
        ("failsafe.stalled={ limit_s = 1e9 }", "failsafe.stalled.limit_s"),
        ('failsafe.leak={ trigger = "host" }', "the trigger of this rule is"),
        ("failsafe.leak={ high = -1e99 }", "failsafe.leak.high"),
        ('failsafe.too_deep={ sensors = ["sonar"] }', 'no sensor "sonar"'),
        ('failsafe.leak={ action = "drop" }', "nothing to drop"),
        ("failsafe.out_of_bounds.low_m=[9, 9, 9]", "must be below high_m"),
        ("failsafe.pilot_lost={ limit_s = 100 }", "failsafe.pilot_lost.limit_s"),
        ("surface.method=gait", "needs a [gait]"),
        ('surface.commands={ unknown = 1.0 }', 'no actuator "unknown"'),
        ('surface.commands={ lift_port = 100.0 }', "outside -30 to 38"),
        ('sticks={ frequency_hz = 1.0, deflection_deg = 10.0 }', "for vehicles with a gait"),
    ],
)  # fmt: skip
def test_a_table_that_would_not_be_safe_is_refused_in_a_sentence(caudal, change, sentence):
    refused: subprocess.CompletedProcess = caudal("run", "rov", "--set", change)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1 and sentence in refused.stderr, refused.stderr


def test_ballast_that_goes_lifts_the_vehicle_without_a_beat_and_stays_gone():
    """A ray that is limp, with its latch opened and shut again."""
    depths = {}
    for opened in (False, True):
        bench = Simulated("ray", "cruise", [], None)
        bench.step(100)
        ballast = bench.loop.board.actuator("ballast")
        if opened:
            CAUSES["leak"].begin(bench)
            bench.step(40)
            assert bench.loop.state.mode == modes.SURFACE and bench.loop.state.outputs[ballast] > 0
            CAUSES["leak"].end(bench)
        bench.loop.disarm()
        start = truth(bench)["depth_m"]
        bench.step(1000)
        depths[opened] = start - truth(bench)["depth_m"]
        assert abs(truth(bench)["roll_rad"]) < 0.5 and abs(truth(bench)["pitch_rad"]) < 0.7
    print("up by", depths)
    assert depths[True] > depths[False] + 0.5


def truth(bench: Bench) -> dict[str, float]:
    return dict(zip(bench.body.truth_fields, bench.body.truth(), strict=True))
