"""Serial links, several stations at once, addresses, and `caudal run --mavlink`."""

import json
import os
import selectors
import signal
import socket
import subprocess
import time
import tty

import pytest

from caudal.onboard.log.reader import Log
from caudal.onboard.run.replay import replay
from caudal.onboard.station.address import AddressError, read_address
from caudal.onboard.station.links import LinkError
from caudal.onboard.station.station_link import StationLink
from caudal.onboard.station.stations import Stations
from caudal.onboard.station.streams import MAX_WAITING, STALLED_S, Connection
from caudal.tools.cli.main import main
from caudal.tools.config.from_log import recorded_settings
from tests.command_line import start
from tests.conftest import ROOT
from tests.station.mutations import Bench
from tests.station.pilots import Pilot, mavlink
from tests.station.simulated import SimulatedVehicle, free_port, until
from tests.waiting import LIMIT_S


def test_serial_link_sends_all_parameters_and_arms():
    master, slave = os.openpty()
    tty.setraw(master)
    with SimulatedVehicle(f"serial:{os.ttyname(slave)}@57600") as vehicle:
        pilot = _PtyPilot(master)
        start_s = time.monotonic()
        pilot.send(mavlink.MAVLink_param_request_list_message(1, 1))
        names = set()
        until(
            "all parameters",
            lambda: names.update(pilot.received("PARAM_VALUE", "param_id")) or len(names) == 300,
        )
        print(f"300 parameters over a line of 57,600 baud in {time.monotonic() - start_s:.1f} s")
        pilot.send(mavlink.MAVLink_command_long_message(1, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0))
        until("it is armed", lambda: vehicle.loop.state.armed)
        sent_bytes, took_s = pilot.bytes, time.monotonic() - start_s
        assert sent_bytes < (took_s + 1) * 5760  # no more than the line can carry
    os.close(master)
    os.close(slave)


class _PtyPilot:
    """A station on a pseudo-terminal."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._mav = mavlink.MAVLink(None, 255, 190)
        self._mav.robust_parsing = True
        self.bytes = 0
        os.set_blocking(fd, False)

    def send(self, message) -> None:
        os.write(self._fd, message.pack(self._mav))

    def received(self, kind: str, field: str) -> list:
        try:
            data = os.read(self._fd, 4096)
        except BlockingIOError:
            return []
        self.bytes += len(data)
        return [getattr(m, field) for m in self._mav.parse_buffer(data) or () if m.get_type() == kind]


def test_serial_device_is_opened_again_after_it_was_unplugged(tmp_path, monkeypatch):
    device = tmp_path / "radio"
    master, slave = os.openpty()
    device.symlink_to(os.ttyname(slave))
    with SimulatedVehicle(f"serial:{device}@57600") as vehicle:
        until("it is open", lambda: vehicle.stations.stations() != [])
        device.unlink()
        os.close(slave)
        os.close(master)
        until("it is gone", lambda: vehicle.stations.stations() == [])
        master, slave = os.openpty()
        tty.setraw(master)
        device.symlink_to(os.ttyname(slave))
        pilot = _PtyPilot(master)
        until("it is back", lambda: pilot.received("HEARTBEAT", "type") != [])
    os.close(master)
    os.close(slave)


def test_stations_have_their_own_rates_and_upload_one_at_a_time():
    port, tcp = free_port(), free_port(socket.SOCK_STREAM)
    with SimulatedVehicle(f"udp:{port}", f"tcp:{tcp}") as vehicle:
        pilots = [
            Pilot(f"udpout:127.0.0.1:{port}"),
            Pilot(f"udpout:127.0.0.1:{port}", system=254),
            Pilot(f"tcp:127.0.0.1:{tcp}", system=253),
        ]
        for pilot in pilots:
            pilot.connect()
        assert len(vehicle.stations.stations()) == 3
        first, second, third = pilots
        number = mavlink.MAVLINK_MSG_ID_ATTITUDE
        assert first.command(mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, number, -1) == 0
        assert first.command(mavlink.MAV_CMD_GET_MESSAGE_INTERVAL, number) == 0
        assert second.command(mavlink.MAV_CMD_GET_MESSAGE_INTERVAL, number) == 0
        first.mav.mission_count_send(1, 1, 2, 0)
        assert first.receive("MISSION_REQUEST_INT")
        assert third.upload([(473978000, 85456000, -0.5, 0)]) == mavlink.MAV_MISSION_DENIED
        third.close()
        until("it is removed", lambda: len(vehicle.stations.stations()) == 2)
        for pilot in (first, second):
            pilot.close()


def test_each_vehicle_is_a_system_and_only_a_disarm_is_for_all():
    port = free_port()
    with SimulatedVehicle(f"udp:{port}", scenario="pool") as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        seen: set[int] = set()
        until("all three", lambda: seen.add(pilot.receive("HEARTBEAT").get_srcSystem()) or seen >= {1, 2, 3})
        for system in (1, 2, 3):
            assert pilot.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1, system=system) == 0
        assert pilot.command(mavlink.MAV_CMD_NAV_LOITER_UNLIM, system=0, timeout_s=0.5) is None
        assert all(instance.loop.state.armed for instance in vehicle.simulation.instances)
        assert pilot.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 0, system=0) == 0
        until("all are disarmed", lambda: not any(s.loop.state.armed for s in vehicle.simulation.instances))
        pilot.close()


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("udp:14550", "udp:127.0.0.1:14550"),
        ("udpin:0.0.0.0:14550", "udp:0.0.0.0:14550"),
        ("udpout:10.0.0.2:14550", "udpout:10.0.0.2:14550"),
        ("tcp:5760", "tcp:127.0.0.1:5760"),
        ("serial:/dev/ttyUSB0", "serial:/dev/ttyUSB0@57600"),
        ("serial:/dev/ttyAMA0@921600", "serial:/dev/ttyAMA0@921600"),
    ],
)
def test_addresses_listen_on_this_computer_only_by_default(text, whole):
    assert str(read_address(text)) == whole


@pytest.mark.parametrize(
    "text",
    [
        "",
        "udp",
        "udp:",
        "udp:x",
        "udp:70000",
        "udpout:14550",
        "tcp:a:b",
        "serial:",
        "serial:/dev/x@9",
        "can:1",
    ],
)
def test_invalid_address_gets_a_message(text, capsys):
    with pytest.raises(AddressError, match=r"write|give"):
        read_address(text)
    assert main(["run", "fish", "--mavlink", text]) == 2
    assert capsys.readouterr().err.startswith("caudal: --mavlink ")


def test_port_in_use_and_missing_device_get_a_message():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(LinkError, match="another program has this port"):
            Stations([], [read_address(f"tcp:{taken.getsockname()[1]}")])
    with pytest.raises(LinkError, match="cannot be opened"):
        Stations([], [read_address("serial:/dev/no-such-radio@57600")])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--mavlink-key", "key"], "give an ADDRESS with it"),
        (["--mavlink", "udp:1", "--mavlink-origin", "91,0"], "is no position in degrees"),
        (["--mavlink", "udp:1", "--mavlink-key", "no-such-key"], "cannot read the key no-such-key"),
        (["--arm-after", "1"], "--arm-after is for --on pi and --mavlink"),
        (["--mavlink", "udp:1", "--set", 'station={autopilot="moon"}'], "station.autopilot"),
    ],
)
def test_options_that_do_not_fit_together_get_a_message(words, says, capsys):
    try:
        code = main(["run", "fish", "--scenario", "track", *words])
    except SystemExit as end:
        code = end.code
    assert code == 2 and says in capsys.readouterr().err


@pytest.mark.parametrize("on", ["sim", "emulated", "pi"])
def test_run_with_a_station_waits_for_its_pilot_and_runs_until_a_signal(on, tmp_path):
    port = free_port()
    log = tmp_path / "run.mcap"
    words = [
        "run",
        "fish",
        "--scenario",
        "track",
        "--on",
        on,
        "--mavlink",
        f"udp:{port}",
        "--log",
        str(log),
        "--json",
    ]
    process = start(*words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.alive = lambda: process.poll() is None
        pilot.connect()
        tries: list[int | None] = []
        if on == "pi":  # there are no chips: it cannot be armed, and gives the reason
            tries.append(pilot.arm())
            assert tries == [mavlink.MAV_RESULT_DENIED]
            until(
                "why", lambda: pilot.receive("STATUSTEXT") and any("bus_hung" in text for text in pilot.texts)
            )
        else:
            until(
                "it may be armed",
                lambda: tries.append(pilot.arm()) or tries[-1] == mavlink.MAV_RESULT_ACCEPTED,
            )
            assert pilot.receive(
                "HEARTBEAT", where=lambda m: m.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED
            )
            assert pilot.upload([(473978000, 85456000, -0.5, 0.0), (473978000, 85456100, -0.5, 1.5)]) == 0
            assert pilot.mode(4, 4) == mavlink.MAV_RESULT_ACCEPTED
            pilot.mav.set_position_target_local_ned_send(0, 1, 1, 1, 0, 1.5, -1.0, 0.3, *[0] * 7, 0.7)
            assert pilot.mode(6) == mavlink.MAV_RESULT_ACCEPTED
            pilot.mav.manual_control_send(1, 100, 0, 700, -300, 0)
            assert pilot.mode(1) == mavlink.MAV_RESULT_ACCEPTED
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, err
        assert json.loads(out)["fault"] is None
        pilot.close()
    finally:
        process.kill()
        process.communicate()
    recorded = Log(log)
    arms = [event for event in recorded.events if event.kind == "command" and event.details["kind"] == "arm"]
    assert len(arms) == len(tries)  # no other source has armed it
    assert any(event.kind == "command" and event.details["kind"] == "station" for event in recorded.events)
    assert replay(recorded, recorded_settings(recorded))["identical"]


def test_station_that_never_reads_is_disconnected_and_its_queue_is_bounded():
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    bench = Bench(None)
    with selectors.DefaultSelector() as selector:
        line = Connection(ours, "deaf", selector, lambda name, send, rate, whole: StationLink(
            name, [bench.vehicle_link], None, send, rate, whole
        ))  # fmt: skip
        for step in range(3000):  # half a minute, unpaced
            now_s = 100 + step / 100
            line.step(now_s)
            line.station.step(now_s)
            assert len(line._waiting) <= MAX_WAITING
            if line.broken:
                break
            for _ in range(20):
                line.station.text(mavlink.MAV_SEVERITY_INFO, f"{step} and {time.monotonic()}")
                line.station.sessions[1].send_now(mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION)
        assert line.broken and now_s - 100 >= STALLED_S
        assert line.station.counts["not sent"] > 0
        line.close()
    theirs.close()
