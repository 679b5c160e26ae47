"""Frames without a right signature and malformed messages are rejected, counted, reported, and change nothing."""

import contextlib
import socket

import pytest

from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.links import MAX_STATIONS
from caudal.onboard.station.signing import GRACE, SECOND, KeyFileError, Signing
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_vehicle
from caudal.tools.simulate.on_request_faults import rehearsal
from tests.station import mutations
from tests.station.mutations import KEY, Bench, messages, station
from tests.station.pilots import Pilot
from tests.station.simulated import SimulatedVehicle, free_port, until

ARM = mavlink.MAVLink_command_long_message(1, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0)
BEAT = mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 0, 3)
ARM_NUMBER = mavlink.MAV_CMD_COMPONENT_ARM_DISARM


def test_vehicle_with_a_key_rejects_and_reports_unsigned_and_replayed_commands():
    port = free_port()
    signing = Signing(KEY, None)
    with SimulatedVehicle(f"udp:{port}", signing=signing) as vehicle:
        owner = Pilot(f"udpout:127.0.0.1:{port}", KEY)
        owner.connect()
        attempts = {"unsigned": None, "wrongly signed": b"k" * 32}
        for reason, key in attempts.items():
            stranger = Pilot(f"udpout:127.0.0.1:{port}", key, system=250)
            stranger.link.setup_signing(key, sign_outgoing=True) if key else None
            stranger.mav.command_long_send(1, 1, ARM_NUMBER, 0, 1, 0, 0, 0, 0, 0, 0)
            until(f"{reason} is counted", lambda reason=reason: signing.refused[reason] > 0)
            stranger.close()
        disarm = mavlink.MAVLink_command_long_message(1, 1, ARM_NUMBER, 0, 0, 0, 0, 0, 0, 0, 0).pack(
            owner.mav
        )
        sniffed = ARM.pack(owner.mav)
        owner.link.write(sniffed)
        until("the owner's command is executed", lambda: vehicle.loop.state.armed)
        assert owner.arm(False) == mavlink.MAV_RESULT_ACCEPTED
        attacker = Pilot(f"udpout:127.0.0.1:{port}", system=251)
        for frame in (sniffed, disarm, sniffed):  # from another address, in another order
            attacker.link.write(frame)
        until("they are counted", lambda: signing.refused["replayed"] >= 3)
        until("they are logged", lambda: _recorded(vehicle) >= {"unsigned", "wrongly_signed", "replayed"})
        assert not vehicle.loop.state.armed
        assert owner.receive("STATUSTEXT", timeout_s=0.1) is None or "refused" not in owner.texts[-1]
        attacker.receive("STATUSTEXT", where=lambda m: "frames refused" in m.text)
        assert any("replayed" in text for text in attacker.texts)
        for pilot in (owner, attacker):
            pilot.close()


def test_stations_without_the_key_cannot_block_one_with_the_key():
    port, tcp = free_port(), free_port(socket.SOCK_STREAM)
    signing = Signing(KEY, None)
    beat = BEAT.pack(station(None))
    with (
        SimulatedVehicle(f"udp:{port}", f"tcp:{tcp}", signing=signing) as vehicle,
        contextlib.ExitStack() as unknown,
    ):
        for _ in range(2 * MAX_STATIONS):
            by_datagram = unknown.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            by_datagram.connect(("127.0.0.1", port))
            by_datagram.send(beat)
            by_stream = unknown.enter_context(socket.create_connection(("127.0.0.1", tcp)))
            by_stream.send(beat)
        until("the links are full", lambda: len(vehicle.stations.stations()) == 2 * MAX_STATIONS)
        for address in (f"udpout:127.0.0.1:{port}", f"tcp:127.0.0.1:{tcp}"):
            pilot = Pilot(address, KEY)
            pilot.connect()
            assert pilot.arm(True) == mavlink.MAV_RESULT_ACCEPTED
            assert pilot.arm(False) == mavlink.MAV_RESULT_ACCEPTED
            pilot.close()


def test_failsafes_are_reported_to_a_station_that_gets_many_answers():
    bench = Bench(None)
    pack, texts = station(None), []
    bench.station._send = lambda data: texts.append(data) or True
    session = bench.station.sessions[1]
    session.vehicle_link.active_rules = lambda snapshot: (
        [("leak", 4), ("too_deep", 4)] if bench.loop.ticks else []
    )
    for k in range(300):
        request = mavlink.MAVLink_param_set_message(1, 1, b"NOBODY_%d" % (k % 200), 1.0, 9)
        bench.receive(request.pack(pack))
        bench.tick()
    assert sum(b"failsafe leak" in data for data in texts) == 1
    assert sum(b"failsafe too_deep" in data for data in texts) == 1


def _recorded(vehicle: SimulatedVehicle) -> set[str]:
    return {
        reason.replace(" ", "_")
        for kind, details in vehicle.notes
        for reason in details
        if kind == "frames refused"
    }


def test_forged_frame_with_a_future_time_does_not_lock_a_station_out():
    bench = Bench(Signing(KEY, None))
    good, forger = station(KEY), station(b"f" * 32)
    forger.signing.timestamp = good.signing.timestamp + 3600 * SECOND
    bench.receive(ARM.pack(forger))
    bench.receive(ARM.pack(good))
    assert [kind for kind, _ in bench.commands] == ["arm"]
    assert bench.signing.refused == {"wrongly signed": 1}


@pytest.fixture
def key_file(tmp_path):
    """A key file, next to which the times are stored."""
    key = tmp_path / "key"
    key.write_bytes(KEY)
    key.chmod(0o600)
    return key


def test_restarted_vehicle_rejects_frames_from_before_the_restart(key_file):
    first = Bench(Signing.from_file(key_file))
    pack = station(KEY)
    frame = ARM.pack(pack)
    first.receive(frame)
    assert first.commands
    first.signing.save()
    again = Bench(Signing.from_file(key_file))
    again.receive(frame)
    assert not again.commands and again.signing.refused == {"replayed": 1}
    pack.signing.timestamp += GRACE + SECOND
    again.receive(ARM.pack(pack))
    assert again.commands


def signed(message, stamp: int, system: int = 255) -> bytes:
    pack = station(KEY)
    pack.srcSystem = system
    pack.signing.__class__ = type("Then", (Signing,), {"timestamp": stamp})
    return message.pack(pack)


def test_restarts_alone_neither_lock_out_a_station_nor_allow_a_replay(key_file):
    then, times = station(KEY).signing.timestamp, key_file.with_name("key.times")
    first = Bench(Signing.from_file(key_file))
    first.receive(signed(ARM, then))
    first.signing.save()
    for start in range(1, 6):
        written = times.read_text()
        again = Bench(Signing.from_file(key_file))
        assert times.read_text() == written
        again.receive(signed(ARM, then))
        again.receive(signed(ARM, then + GRACE))  # it may have come in the last, unsaved second
        assert again.signing.refused == {"replayed": 2} and not again.commands
        again.receive(signed(BEAT, then + 3 * start * SECOND, system=250))  # another stream
        again.signing.save()
    again.receive(signed(ARM, then + GRACE + 1))
    assert [kind for kind, _ in again.commands] == ["station", "arm"]
    again.signing.save()
    last = Bench(Signing.from_file(key_file))
    last.receive(signed(ARM, then + GRACE + 1))
    assert last.signing.refused == {"replayed": 1} and not last.commands


def test_start_fails_when_the_times_cannot_be_written(key_file, monkeypatch):
    Signing.from_file(key_file)
    assert key_file.with_name("key.times").exists()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("caudal.onboard.station.signing.os.replace", full)
    with pytest.raises(KeyFileError, match="is not writable: No space left"):
        Signing.from_file(key_file)


def test_old_frame_of_a_new_stream_is_rejected():
    bench = Bench(Signing(KEY, None))
    pack = station(KEY)
    pack.signing.__class__ = type("Old", (Signing,), {"timestamp": bench.signing.timestamp - 61 * SECOND})
    bench.receive(ARM.pack(pack))
    assert not bench.commands and bench.signing.refused == {"too old": 1}


def test_only_messages_of_radios_may_be_unsigned():
    bench = Bench(Signing(KEY, None))
    for message in messages():
        bench.receive(message.pack(station(None)))
    assert not bench.commands and bench.signing.refused["unsigned"] == len(messages())
    bench.receive(mavlink.MAVLink_radio_status_message(1, 1, 1, 1, 1, 1, 1).pack(station(None)))
    assert bench.station.frames.counts["radio"] == 1 and bench.station.frames.counts["taken"] == 0


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [(b"short", 0o600, "neither 32 bytes nor a passphrase"), (KEY, 0o644, "others may read the key")],
)
def test_invalid_key_is_rejected_with_a_message(tmp_path, content, mode, says):
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
    with pytest.raises(KeyFileError, match="old frames could be replayed"):
        Signing.from_file(key)


def test_mutated_frames_without_the_key_execute_nothing():
    score = mutations.run(20_000, seed=2)
    assert score["commands from intact frames"] > 8
    assert score["commands from mutated frames"] == 0
    assert score["taken"] == len(messages())
    assert min(score["unsigned"], score["wrongly signed"], score["replayed"], score["damaged"]) > 100


def test_mutated_frames_to_a_vehicle_without_a_key_cause_no_failure():
    score = mutations.run_open(5_000, seed=3)
    assert score["commands"] > 500 and score["taken"] > 2_000


def test_set_points_that_are_not_numbers_never_reach_the_loop():
    bench = Bench(None)
    pack = station(None)
    nan, inf = float("nan"), float("inf")
    for bad in (nan, inf, -inf):
        for place in ((bad, 0, 0), (0, bad, 0), (0, 0, bad)):
            local = mavlink.MAVLink_set_position_target_local_ned_message
            bench.receive(local(0, 1, 1, 1, 0, *place, 0, 0, 0, 0, 0, 0, 0, 0).pack(pack))
        bench.receive(mavlink.MAVLink_param_set_message(1, 1, b"TUNE_003", bad, 9).pack(pack))
        for number in (400, 176, 511, 512, 300, 224, 192, 193):
            bench.receive(mavlink.MAVLink_command_long_message(1, 1, number, 0, *[bad] * 7).pack(pack))
        bench.receive(mavlink.MAVLink_command_long_message(1, 1, 192, 0, -1, 1, 0, *[bad] * 4).pack(pack))
    for axis in range(4):
        axes = [0] * 4
        axes[axis] = 1001
        bench.receive(mavlink.MAVLink_manual_control_message(1, *axes, 0).pack(pack))
    assert not [kind for kind, _ in bench.commands if kind in ("sticks", "goto", "set", "arm", "mode")]
    bench.tick()
    assert bench.loop.handler.params.values["TUNE_003"] == 0.75


def test_every_command_gets_one_answer():
    bench = Bench(None)
    answers: list[int] = []
    send = bench.station.send

    def record(vehicle_link, message):
        if message.get_type() == "COMMAND_ACK":
            answers.append(message.command)
        send(vehicle_link, message)

    bench.station.send = record
    numbers = sorted(number for number in mavlink.enums["MAV_CMD"] if number < 1 << 16)
    for number in numbers:
        bench.receive(
            mavlink.MAVLink_command_long_message(1, 1, number, 0, 1, 0, 0, 0, 0, 0, 0).pack(station(None))
        )
        for _ in range(3):
            bench.tick()
    assert answers == numbers and len(numbers) > 150


def test_fault_requests_are_executed_between_ticks_by_the_loops_thread():
    vehicle = open_vehicle("fish")
    injected: list[tuple[str, str]] = []

    class FaultySimulation:
        def inject(self, name: str, text: str) -> None:
            if "battery" in text:
                raise UsageError("the battery is new")
            injected.append((name, text))

        def clear(self, name: str, what: str) -> None:
            injected.append((name, f"cleared {what}"))

    inject = rehearsal(vehicle, FaultySimulation())
    bench = Bench(None, inject=lambda request: inject("one", request))
    m = mavlink
    requests = [
        (m.FAILURE_UNIT_SENSOR_BARO, m.FAILURE_TYPE_STUCK, 0),
        (m.FAILURE_UNIT_SYSTEM_SERVO, m.FAILURE_TYPE_STUCK, 2),
        (m.FAILURE_UNIT_SENSOR_MAG, m.FAILURE_TYPE_INTERMITTENT, 0),
        (m.FAILURE_UNIT_SYSTEM_BATTERY, m.FAILURE_TYPE_OFF, 0),
        (m.FAILURE_UNIT_SYSTEM_MOTOR, m.FAILURE_TYPE_OFF, 1),
        (m.FAILURE_UNIT_SENSOR_BARO, m.FAILURE_TYPE_OK, 0),
    ]
    results: list[int] = []
    send = bench.station.send
    bench.station.send = lambda vehicle_link, message: (
        results.append(message.result) if message.get_type() == "COMMAND_ACK" else None,
        send(vehicle_link, message),
    )
    for what in requests:
        bench.receive(m.MAVLink_command_long_message(1, 1, 420, 0, *what, 0, 0, 0, 0).pack(station(None)))
        assert len(injected) + results.count(m.MAV_RESULT_DENIED) == len(results)  # nothing before a tick
        bench.tick()
    assert injected == [
        ("one", text) for text in ("stuck:depth", "jammed:tail_2", "silent:heading/0.5", "cleared depth")
    ]
    assert results == [0, 0, 0, m.MAV_RESULT_DENIED, m.MAV_RESULT_DENIED, 0]
