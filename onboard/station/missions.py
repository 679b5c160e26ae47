"""Missions: upload, download, clear, which item it goes to and which it has reached. Items travel one by one, and the
receiver asks for each; a whole mission is one order to the loop."""

from typing import TYPE_CHECKING, Any

from caudal.onboard.core import modes
from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.mission_items import Item, Plan, Step, Wrong, check_count

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session

WAY = mavlink.MAV_MISSION_TYPE_MISSION
ASK_AGAIN_S = 1.0
ASKS = 5


class Upload:
    def __init__(self, count: int, heard_from: tuple[int, int]) -> None:
        self.count = count
        self.heard_from = heard_from
        self.items: list[Item] = []
        self.asks = 0
        self.asked_s = float("-inf")


class Missions:
    HEARS = {
        "MISSION_COUNT": "starts an upload",
        "MISSION_ITEM_INT": "an item of an upload",
        "MISSION_ITEM": "the same, with floats",
        "MISSION_REQUEST_LIST": "starts a download; fences and rally points are empty",
        "MISSION_REQUEST_INT": "one item of a download",
        "MISSION_REQUEST": "the same",
        "MISSION_CLEAR_ALL": "deletes the mission",
        "MISSION_SET_CURRENT": "sets the current item",
        "MISSION_ACK": "the end of a download",
    }

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._craft = session.vehicle_link
        self._upload: Upload | None = None
        self._passed = self._craft.snapshot.mission_completed

    @property
    def _plan(self) -> Plan:
        return self._craft.plan

    def step(self, now_s: float) -> None:
        self._tell_reached()
        upload = self._upload
        if upload is None or now_s < upload.asked_s + ASK_AGAIN_S:
            return
        if upload.asks >= ASKS:
            self._end(
                mavlink.MAV_MISSION_OPERATION_CANCELLED, "mission: the upload stopped; nothing is changed"
            )
            return
        upload.asks += 1
        upload.asked_s = now_s
        self._ask(upload)

    def end(self) -> None:
        """The station has gone."""
        self._drop()

    # ---- up

    def mission_count(self, message: Any) -> None:
        if message.mission_type != WAY:
            self._ack(mavlink.MAV_MISSION_UNSUPPORTED, mission_type=message.mission_type)
            return
        if self._plan.uploading not in (None, self._session):
            self._ack(mavlink.MAV_MISSION_DENIED)
            self._session.text(mavlink.MAV_SEVERITY_WARNING, "mission: another station is uploading one")
            return
        self._drop()
        try:
            check_count(message.count)
        except Wrong as wrong:
            self._end(wrong.result, str(wrong))
            return
        if message.count == 0:
            self._clear()
            return
        self._plan.uploading = self._session
        self._upload = Upload(message.count, self._session.heard_from)

    def mission_item_int(self, message: Any) -> None:
        upload = self._upload
        if upload is None or message.mission_type != WAY:
            self._ack(mavlink.MAV_MISSION_INVALID_SEQUENCE, mission_type=message.mission_type)
            return
        if message.seq != len(upload.items):  # one that was asked for twice; the right one is asked for again
            return
        try:
            upload.items.append(Item.of(message))
        except Wrong as wrong:
            self._end(wrong.result, f"mission: item {message.seq} {wrong}")
            return
        upload.asks = 0
        upload.asked_s = float("-inf")
        if len(upload.items) == upload.count:
            upload.asked_s = float("inf")  # all are there: nothing is asked for any more
            self._take(upload.items)
        else:
            self.step(self._session.now_s)

    mission_item = mission_item_int

    def mission_clear_all(self, message: Any) -> None:
        if message.mission_type in (WAY, mavlink.MAV_MISSION_TYPE_ALL):
            self._drop()
            self._clear()
        else:
            self._ack(mavlink.MAV_MISSION_ACCEPTED, mission_type=message.mission_type)

    def _clear(self) -> None:
        if modes.NAMES[modes.MISSION] in self._craft.modes:
            self._take([])  # even if it has none: one may be under way to it
        else:
            self._ack(mavlink.MAV_MISSION_ACCEPTED)

    def _take(self, items: list[Item]) -> None:
        steps: list[list[Step]] = []
        told: list[Step] = []
        deep_m = None
        for k, item in enumerate(items):
            try:
                steps.append(item.steps(self._craft, deep_m))
            except Wrong as wrong:
                self._end(wrong.result, f"mission: item {k} {wrong}")
                return
            for step in steps[-1]:
                told.append(step)
                deep_m = deep_m if isinstance(step, str) else step[2]
        upload, asked_by = self._upload, self._session.heard_from

        def done(refusal: str | None) -> None:
            if refusal is None:
                self._plan.take(items, steps)
            if upload is None:  # a clearing: whoever asked wants to hear of it, whatever has begun meanwhile
                if refusal:
                    self._session.text(mavlink.MAV_SEVERITY_WARNING, refusal)
                result = mavlink.MAV_MISSION_ERROR if refusal else mavlink.MAV_MISSION_ACCEPTED
                self._ack(result, to=asked_by)
                return
            if self._upload is not upload:  # another has begun meanwhile; it goes on, whatever became of this
                return
            if refusal:
                self._end(mavlink.MAV_MISSION_ERROR, refusal)
                return
            passed = steps.count([])
            if passed:
                text = f"mission: {passed} items are kept and passed over; it swims at its own speed"
                self._session.text(mavlink.MAV_SEVERITY_NOTICE, text)
            self._end(mavlink.MAV_MISSION_ACCEPTED)

        if not self._session.order("mission", told, done=done):
            self._end(mavlink.MAV_MISSION_ERROR, "mission: too many orders wait")

    def _ask(self, upload: Upload) -> None:
        self._session.say(
            mavlink.MAVLink_mission_request_int_message(*upload.heard_from, len(upload.items), WAY)
        )

    def _end(self, result: int, why: str | None = None) -> None:
        if why:
            self._session.text(mavlink.MAV_SEVERITY_WARNING, why)
        self._ack(result)
        self._drop()

    def _drop(self) -> None:
        self._upload = None
        if self._plan.uploading is self._session:
            self._plan.uploading = None

    # ---- down

    def mission_request_list(self, message: Any) -> None:
        count = len(self._plan.items) if message.mission_type == WAY else 0
        self._session.say(
            mavlink.MAVLink_mission_count_message(*self._session.heard_from, count, message.mission_type)
        )

    def mission_request_int(self, message: Any) -> None:
        if message.mission_type != WAY or message.seq >= len(self._plan.items):
            self._ack(mavlink.MAV_MISSION_INVALID_SEQUENCE, mission_type=message.mission_type)
            return
        item = self._plan.items[message.seq]
        current = int(self._plan.item_of(self._craft.snapshot.mission_index) == message.seq)
        head = *self._session.heard_from, message.seq, item.frame, item.command, current, item.autocontinue
        self._session.say(
            mavlink.MAVLink_mission_item_int_message(*head, *item.params, item.x, item.y, item.z, WAY)
        )

    mission_request = mission_request_int

    def mission_ack(self, message: Any) -> None:
        if message.type == mavlink.MAV_MISSION_OPERATION_CANCELLED:
            self._drop()

    # ---- under way

    def mission_set_current(self, message: Any) -> None:
        self.begin(message.seq)

    def begin(self, item: int, done: Any = None) -> None:
        """Go to an item; `done(refusal)` when that is known."""
        step = self._plan.step_from(item)

        def chosen(refusal: str | None) -> None:
            if refusal is None:
                self._session.say_now(mavlink.MAVLINK_MSG_ID_MISSION_CURRENT)
            else:
                self._session.text(mavlink.MAV_SEVERITY_WARNING, refusal)
            if done:
                done(refusal)

        if step is None:
            chosen(f"begin: there is no item {item}; the mission has {len(self._plan.items)}")
        elif not self._session.order("begin", step, done=chosen):
            chosen("begin: too many orders wait")

    def _tell_reached(self) -> None:
        now = self._craft.snapshot
        for step in range(now.mission_index - (now.mission_completed - self._passed), now.mission_index):
            item = self._plan.ended_by(step)
            if item is not None:
                self._session.say(mavlink.MAVLink_mission_item_reached_message(item))
            self._session.say_now(mavlink.MAVLINK_MSG_ID_MISSION_CURRENT)
        self._passed = now.mission_completed

    def _ack(self, result: int, mission_type: int = WAY, to: tuple[int, int] | None = None) -> None:
        to = to or (self._upload.heard_from if self._upload else self._session.heard_from)
        self._session.say(mavlink.MAVLink_mission_ack_message(*to, result, mission_type))
