"""The bridge passes commands in their order of priority, and its work in a tick is bounded whatever stations send."""

import socket
import subprocess
import sys
import time

import pytest

from caudal.onboard.station.bridge import COMMANDS_A_TICK, QUEUE, SETS_A_SECOND, Bridge
from caudal.onboard.station.dialect import mavlink
from tests.station.mutations import Bench, station
from tests.station.pilots import Pilot
from tests.station.simulated import SimulatedVehicle, free_port, until

YAW = mavlink.POSITION_TARGET_TYPEMASK_YAW_IGNORE


def taken(bench: Bench) -> list[str]:
    bench.vehicle_link.bridge.before()
    bench.loop.tick()
    kinds = [kind for kind, *_ in bench.loop.taken]
    bench.vehicle_link.bridge.after()
    return kinds


def test_disarm_goes_before_the_queued_commands_of_other_stations():
    bench = Bench(None)
    bridge = bench.vehicle_link.bridge
    loud, calm = "loud", "calm"
    while bridge.submit(loud, "mode", "hold", ticket=print):
        pass
    for _ in range(1000):
        bridge.slot("sticks", 0.1, 0.0, 0.0, 0.0)
    bridge.submit(calm, "disarm", ticket=len)
    kinds = taken(bench)
    assert kinds[0] == "disarm" and kinds.count("sticks") == 1
    assert len(kinds) <= COMMANDS_A_TICK + 4  # the work of a tick is bounded
    assert (len, "disarm", None) in bridge.answers()


def test_stations_are_served_in_turn_and_a_full_queue_rejects():
    bench = Bench(None)
    bridge = bench.vehicle_link.bridge
    queued = [bridge.submit("loud", "mode", "hold") for _ in range(100)]
    assert sum(queued) == QUEUE
    assert bridge.submit("calm", "begin", 3, ticket=len)
    assert "begin" in taken(bench)


def test_queued_arm_is_dropped_when_a_disarm_comes_after_it():
    bench = Bench(None)
    bridge = bench.vehicle_link.bridge
    bridge.submit("one", "arm", ticket=len)
    bridge.submit("two", "disarm", ticket=max)
    assert taken(bench) == ["disarm"]
    assert (len, "arm", "not armed: a disarm came in between") in bridge.answers()
    bridge.submit("one", "arm", ticket=len)
    assert taken(bench) == ["arm"]


def test_many_disarms_are_one_command_and_each_gets_an_answer():
    bench = Bench(None)
    bridge: Bridge = bench.vehicle_link.bridge
    tickets = [object() for _ in range(500)]
    for ticket in tickets:
        bridge.submit("panic", "disarm", ticket=ticket)
    assert taken(bench) == ["disarm"]
    assert [ticket for ticket, *_ in bridge.answers()] == tickets


def test_sets_are_limited_per_second_and_do_not_delay_other_commands():
    """A set rebuilds parts of the controller: eight in one tick made ticks late."""
    bench = Bench(None)
    bridge = bench.vehicle_link.bridge
    bridge.submit("pilot", "arm")
    assert taken(bench) == ["arm"] and bench.loop.state.armed
    sets, ticks = 0, 3 * bench.loop.rate_hz
    for tick in range(ticks):
        for sender in ("loud", "louder"):
            while bridge.submit(sender, "set", bench.loop.handler.params.names[tick % 2], 0.5):
                pass
        if tick == 100:
            assert bridge.submit("loud", "mode", "hold")
        kinds = taken(bench)
        sets += kinds.count("set")
        assert kinds.count("set") <= 1 and (tick != 100 or "mode" in kinds)
    assert 0 < sets <= ticks * SETS_A_SECOND / bench.loop.rate_hz + 1


def test_command_is_answered_when_the_loops_queue_is_full():
    """Without an answer a station would wait for ever, and an upload would block all others."""
    bench = Bench(None)
    while bench.loop.send("station"):  # commands of another source, such as a view
        pass
    for kind, *values in (("mission", []), ("set", "TUNE_003", 1.0)):
        assert bench.vehicle_link.bridge.submit("one", kind, *values, ticket=kind)
    bench.vehicle_link.bridge.before()
    answers = bench.vehicle_link.bridge.answers()
    assert sorted(answers) == [
        (kind, kind, f"{kind}: too many commands are waiting") for kind in ("mission", "set")
    ]


@pytest.mark.parametrize(
    "ignored", [0, YAW, YAW | 4, YAW | 3], ids=["nothing", "yaw", "depth too", "x, y too"]
)
def test_repeated_position_set_point_is_one_command_until_another_one_comes(ignored):
    bench, pack = Bench(None), station(None)

    def commands(*joint_positions_m: float) -> int:
        """Number of goto commands, within one tick."""
        for position_m in joint_positions_m:
            target = (
                0,
                1,
                1,
                mavlink.MAV_FRAME_LOCAL_NED,
                ignored,
                position_m,
                0,
                position_m,
                *[0] * 6,
                0.5,
                0,
            )
            bench.receive(mavlink.MAVLink_set_position_target_local_ned_message(*target).pack(pack))
        return taken(bench).count("goto")

    assert [commands(1.0) for _ in range(20)] == [1] + [0] * 19
    first = bench.loop.state.goto_pose
    assert commands(2.0, 1.0) == 0 and bench.loop.state.goto_pose == first  # the latest is its goal already
    assert commands(2.0) == 1 and bench.loop.state.goto_pose != first
    assert commands(1.0) == 1 and bench.loop.state.goto_pose == first


FLOOD_TICKS = 200
FLOOD = """
import socket, sys, time
frames = [bytes.fromhex(word) for word in sys.argv[2:]]
noise = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
noise.connect(("127.0.0.1", int(sys.argv[1])))
start, sent = time.monotonic(), 0
while True:  # 10,000 a second
    while sent < (time.monotonic() - start) * 10000:
        noise.send(frames[sent % len(frames)])
        sent += 1
        if sent % 10000 == 0:
            print(sent, time.monotonic() - start, flush=True)
    time.sleep(0.001)
"""


def test_flood_and_a_station_that_never_reads_do_not_affect_ticks_or_others():
    """It counts ticks and does not time them; it prints lateness and processor time."""
    port, tcp = free_port(), free_port(socket.SOCK_STREAM)
    with SimulatedVehicle(f"udp:{port}", f"tcp:{tcp}", parameters=False) as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()
        quiet = _late_and_share(vehicle, pilot)
        deaf = socket.create_connection(("127.0.0.1", tcp))
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        for number in (30, 32, 33, 74):  # all telemetry, and it reads none of it
            deaf.sendall(
                mavlink.MAVLink_command_long_message(1, 1, 511, 0, number, 20000, 0, 0, 0, 0, 0).pack(
                    station(None)
                )
            )
        nan = float("nan")
        pack = station(None)
        frames = [
            mavlink.MAVLink_manual_control_message(1, 0, 0, 100, 0, 0).pack(pack),
            mavlink.MAVLink_command_long_message(1, 1, 176, 0, 1, 4, 3, 0, 0, 0, 0).pack(pack),
            *(
                mavlink.MAVLink_param_set_message(1, 1, b"BEAT_MAX", beats, 9).pack(pack)
                for beats in (2.0, 2.5)
            ),
            mavlink.MAVLink_set_position_target_local_ned_message(
                0, 1, 1, 1, 0, nan, nan, nan, 0, 0, 0, 0, 0, 0, 0, 0
            ).pack(pack),
        ]
        words = [sys.executable, "-c", FLOOD, str(port), *(frame.hex() for frame in frames)]
        flood = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            until(
                "the flood is reported", lambda: any(kind == "station too loud" for kind, _ in vehicle.notes)
            )
            loud = _late_and_share(vehicle, pilot)
            assert pilot.arm(True) == mavlink.MAV_RESULT_ACCEPTED
            assert pilot.arm(False) == mavlink.MAV_RESULT_ACCEPTED
            sent, flooded_s = map(float, flood.stdout.readline().split())
        finally:
            flood.kill()
            flood.communicate()
        assert vehicle.loop.fault is None and 3 <= vehicle.most_commands <= COMMANDS_A_TICK + 4
        place = vehicle.loop.state.goto_pose
        assert place is None or all(value == value for value in place if value is not None)
        for title, (ticks, late_ms, share) in {
            "quiet": quiet,
            f"{sent / flooded_s:.0f} frames/s": loud,
        }.items():
            print(f"{title}: {ticks} ticks, latest {late_ms:.1f} ms, stations' thread {share:.1%} of a core")
        deaf.close()
        pilot.close()


def _late_and_share(vehicle: SimulatedVehicle, pilot: Pilot) -> tuple[int, float, float]:
    vehicle.late.clear()
    ticks, cpu_s, start_s = vehicle.ticks, vehicle.stations.cpu_s, time.monotonic()
    while vehicle.ticks < ticks + FLOOD_TICKS:
        pilot.receive("ATTITUDE", timeout_s=0.1)
    took_s = time.monotonic() - start_s
    return vehicle.ticks - ticks, max(vehicle.late) * 1e3, (vehicle.stations.cpu_s - cpu_s) / took_s
