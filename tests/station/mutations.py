"""Frames that an attacker without the key makes from received frames: a million by hand, fewer in the suite.

python tests/station/mutations.py [COUNT [SEED]]
"""

import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from msgspec.structs import replace

from caudal.onboard.build import build_loop
from caudal.onboard.run.config import open_controlled
from caudal.onboard.run.null_driver import NullDriver
from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.signing import Signing
from caudal.onboard.station.station_link import BYTES_A_SECOND, StationLink
from caudal.onboard.station.vehicle_link import VehicleLink
from tests.station.simulated import ORIGIN, FakeParams

KEY = bytes(range(32))
NAN = float("nan")


class Bench:
    """A station and a vehicle without threads, links or plant; it records the commands to the bridge."""

    def __init__(self, signing: Signing | None, inject: Any = None) -> None:
        vehicle, _, scenario = open_controlled("fish", [], "track")
        self.loop = build_loop(vehicle.settings, scenario, NullDriver())
        self.loop.handler.params = FakeParams(20)
        settings = replace(vehicle.settings, params=self.loop.handler.params.tables)
        self.vehicle_link = VehicleLink("one", self.loop, settings, origin=ORIGIN, inject=inject)
        self.commands: list[tuple] = []
        self.signing = signing
        self.now_s = 0.0
        bridge = self.vehicle_link.bridge
        submit, slot = bridge.submit, bridge.slot

        def record_command(sender: Any, kind: str, *values: Any, ticket: Any = None) -> bool:
            self.commands.append((kind, values))
            return submit(sender, kind, *values, ticket=ticket)

        def record_slot(kind: str, *values: Any) -> None:
            self.commands.append((kind, values))
            slot(kind, *values)

        bridge.submit, bridge.slot = record_command, record_slot  # type: ignore[method-assign]
        self.station = StationLink("bench", [self.vehicle_link], signing, self._send, 1e6, whole=True)

    def _send(self, data: bytes) -> bool:
        return True

    def receive(self, data: bytes) -> None:
        """Passes bytes to the station's link, below its rate limit."""
        self.now_s += len(data) / BYTES_A_SECOND + 0.001
        self.station.step(self.now_s)
        self.station.receive(data, self.now_s)

    def tick(self) -> None:
        """One tick of the loop, with its answers to the station."""
        self.vehicle_link.bridge.before()
        self.loop.tick()
        self.vehicle_link.bridge.after()
        for ticket, _, refusal in self.vehicle_link.bridge.answers():
            if ticket is not None:
                ticket(refusal)
        assert self.loop.fault is None, self.loop.fault


def station(key: bytes | None) -> Any:
    """A packer of a station's messages."""
    pack = mavlink.MAVLink(None, 255, 190)
    if key:
        pack.signing = Signing(key, None)
    return pack


def messages() -> list[Any]:
    """One message of every kind that a vehicle handles."""
    to = 1, 1
    m = mavlink
    place = 473978000, 85456000, -0.5
    return [
        m.MAVLink_heartbeat_message(6, 8, 0, 0, 0, 3),
        m.MAVLink_command_long_message(*to, 400, 0, 1, 0, 0, 0, 0, 0, 0),
        m.MAVLink_command_long_message(*to, 400, 0, 0, 0, 0, 0, 0, 0, 0),
        m.MAVLink_command_long_message(*to, 176, 0, 1, 4, 3, 0, 0, 0, 0),
        m.MAVLink_command_long_message(*to, 512, 0, 148, 0, 0, 0, 0, 0, 0),
        m.MAVLink_command_long_message(*to, 511, 0, 30, 1e5, 0, 0, 0, 0, 0),
        m.MAVLink_command_long_message(*to, 420, 0, 3, 1, 0, 0, 0, 0, 0),
        m.MAVLink_command_int_message(*to, 6, 192, 0, 0, -1, 1, 0, 0.5, *place),
        m.MAVLink_command_long_message(*to, 300, 0, 1, 0, 0, 0, 0, 0, 0),
        m.MAVLink_set_mode_message(1, 1, 4 << 16 | 3 << 24),
        m.MAVLink_manual_control_message(1, 0, 0, 500, 100, 0),
        m.MAVLink_set_position_target_local_ned_message(0, *to, 1, 0, 1, 2, 0.5, 0, 0, 0, 0, 0, 0, 0, 0),
        m.MAVLink_set_position_target_global_int_message(0, *to, 6, 0, *place, 0, 0, 0, 0, 0, 0, 0, 0),
        m.MAVLink_param_set_message(*to, b"TUNE_003", 0.5, 9),
        m.MAVLink_param_request_list_message(*to),
        m.MAVLink_param_request_read_message(*to, b"TUNE_003", -1),
        m.MAVLink_mission_count_message(*to, 1, 0),
        m.MAVLink_mission_item_int_message(*to, 0, 6, 16, 0, 1, 0, 0, 0, NAN, *place, 0),
        m.MAVLink_mission_item_message(*to, 0, 3, 16, 0, 1, 0, 0, 0, NAN, 47.39, 8.54, -0.5, 0),
        m.MAVLink_mission_request_list_message(*to, 0),
        m.MAVLink_mission_request_int_message(*to, 0, 0),
        m.MAVLink_mission_set_current_message(*to, 1),
        m.MAVLink_mission_clear_all_message(*to, 0),
        m.MAVLink_log_request_list_message(*to, 0, 0xFFFF),
        m.MAVLink_log_request_data_message(*to, 0, 0, 90),
        m.MAVLink_file_transfer_protocol_message(0, *to, [0, 0, 0, 4] + [0] * 247),
        m.MAVLink_timesync_message(0, 12345),
        m.MAVLink_statustext_message(6, b"fault silent:depth", 0, 0),
        m.MAVLink_ping_message(0, 1, 0, 0),
        m.MAVLink_setup_signing_message(*to, [1] * 32, 5),
    ]


def with_right_checksum(frame: bytes) -> bytes:
    """The frame with a right checksum, which needs no key."""
    if len(frame) < 12 or frame[0] != mavlink.PROTOCOL_MARKER_V2:
        return frame
    number = int.from_bytes(frame[7:10], "little")
    end = 10 + frame[1]
    if number not in mavlink.mavlink_map or end + 2 > len(frame):
        return frame
    crc = mavlink.x25crc(frame[1:end] + bytes([mavlink.mavlink_map[number].crc_extra])).crc
    return frame[:end] + crc.to_bytes(2, "little") + frame[end + 2 :]


class Mutations:
    """Random mutations of frames."""

    def __init__(self, frames: list[bytes], seed: int) -> None:
        self._frames = frames
        self._random = random.Random(seed)

    def next(self) -> bytes:
        """The next mutated frame."""
        pick = self._random
        data = bytearray(pick.choice(self._frames))
        for _ in range(pick.randint(1, 4)):
            at = pick.randrange(len(data))
            kind = pick.randrange(7)
            if kind == 0:
                data[at] ^= 1 << pick.randrange(8)
            elif kind == 1:
                data[at] = pick.choice((0, 1, 0x7F, 0x80, 0xFD, 0xFE, 0xFF))
            elif kind == 2:
                data[at : at + 4] = pick.randbytes(4)
            elif kind == 3:
                data = data[: max(at, 1)]
            elif kind == 4:
                data[at:at] = pick.randbytes(pick.randint(1, 20))
            elif kind == 5:
                data += pick.choice(self._frames)
            elif len(data) > 2:
                data[2] &= ~mavlink.MAVLINK_IFLAG_SIGNED
        return with_right_checksum(bytes(data)) if pick.random() < 0.7 else bytes(data)


def run(count: int, seed: int) -> Counter[str]:
    """Sends mutated frames to a vehicle with a key: it must execute nothing."""
    bench = Bench(Signing(KEY, None))
    pack = station(KEY)
    frames = [message.pack(pack) for message in messages()]
    for frame in frames:
        bench.receive(frame)
    for _ in range(5):  # some commands follow from others
        bench.tick()
    score = Counter({"commands from intact frames": len(bench.commands)})
    bench.commands.clear()
    mutations = Mutations(frames, seed)
    for k in range(count):
        bench.receive(mutations.next())
        if k % 1000 == 0:
            bench.tick()
            if k % 100_000 == 0 and count > 100_000:
                print(f"\r{k} frames, {len(bench.commands)} commands", end="", flush=True)
    score["commands from mutated frames"] = len(bench.commands)
    return score + bench.station.frames.counts


def run_open(count: int, seed: int) -> Counter[str]:
    """Sends mutated frames with right checksums to a vehicle without a key: nothing may fail."""
    bench = Bench(None)
    pack = station(None)
    mutations = Mutations([message.pack(pack) for message in messages()], seed)
    for k in range(count):
        bench.receive(with_right_checksum(mutations.next()))
        if k % 20 == 0:
            bench.tick()
    return Counter({"commands": len(bench.commands)}) + bench.station.frames.counts


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for title, score in (("with a key", run(count, seed)), ("without", run_open(count // 10, seed))):
        print(f"\n{title}")
        for name, number in score.items():
            print(f"{name:>30} {number}")
