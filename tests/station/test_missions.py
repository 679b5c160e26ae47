"""A mission changes only when somebody asks for it in so many words, and a new upload is never lost to an older one."""

import pytest

from onboard.station.dialect import mavlink
from tests.station.mutations import Bench, station

NAN = float("nan")
PLACE = 473978000, 85456000, -0.5


class Uploader:
    """A station at a bench: what it says, and what it is answered."""

    def __init__(self) -> None:
        self.bench = Bench(None)
        self.pack = station(None)
        self.said: list = []
        say = self.bench.peer.say
        self.bench.peer.say = lambda craft, message: (self.said.append(message), say(craft, message))

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
    one.bench.loop.state.mission_at = 2
    one.bench.orders.clear()
    number = mavlink.MAV_CMD_DO_SET_MISSION_CURRENT
    one.send(mavlink.MAVLink_command_long_message(1, 1, number, 0, item, 0, 0, 0, 0, 0, 0))
    one.bench.tick()
    assert [(ack.command, ack.result) for ack in one.heard("COMMAND_ACK")] == [
        (number, mavlink.MAV_RESULT_DENIED)
    ]
    assert not one.bench.orders and one.bench.loop.state.mission_at == 2 and len(one.mission) == 3


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
    assert len(one.mission) == len(one.bench.craft.plan.items) == 2


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
