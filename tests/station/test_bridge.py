"""Where the control thread and the stations' thread meet: who is first, who waits, and that nobody else does."""

import socket
import subprocess
import sys
import time

import pytest

from caudal.onboard.station.bridge import COMMANDS_A_TICK, QUEUE, SETS_A_SECOND, Bridge
from caudal.onboard.station.dialect import mavlink
from tests.station.afloat import Afloat, free_port, until
from tests.station.mutations import Bench, station
from tests.station.pilots import Pilot

YAW = mavlink.POSITION_TARGET_TYPEMASK_YAW_IGNORE


def taken(bench: Bench) -> list[str]:
    bench.vehicle_link.bridge.before()
    bench.loop.tick()
    kinds = [kind for kind, *_ in bench.loop.taken]
    bench.vehicle_link.bridge.after()
    return kinds


def test_a_disarm_goes_before_whatever_another_station_has_heaped_up():
    bench = Bench(None)
    bridge = bench.vehicle_link.bridge
    loud, calm = "loud", "calm"
    while bridge.order(loud, "mode", "hold", ticket=print):
        pass
    for _ in range(1000):
        bridge.slot("sticks", 0.1, 0.0, 0.0, 0.0)
    bridge.order(calm, "disarm", ticket=len)
    kinds = taken(bench)
    assert kinds[0] == "disarm" and kinds.count("sticks") == 1
    assert len(kinds) <= COMMANDS_A_TICK + 4  # whatever stations do, a tick's work is bounded
    assert (len, "disarm", None) in bridge.answers()


def test_stations_take_turns_and_one_that_asks_too_much_is_told():
    bench = Bench(None)
    bridge = bench.vehicle_link.bridge
    asked = [bridge.order("loud", "mode", "hold") for _ in range(100)]
    assert sum(asked) == QUEUE
    assert bridge.order("calm", "begin", 3, ticket=len)
    assert "begin" in taken(bench)


def test_an_arm_that_waits_does_not_undo_a_disarm_that_came_after_it():
    bench = Bench(None)
    bridge = bench.vehicle_link.bridge
    bridge.order("one", "arm", ticket=len)
    bridge.order("two", "disarm", ticket=max)
    assert taken(bench) == ["disarm"]
    assert (len, "arm", "not armed: a disarm came in between") in bridge.answers()
    bridge.order("one", "arm", ticket=len)
    assert taken(bench) == ["arm"]


def test_many_disarms_are_one_and_each_is_answered():
    bench = Bench(None)
    bridge: Bridge = bench.vehicle_link.bridge
    tickets = [object() for _ in range(500)]
    for ticket in tickets:
        bridge.order("panic", "disarm", ticket=ticket)
    assert taken(bench) == ["disarm"]
    assert [ticket for ticket, *_ in bridge.answers()] == tickets


def test_however_many_parameters_are_set_a_few_a_second_are_taken_and_other_orders_go_past_them():
    """A set builds parts of the controller anew: eight in a tick made ticks late."""
    bench = Bench(None)
    bridge = bench.vehicle_link.bridge
    bridge.order("pilot", "arm")
    assert taken(bench) == ["arm"] and bench.loop.state.armed
    sets, ticks = 0, 3 * bench.loop.rate_hz
    for tick in range(ticks):
        for sender in ("loud", "louder"):
            while bridge.order(sender, "set", bench.loop.handler.params.names[tick % 2], 0.5):
                pass
        if tick == 100:
            assert bridge.order("loud", "mode", "hold")
        kinds = taken(bench)
        sets += kinds.count("set")
        assert kinds.count("set") <= 1 and (tick != 100 or "mode" in kinds)
    assert 0 < sets <= ticks * SETS_A_SECOND / bench.loop.rate_hz + 1


def test_an_order_for_which_the_loop_has_no_room_is_answered_too():
    """Else a station would wait for ever, and whoever uploads keep out all others."""
    bench = Bench(None)
    while bench.loop.send("station"):  # somebody else's, such as a view's
        pass
    for kind, *values in (("mission", []), ("set", "TUNE_003", 1.0)):
        assert bench.vehicle_link.bridge.order("one", kind, *values, ticket=kind)
    bench.vehicle_link.bridge.before()
    answers = bench.vehicle_link.bridge.answers()
    assert sorted(answers) == [(kind, kind, f"{kind}: too many orders wait") for kind in ("mission", "set")]


@pytest.mark.parametrize(
    "ignored", [0, YAW, YAW | 4, YAW | 3], ids=["nothing", "yaw", "depth too", "x, y too"]
)
def test_a_place_is_one_order_however_often_it_is_said_and_one_again_after_another_place(ignored):
    bench, pack = Bench(None), station(None)

    def said(*places_m: float) -> int:
        """How many orders come of it, within one tick."""
        for place_m in places_m:
            target = 0, 1, 1, mavlink.MAV_FRAME_LOCAL_NED, ignored, place_m, 0, place_m, *[0] * 6, 0.5, 0
            bench.hear(mavlink.MAVLink_set_position_target_local_ned_message(*target).pack(pack))
        return taken(bench).count("goto")

    assert [said(1.0) for _ in range(20)] == [1] + [0] * 19
    first = bench.loop.state.goto_pose
    assert said(2.0, 1.0) == 0 and bench.loop.state.goto_pose == first  # the latest is where it goes already
    assert said(2.0) == 1 and bench.loop.state.goto_pose != first
    assert said(1.0) == 1 and bench.loop.state.goto_pose == first


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


def test_a_flood_a_station_that_does_not_read_and_nonsense_leave_ticks_and_another_station_alone():
    """Ticks are counted, not timed; how late they were by the clock, and what it costs, is printed."""
    port, tcp = free_port(), free_port(socket.SOCK_STREAM)
    with Afloat(f"udp:{port}", f"tcp:{tcp}", parameters=False) as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.meet()
        quiet = _late_and_share(vehicle, pilot)
        deaf = socket.create_connection(("127.0.0.1", tcp))
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        for number in (30, 32, 33, 74):  # all it can get, and it reads none of it
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
            until("it is loud", lambda: any(kind == "station too loud" for kind, _ in vehicle.notes))
            loud = _late_and_share(vehicle, pilot)
            assert pilot.arm(True) == mavlink.MAV_RESULT_ACCEPTED
            assert pilot.arm(False) == mavlink.MAV_RESULT_ACCEPTED
            sent, flooded_s = map(float, flood.stdout.readline().split())
        finally:
            flood.kill()
            flood.communicate()
        assert vehicle.loop.fault is None and 3 <= vehicle.most_orders <= COMMANDS_A_TICK + 4
        place = vehicle.loop.state.goto_pose
        assert place is None or all(value == value for value in place if value is not None)
        for title, (ticks, late_ms, share) in {
            "quiet": quiet,
            f"{sent / flooded_s:.0f} frames/s": loud,
        }.items():
            print(f"{title}: {ticks} ticks, latest {late_ms:.1f} ms, stations' thread {share:.1%} of a core")
        deaf.close()
        pilot.close()


def _late_and_share(vehicle: Afloat, pilot: Pilot) -> tuple[int, float, float]:
    vehicle.late.clear()
    ticks, cpu_s, start_s = vehicle.ticks, vehicle.stations.cpu_s, time.monotonic()
    while vehicle.ticks < ticks + FLOOD_TICKS:
        pilot.hear("ATTITUDE", patience_s=0.1)
    took_s = time.monotonic() - start_s
    return vehicle.ticks - ticks, max(vehicle.late) * 1e3, (vehicle.stations.cpu_s - cpu_s) / took_s
