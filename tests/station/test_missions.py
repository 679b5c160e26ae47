"""A mission changes only when somebody asks for it in so many words, and a new upload is never lost to an older one."""

import pytest

from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.mission_items import Item, Plan, Wrong
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


class Uploader:
    """A station at a bench: what it says, and what it is answered."""

    def __init__(self) -> None:
        self.bench = Bench(None)
        self.pack = station(None)
        self.said: list = []
        say = self.bench.peer.say
        self.bench.peer.say = lambda vehicle_link, message: (
            self.said.append(message),
            say(vehicle_link, message),
        )

    def send(self, *messages) -> None:
        for message in messages:
            self.bench.hear(message.pack(self.pack))

    def upload(self, count: int) -> None:
        """Up to its last item; the loop has not heard of it yet."""
        self.send(
            mavlink.MAVLink_mission_count_message(1, 1, count, 0),
            *(
                mavlink.MAVLink_mission_item_int_message(1, 1, k, 6, 16, 0, 1, 0, 0, 0, NAN, *PLACE, 0)
                for k in range(count)
            ),
        )

    def heard(self, kind: str) -> list:
        return [message for message in self.said if message.get_type() == kind]

    @property
    def mission(self) -> list:
        return self.bench.loop.state.mission


@pytest.mark.parametrize("item", [NAN, -1.0, -7.0, 0.5, float("inf"), -float("inf")])
def test_an_item_that_is_no_item_does_not_begin_the_mission_anew(item):
    one = Uploader()
    one.upload(3)
    one.bench.tick()
    one.bench.loop.state.mission_index = 2
    one.bench.orders.clear()
    number = mavlink.MAV_CMD_DO_SET_MISSION_CURRENT
    one.send(mavlink.MAVLink_command_long_message(1, 1, number, 0, item, 0, 0, 0, 0, 0, 0))
    one.bench.tick()
    assert [(ack.command, ack.result) for ack in one.heard("COMMAND_ACK")] == [
        (number, mavlink.MAV_RESULT_DENIED)
    ]
    assert not one.bench.orders and one.bench.loop.state.mission_index == 2 and len(one.mission) == 3


def test_a_late_answer_to_an_older_upload_does_not_drop_the_newer_one():
    one = Uploader()
    one.upload(3)
    one.send(mavlink.MAVLink_mission_count_message(1, 1, 2, 0))  # it has thought better of it
    one.bench.tick()  # only now the loop takes the first
    assert len(one.mission) == 3 and not one.heard("MISSION_ACK")  # an answer would be taken for the second's
    for k in range(2):
        one.send(mavlink.MAVLink_mission_item_int_message(1, 1, k, 6, 16, 0, 1, 0, 0, 0, NAN, *PLACE, 0))
    one.bench.tick()
    assert [ack.type for ack in one.heard("MISSION_ACK")] == [mavlink.MAV_MISSION_ACCEPTED]
    assert len(one.mission) == len(one.bench.vehicle_link.plan.items) == 2


def test_an_upload_right_behind_a_clearing_is_taken():
    """As MAVProxy does it: it waits for no answer in between."""
    one = Uploader()
    one.upload(3)
    one.bench.tick()
    one.said.clear()
    one.send(mavlink.MAVLink_mission_clear_all_message(1, 1, 0))
    one.send(mavlink.MAVLink_mission_count_message(1, 1, 2, 0))
    one.bench.tick()
    assert one.mission == [] and len(one.heard("MISSION_ACK")) == 1
    for k in range(2):
        one.send(mavlink.MAVLink_mission_item_int_message(1, 1, k, 6, 16, 0, 1, 0, 0, 0, NAN, *PLACE, 0))
    one.bench.tick()
    assert [ack.type for ack in one.heard("MISSION_ACK")] == [mavlink.MAV_MISSION_ACCEPTED] * 2
    assert len(one.mission) == 2


def test_a_clearing_behind_an_upload_that_is_still_under_way_clears_it_and_is_the_one_that_is_answered():
    one = Uploader()
    one.upload(3)
    one.send(mavlink.MAVLink_mission_clear_all_message(1, 1, 0))  # the loop has heard of neither
    assert not one.heard("MISSION_ACK")
    one.bench.tick()
    assert one.mission == one.bench.vehicle_link.plan.items == []
    assert [ack.type for ack in one.heard("MISSION_ACK")] == [mavlink.MAV_MISSION_ACCEPTED]


def test_a_clearing_is_answered_to_whoever_asked_for_it():
    """Several may share a link."""
    one, other = Uploader(), mavlink.MAVLink(None, 250, 190)
    one.upload(3)
    one.bench.tick()
    one.said.clear()
    one.send(mavlink.MAVLink_mission_clear_all_message(1, 1, 0))
    one.bench.hear(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 0, 3).pack(other))
    one.bench.hear(mavlink.MAVLink_mission_request_list_message(1, 1, 0).pack(other))
    one.bench.tick()
    assert [(ack.target_system, ack.type) for ack in one.heard("MISSION_ACK")] == [(255, 0)]


def test_whatever_swims_no_missions_has_none_after_a_clearing():
    one = Uploader()
    one.bench.vehicle_link.modes.remove("mission")
    one.send(mavlink.MAVLink_mission_clear_all_message(1, 1, 0))
    assert [ack.type for ack in one.heard("MISSION_ACK")] == [mavlink.MAV_MISSION_ACCEPTED]
    assert not one.bench.orders


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
def test_an_item_is_a_way_to_go_and_what_to_do_then(command, place, places, mode):
    vehicle_link = Bench(None).vehicle_link
    steps = item(command, place).steps(vehicle_link, None)
    assert [step for step in steps if isinstance(step, str)] == ([mode] if mode else [])
    ways = [step for step in steps if not isinstance(step, str)]
    assert len(ways) == places and steps == ways + ([mode] if mode else [])
    if places:
        assert ways[0] == item(WAYPOINT).steps(vehicle_link, None)[0]


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
def test_zero_is_a_place_in_metres_and_none_on_the_globe(command, frame, place, way):
    steps = item(command, place, frame).steps(Bench(None).vehicle_link, None)
    assert steps[:-1] == way and isinstance(steps[-1], str)


@pytest.mark.parametrize("frame", [LOCAL, GLOBE])
def test_a_way_point_without_a_place_is_refused(frame):
    with pytest.raises(Wrong, match="has no place"):
        item(WAYPOINT, UNSAID, frame).steps(Bench(None).vehicle_link, None)


def test_on_its_way_to_where_it_surfaces_it_stays_as_deep_as_it_was():
    vehicle_link = Bench(None).vehicle_link
    ashore = 473978000, 85456000, 0.0  # as stations write it
    (_, _, depth_m, _), _ = item(LAND, ashore).steps(vehicle_link, 0.7)
    assert depth_m == 0.7


def test_an_item_is_reached_when_the_last_of_its_steps_is_done():
    plan = Plan()
    kinds = [SPEED, WAYPOINT, SPEED, LAND, RETURN]
    vehicle_link = Bench(None).vehicle_link
    items = [item(kind) for kind in kinds]
    plan.take(items, [one.steps(vehicle_link, 0.5) for one in items])  # a place; a place, a mode; a mode
    assert [plan.ended_by(step) for step in range(-1, 5)] == [None, 1, None, 3, 4, None]
    assert [plan.step_from(k) for k in range(6)] == [0, 0, 1, 1, 3, None]
    assert [plan.item_of(step) for step in range(5)] == [1, 3, 3, 4, 4]


def test_a_mission_asks_for_no_mode_that_is_a_pilots():
    one = Uploader()
    one.bench.loop.send("mission", [[0.0, 0.0, 0.5, 0.0], "manual"])
    one.bench.tick()
    assert "item 1 asks for mode 'manual'" in one.bench.loop.taken[0][3] and one.mission == []
