"""A mission changes only on a valid request, and a new upload is not lost to an older one."""

import pytest

from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.mission_items import InvalidItem, Item, Plan
from tests.station.mutations import Bench, station

NAN = float("nan")
GLOBE, LOCAL = mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, mavlink.MAV_FRAME_LOCAL_NED
PLACE = 473978000, 85456000, -0.5
NOWHERE = 0, 0, 0.0
UNSAID = 2**31 - 1, 2**31 - 1, 0.5
WAYPOINT, UNLIMITED, RETURN, LAND, SPEED = (
    mavlink.MAV_CMD_NAV_WAYPOINT,
    mavlink.MAV_CMD_NAV_LOITER_UNLIM,
    mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH,
    mavlink.MAV_CMD_NAV_LAND,
    mavlink.MAV_CMD_DO_CHANGE_SPEED,
)


class UploadingStation:
    """A station on a bench that uploads missions; it records the messages it receives."""

    def __init__(self) -> None:
        self.bench = Bench(None)
        self.pack = station(None)
        self.received: list = []
        send = self.bench.station.send
        self.bench.station.send = lambda vehicle_link, message: (
            self.received.append(message),
            send(vehicle_link, message),
        )

    def send(self, *messages) -> None:
        for message in messages:
            self.bench.receive(message.pack(self.pack))

    def upload(self, count: int) -> None:
        """Uploads all items; the loop executes the command in the next tick."""
        self.send(
            mavlink.MAVLink_mission_count_message(1, 1, count, 0),
            *(
                mavlink.MAVLink_mission_item_int_message(1, 1, k, 6, 16, 0, 1, 0, 0, 0, NAN, *PLACE, 0)
                for k in range(count)
            ),
        )

    def messages(self, kind: str) -> list:
        return [message for message in self.received if message.get_type() == kind]

    @property
    def mission(self) -> list:
        return self.bench.loop.state.mission


@pytest.mark.parametrize("item", [NAN, -1.0, -7.0, 0.5, float("inf"), -float("inf")])
def test_invalid_item_number_does_not_restart_the_mission(item):
    one = UploadingStation()
    one.upload(3)
    one.bench.tick()
    one.bench.loop.state.mission_index = 2
    one.bench.commands.clear()
    number = mavlink.MAV_CMD_DO_SET_MISSION_CURRENT
    one.send(mavlink.MAVLink_command_long_message(1, 1, number, 0, item, 0, 0, 0, 0, 0, 0))
    one.bench.tick()
    assert [(ack.command, ack.result) for ack in one.messages("COMMAND_ACK")] == [
        (number, mavlink.MAV_RESULT_DENIED)
    ]
    assert not one.bench.commands and one.bench.loop.state.mission_index == 2 and len(one.mission) == 3


def test_answer_to_an_older_upload_does_not_drop_the_newer_one():
    one = UploadingStation()
    one.upload(3)
    one.send(mavlink.MAVLink_mission_count_message(1, 1, 2, 0))  # it starts another upload
    one.bench.tick()  # now the loop executes the first
    assert len(one.mission) == 3 and not one.messages(
        "MISSION_ACK"
    )  # the station would take an answer as the second's
    for k in range(2):
        one.send(mavlink.MAVLink_mission_item_int_message(1, 1, k, 6, 16, 0, 1, 0, 0, 0, NAN, *PLACE, 0))
    one.bench.tick()
    assert [ack.type for ack in one.messages("MISSION_ACK")] == [mavlink.MAV_MISSION_ACCEPTED]
    assert len(one.mission) == len(one.bench.vehicle_link.plan.items) == 2


def test_upload_right_after_a_clear_is_accepted():
    """MAVProxy does so: it does not wait for the answer to its clear."""
    one = UploadingStation()
    one.upload(3)
    one.bench.tick()
    one.received.clear()
    one.send(mavlink.MAVLink_mission_clear_all_message(1, 1, 0))
    one.send(mavlink.MAVLink_mission_count_message(1, 1, 2, 0))
    one.bench.tick()
    assert one.mission == [] and len(one.messages("MISSION_ACK")) == 1
    for k in range(2):
        one.send(mavlink.MAVLink_mission_item_int_message(1, 1, k, 6, 16, 0, 1, 0, 0, 0, NAN, *PLACE, 0))
    one.bench.tick()
    assert [ack.type for ack in one.messages("MISSION_ACK")] == [mavlink.MAV_MISSION_ACCEPTED] * 2
    assert len(one.mission) == 2


def test_clear_during_an_upload_clears_the_mission_and_gets_the_answer():
    one = UploadingStation()
    one.upload(3)
    one.send(mavlink.MAVLink_mission_clear_all_message(1, 1, 0))  # the loop has executed neither
    assert not one.messages("MISSION_ACK")
    one.bench.tick()
    assert one.mission == one.bench.vehicle_link.plan.items == []
    assert [ack.type for ack in one.messages("MISSION_ACK")] == [mavlink.MAV_MISSION_ACCEPTED]


def test_clear_is_answered_to_its_sender():
    """Several stations may share a link."""
    one, other = UploadingStation(), mavlink.MAVLink(None, 250, 190)
    one.upload(3)
    one.bench.tick()
    one.received.clear()
    one.send(mavlink.MAVLink_mission_clear_all_message(1, 1, 0))
    one.bench.receive(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 0, 3).pack(other))
    one.bench.receive(mavlink.MAVLink_mission_request_list_message(1, 1, 0).pack(other))
    one.bench.tick()
    assert [(ack.target_system, ack.type) for ack in one.messages("MISSION_ACK")] == [(255, 0)]


def test_clear_is_accepted_by_a_vehicle_without_missions():
    one = UploadingStation()
    one.bench.vehicle_link.modes.remove("mission")
    one.send(mavlink.MAVLink_mission_clear_all_message(1, 1, 0))
    assert [ack.type for ack in one.messages("MISSION_ACK")] == [mavlink.MAV_MISSION_ACCEPTED]
    assert not one.bench.commands


def item(command: int, place: tuple[int, int, float] = PLACE, frame: int = GLOBE) -> Item:
    return Item(frame, command, 1, (0.0, 0.0, 0.0, NAN), *place)


@pytest.mark.parametrize(
    ("command", "place", "places", "mode"),
    [
        (WAYPOINT, PLACE, 1, None),
        (UNLIMITED, PLACE, 1, "hold"),
        (UNLIMITED, NOWHERE, 0, "hold"),
        (LAND, PLACE, 1, "surface"),
        (LAND, (2**31 - 1, 2**31 - 1, NAN), 0, "surface"),
        (RETURN, PLACE, 0, "surface"),
        (SPEED, NOWHERE, 0, None),
    ],
)
def test_item_becomes_a_waypoint_and_a_mode(command, place, places, mode):
    vehicle_link = Bench(None).vehicle_link
    steps = item(command, place).steps(vehicle_link, None)
    assert [step for step in steps if isinstance(step, str)] == ([mode] if mode else [])
    waypoints = [step for step in steps if not isinstance(step, str)]
    assert len(waypoints) == places and steps == waypoints + ([mode] if mode else [])
    if places:
        assert waypoints[0] == item(WAYPOINT).steps(vehicle_link, None)[0]


@pytest.mark.parametrize("command", [UNLIMITED, LAND])
@pytest.mark.parametrize(
    ("frame", "place", "way"),
    [
        (LOCAL, (0, 0, 0.5), [[0.0, 0.0, 0.5, 0.0]]),
        (LOCAL, UNSAID, []),
        (GLOBE, (0, 0, -0.5), []),
        (GLOBE, UNSAID, []),
        (mavlink.MAV_FRAME_MISSION, NOWHERE, []),
    ],
)
def test_zero_is_a_position_in_metres_and_none_on_the_globe(command, frame, place, way):
    steps = item(command, place, frame).steps(Bench(None).vehicle_link, None)
    assert steps[:-1] == way and isinstance(steps[-1], str)


@pytest.mark.parametrize("frame", [LOCAL, GLOBE])
def test_waypoint_without_a_position_is_rejected(frame):
    with pytest.raises(InvalidItem, match="has no position"):
        item(WAYPOINT, UNSAID, frame).steps(Bench(None).vehicle_link, None)


def test_land_item_keeps_the_depth_of_the_waypoint_before():
    vehicle_link = Bench(None).vehicle_link
    ashore = 473978000, 85456000, 0.0  # as stations send it
    (_, _, depth_m, _), _ = item(LAND, ashore).steps(vehicle_link, 0.7)
    assert depth_m == 0.7


def test_item_is_reached_after_its_last_step():
    plan = Plan()
    kinds = [SPEED, WAYPOINT, SPEED, LAND, RETURN]
    vehicle_link = Bench(None).vehicle_link
    items = [item(kind) for kind in kinds]
    plan.replace(
        items, [one.steps(vehicle_link, 0.5) for one in items]
    )  # a waypoint; a waypoint, a mode; a mode
    assert [plan.ended_by(step) for step in range(-1, 5)] == [None, 1, None, 3, 4, None]
    assert [plan.step_from(k) for k in range(6)] == [0, 0, 1, 1, 3, None]
    assert [plan.item_of(step) for step in range(5)] == [1, 3, 3, 4, 4]


def test_mission_cannot_request_a_pilots_mode():
    one = UploadingStation()
    one.bench.loop.send("mission", [[0.0, 0.0, 0.5, 0.0], "manual"])
    one.bench.tick()
    assert "item 1 asks for mode 'manual'" in one.bench.loop.taken[0][3] and one.mission == []
