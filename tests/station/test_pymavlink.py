"""A ground station by pymavlink connects, sets parameters, controls and disarms, over UDP and TCP, signed or not."""

import hashlib
import socket
import struct
import time

import pytest

from caudal.onboard.core import modes
from caudal.onboard.station.signing import Signing
from tests.station.pilots import Pilot, mavlink
from tests.station.simulated import SimulatedVehicle, free_port, until

KEY = hashlib.sha256(b"swim, fish, swim").digest()
WAYPOINTS = [
    (473978000, 85456000, -0.5, 0.0),
    (473978050, 85456100, -0.5, 1.0),
    (473977900, 85455950, -0.625, 0.0),
]


@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "signed"])
@pytest.mark.parametrize("kind", ["udp", "tcp"])
def test_pymavlink_connects_tunes_arms_moves_uploads_a_mission_and_disarms(kind, signed):
    port = free_port(socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    signing = Signing(KEY, None) if signed else None
    with SimulatedVehicle(f"{kind}:{port}", signing=signing) as vehicle:
        address = f"udpout:127.0.0.1:{port}" if kind == "udp" else f"tcp:127.0.0.1:{port}"
        pilot = Pilot(address, KEY if signed else None)
        pilot.connect()

        start_s = time.monotonic()
        found = pilot.parameters()
        print(f"300 parameters in {time.monotonic() - start_s:.2f} s")
        assert list(found) == vehicle.params.names
        assert found["TUNE_003"].param_value == 0.75
        assert struct.pack("<f", found["WHOLE_0"].param_value) == struct.pack("<i", 7)
        pilot.mav.param_set_send(1, 1, b"TUNE_003", 0.1, mavlink.MAV_PARAM_TYPE_REAL32)
        assert pilot.receive(
            "PARAM_VALUE", where=lambda m: m.param_id == "TUNE_003"
        ).param_value == pytest.approx(0.1)
        pilot.mav.param_request_read_send(1, 1, b"TUNE_003", -1)
        assert pilot.receive("PARAM_VALUE").param_value == pytest.approx(0.1)
        assert vehicle.params.values["TUNE_003"] == 0.1

        assert pilot.arm() == mavlink.MAV_RESULT_ACCEPTED
        assert vehicle.loop.state.armed
        pilot.mav.manual_control_send(
            1, 0, 0, 0, 0, 0
        )  # before the mode: without manual control the pilot counts as lost
        assert pilot.mode(1) == mavlink.MAV_RESULT_ACCEPTED
        assert vehicle.loop.state.requested_mode == modes.MANUAL
        assert pilot.receive("HEARTBEAT", where=lambda m: m.custom_mode == 1 << 16).base_mode & 128
        start_m = vehicle.position_m

        def moved() -> bool:
            pilot.mav.manual_control_send(1, 0, 0, 1000, 300, 0)
            pilot.receive("ATTITUDE", timeout_s=0.05)
            return vehicle.moved_m(start_m) > 0.3

        until("it moves by manual control", moved)

        assert pilot.upload(WAYPOINTS) == mavlink.MAV_MISSION_ACCEPTED
        assert pilot.download() == WAYPOINTS
        assert len(vehicle.loop.state.mission) == 3
        assert pilot.arm(False) == mavlink.MAV_RESULT_ACCEPTED
        assert not vehicle.loop.state.armed
        pilot.close()
        if signed:
            assert not signing.refused
