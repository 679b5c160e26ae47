"""Serial lines, several stations at once, addresses, and what `caudal run --mavlink` makes of them."""

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
from caudal.onboard.station.streams import KEPT, STALLED_S, Connection
from caudal.tools.cli.main import main
from caudal.tools.config.from_log import recorded_settings
from tests.command_line import start
from tests.conftest import ROOT
from tests.station.afloat import Afloat, free_port, until
from tests.station.mutations import Bench
from tests.station.pilots import Pilot, mavlink
from tests.waiting import LIMIT_S


def test_over_a_serial_line_a_pilot_gets_all_parameters_and_arms():
    master, slave = os.openpty()
    tty.setraw(master)
    with Afloat(f"serial:{os.ttyname(slave)}@57600") as vehicle:
        bridge = _PtyPilot(master)
        start_s = time.monotonic()
        bridge.send(mavlink.MAVLink_param_request_list_message(1, 1))
        names = set()
        until(
            "all parameters",
            lambda: names.update(bridge.heard("PARAM_VALUE", "param_id")) or len(names) == 300,
        )
        print(f"300 parameters over a line of 57,600 baud in {time.monotonic() - start_s:.1f} s")
        bridge.send(mavlink.MAVLink_command_long_message(1, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0))
        until("it is armed", lambda: vehicle.loop.state.armed)
        sent_bytes, took_s = bridge.bytes, time.monotonic() - start_s
        assert sent_bytes < (took_s + 1) * 5760  # no more than the line carries
    os.close(master)
    os.close(slave)


class _PtyPilot:
    """The station's end of a pseudo-terminal."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._mav = mavlink.MAVLink(None, 255, 190)
        self._mav.robust_parsing = True
        self.bytes = 0
        os.set_blocking(fd, False)

    def send(self, message) -> None:
        os.write(self._fd, message.pack(self._mav))

    def heard(self, kind: str, field: str) -> list:
        try:
            data = os.read(self._fd, 4096)
        except BlockingIOError:
            return []
        self.bytes += len(data)
        return [getattr(m, field) for m in self._mav.parse_buffer(data) or () if m.get_type() == kind]


def test_a_serial_device_that_is_pulled_out_and_back_is_found_again(tmp_path, monkeypatch):
    device = tmp_path / "radio"
    master, slave = os.openpty()
    device.symlink_to(os.ttyname(slave))
    with Afloat(f"serial:{device}@57600") as vehicle:
        until("it speaks", lambda: vehicle.stations.peers() != [])
        device.unlink()
        os.close(slave)
        os.close(master)
        until("it is gone", lambda: vehicle.stations.peers() == [])
        master, slave = os.openpty()
        tty.setraw(master)
        device.symlink_to(os.ttyname(slave))
        pilot = _PtyPilot(master)
        until("it is back", lambda: pilot.heard("HEARTBEAT", "type") != [])
    os.close(master)
    os.close(slave)


def test_several_stations_each_have_their_own_rates_and_one_uploads_at_a_time():
    port, tcp = free_port(), free_port(socket.SOCK_STREAM)
    with Afloat(f"udp:{port}", f"tcp:{tcp}") as vehicle:
        pilots = [
            Pilot(f"udpout:127.0.0.1:{port}"),
            Pilot(f"udpout:127.0.0.1:{port}", system=254),
            Pilot(f"tcp:127.0.0.1:{tcp}", system=253),
        ]
        for pilot in pilots:
            pilot.meet()
        assert len(vehicle.stations.peers()) == 3
        first, second, third = pilots
        number = mavlink.MAVLINK_MSG_ID_ATTITUDE
        assert first.command(mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, number, -1) == 0
        assert first.command(mavlink.MAV_CMD_GET_MESSAGE_INTERVAL, number) == 0
        assert second.command(mavlink.MAV_CMD_GET_MESSAGE_INTERVAL, number) == 0
        first.mav.mission_count_send(1, 1, 2, 0)
        assert first.hear("MISSION_REQUEST_INT")
        assert third.upload([(473978000, 85456000, -0.5, 0)]) == mavlink.MAV_MISSION_DENIED
        third.close()
        until("it is forgotten", lambda: len(vehicle.stations.peers()) == 2)
        for pilot in (first, second):
            pilot.close()


def test_a_fleet_is_as_many_systems_and_only_a_disarm_is_for_all():
    port = free_port()
    with Afloat(f"udp:{port}", scenario="pool") as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        seen: set[int] = set()
        until("all three", lambda: seen.add(pilot.hear("HEARTBEAT").get_srcSystem()) or seen >= {1, 2, 3})
        for system in (1, 2, 3):
            assert pilot.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1, system=system) == 0
        assert pilot.command(mavlink.MAV_CMD_NAV_LOITER_UNLIM, system=0, patience_s=0.5) is None
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
def test_addresses_listen_on_this_computer_alone_unless_told_otherwise(text, whole):
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
def test_an_address_that_is_none_gets_a_sentence(text, capsys):
    with pytest.raises(AddressError, match=r"write|say"):
        read_address(text)
    assert main(["run", "fish", "--mavlink", text]) == 2
    assert capsys.readouterr().err.startswith("caudal: --mavlink ")


def test_a_port_that_is_taken_and_a_device_that_is_not_there_get_a_sentence():
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
        (["--on", "hil:pty", "--mavlink", "udp:1"], "a bench has its own wire"),
        (["--mavlink", "udp:1", "--mavlink-origin", "91,0"], "is no place in degrees"),
        (["--mavlink", "udp:1", "--mavlink-key", "no-such-key"], "cannot read the key no-such-key"),
        (["--arm-after", "1"], "--arm-after is for --on pi and --mavlink"),
        (["--mavlink", "udp:1", "--set", 'station={autopilot="moon"}'], "station.autopilot"),
    ],
)
def test_options_that_do_not_fit_get_a_sentence(words, says, capsys):
    try:
        code = main(["run", "fish", "--scenario", "track", *words])
    except SystemExit as end:
        code = end.code
    assert code == 2 and says in capsys.readouterr().err


@pytest.mark.parametrize("on", ["sim", "emulated", "pi"])
def test_a_run_with_a_station_waits_for_its_pilot_and_goes_on_until_it_is_told_to_end(on, tmp_path):
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
        pilot.meet()
        tries: list[int | None] = []
        if on == "pi":  # there are no chips: it may not be armed, and says why
            tries.append(pilot.arm())
            assert tries == [mavlink.MAV_RESULT_DENIED]
            until("why", lambda: pilot.hear("STATUSTEXT") and any("bus_hung" in text for text in pilot.texts))
        else:
            until(
                "it may be armed",
                lambda: tries.append(pilot.arm()) or tries[-1] == mavlink.MAV_RESULT_ACCEPTED,
            )
            assert pilot.hear("HEARTBEAT", where=lambda m: m.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED)
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
    arms = [event for event in recorded.events if event.kind == "order" and event.details["kind"] == "arm"]
    assert len(arms) == len(tries)  # nobody else has armed it
    assert any(event.kind == "order" and event.details["kind"] == "station" for event in recorded.events)
    assert replay(recorded, recorded_settings(recorded))["identical"]


def test_a_station_that_reads_nothing_is_hung_up_on_and_what_waits_for_it_is_bounded():
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    bench = Bench(None)
    with selectors.DefaultSelector() as selector:
        line = Connection(ours, "deaf", selector, lambda name, send, rate, whole: StationLink(
            name, [bench.vehicle_link], None, send, rate, whole
        ))  # fmt: skip
        for step in range(3000):  # half a minute, as fast as it goes
            now_s = 100 + step / 100
            line.step(now_s)
            line.peer.step(now_s)
            assert len(line._waiting) <= KEPT
            if line.broken:
                break
            for _ in range(20):
                line.peer.text(mavlink.MAV_SEVERITY_INFO, f"{step} and {time.monotonic()}")
                line.peer.sessions[1].say_now(mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION)
        assert line.broken and now_s - 100 >= STALLED_S
        assert line.peer.counts["unsent"] > 0
        line.close()
    theirs.close()
