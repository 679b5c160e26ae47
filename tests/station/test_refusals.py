"""Invalid, unsigned and replayed messages are rejected, counted and reported, and change nothing."""

import contextlib
import socket

import pytest

from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.links import MOST_PEERS
from caudal.onboard.station.signing import GRACE, SECOND, KeyFileError, Signing
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_vehicle
from caudal.tools.simulate.on_request_faults import rehearsal
from tests.station import mutations
from tests.station.afloat import Afloat, free_port, until
from tests.station.mutations import KEY, Bench, messages, station
from tests.station.pilots import Pilot

ARM = mavlink.MAVLink_command_long_message(1, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0)
BEAT = mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 0, 3)
ARM_NUMBER = mavlink.MAV_CMD_COMPONENT_ARM_DISARM


def test_with_a_key_unsigned_wrongly_signed_and_replayed_commands_are_refused_counted_told_and_recorded():
    port = free_port()
    signing = Signing(KEY, None)
    with Afloat(f"udp:{port}", signing=signing) as vehicle:
        friend = Pilot(f"udpout:127.0.0.1:{port}", KEY)
        friend.meet()
        attempts = {"unsigned": None, "wrongly signed": b"k" * 32}
        for reason, key in attempts.items():
            stranger = Pilot(f"udpout:127.0.0.1:{port}", key, system=250)
            stranger.link.setup_signing(key, sign_outgoing=True) if key else None
            stranger.mav.command_long_send(1, 1, ARM_NUMBER, 0, 1, 0, 0, 0, 0, 0, 0)
            until(f"{reason} is counted", lambda reason=reason: signing.refused[reason] > 0)
            stranger.close()
        disarm = mavlink.MAVLink_command_long_message(1, 1, ARM_NUMBER, 0, 0, 0, 0, 0, 0, 0, 0).pack(
            friend.mav
        )
        heard = ARM.pack(friend.mav)
        friend.link.write(heard)
        until("a friend's own command is taken", lambda: vehicle.loop.state.armed)
        assert friend.arm(False) == mavlink.MAV_RESULT_ACCEPTED
        thief = Pilot(f"udpout:127.0.0.1:{port}", system=251)
        for frame in (heard, disarm, heard):  # from another place, in another order
            thief.link.write(frame)
        until("they are counted", lambda: signing.refused["replayed"] >= 3)
        until("that is recorded", lambda: _recorded(vehicle) >= {"unsigned", "wrongly_signed", "replayed"})
        assert not vehicle.loop.state.armed
        assert friend.hear("STATUSTEXT", patience_s=0.1) is None or "refused" not in friend.texts[-1]
        thief.hear("STATUSTEXT", where=lambda m: "frames refused" in m.text)
        assert any("replayed" in text for text in thief.texts)
        for pilot in (friend, thief):
            pilot.close()


def test_strangers_who_have_taken_every_place_do_not_keep_out_a_pilot_with_the_key():
    port, tcp = free_port(), free_port(socket.SOCK_STREAM)
    signing = Signing(KEY, None)
    beat = BEAT.pack(station(None))
    with Afloat(f"udp:{port}", f"tcp:{tcp}", signing=signing) as vehicle, contextlib.ExitStack() as strangers:
        for _ in range(2 * MOST_PEERS):
            by_datagram = strangers.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            by_datagram.connect(("127.0.0.1", port))
            by_datagram.send(beat)
            by_stream = strangers.enter_context(socket.create_connection(("127.0.0.1", tcp)))
            by_stream.send(beat)
        until("every place is taken", lambda: len(vehicle.stations.peers()) == 2 * MOST_PEERS)
        for address in (f"udpout:127.0.0.1:{port}", f"tcp:127.0.0.1:{tcp}"):
            pilot = Pilot(address, KEY)
            pilot.meet()
            assert pilot.arm(True) == mavlink.MAV_RESULT_ACCEPTED
            assert pilot.arm(False) == mavlink.MAV_RESULT_ACCEPTED
            pilot.close()


def test_however_much_a_station_is_answered_it_is_told_of_every_failsafe():
    bench = Bench(None)
    pack, texts = station(None), []
    bench.peer._send = lambda data: texts.append(data) or True
    session = bench.peer.sessions[1]
    session.vehicle_link.active_rows = lambda snapshot: (
        [("leak", 4), ("too_deep", 4)] if bench.loop.ticks else []
    )
    for k in range(300):
        asked = mavlink.MAVLink_param_set_message(1, 1, b"NOBODY_%d" % (k % 200), 1.0, 9)
        bench.hear(asked.pack(pack))
        bench.tick()
    assert sum(b"failsafe leak" in data for data in texts) == 1
    assert sum(b"failsafe too_deep" in data for data in texts) == 1


def _recorded(vehicle: Afloat) -> set[str]:
    return {
        reason.replace(" ", "_")
        for kind, details in vehicle.notes
        for reason in details
        if kind == "frames refused"
    }


def test_a_forged_frame_from_the_future_does_not_lock_a_station_out():
    bench = Bench(Signing(KEY, None))
    good, forger = station(KEY), station(b"f" * 32)
    forger.signing.timestamp = good.signing.timestamp + 3600 * SECOND
    bench.hear(ARM.pack(forger))
    bench.hear(ARM.pack(good))
    assert [kind for kind, _ in bench.orders] == ["arm"]
    assert bench.signing.refused == {"wrongly signed": 1}


@pytest.fixture
def kept_key(tmp_path):
    """A file, beside which the times are kept."""
    key = tmp_path / "key"
    key.write_bytes(KEY)
    key.chmod(0o600)
    return key


def test_a_restarted_vehicle_still_refuses_what_it_heard_before(kept_key):
    first = Bench(Signing.from_file(kept_key))
    pack = station(KEY)
    frame = ARM.pack(pack)
    first.hear(frame)
    assert first.orders
    first.signing.keep()
    again = Bench(Signing.from_file(kept_key))
    again.hear(frame)
    assert not again.orders and again.signing.refused == {"replayed": 1}
    pack.signing.timestamp += GRACE + SECOND
    again.hear(ARM.pack(pack))
    assert again.orders


def signed(message, stamp: int, system: int = 255) -> bytes:
    pack = station(KEY)
    pack.srcSystem = system
    pack.signing.__class__ = type("Then", (Signing,), {"timestamp": stamp})
    return message.pack(pack)


def test_starts_alone_put_no_station_off_and_let_nothing_be_heard_again(kept_key):
    then, times = station(KEY).signing.timestamp, kept_key.with_name("key.times")
    first = Bench(Signing.from_file(kept_key))
    first.hear(signed(ARM, then))
    first.signing.keep()
    for start in range(1, 6):
        written = times.read_text()
        again = Bench(Signing.from_file(kept_key))
        assert times.read_text() == written
        again.hear(signed(ARM, then))
        again.hear(signed(ARM, then + GRACE))  # it might have been heard in the last, unwritten second
        assert again.signing.refused == {"replayed": 2} and not again.orders
        again.hear(signed(BEAT, then + 3 * start * SECOND, system=250))  # moves nothing of the first one's
        again.signing.keep()
    again.hear(signed(ARM, then + GRACE + 1))
    assert [kind for kind, _ in again.orders] == ["station", "arm"]
    again.signing.keep()
    last = Bench(Signing.from_file(kept_key))
    last.hear(signed(ARM, then + GRACE + 1))
    assert last.signing.refused == {"replayed": 1} and not last.orders


def test_a_folder_that_takes_no_times_is_refused_at_every_start(kept_key, monkeypatch):
    Signing.from_file(kept_key)
    assert kept_key.with_name("key.times").exists()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("caudal.onboard.station.signing.os.replace", full)
    with pytest.raises(KeyFileError, match="refuses: No space left"):
        Signing.from_file(kept_key)


def test_what_is_too_old_for_a_stream_that_nobody_knows_is_refused():
    bench = Bench(Signing(KEY, None))
    pack = station(KEY)
    pack.signing.__class__ = type("Old", (Signing,), {"timestamp": bench.signing.timestamp - 61 * SECOND})
    bench.hear(ARM.pack(pack))
    assert not bench.orders and bench.signing.refused == {"too old": 1}


def test_only_what_radios_make_may_come_unsigned():
    bench = Bench(Signing(KEY, None))
    for message in messages():
        bench.hear(message.pack(station(None)))
    assert not bench.orders and bench.signing.refused["unsigned"] == len(messages())
    bench.hear(mavlink.MAVLink_radio_status_message(1, 1, 1, 1, 1, 1, 1).pack(station(None)))
    assert bench.peer.frames.counts["radio"] == 1 and bench.peer.frames.counts["taken"] == 0


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [(b"short", 0o600, "neither 32 bytes nor a passphrase"), (KEY, 0o644, "others may read the key")],
)
def test_a_key_that_is_none_is_refused_in_a_sentence(tmp_path, content, mode, says):
    key = tmp_path / "key"
    key.write_bytes(content)
    key.chmod(mode)
    with pytest.raises(KeyFileError, match=says):
        Signing.from_file(key)
    with pytest.raises(KeyFileError, match="cannot read"):
        Signing.from_file(tmp_path / "none")
    key.write_bytes(KEY)
    key.chmod(0o600)
    (tmp_path / "key.times").write_text("{")
    with pytest.raises(KeyFileError, match="old frames could be played again"):
        Signing.from_file(key)


def test_nothing_comes_of_mutated_frames_without_the_key():
    score = mutations.run(20_000, seed=2)
    assert score["orders from whole frames"] > 8  # the same frames, whole, are heard
    assert score["orders from mutated frames"] == 0
    assert score["taken"] == len(messages())
    assert min(score["unsigned"], score["wrongly signed"], score["replayed"], score["damaged"]) > 100


def test_without_a_key_whatever_is_asked_for_breaks_nothing():
    score = mutations.run_open(5_000, seed=3)
    assert score["orders"] > 500 and score["taken"] > 2_000


def test_set_points_and_sticks_that_are_no_numbers_never_reach_the_loop():
    bench = Bench(None)
    pack = station(None)
    nan, inf = float("nan"), float("inf")
    for bad in (nan, inf, -inf):
        for place in ((bad, 0, 0), (0, bad, 0), (0, 0, bad)):
            local = mavlink.MAVLink_set_position_target_local_ned_message
            bench.hear(local(0, 1, 1, 1, 0, *place, 0, 0, 0, 0, 0, 0, 0, 0).pack(pack))
        bench.hear(mavlink.MAVLink_param_set_message(1, 1, b"TUNE_003", bad, 9).pack(pack))
        for number in (400, 176, 511, 512, 300, 224, 192, 193):
            bench.hear(mavlink.MAVLink_command_long_message(1, 1, number, 0, *[bad] * 7).pack(pack))
        bench.hear(mavlink.MAVLink_command_long_message(1, 1, 192, 0, -1, 1, 0, *[bad] * 4).pack(pack))
    for axis in range(4):
        axes = [0] * 4
        axes[axis] = 1001
        bench.hear(mavlink.MAVLink_manual_control_message(1, *axes, 0).pack(pack))
    assert not [order for order in bench.orders if order[0] in ("sticks", "goto", "set", "arm", "mode")]
    bench.tick()
    assert bench.loop.handler.params.values["TUNE_003"] == 0.75


def test_every_command_that_there_is_gets_one_answer():
    bench = Bench(None)
    answers: list[int] = []
    send = bench.peer.say

    def say(vehicle_link, message):
        if message.get_type() == "COMMAND_ACK":
            answers.append(message.command)
        send(vehicle_link, message)

    bench.peer.say = say
    numbers = sorted(number for number in mavlink.enums["MAV_CMD"] if number < 1 << 16)
    for number in numbers:
        bench.hear(
            mavlink.MAVLink_command_long_message(1, 1, number, 0, 1, 0, 0, 0, 0, 0, 0).pack(station(None))
        )
        for _ in range(3):
            bench.tick()
    assert answers == numbers and len(numbers) > 150


def test_failures_are_rehearsed_between_ticks_by_the_loops_own_thread():
    """A fleet that can be upset, as tools/faults/kinds.py words it."""
    vehicle = open_vehicle("fish")
    said: list[tuple[str, str]] = []

    class Upset:
        def inject(self, name: str, text: str) -> None:
            if "battery" in text:
                raise UsageError("the battery is new")
            said.append((name, text))

        def clear(self, name: str, what: str) -> None:
            said.append((name, f"mended {what}"))

    inject = rehearsal(vehicle, Upset())
    bench = Bench(None, rehearse=lambda asked: inject("one", asked))
    m = mavlink
    asked = [
        (m.FAILURE_UNIT_SENSOR_BARO, m.FAILURE_TYPE_STUCK, 0),
        (m.FAILURE_UNIT_SYSTEM_SERVO, m.FAILURE_TYPE_STUCK, 2),
        (m.FAILURE_UNIT_SENSOR_MAG, m.FAILURE_TYPE_INTERMITTENT, 0),
        (m.FAILURE_UNIT_SYSTEM_BATTERY, m.FAILURE_TYPE_OFF, 0),
        (m.FAILURE_UNIT_SYSTEM_MOTOR, m.FAILURE_TYPE_OFF, 1),
        (m.FAILURE_UNIT_SENSOR_BARO, m.FAILURE_TYPE_OK, 0),
    ]
    results: list[int] = []
    send = bench.peer.say
    bench.peer.say = lambda vehicle_link, message: (
        results.append(message.result) if message.get_type() == "COMMAND_ACK" else None,
        send(vehicle_link, message),
    )
    for what in asked:
        bench.hear(m.MAVLink_command_long_message(1, 1, 420, 0, *what, 0, 0, 0, 0).pack(station(None)))
        assert len(said) + results.count(m.MAV_RESULT_DENIED) == len(results)  # nothing before a tick
        bench.tick()
    assert said == [
        ("one", text) for text in ("stuck:depth", "jammed:tail_2", "silent:heading/0.5", "mended depth")
    ]
    assert results == [0, 0, 0, m.MAV_RESULT_DENIED, m.MAV_RESULT_DENIED, 0]
