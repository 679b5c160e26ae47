"""Missions: upload, download, clear, the current item and the items reached. The receiver requests one item after the
other; a whole mission is one command to the loop."""

from typing import TYPE_CHECKING, Any

from caudal.onboard.core import modes
from caudal.onboard.station.bridge import Done
from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.mission_items import InvalidItem, Item, Plan, Step, check_count

if TYPE_CHECKING:
    from caudal.onboard.station.session import Session

MISSION = mavlink.MAV_MISSION_TYPE_MISSION
REPEAT_S = 1.0
MAX_REQUESTS = 5


class Upload:
    """An upload of a station; `requests`: for the next item, without an answer so far."""

    def __init__(self, count: int, sender: tuple[int, int]) -> None:
        self.count = count
        self.sender = sender
        self.items: list[Item] = []
        self.requests = 0
        self.requested_s = float("-inf")


class Missions:
    """One station's missions."""

    MESSAGES = {
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
        self._vehicle_link = session.vehicle_link
        self._upload: Upload | None = None
        self._passed = self._vehicle_link.snapshot.mission_completed

    @property
    def _plan(self) -> Plan:
        return self._vehicle_link.plan

    def step(self, now_s: float) -> None:
        """Reports items reached, and requests the next item of an upload."""
        self._report_reached()
        upload = self._upload
        if upload is None or now_s < upload.requested_s + REPEAT_S:
            return
        if upload.requests >= MAX_REQUESTS:
            self._end(
                mavlink.MAV_MISSION_OPERATION_CANCELLED,
                "mission: the upload stopped; the mission is unchanged",
            )
            return
        upload.requests += 1
        upload.requested_s = now_s
        self._request(upload)

    def end(self) -> None:
        """Drops an upload; the station is gone."""
        self._drop()

    # ---- upload

    def mission_count(self, message: Any) -> None:
        """Begins an upload."""
        if message.mission_type != MISSION:
            self._ack(mavlink.MAV_MISSION_UNSUPPORTED, mission_type=message.mission_type)
            return
        if self._plan.uploading not in (None, self._session):
            self._ack(mavlink.MAV_MISSION_DENIED)
            self._session.text(mavlink.MAV_SEVERITY_WARNING, "mission: another station is uploading one")
            return
        self._drop()
        try:
            check_count(message.count)
        except InvalidItem as error:
            self._end(error.result, str(error))
            return
        if message.count == 0:
            self._clear()
            return
        self._plan.uploading = self._session
        self._upload = Upload(message.count, self._session.sender)

    def mission_item_int(self, message: Any) -> None:
        """Takes the next item of an upload."""
        upload = self._upload
        if upload is None or message.mission_type != MISSION:
            self._ack(mavlink.MAV_MISSION_INVALID_SEQUENCE, mission_type=message.mission_type)
            return
        if message.seq != len(upload.items):  # a second copy; the next item is requested again
            return
        try:
            upload.items.append(Item.of(message))
        except InvalidItem as error:
            self._end(error.result, f"mission: item {message.seq} {error}")
            return
        upload.requests = 0
        upload.requested_s = float("-inf")
        if len(upload.items) == upload.count:
            upload.requested_s = float("inf")  # complete: no more requests
            self._load(upload.items)
        else:
            self.step(self._session.now_s)

    mission_item = mission_item_int

    def mission_clear_all(self, message: Any) -> None:
        """Clears the mission."""
        if message.mission_type in (MISSION, mavlink.MAV_MISSION_TYPE_ALL):
            self._drop()
            self._clear()
        else:
            self._ack(mavlink.MAV_MISSION_ACCEPTED, mission_type=message.mission_type)

    def _clear(self) -> None:
        if modes.NAMES[modes.MISSION] in self._vehicle_link.modes:
            self._load([])  # even if it has none: a mission may be queued for the loop
        else:
            self._ack(mavlink.MAV_MISSION_ACCEPTED)

    def _load(self, items: list[Item]) -> None:
        steps: list[list[Step]] = []
        flat: list[Step] = []
        depth_m = None
        for k, item in enumerate(items):
            try:
                steps.append(item.steps(self._vehicle_link, depth_m))
            except InvalidItem as error:
                self._end(error.result, f"mission: item {k} {error}")
                return
            for step in steps[-1]:
                flat.append(step)
                depth_m = depth_m if isinstance(step, str) else step[2]
        upload, requested_by = self._upload, self._session.sender

        def done(refusal: str | None) -> None:
            if refusal is None:
                self._plan.replace(items, steps)
            if upload is None:  # a mission cleared: answer, even if an upload has begun meanwhile
                if refusal:
                    self._session.text(mavlink.MAV_SEVERITY_WARNING, refusal)
                result = mavlink.MAV_MISSION_ERROR if refusal else mavlink.MAV_MISSION_ACCEPTED
                self._ack(result, to=requested_by)
                return
            if self._upload is not upload:  # another upload has begun meanwhile; it goes on
                return
            if refusal:
                self._end(mavlink.MAV_MISSION_ERROR, refusal)
                return
            ignored = steps.count([])
            if ignored:
                text = f"mission: {ignored} items are stored but ignored; the vehicle keeps its own speed"
                self._session.text(mavlink.MAV_SEVERITY_NOTICE, text)
            self._end(mavlink.MAV_MISSION_ACCEPTED)

        if not self._session.submit("mission", flat, done=done):
            self._end(mavlink.MAV_MISSION_ERROR, "mission: too many commands are waiting")

    def _request(self, upload: Upload) -> None:
        self._session.send(
            mavlink.MAVLink_mission_request_int_message(*upload.sender, len(upload.items), MISSION)
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

    # ---- download

    def mission_request_list(self, message: Any) -> None:
        """Begins a download."""
        count = len(self._plan.items) if message.mission_type == MISSION else 0
        self._session.send(
            mavlink.MAVLink_mission_count_message(*self._session.sender, count, message.mission_type)
        )

    def mission_request_int(self, message: Any) -> None:
        """Sends one item."""
        if message.mission_type != MISSION or message.seq >= len(self._plan.items):
            self._ack(mavlink.MAV_MISSION_INVALID_SEQUENCE, mission_type=message.mission_type)
            return
        item = self._plan.items[message.seq]
        current = int(self._plan.item_of(self._vehicle_link.snapshot.mission_index) == message.seq)
        head = *self._session.sender, message.seq, item.frame, item.command, current, item.autocontinue
        self._session.send(
            mavlink.MAVLink_mission_item_int_message(*head, *item.params, item.x, item.y, item.z, MISSION)
        )

    mission_request = mission_request_int

    def mission_ack(self, message: Any) -> None:
        """Ends an upload that the station cancels."""
        if message.type == mavlink.MAV_MISSION_OPERATION_CANCELLED:
            self._drop()

    # ---- execution

    def mission_set_current(self, message: Any) -> None:
        """Continues the mission at an item."""
        self.begin(message.seq)

    def begin(self, item: int, done: Done | None = None) -> None:
        """Continues the mission at an item; `done` gets the loop's answer."""
        step = self._plan.step_from(item)

        def chosen(refusal: str | None) -> None:
            if refusal is None:
                self._session.send_now(mavlink.MAVLINK_MSG_ID_MISSION_CURRENT)
            else:
                self._session.text(mavlink.MAV_SEVERITY_WARNING, refusal)
            if done:
                done(refusal)

        if step is None:
            chosen(f"begin: there is no item {item}; the mission has {len(self._plan.items)}")
        elif not self._session.submit("begin", step, done=chosen):
            chosen("begin: too many commands are waiting")

    def _report_reached(self) -> None:
        now = self._vehicle_link.snapshot
        for step in range(now.mission_index - (now.mission_completed - self._passed), now.mission_index):
            item = self._plan.ended_by(step)
            if item is not None:
                self._session.send(mavlink.MAVLink_mission_item_reached_message(item))
            self._session.send_now(mavlink.MAVLINK_MSG_ID_MISSION_CURRENT)
        self._passed = now.mission_completed

    def _ack(self, result: int, mission_type: int = MISSION, to: tuple[int, int] | None = None) -> None:
        to = to or (self._upload.sender if self._upload else self._session.sender)
        self._session.send(mavlink.MAVLink_mission_ack_message(*to, result, mission_type))
