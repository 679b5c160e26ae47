"""The stream of a run: it sends what is recorded, accepts commands, and never delays the run."""

import contextlib
import socket
import threading
import time

import pytest

from caudal.onboard.core.command_handler import MOST_ITEMS
from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import Recorder
from caudal.onboard.log.stream import LARGEST_COMMAND_BYTES, StreamServer, packed, unpacked
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_scenario
from caudal.tools.log.live_run import LiveSource
from caudal.tools.simulate.on_request_faults import on_request
from caudal.tools.simulate.simulation import Simulation
from tests.waiting import LIMIT_S, wait_for

FIELDS = [("float64", "x_m"), ("float64", "y_m"), ("float64", "depth_m")]


@pytest.fixture
def live(tmp_path):
    recorder = Recorder(tmp_path / "log.mcap", {}, lossless=True)
    made = StreamServer(recorder, {"vehicle": "eel"}, ("127.0.0.1", 0))
    yield made
    made.close()
    recorder.close()


def test_stream_sends_recorded_rows_and_queues_commands_until_polled(live, tmp_path):
    sent = []
    topic = live.topic("/eel_1/truth", FIELDS)
    live.add_vehicle("eel_1", lambda *command: sent.append(command))
    live.start()
    source = LiveSource(live.address)
    assert (
        source.metadata == {"vehicle": "eel"} and source.controls == ["eel_1"] and not source.injects_faults
    )
    wait_for(lambda: live.watched)
    reused = [1.0, 2.0, None]
    topic.write(10, reused)
    live.event(10, "armed", vehicle="eel_1")
    reused[0] = 7.0  # the loop reuses its list
    wait_for(lambda: source.updates and source.events)
    assert list(source.newest.rows["/eel_1/truth"]) == [1.0, 2.0, None]
    assert source.events[0].kind == "armed"
    source.send("eel_1", "mode", "hold")
    wait_for(lambda: live._commands)
    assert not sent, "a command ran before the control thread polled"
    live.poll(20)
    assert sent == [("mode", "hold")]
    source.close()
    live.close()
    live._recorder.close()
    assert Log(tmp_path / "log.mcap").topics["/eel_1/truth"].rows == [(1.0, 2.0, None)]


def test_stream_is_not_delayed_by_a_client_that_never_reads(live):
    topic = live.topic("/eel_1/truth", [("float64", f"f_{k}") for k in range(3000)])
    live.start()
    with socket.create_connection(live.address) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        source = LiveSource(live.address)
        wait_for(lambda: len(live._viewers) == 2)
        for k in range(300):
            topic.write(k, [float(k)] * 3000)
            time.sleep(0.002)
        wait_for(lambda: source.updates and source.newest.rows["/eel_1/truth"][0] == 299.0)
        assert max(len(viewer.unsent) for viewer in live._viewers) < 200_000, (
            "what a slow client misses was stored"
        )
        source.close()


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def nested(deep: int) -> bytes:
    return packed(["tell", "eel_1", "goto", None])[4:-1] + b"\x91" * deep + b"\xc0"


NOISE = {
    "web": b"GET / HTTP/1.1\r\n\r\n",
    "length": b"\xff" * 64,
    "map": packed({"tell": 1}),
    "no command": packed(["fly", "eel_1", "arm"]),
    "no vehicle": packed(["tell", 1, "arm"]),
    "no kind": packed(["tell", "eel_1"]),
    "no fault": packed(["rehearse", "eel_1", 5]),
    "too much": packed(["rehearse", "eel_1", "silent:depth", 5]),
    "lists": packed([[], [], []]),
    "large": packed(["tell", "eel_1", "goto", "x" * LARGEST_COMMAND_BYTES]),
    "deep": framed(nested(5000)),
    "deep, yet it can be read": framed(nested(900)),
    "no value": packed(["tell", "eel_1", "goto", {"x": 1}]),
    "no text": framed(b"\x93\xa4tell\xa1\xff\xa3arm"),
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_stream_closes_the_connection_when_it_receives_noise(live, noise):
    live.topic("/eel_1/truth", FIELDS)
    live.start()
    with socket.create_connection(live.address) as peer:
        peer.sendall(noise)
        peer.settimeout(LIMIT_S)
        with contextlib.suppress(ConnectionResetError):  # bytes that the stream left unread
            while peer.recv(65536):  # the handshake, then the end
                pass
    LiveSource(live.address).close()
    assert not live._commands


HELLO = {
    "run": {"vehicle": "eel"}, "topics": [["/eel_1/truth", ["x_m"]]], "controls": ["eel_1"], "rehearses": False,
}  # fmt: skip


def answering(reply: bytes) -> tuple[str, int]:
    """Returns the address of a server that sends this to its first client and closes."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with server, server.accept()[0] as peer:
            peer.sendall(reply)

    threading.Thread(target=answer, daemon=True).start()
    return server.getsockname()[:2]


REPLIES = {
    "web": b"HTTP/1.0 400 Bad Request\r\n\r\n",
    "number": packed(5),
    "list": packed([]),
    "map": packed({"a": 1}),
    "nothing": packed({**HELLO, "topics": None}),
    "no pairs": packed({**HELLO, "topics": [["/eel_1/truth"]]}),
    "no text": packed({**HELLO, "run": {"vehicle": 1}}),
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_live_source_rejects_a_server_that_is_no_run(reply):
    with pytest.raises(UsageError, match="does not answer as a caudal run"):
        LiveSource(answering(reply))


def test_live_source_reads_messages_that_arrive_with_the_handshake():
    events = {"events": [[10, "armed", {"vehicle": "eel_1"}]], "at": [[0, 10, [1.5]]]}
    source = LiveSource(answering(packed(HELLO) + packed(events)))
    wait_for(lambda: source.ended)
    assert [event.kind for event in source.events] == ["armed"] and source.newest.rows == {
        "/eel_1/truth": [1.5]
    }


def test_live_source_lists_repeated_manual_control_once():
    sticks = {"vehicle": "eel_1", "kind": "sticks", "values": [0.5]}
    kinds = [sticks] * 5 + [{**sticks, "refused": "not armed"}, {**sticks, "kind": "arm"}] + [sticks] * 5
    commands = [[k, "command", details] for k, details in enumerate(kinds)]
    source = LiveSource(answering(packed(HELLO) + packed({"events": commands})))
    wait_for(lambda: source.ended)
    assert [event.time_ns for event in source.events] == [0, 5, 6, 7]


@pytest.mark.parametrize("reply", [5, [[]], {"at": [[7, 10, [1.5]]]}, {"events": [1]}], ids=str)
def test_live_source_ends_when_it_receives_nonsense(reply):
    source = LiveSource(answering(packed(HELLO) + packed(reply)))
    wait_for(lambda: source.ended)


def test_stream_accepts_the_longest_mission(live):
    sent = []
    live.add_vehicle("eel_1", lambda *command: sent.append(command))
    live.start()
    mission = [*[[1.25, -2.5, 0.75, 10.5]] * (MOST_ITEMS - 1), "hold"]
    source = LiveSource(live.address)
    source.send("eel_1", "mission", mission)
    wait_for(lambda: live._commands)
    live.poll(0)
    assert sent == [("mission", mission)]
    source.close()


@pytest.fixture
def far(live, monkeypatch):
    """A stream whose clients all seem to come from another machine."""
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


@pytest.mark.parametrize(
    "noise", [*NOISE.values(), packed(["tell", "eel_1", "arm"])], ids=[*NOISE, "command"]
)
def test_stream_ignores_commands_from_other_machines(far, noise):
    topic = far.topic("/eel_1/truth", FIELDS)
    far.add_vehicle("eel_1", print)
    far.start()
    source = LiveSource(far.address)
    assert source.controls == []
    source._socket.sendall(noise)
    for depth_m in (1.0, 2.0):  # the second is sent after the stream has read again
        topic.write(10, [0.0, 0.0, depth_m])
        wait_for(lambda d=depth_m: source.updates and source.newest.rows["/eel_1/truth"][2] == d)
    assert not far._commands and not source.ended
    source.close()


def test_stream_reports_why_a_fault_was_rejected(live):
    live.topic("/eel_1/truth", FIELDS)
    live.inject = lambda vehicle, fault: f"{vehicle} has no {fault}"
    live.start()
    source = LiveSource(live.address)
    assert source.injects_faults
    source.inject_fault("eel_1", "gills")
    wait_for(lambda: live._commands)
    live.poll(5)
    wait_for(lambda: source.events)
    assert source.events[0].details["refused"] == "eel_1 has no gills"
    source.close()


def test_unpacked_restores_messages_from_any_pieces():
    whole = packed(["tell", "a", "arm"]) + packed({"at": [[0, 1, [1.5, None]]]})
    buffer, found = bytearray(), []
    for byte in whole:
        buffer.append(byte)
        found += unpacked(buffer)
    assert found == [["tell", "a", "arm"], {"at": [[0, 1, [1.5, None]]]}] and not buffer


def test_stream_can_inject_and_clear_faults_of_the_recorder(tmp_path):
    opened, name, _ = open_scenario("rov", [], None)
    simulation = Simulation(opened, name, 1)
    recorder = Recorder(tmp_path / "log.mcap", {}, lossless=True)
    live = StreamServer(recorder, {"vehicle": "rov"}, ("127.0.0.1", 0))
    simulation.record(live)
    rehearse = on_request(simulation)
    for text in ("silent:depth", "fails:recorder"):
        assert rehearse("rov_1", text) is None
    simulation.step()
    assert rehearse("rov_1", "mend silent:depth") is None and not simulation.instances[0].body.on_counts
    assert "there are fails:recorder" in rehearse("rov_1", "mend silent:depth")
    live.close()
    recorder.close()
    assert "No space left" in recorder.failed
