"""MAVProxy, controlled by its command line, connects, sets parameters, controls and disarms, signed or not."""

import pytest

from caudal.onboard.core import modes
from caudal.onboard.station.signing import Signing
from tests.station.mavproxy import MavProxy
from tests.station.simulated import SimulatedVehicle, free_port, until
from tests.station.test_pymavlink import KEY

PASSPHRASE = "swim-fish-swim"
MISSION = """QGC WPL 110
0\t1\t3\t16\t0\t0\t0\t0\t47.3978\t8.5456\t-0.5\t1
1\t0\t3\t16\t1\t0\t0\t0\t47.39781\t8.54561\t-0.5\t1
2\t0\t3\t16\t0\t0\t0\t0\t47.39782\t8.54561\t-0.625\t1
"""


def signing_by(tmp_path, passphrase: str) -> Signing:
    """The signing of `--mavlink-key FILE`."""
    key = tmp_path / "key"
    key.write_text(passphrase + "\n")
    key.chmod(0o600)
    return Signing.from_file(key)


# For a PX4, MAVProxy 1.8.75 sends three numbers instead of one for `mode NAME` ("required argument is not a float").
MANUAL = {"px4": "long DO_SET_MODE 1 1 0", "ardupilot": "mode MANUAL"}


@pytest.mark.parametrize(("autopilot", "signed"), [("px4", True), ("ardupilot", False)])
def test_mavproxy_connects_tunes_arms_moves_uploads_a_mission_and_disarms(autopilot, signed, tmp_path):
    port = free_port()
    signing = signing_by(tmp_path, PASSPHRASE) if signed else None
    if signed:
        folder = tmp_path / ".mavproxy"
        folder.mkdir()
        (folder / "signing.keys").write_text(f"127.0.0.1:{port} {PASSPHRASE}\n")
    station = f'station={{autopilot="{autopilot}"}}'
    with SimulatedVehicle(f"udp:{port}", signing=signing, overrides=(station,)) as vehicle:
        proxy = MavProxy(f"udpout:127.0.0.1:{port}", tmp_path)
        try:
            took_s = proxy.reads("online system 1")
            took_s = proxy.reads("Received 300 parameters")
            print(f"MAVProxy: 300 parameters in {took_s:.1f} s after it was online")
            fly(vehicle, proxy, autopilot, tmp_path)
        finally:
            proxy.close()
    if signing:
        assert signing.refused["wrongly signed"] == 0 and signing.refused["replayed"] == 0


def fly(vehicle: SimulatedVehicle, proxy: MavProxy, autopilot: str, tmp_path) -> None:
    proxy.type("param set TUNE_003 -12.5")
    until("it is set", lambda: vehicle.params.values["TUNE_003"] == -12.5)
    at = proxy.type("param fetch TUNE_003")
    proxy.reads("Requested parameter TUNE_003", at)
    at = proxy.type("param show TUNE_003")
    proxy.reads(r"TUNE_003 +-12\.5", at)

    at = proxy.type("arm throttle")
    proxy.reads("COMPONENT_ARM_DISARM: ACCEPTED", at)
    assert vehicle.loop.state.armed
    proxy.type("module load message")
    proxy.reads("Loaded module message")
    start_m = vehicle.position_m

    def moved() -> bool:
        proxy.type("message MANUAL_CONTROL 1 0 0 1000 300 0")
        if vehicle.loop.state.requested_mode != modes.MANUAL:
            proxy.type(MANUAL[autopilot])
        until("ten ticks have passed", lambda ticks=vehicle.ticks: vehicle.ticks > ticks + 10)
        return vehicle.loop.state.requested_mode == modes.MANUAL and vehicle.moved_m(start_m) > 0.3

    until("it moves by manual control", moved)
    proxy.reads(">", proxy.type("status HEARTBEAT"))

    (tmp_path / "mission.txt").write_text(MISSION)
    at = proxy.type(f"wp load {tmp_path / 'mission.txt'}")
    proxy.reads("TYPE_MISSION: ACCEPTED", at)
    assert len(vehicle.loop.state.mission) == 3
    at = proxy.type("wp list")
    proxy.reads(r"16 3 47\.39782\d* 8\.54561\d* -0\.625", at)

    at = proxy.type("disarm")
    proxy.reads("COMPONENT_ARM_DISARM: ACCEPTED", at)
    assert not vehicle.loop.state.armed


def test_mavproxy_without_the_key_changes_nothing_and_is_logged(tmp_path):
    port = free_port()
    signing = Signing(KEY, None)
    with SimulatedVehicle(f"udp:{port}", signing=signing) as vehicle:
        proxy = MavProxy(f"udpout:127.0.0.1:{port}", tmp_path)
        try:
            proxy.reads("online system 1")  # it accepts signed frames without a key
            proxy.type("arm throttle")
            proxy.reads("frames refused: .*unsigned")
            until("it is logged", lambda: any(kind == "frames refused" for kind, _ in vehicle.notes))
            assert not vehicle.loop.state.armed and signing.refused["unsigned"] > 0
        finally:
            proxy.close()


def test_mavproxy_injects_a_fault_with_the_documented_command(tmp_path):
    port = free_port()
    with SimulatedVehicle(f"udp:{port}") as vehicle:
        proxy = MavProxy(f"udpout:127.0.0.1:{port}", tmp_path)
        try:
            proxy.reads("online system 1")
            proxy.type("module load message")
            proxy.reads("Loaded module message")
            at = proxy.type("""message STATUSTEXT 6 "b'fault silent:depth'\"""")
            proxy.reads("fault silent:depth: done", at)
            until("the sensor is silent", lambda: len(vehicle.instance.body.on_counts) == 1)
        finally:
            proxy.close()
