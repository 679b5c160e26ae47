"""Telemetry, missions, logs, failsafes and parameters over a link agree with the simulated vehicle."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caudal.onboard.core import modes
from caudal.onboard.station.coordinates import Coordinates
from caudal.onboard.station.mode_numbers import NUMBERS, ModeNumbers
from caudal.onboard.station.parameters import decoded, encoded, shortest
from caudal.onboard.station.pilot import sticks
from caudal.onboard.station.telemetry import failsafes
from caudal.onboard.tables.station import STICKS, THROTTLE
from tests.station.mutations import Bench, station
from tests.station.pilots import Pilot, mavlink
from tests.station.simulated import ORIGIN, SimulatedVehicle, free_port, until

PREARM = mavlink.MAV_SYS_STATUS_PREARM_CHECK
metres = st.floats(-2000, 2000)


@given(metres, metres, st.floats(-85, 85), st.floats(-180, 180), st.floats(-360, 360))
def test_positions_survive_a_round_trip_by_the_globe(x_m, y_m, latitude, longitude, bearing):
    coordinates = Coordinates((latitude, longitude), bearing)
    assert coordinates.from_globe(*coordinates.on_globe(x_m, y_m)) == pytest.approx((x_m, y_m), abs=1e-5)
    north_m, east_m = coordinates.north_east(x_m, y_m)
    assert math.hypot(north_m, east_m) == pytest.approx(math.hypot(x_m, y_m))
    assert coordinates.own(north_m, east_m) == pytest.approx((x_m, y_m), abs=1e-6)


def test_ahead_is_north_port_is_west_and_a_turn_to_port_reduces_yaw():
    coordinates = Coordinates(ORIGIN)
    assert coordinates.north_east(1, 0) == (1, 0) and coordinates.north_east(0, 1) == pytest.approx((0, -1))
    assert coordinates.yaw_rad(0.3) == pytest.approx(-0.3)
    east = Coordinates(ORIGIN, 90)
    assert east.north_east(1, 0) == pytest.approx((0, 1)) and east.north_east(0, 1) == pytest.approx((1, 0))


def test_degree_has_the_length_of_the_ellipsoid():
    """Lengths of a degree at 45 degrees, from the tables of WGS 84: 111,131.75 m and 78,846.81 m."""
    coordinates = Coordinates((45.0, 0.0))
    assert coordinates.from_globe(46.0, 0.0)[0] == pytest.approx(111131.7, abs=0.5)
    assert -coordinates.from_globe(45.0, 1.0)[1] == pytest.approx(78846.8, abs=0.5)


@given(st.integers(-(2**31), 2**31 - 1))
def test_whole_numbers_survive_the_encoding(number):
    value, type_ = encoded(number, "int")
    if value == value:  # the bytes of some whole numbers are a NaN
        assert decoded(value, type_, "int") == number


@given(st.floats(-1e6, 1e6, width=32))
def test_float_becomes_the_shortest_decimal(value):
    assert shortest(value) == pytest.approx(value, rel=1e-6)
    assert shortest(0.10000000149011612) == 0.1


def test_reported_position_is_that_of_the_plant():
    port = free_port()
    with SimulatedVehicle(f"udp:{port}", vehicle="rov", scenario="station") as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()
        assert pilot.arm() == mavlink.MAV_RESULT_ACCEPTED
        pilot.mav.set_position_target_local_ned_send(0, 1, 1, 1, 0, 2.0, -1.2, 0.8, *[0] * 6, -0.5, 0)
        until("the set-point has come", lambda: vehicle.loop.state.goto_pose is not None)
        assert pilot.mode(6) == mavlink.MAV_RESULT_ACCEPTED
        until("it is there", lambda: pilot.receive("ATTITUDE") and vehicle.moved_m((2.0, 1.2)) < 0.1)

        def agrees() -> bool:
            truth = dict(zip(vehicle.instance.body.truth_fields, vehicle.instance.body.truth(), strict=True))
            message = pilot.receive("LOCAL_POSITION_NED")
            return math.dist((message.x, message.y), (truth["x_m"], -truth["y_m"])) < 0.1

        until("the report is the position", agrees)
        globe = pilot.receive("GLOBAL_POSITION_INT")
        assert Coordinates(ORIGIN).from_globe(globe.lat / 1e7, globe.lon / 1e7) == pytest.approx(
            vehicle.position_m, abs=0.1
        )
        until("its depth is the set-point", lambda: abs(pilot.receive("LOCAL_POSITION_NED").z - 0.8) < 0.05)
        until("its yaw is the set-point", lambda: abs(pilot.receive("ATTITUDE").yaw + 0.5) < 0.05)
        assert abs(pilot.receive("SCALED_PRESSURE").press_diff - 78.5) < 8
        # manual control with thrusters: x is ahead, z 500 is neutral, r turns to starboard
        pilot.mav.manual_control_send(1, 0, 0, 500, 1000, 0)
        assert pilot.mode(1) == mavlink.MAV_RESULT_ACCEPTED

        def turned() -> bool:
            pilot.mav.manual_control_send(1, 0, 0, 500, 1000, 0)
            return pilot.receive("ATTITUDE").yawspeed > 0.2

        until("it turns to starboard", turned)
        assert vehicle.loop.state.manual_input == [0, 0, 0, -1]
        pilot.close()


def test_mission_is_executed_and_reports_every_item_reached():
    port = free_port()
    with SimulatedVehicle(f"udp:{port}", vehicle="rov", scenario="station") as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()
        local = mavlink.MAV_FRAME_LOCAL_NED
        items = [(30000, -18000, 0.9, 0.0), (32000, -18000, 0.9, 0.2)]  # tenths of a millimetre
        assert pilot.upload(items, frame=local) == mavlink.MAV_MISSION_ACCEPTED
        assert vehicle.loop.state.mission[1] == pytest.approx([3.2, 1.8, 0.9, 0.2])
        assert pilot.arm() == mavlink.MAV_RESULT_ACCEPTED
        assert pilot.command(mavlink.MAV_CMD_MISSION_START, 0, 1) == mavlink.MAV_RESULT_ACCEPTED
        reached = [pilot.receive("MISSION_ITEM_REACHED").seq for _ in items]
        assert reached == [0, 1]
        done = pilot.receive(
            "MISSION_CURRENT", where=lambda m: m.mission_state == mavlink.MISSION_STATE_COMPLETE
        )
        assert done.seq == 1
        assert vehicle.moved_m((3.2, 1.8)) < 0.3
        assert pilot.command(mavlink.MAV_CMD_DO_SET_MISSION_CURRENT, 0) == mavlink.MAV_RESULT_ACCEPTED
        assert pilot.command(mavlink.MAV_CMD_DO_SET_MISSION_CURRENT, 7) == mavlink.MAV_RESULT_DENIED
        pilot.mav.mission_clear_all_send(1, 1, 0)
        assert pilot.receive("MISSION_ACK").type == mavlink.MAV_MISSION_ACCEPTED
        assert pilot.download() == [] and vehicle.loop.state.requested_mode == modes.HOLD
        pilot.close()


@pytest.mark.parametrize(
    ("vehicle", "scenario", "joint_positions_m"),
    [("rov", "station", [(3.0, 1.8), (3.2, 1.8), (3.2, 2.0)]), ("fish", "track", [(2.0, 1.0), (2.0, 2.0), (1.2, 2.0)])],
)  # fmt: skip
def test_mission_waits_at_a_hold_item_and_surfaces_at_its_end(vehicle, scenario, joint_positions_m):
    port = free_port()
    with SimulatedVehicle(f"udp:{port}", vehicle=vehicle, scenario=scenario) as afloat:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()
        kinds = (), (mavlink.MAV_CMD_NAV_LOITER_UNLIM,), (mavlink.MAV_CMD_NAV_LAND,)
        items = [
            (round(x_m * 1e4), -round(y_m * 1e4), 0.5, 0.0, *kind)
            for (x_m, y_m), kind in zip(joint_positions_m, kinds, strict=True)
        ]
        assert pilot.upload(items, frame=mavlink.MAV_FRAME_LOCAL_NED) == mavlink.MAV_MISSION_ACCEPTED
        assert [step for step in afloat.loop.state.mission if isinstance(step, str)] == ["hold", "surface"]
        assert pilot.arm() == mavlink.MAV_RESULT_ACCEPTED
        assert pilot.command(mavlink.MAV_CMD_MISSION_START, 0, 2) == mavlink.MAV_RESULT_ACCEPTED
        assert [pilot.receive("MISSION_ITEM_REACHED").seq for _ in range(2)] == [0, 1]
        until("it holds", lambda: afloat.loop.state.mode == modes.HOLD)
        assert afloat.loop.state.mission_index == 3  # the third item's place
        assert pilot.command(mavlink.MAV_CMD_DO_PAUSE_CONTINUE, 1) == mavlink.MAV_RESULT_ACCEPTED
        assert pilot.receive("MISSION_ITEM_REACHED").seq == 2
        until("it surfaces", lambda: afloat.loop.state.mode == modes.SURFACE)
        assert afloat.loop.state.action == 0  # by its own mission, not by a failsafe
        assert pilot.mode(4, 3) == mavlink.MAV_RESULT_ACCEPTED  # the pilot can take over again
        pilot.close()


@pytest.mark.parametrize(
    ("item", "result"),
    [
        ((473978000, 85456000, 2.0, 0.0), mavlink.MAV_MISSION_INVALID_PARAM7),
        ((473978000, 85456000, float("nan"), 0.0), mavlink.MAV_MISSION_INVALID_PARAM7),
    ],
)
def test_invalid_mission_changes_nothing_and_gets_a_reason(item, result):
    port = free_port()
    with SimulatedVehicle(f"udp:{port}") as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()
        assert pilot.upload([(473978000, 85456000, -0.5, 0.0)]) == mavlink.MAV_MISSION_ACCEPTED
        before = vehicle.loop.state.mission
        assert pilot.upload([(473978000, 85456000, -0.5, 0.0), item]) == result
        assert any("mission: item 1" in text for text in pilot.texts)
        assert vehicle.loop.state.mission is before and len(pilot.download()) == 1
        pilot.close()


def test_logs_are_listed_and_downloaded_only_while_disarmed(tmp_path):
    content = bytes(range(256)) * 40 + b"end"
    (tmp_path / "run.mcap").write_bytes(content)
    port = free_port()
    with SimulatedVehicle(f"udp:{port}", logs=tmp_path):
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()
        pilot.mav.log_request_list_send(1, 1, 0, 0xFFFF)
        entry = pilot.receive("LOG_ENTRY")
        assert (entry.num_logs, entry.size) == (1, len(content))
        pilot.mav.log_request_data_send(1, 1, entry.id, 0, entry.size)
        got = b""
        while len(got) < len(content):
            piece = pilot.receive("LOG_DATA")
            assert piece.ofs == len(got)
            got += bytes(piece.data[: piece.count])
        assert got == content
        assert pilot.arm() == mavlink.MAV_RESULT_ACCEPTED
        pilot.mav.log_request_data_send(1, 1, entry.id, 0, 90)
        assert pilot.receive(
            "LOG_DATA", "STATUSTEXT", where=lambda m: m.get_type() != "STATUSTEXT" or "logs" in m.text
        )
        assert "no logs while it is armed; disarm first" in pilot.texts
        pilot.close()


def test_failsafes_and_rejections_are_reported_and_ftp_is_rejected():
    port = free_port()
    with SimulatedVehicle(f"udp:{port}") as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()
        assert pilot.mode(4, 4) == mavlink.MAV_RESULT_DENIED
        assert any("there is no mission" in text for text in pilot.texts)
        pilot.mav.param_set_send(1, 1, b"TUNE_003", 5000.0, mavlink.MAV_PARAM_TYPE_REAL32)
        assert pilot.receive("PARAM_VALUE").param_value == 0.75
        assert any("is outside -1000 to 1000" in text for text in pilot.texts)
        vehicle.loop.send("host", "computer_hot", 1)
        message = pilot.receive("STATUSTEXT", where=lambda m: "failsafe computer_hot" in m.text)
        assert message.severity == mavlink.MAV_SEVERITY_WARNING
        row = [row.name for row in vehicle.loop.monitor.rules].index("computer_hot")
        assert pilot.receive("NAMED_VALUE_INT", where=lambda m: m.value >> row & 1)
        pilot.mav.file_transfer_protocol_send(0, 1, 1, [7, 0, 0, 4] + [0] * 247)
        answer = pilot.receive("FILE_TRANSFER_PROTOCOL").payload
        assert (answer[0], answer[3], answer[5], answer[12]) == (8, 129, 4, 10)
        assert pilot.command(mavlink.MAV_CMD_REQUEST_MESSAGE, 148) == mavlink.MAV_RESULT_ACCEPTED
        assert pilot.command(mavlink.MAV_CMD_PREFLIGHT_CALIBRATION, 1) == mavlink.MAV_RESULT_DENIED
        assert pilot.command(mavlink.MAV_CMD_NAV_TAKEOFF) == mavlink.MAV_RESULT_UNSUPPORTED
        pilot.mav.timesync_send(0, 123456)
        assert pilot.receive("TIMESYNC").ts1 == 123456
        pilot.close()


def test_reason_that_blocks_arming_is_reported_as_text_and_health():
    port = free_port()
    # its condition blocks arming long before the rule is active
    slow = 'failsafe.disk={trigger="host", word="storage_full", action="hold", delay_s=600}'
    with SimulatedVehicle(f"udp:{port}", overrides=(slow,)) as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()

        def healthy() -> bool:
            return bool(pilot.receive("SYS_STATUS").onboard_control_sensors_health & PREARM)

        until("nothing blocks it", healthy)
        assert pilot.command(mavlink.MAV_CMD_RUN_PREARM_CHECKS) == mavlink.MAV_RESULT_ACCEPTED
        assert "nothing blocks arming" in pilot.texts
        vehicle.loop.send("host", "storage_full", 1)
        until("something blocks it", lambda: not healthy())
        assert pilot.command(mavlink.MAV_CMD_RUN_PREARM_CHECKS) == mavlink.MAV_RESULT_ACCEPTED
        assert any(text.startswith("not armed: disk;") for text in pilot.texts)
        assert pilot.arm() == mavlink.MAV_RESULT_DENIED
        vehicle.loop.send("host", "storage_full", 0)
        until("nothing blocks it any more", healthy)
        assert pilot.arm() == mavlink.MAV_RESULT_ACCEPTED and healthy()
        pilot.close()


def test_message_of_failsafes_holds_the_first_31_rules():
    bench = Bench(None)
    snapshot = bench.vehicle_link.snapshot
    snapshot.active_rules = 1 << 40 | 1 << 31 | 1 << 30 | 5
    message = failsafes(bench.vehicle_link, snapshot)
    assert message.pack(station(None)) and message.value == 1 << 30 | 5


def test_station_that_stops_sending_counts_as_lost():
    port = free_port()
    lost = 'failsafe.station_lost={limit_s=1, action="hold"}'
    with SimulatedVehicle(f"udp:{port}", overrides=(lost,)) as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()
        until("its heartbeat has come", lambda: vehicle.loop.state.station_age < 100)
        assert pilot.arm() == mavlink.MAV_RESULT_ACCEPTED
        until("it counts as lost", lambda: vehicle.loop.state.mode == modes.HOLD)
        pilot.send_heartbeat()
        until("it is back", lambda: vehicle.loop.state.mode == modes.AUTO)
        pilot.close()


@pytest.mark.parametrize("autopilot", NUMBERS)
def test_every_mode_has_its_own_number(autopilot):
    numbers = ModeNumbers(autopilot)
    for mode, name in enumerate(modes.NAMES):
        custom = numbers.number[mode]
        assert numbers.name(custom) == name
        halves = (custom >> 16 & 0xFF, custom >> 24) if autopilot == "px4" else (custom, 0)
        assert numbers.name_of_command(*map(float, halves)) == name
    assert numbers.name(0xABCDEF) is None and numbers.name_of_command(-1.0, 0.0) is None


@pytest.mark.parametrize(
    ("axes", "z", "stick"),
    [(THROTTLE, 1000, 1.0), (THROTTLE, 0, 0.0), (THROTTLE, -1000, -1.0), (STICKS, 500, 0.0)],
)
def test_axes_give_the_inputs_of_vehicles_with_and_without_a_throttle(axes, z, stick):
    inputs = sticks({"x": 0, "y": 0, "z": z, "r": 250}, axes)
    assert inputs == pytest.approx(
        [stick if axes is THROTTLE else 0.0, 0, 0 if axes is THROTTLE else stick, -0.25]
    )


@given(*[st.integers(-1000, 1000)] * 4, st.sampled_from([STICKS, THROTTLE]))
def test_manual_control_gives_shares(x, y, z, r, axes):
    inputs = sticks({"x": x, "y": y, "z": z, "r": r}, axes)
    assert len(inputs) == 4 and all(-1 <= value <= 1 for value in inputs)


def test_parameters_of_the_vehicle_are_listed_set_and_rejected():
    port = free_port()
    with SimulatedVehicle(f"udp:{port}", parameters=False) as vehicle:
        params = vehicle.loop.handler.params
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()
        found = pilot.parameters()
        assert list(found) == params.names and len(found) > 10
        name = next(n for n in params.names if params.declared[n].kind == "float" and params.declared[n].live)
        about = params.declared[name]
        new = shortest(0.25 * about.low + 0.75 * about.high)
        pilot.mav.param_set_send(1, 1, name.encode(), new, mavlink.MAV_PARAM_TYPE_REAL32)
        message = pilot.receive("PARAM_VALUE", where=lambda m: m.param_id == name)
        assert message.param_value == pytest.approx(new, rel=1e-6)
        assert params.value(name) == pytest.approx(new, rel=1e-6) != about.default
        pilot.mav.param_set_send(1, 1, name.encode(), about.high * 2 + 1, mavlink.MAV_PARAM_TYPE_REAL32)
        message = pilot.receive("PARAM_VALUE", where=lambda m: m.param_id == name)
        assert message.param_value == pytest.approx(new, rel=1e-6)
        assert any("is out of range" in text for text in pilot.texts)
        pilot.close()
