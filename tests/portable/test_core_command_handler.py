"""Commands: arming and what blocks it, modes and their sources, sticks, positions, missions, rejections."""

from bench_vehicle import BenchDriver, failsafe, schedule, settings, wander

from caudal.hal.core.board import NEVER
from caudal.onboard.build import build_loop
from caudal.onboard.core import modes
from caudal.onboard.core.loop import COMMANDS_A_TICK, COMMANDS_WAITING

NAN = float("nan")


def vehicle(scenario=None, **changes):
    loop = build_loop(settings().changed(**changes), scenario or wander(), BenchDriver())
    loop.tick()
    return loop


def send(loop, *order):
    """Why it was refused, or None."""
    loop.send(*order)
    loop.tick()
    kind, values, _, refusal = loop.taken[0]
    assert repr((kind, values)) == repr((order[0], order[1:]))  # as text: not-a-number is unlike itself
    return refusal


def test_arming_and_disarming():
    loop = vehicle()
    assert send(loop, "arm") is None and loop.state.armed
    assert send(loop, "arm") is None and loop.state.armed
    assert send(loop, "disarm") is None and not loop.state.armed


def test_a_vehicle_that_nothing_could_bring_up_is_not_armed():
    loop = vehicle(surface=None)
    assert "surface" in send(loop, "arm") and not loop.state.armed


def test_active_failsafe_blocks_arming_and_is_named():
    for action, bars in (
        ("warn", False),
        ("slow", False),
        ("hold", True),
        ("surface", True),
        ("neutral", True),
    ):
        rows = [
            failsafe("not_armed", "not_armed", "disarm"),
            failsafe("heading_lost", "reading_lost", action, sensors=["heading"]),
        ]
        loop = vehicle(failsafes=rows)
        loop.board.driver.counts["heading"] = None
        for _ in range(15):
            loop.tick()
        refusal = send(loop, "arm")
        assert loop.state.armed != bars
        assert (refusal is not None and "heading_lost" in refusal) == bars


def test_vehicle_cannot_be_armed_in_the_time_that_a_cause_has_to_last():
    rows = [failsafe("blind", "reading_lost", "surface", sensors=["heading"], delay_s=5.0)]
    loop = vehicle(failsafes=rows)
    loop.board.driver.counts["heading"] = None
    for _ in range(15):
        loop.tick()
    assert not loop.state.active_rules and "blind" in send(loop, "arm")
    loop.board.driver.counts["heading"] = 0
    loop.tick()
    assert send(loop, "arm") is None


def test_a_latched_failsafe_blocks_arming_until_it_is_disarmed_again():
    rows = [failsafe("leak", "reading_lost", "surface", sensors=["heading"], latched=True)]
    loop = vehicle(failsafes=rows)
    loop.board.driver.counts["heading"] = None
    for _ in range(15):
        loop.tick()
    loop.board.driver.counts["heading"] = 0
    for _ in range(15):
        loop.tick()
    assert "leak" in send(loop, "arm")
    assert send(loop, "disarm") is None
    assert send(loop, "arm") is None


def test_available_modes_are_accepted_and_others_refused():
    loop = vehicle()
    assert loop.handler.modes == ["auto", "manual", "hold", "surface"]
    for name in loop.handler.modes:
        assert send(loop, "mode", name, "pilot") is None
        assert modes.NAMES[loop.state.mode] == name
    for name in ("goto", "mission", "nonsense", None, 3):
        refusal = send(loop, "mode", name, "pilot")
        assert "auto, manual, hold, surface" in refusal
        assert modes.NAMES[loop.state.mode] == "surface"


def test_a_mission_may_not_take_the_vehicle_from_its_pilot():
    loop = vehicle()
    assert send(loop, "mode", "manual", "pilot") is None
    assert "pilot has" in send(loop, "mode", "hold", "mission")
    assert "not for" in send(loop, "mode", "manual", "mission")
    assert "not for" in send(loop, "mode", "hold", "stranger")


def test_what_a_mission_asks_for_is_dropped_once_a_pilot_has_said_something_else():
    loop = vehicle()
    loop.state.requested_mode = modes.MISSION
    loop.state.mission_mode = "surface"
    assert send(loop, "mode", "manual", "pilot") is None
    assert loop.state.requested_mode == modes.MANUAL and loop.state.mission_mode is None


def test_sticks_are_four_shares_and_grow_old():
    loop = vehicle()
    assert loop.state.manual_input_age == NEVER
    assert send(loop, "sticks", 1, -0.5, 0, 0.25) is None
    assert loop.state.manual_input == [1.0, -0.5, 0.0, 0.25]
    age = loop.state.manual_input_age
    for _ in range(7):
        loop.tick()
    assert loop.state.manual_input_age == age + 7
    for bad in (
        (NAN, 0, 0, 0),
        (0, 1.01, 0, 0),
        (0, 0, 0),
        (0, 0, 0, None),
        ("a", 0, 0, 0),
        (0, 0, 0, float("inf")),
    ):
        assert send(loop, "sticks", *bad) is not None
        assert loop.state.manual_input == [1.0, -0.5, 0.0, 0.25]


def test_sticks_beat_and_turn_the_tail():
    loop = vehicle(schedule((0.0, 1.0, 1.0, 0.0)))
    send(loop, "mode", "manual", "pilot")
    send(loop, "sticks", 0.5, 0, 0, -1)
    for _ in range(11):
        loop.tick()
    assert loop.state.setpoint.frequency_hz == 1.0
    assert abs(loop.state.setpoint.deflection_rad + 0.785) < 1e-3
    send(loop, "mode", "auto", "pilot")
    assert loop.state.setpoint.frequency_hz == 1.0 and loop.state.setpoint.deflection_rad == 0.0
    send(loop, "mode", "hold", "pilot")
    assert loop.state.setpoint.frequency_hz == 0.0 and loop.state.setpoint.amplitude == 0.0


def test_what_is_no_order_is_refused_and_changes_nothing():
    loop = vehicle()
    bad = (
        ("fly",), ("arm", 1), ("mode",), ("mission", [[0, 0, 1, 0]]), ("goto", 1, 1, 1, 0), ("begin", 0),
        ("host", "moon", 1), ("set", "A", 1), ("station", 1), ("sticks",), ("host",),
    )  # fmt: skip
    for order in bad:
        assert isinstance(send(loop, *order), str), order
    assert loop.fault is None and not loop.state.armed and loop.state.mode == modes.AUTO


def test_host_and_station_reports_reach_the_state():
    loop = vehicle()
    assert send(loop, "host", "storage_full", 1) is None and loop.state.host["storage_full"]
    assert loop.state.station_age == NEVER
    assert send(loop, "station") is None and loop.state.station_age < 3


def test_commands_beyond_the_limit_of_a_tick_wait_or_are_rejected():
    loop = vehicle()
    taken = [loop.send("station") for _ in range(COMMANDS_WAITING + 10)]
    assert taken == [True] * COMMANDS_WAITING + [False] * 10
    loop.tick()
    assert len(loop.taken) == COMMANDS_A_TICK
    for _ in range(COMMANDS_WAITING // COMMANDS_A_TICK - 1):
        loop.tick()
    loop.tick()
    assert loop.taken == []


def test_loop_stopped_by_a_fault_refuses_commands_with_the_reason():
    loop = vehicle()
    loop.fail("gait: broken on purpose")
    assert "broken on purpose" in send(loop, "arm")
    assert not loop.state.armed


def test_command_whose_kind_is_not_a_string_is_refused_and_the_loop_ticks_on():
    loop = vehicle()
    for kind in (None, 7, [], {}, ("arm",)):
        assert "there is no order" in send(loop, kind)
    assert loop.fault is None and not loop.state.armed
