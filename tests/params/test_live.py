"""A set parameter acts in its tick as if built so, and changes no state of the running loop."""

import math

import pytest
from msgspec.structs import replace

from caudal.hal.core.fixed_point import ONE
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.onboard.build import build_loop
from caudal.onboard.params.hot_update import hot_update
from caudal.onboard.tables.params import changed, with_values
from tests.params.tuned import FOLDER, VEHICLES, Noise, loop_of, send, settings_of, ticked

QUICK = [vehicle for vehicle in VEHICLES if vehicle != "hybrid"]  # whose plan takes half a second to build


def read_with(vehicle, param, value):
    """The settings of the same file with another value in it."""
    file = VehicleFile.open(FOLDER / f"{vehicle}.toml")
    return vehicles.read(with_values(file, settings_of(vehicle), [(param, value)]))


@pytest.mark.parametrize("vehicle", QUICK)
def test_a_parameter_loaded_in_the_first_tick_is_as_if_the_file_said_so(vehicle):
    settings = settings_of(vehicle)
    for k, param in enumerate(settings.params):
        value = param.low if k % 2 else param.high
        if value == param.default:
            value = param.high if k % 2 else param.low
        loop = loop_of(settings)
        loop.send("load", [[param.name, value]])
        built = loop_of(read_with(vehicle, param, value))
        assert ticked(loop, 25) == ticked(built, 25), param.name


def test_chain_takes_stored_values_in_its_first_tick():
    settings = settings_of("hybrid")
    loop = loop_of(settings)
    loop.send("load", [["POSTURE_EASE", 30e3]])
    param = loop.handler.params.declared["POSTURE_EASE"]
    built = loop_of(read_with("hybrid", param, 30e3))
    assert ticked(loop, 12) == ticked(built, 12)
    assert not param.live
    before = ticked(loop, 3)
    assert (
        send(loop, "set", "POSTURE_EASE", 90e3) is None and loop.handler.params.value("POSTURE_EASE") == 90e3
    )
    assert send(built, "station") is None  # the tick that the set took
    assert ticked(loop, 3) == ticked(built, 6)[3:] and before  # it waits for the next start


@pytest.mark.parametrize("vehicle", QUICK)
def test_every_parameter_does_something_in_one_of_the_scenarios(vehicle):
    settings = settings_of(vehicle, *(["control.gaze=on"] if vehicle == "snake" else []))
    scenarios = list(settings.scenarios)
    for param in settings.params:
        value = param.low if param.low != param.default else param.high
        other = changed(settings, param, value)

        def built(of, name):
            return build_loop(replace(of, params=[]), of.scenarios[name], Noise(settings, 1))

        def acts(name, other=other, built=built):
            loops = built(settings, name), built(settings, name), built(other, name)
            return any([hot_update(*(vars(loop)[part] for loop in loops)) for part in PARTS])

        assert any(acts(name) for name in scenarios), param.name


PARTS = ("board", "estimators", "monitor", "stages", "limiter")


@pytest.mark.parametrize("vehicle", QUICK)
def test_what_is_set_and_set_back_leaves_no_trace(vehicle):
    settings = settings_of(vehicle)
    loop, untouched = loop_of(settings), loop_of(settings)
    for one in (loop, untouched):
        ticked(one, 60)
    for param in settings.params:
        for value in (param.low, param.high, param.default):
            assert loop.handler.params.set(param.name, value, False) is None
    assert ticked(loop, 60) == ticked(untouched, 60)


def test_a_gain_changes_and_the_integral_stays():
    settings = settings_of("rov")
    loop, by_hand = loop_of(settings), loop_of(settings)
    for one in (loop, by_hand):
        one.arm()
        ticked(one, 100)
    hold = next(stage.step.__self__ for stage in by_hand.stages if stage.name == "control")
    assert any(hold._sum)
    loop.send("set", "SURGE_P", 3.0)
    hold._kp[0] = 3.0
    assert ticked(loop, 100) == ticked(by_hand, 100)


def test_a_vehicles_sets_are_its_own():
    """Vehicles of one simulation are built from the same settings."""
    settings = settings_of("rov")
    one, other, alone = loop_of(settings), loop_of(settings), loop_of(settings)
    assert send(one, "set", "YAW_P", 5.0) is None
    ticked(alone, 1)
    ticked(other, 1)
    assert ticked(other, 50) == ticked(alone, 50) and other.handler.params.value("YAW_P") == 2.0


@pytest.mark.parametrize("name, value", [("GAIT_AMP", 0.1), ("GAIT_WAVES", 2.5), ("GAIT_GROWTH", -0.5)])
def test_a_wave_that_is_set_while_it_swims_glides(name, value):
    """No joint steps: whatever is set, none is faster than its beat and the pull of both its neighbours allow."""
    settings = settings_of("snake")
    gait, loop = settings.gait, loop_of(settings, "shells")
    joints = [loop.board.actuator(joint) for joint in gait.joints]
    loop.arm()
    rows = [commands for commands, _, _, _ in ticked(loop, 600)]
    assert (
        max(abs(b[j] - a[j]) for a, b in zip(rows, rows[1:], strict=False) for j in joints) > 200
    )  # it swims
    swing_rad = gait.amplitude_rad * math.exp(gait.growth_per_m * gait.joint_positions_m[-1])
    fastest_rad_s = swing_rad * (2 * math.pi * gait.frequency_hz + 2 * gait.coupling_per_s)
    loop.send("set", name, value)
    rows = rows[-1:] + [commands for commands, _, _, _ in ticked(loop, 300)]
    steps = [abs(b[j] - a[j]) / ONE for a, b in zip(rows, rows[1:], strict=False) for j in joints]
    assert max(steps) <= fastest_rad_s / settings.rate_hz


def test_a_scenario_that_swims_at_the_gaits_frequency_swims_at_the_new_one():
    for scenario, sign in (("shells", 1), ("back", -1)):
        loop = loop_of(settings_of("snake"), scenario)
        loop.arm()
        ticked(loop, 50)
        assert loop.state.setpoint.frequency_hz == sign * 1.0
        assert send(loop, "set", "GAIT_FREQ", 1.5) is None
        assert loop.state.setpoint.frequency_hz == sign * 1.5


def test_a_limit_counts_at_once_for_a_pilot_whose_stick_rests():
    loop = loop_of(settings_of("fish"), "cruise")
    loop.arm()
    send(loop, "mode", "manual", "pilot")
    send(loop, "sticks", 1.0, 0, 0, 0)
    ticked(loop, 20)
    gait = next(stage.step.__self__ for stage in loop.stages if stage.name == "tail").gait
    assert gait.frequency.target == int(2.5 * 16384)
    assert send(loop, "set", "BEAT_MAX", 2.0) is None
    assert gait.frequency.target == int(2.0 * 16384)


def test_a_failsafes_threshold_is_set_and_its_count_goes_on():
    """A row that has been counting up to its delay goes on from there."""
    settings = settings_of("rov")
    loop = build_loop(settings, settings.scenarios["station"], Noise(settings, 1))
    row = next(row for row in loop.monitor.rules if row.name == "battery_low")
    index = loop.board.sensor("battery")
    loop.board.sensors[index].map.to_q20 = lambda count: 14 << 20  # a battery of 14 V
    ticked(loop, 5)
    assert not row.active and row._count == 0
    assert send(loop, "set", "FS_BATT_LOW", 14.5) is None
    ticked(loop, 50)
    assert not row.active and row._count == 51
    assert send(loop, "set", "FS_BATT_LOW", 14.2) is None
    ticked(loop, row.delay_ticks - 52)
    assert not row.active and row._count == row.delay_ticks
    loop.tick()
    assert row.active
    assert send(loop, "set", "FS_BATT_LOW", 13.0) is None
    assert row.active and row._count == 1  # clearing takes its time


def test_what_is_refused_changes_nothing_and_is_one_sentence():
    settings = settings_of("fish")
    loop, untouched = loop_of(settings), loop_of(settings)
    for one in (loop, untouched):
        one.arm()
        ticked(one, 20)
    bad = (
        ("BEAT_MAX", math.nan), ("BEAT_MAX", math.inf), ("BEAT_MAX", -math.inf), ("BEAT_MAX", 3.51),
        ("BEAT_MAX", 1.99), ("BEAT_MAX", "3"), ("BEAT_MAX", None), ("BEAT_MAX", True), ("BEAT_MAX", [3]),
        ("NONE", 3), ("beat_max", 3), (None, 3), (["BEAT_MAX"], 3), ("BEAT_MAX",), ("BEAT_MAX", 3, 3), (),
        ("FS_LATE", 2.0),
    )  # fmt: skip
    for values in bad:
        refusal = send(loop, "set", *values)
        assert isinstance(refusal, str) and "\n" not in refusal, values
        untouched.tick()
    assert "allowed is 2 to 3.5 Hz" in send(loop, "set", "BEAT_MAX", 4)
    assert "armed" in send(loop, "set", "FS_LATE", 2.0)
    assert "first tick" in send(loop, "load", [["BEAT_MAX", 3.0]])
    ticked(untouched, 3)
    assert ticked(loop, 30) == ticked(untouched, 30)
    assert loop.handler.params.differing() == {}


def test_a_parameter_that_may_not_be_set_armed_is_set_disarmed():
    loop = loop_of(settings_of("fish"))
    assert send(loop, "set", "FS_LATE", 2.0) is None
    assert loop.handler.params.differing() == {"FS_LATE": 2.0}
