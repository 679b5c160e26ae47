"""A run that may be looked on at: what is shown is what is recorded, and nobody who looks on holds it up."""

import contextlib
import socket
import threading
import time

import pytest

from caudal.onboard.core.command_handler import MOST_ITEMS
from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.log.stream import LARGEST_ORDER_BYTES, StreamServer, packed, unpacked
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.log.live_run import LiveSource
from caudal.tools.simulate.simulation import Simulation
from caudal.tools.vehicle_run.live_view import rehearsed

FIELDS = [("float64", "x_m"), ("float64", "y_m"), ("float64", "depth_m")]


@pytest.fixture
def live(tmp_path):
    recorder = Recorder(tmp_path / "log.mcap", {}, lossless=True)
    made = StreamServer(recorder, {"vehicle": "eel"}, ("127.0.0.1", 0))
    yield made
    made.close()
    recorder.close()


def wait(holds) -> None:
    give_up = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.005)


def test_who_looks_on_sees_what_the_log_holds_and_what_is_asked_waits_for_the_control_thread(live, tmp_path):
    told = []
    topic = live.topic("/eel_1/truth", FIELDS)
    live.handler("eel_1", lambda *order: told.append(order))
    live.start()
    watched = LiveSource(live.address)
    assert (
        watched.metadata == {"vehicle": "eel"}
        and watched.controls == ["eel_1"]
        and not watched.injects_faults
    )
    wait(lambda: live.watched)
    reused = [1.0, 2.0, None]
    topic.write(10, reused)
    live.event(10, "armed", vehicle="eel_1")
    reused[0] = 7.0  # a list that is used again
    wait(lambda: watched.updates and watched.events)
    assert list(watched.newest.rows["/eel_1/truth"]) == [1.0, 2.0, None]
    assert watched.events[0].kind == "armed"
    watched.send("eel_1", "mode", "hold")
    wait(lambda: live._asked)
    assert not told, "not before the control thread takes it"
    live.take(20)
    assert told == [("mode", "hold")]
    watched.close()
    live.close()
    live._recorder.close()
    assert Log(tmp_path / "log.mcap").topics["/eel_1/truth"].rows == [(1.0, 2.0, None)]


def test_one_who_never_reads_holds_up_neither_the_run_nor_the_others(live):
    topic = live.topic("/eel_1/truth", [("float64", f"f_{k}") for k in range(3000)])
    live.start()
    with socket.create_connection(live.address) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        watched = LiveSource(live.address)
        wait(lambda: len(live._lookers) == 2)
        for k in range(300):
            topic.write(k, [float(k)] * 3000)
            time.sleep(0.002)
        wait(lambda: watched.updates and watched.newest.rows["/eel_1/truth"][0] == 299.0)
        assert max(len(looker.unsent) for looker in live._lookers) < 200_000, (
            "what a slow one misses is not kept"
        )
        watched.close()


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def nested(deep: int) -> bytes:
    return packed(["tell", "eel_1", "goto", None])[4:-1] + b"\x91" * deep + b"\xc0"


NOISE = {
    "web": b"GET / HTTP/1.1\r\n\r\n",
    "length": b"\xff" * 64,
    "map": packed({"tell": 1}),
    "no order": packed(["fly", "eel_1", "arm"]),
    "no vehicle": packed(["tell", 1, "arm"]),
    "no kind": packed(["tell", "eel_1"]),
    "no fault": packed(["rehearse", "eel_1", 5]),
    "too much": packed(["rehearse", "eel_1", "silent:depth", 5]),
    "lists": packed([[], [], []]),
    "large": packed(["tell", "eel_1", "goto", "x" * LARGEST_ORDER_BYTES]),
    "deep": framed(nested(5000)),
    "deep, yet it can be read": framed(nested(900)),
    "no value": packed(["tell", "eel_1", "goto", {"x": 1}]),
    "no text": framed(b"\x93\xa4tell\xa1\xff\xa3arm"),
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_noise_ends_the_connection_and_nothing_else(live, noise):
    live.topic("/eel_1/truth", FIELDS)
    live.start()
    with socket.create_connection(live.address) as peer:
        peer.sendall(noise)
        peer.settimeout(60)
        with contextlib.suppress(ConnectionResetError):  # what it left unread
            while peer.recv(65536):  # the hello, then the end
                pass
    LiveSource(live.address).close()
    assert not live._asked


HELLO = {
    "run": {"vehicle": "eel"}, "topics": [["/eel_1/truth", ["x_m"]]], "controls": ["eel_1"], "rehearses": False,
}  # fmt: skip


def answering(said: bytes) -> tuple[str, int]:
    """The address of somebody who says that to the first who comes, and goes."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with server, server.accept()[0] as peer:
            peer.sendall(said)

    threading.Thread(target=answer, daemon=True).start()
    return server.getsockname()[:2]


STRANGERS = {
    "web": b"HTTP/1.0 400 Bad Request\r\n\r\n",
    "number": packed(5),
    "list": packed([]),
    "map": packed({"a": 1}),
    "nothing": packed({**HELLO, "topics": None}),
    "no pairs": packed({**HELLO, "topics": [["/eel_1/truth"]]}),
    "no text": packed({**HELLO, "run": {"vehicle": 1}}),
}


@pytest.mark.parametrize("said", STRANGERS.values(), ids=STRANGERS)
def test_who_looks_at_what_is_no_run_is_told_so(said):
    with pytest.raises(UsageError, match="does not answer as a caudal run"):
        LiveSource(answering(said))


def test_what_comes_with_the_first_word_of_a_run_is_heard_too():
    events = {"events": [[10, "armed", {"vehicle": "eel_1"}]], "at": [[0, 10, [1.5]]]}
    watched = LiveSource(answering(packed(HELLO) + packed(events)))
    wait(lambda: watched.ended)
    assert [event.kind for event in watched.events] == ["armed"] and watched.newest.rows == {
        "/eel_1/truth": [1.5]
    }


def test_sticks_that_are_held_on_are_told_of_once():
    sticks = {"vehicle": "eel_1", "kind": "sticks", "values": [0.5]}
    kinds = [sticks] * 5 + [{**sticks, "refused": "not armed"}, {**sticks, "kind": "arm"}] + [sticks] * 5
    heard = [[k, "order", details] for k, details in enumerate(kinds)]
    watched = LiveSource(answering(packed(HELLO) + packed({"events": heard})))
    wait(lambda: watched.ended)
    assert [event.time_ns for event in watched.events] == [0, 5, 6, 7]


@pytest.mark.parametrize("said", [5, [[]], {"at": [[7, 10, [1.5]]]}, {"events": [1]}], ids=str)
def test_a_run_that_talks_nonsense_has_ended_for_who_looks_on(said):
    watched = LiveSource(answering(packed(HELLO) + packed(said)))
    wait(lambda: watched.ended)


def test_the_longest_mission_is_an_order(live):
    told = []
    live.handler("eel_1", lambda *order: told.append(order))
    live.start()
    mission = [*[[1.25, -2.5, 0.75, 10.5]] * (MOST_ITEMS - 1), "hold"]
    watched = LiveSource(live.address)
    watched.send("eel_1", "mission", mission)
    wait(lambda: live._asked)
    live.take(0)
    assert told == [("mission", mission)]
    watched.close()


@pytest.fixture
def far(live, monkeypatch):
    """Whoever comes, comes from another machine."""
    accept = live._socket.accept

    class Elsewhere:
        def accept(self):
            peer, _ = accept()
            return peer, ("192.0.2.7", 1)

        def __getattr__(self, name):
            return getattr(socket_, name)

    socket_ = live._socket
    monkeypatch.setattr(live, "_socket", Elsewhere())
    return live


@pytest.mark.parametrize("noise", [*NOISE.values(), packed(["tell", "eel_1", "arm"])], ids=[*NOISE, "order"])
def test_from_beyond_this_machine_a_run_is_looked_at_whatever_is_said_and_not_steered(far, noise):
    topic = far.topic("/eel_1/truth", FIELDS)
    far.handler("eel_1", print)
    far.start()
    watched = LiveSource(far.address)
    assert watched.controls == []
    watched._socket.sendall(noise)
    for depth_m in (1.0, 2.0):  # what is written when the first has come is sent behind another hearing
        topic.write(10, [0.0, 0.0, depth_m])
        wait(lambda d=depth_m: watched.updates and watched.newest.rows["/eel_1/truth"][2] == d)
    assert not far._asked and not watched.ended
    watched.close()


def test_a_refused_rehearsal_says_why_among_the_events(live):
    live.topic("/eel_1/truth", FIELDS)
    live.rehearse = lambda vehicle, fault: f"{vehicle} has no {fault}"
    live.start()
    watched = LiveSource(live.address)
    assert watched.injects_faults
    watched.inject_fault("eel_1", "gills")
    wait(lambda: live._asked)
    live.take(5)
    wait(lambda: watched.events)
    assert watched.events[0].details["refused"] == "eel_1 has no gills"
    watched.close()


def test_messages_come_out_of_any_pieces_as_they_went_in():
    whole = packed(["tell", "a", "arm"]) + packed({"at": [[0, 1, [1.5, None]]]})
    buffer, found = bytearray(), []
    for byte in whole:
        buffer.append(byte)
        found += unpacked(buffer)
    assert found == [["tell", "a", "arm"], {"at": [[0, 1, [1.5, None]]]}] and not buffer


def test_who_looks_on_may_rehearse_a_disk_that_fails_and_mend_what_was_rehearsed(tmp_path):
    opened, name, _ = open_scenario("rov", [], None)
    simulation = Simulation(opened, name, 1)
    recorder = Recorder(tmp_path / "log.mcap", {}, lossless=True)
    live = StreamServer(recorder, {"vehicle": "rov"}, ("127.0.0.1", 0))
    simulation.record(live)
    rehearse = rehearsed(simulation)
    for text in ("silent:depth", "fails:recorder"):
        assert rehearse("rov_1", text) is None
    simulation.step()
    assert rehearse("rov_1", "mend silent:depth") is None and not simulation.instances[0].body.on_counts
    assert "there are fails:recorder" in rehearse("rov_1", "mend silent:depth")
    live.close()
    recorder.close()
    assert "No space left" in recorder.failed
