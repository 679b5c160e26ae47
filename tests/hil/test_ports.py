"""Both sides on ports of every form: after a cable is unplugged or a side restarted, the run continues."""

import os
import re
import subprocess
import threading

import pytest

from caudal.hal.serial_ports import PortError
from caudal.tools.hil.pty import open_line
from caudal.tools.hil.reconnecting_port import ReconnectingPort
from tests.hil.sides import free_tcp_port, said, swims_on
from tests.waiting import LIMIT_S, wait_for


def ended_well(plant: subprocess.Popen, controller: subprocess.Popen) -> None:
    out, error = plant.communicate(timeout=LIMIT_S)
    assert plant.returncode == 0, error
    assert '"simulated_s": 4.0' in out and '"fault": null' in out
    assert controller.wait(timeout=LIMIT_S) == 0


def test_the_plant_opens_a_pseudo_terminal_and_says_where_its_other_end_is(sides):
    plant = sides.plant("pty", "--for", 4)
    line = said(plant, r"other end of this line is (\S+)")
    ended_well(plant, sides.controller(line))


def test_so_does_the_controller(sides):
    controller = sides.controller("pty")
    line = said(controller, r"other end of this line is (\S+)")
    ended_well(sides.plant(line, "--for", 4), controller)


@pytest.mark.parametrize("listen, connect", [("tcp:{}", "tcp:127.0.0.1:{}"), ("tcp::{}", "tcp:localhost:{}")])
@pytest.mark.parametrize("plant_listens", [True, False])
def test_one_side_listens_on_tcp_and_the_other_connects(sides, listen, connect, plant_listens):
    port = free_tcp_port()
    listen, connect = listen.format(port), connect.format(port)
    if plant_listens:
        plant = sides.plant(listen, "--for", 4)
        said(plant, "listening")
        ended_well(plant, sides.controller(connect))
    else:
        controller = sides.controller(listen)
        said(controller, "listening")
        ended_well(sides.plant(connect, "--for", 4), controller)


def test_without_a_host_nobody_from_another_machine_is_heard():
    reconnecting_port = ReconnectingPort(f"tcp:{free_tcp_port()}")
    assert reconnecting_port._listener.getsockname()[0] == "127.0.0.1"
    reconnecting_port.close()


@pytest.mark.parametrize(
    "name", ["tcp:", "tcp:fish", "tcp:127.0.0.1:0", "tcp::99999", "/dev/ttyS0@fast", "/nonexistent/tty"]
)
def test_a_port_that_is_none_is_refused_in_a_sentence(name):
    with pytest.raises(PortError, match=re.escape(name.partition("@")[0])) as refused:
        ReconnectingPort(name)
    assert "\n" not in str(refused.value)


def test_a_tcp_port_in_use_is_refused_in_a_sentence():
    port = free_tcp_port()
    first = ReconnectingPort(f"tcp:{port}")
    with pytest.raises(PortError, match="in use"):
        ReconnectingPort(f"tcp:{port}")
    first.close()


def test_a_controller_killed_and_started_anew_takes_over(sides, tmp_path):
    plant = sides.plant("pty", "--for", 100_000)
    line = said(plant, r"other end of this line is (\S+)")
    first = sides.controller(line)
    swims_on(tmp_path / "hil.mcap")
    first.kill()
    first.wait()
    said(plant, "controller is gone")
    second = sides.controller(line)
    said(plant, "controller is back")  # a plant swims on alone: that its log grows would prove nothing
    plant.terminate()
    out, _ = plant.communicate(timeout=LIMIT_S)
    assert '"fault": null' in out and second.wait(timeout=LIMIT_S) == 0


def test_a_plant_killed_and_started_anew_is_served_by_the_same_controller(sides, tmp_path):
    port = free_tcp_port()
    controller = sides.controller(f"tcp:{port}")
    said(controller, "listening")
    first = sides.plant(f"tcp:127.0.0.1:{port}", "--for", 100_000)
    swims_on(tmp_path / "hil.mcap")
    first.kill()
    first.wait()
    ended_well(sides.plant(f"tcp:127.0.0.1:{port}", "--for", 4), controller)


def chunk(reconnecting_port: ReconnectingPort) -> bytes:
    """The next bytes that come."""
    buffer = bytearray(64)
    count = wait_for(lambda: reconnecting_port.read(buffer, 100), "bytes")
    return bytes(buffer[:count])


def talk(line: int, word: bytes, until: threading.Event) -> None:
    """Say a word over and over: what was said before the other side had opened the line is lost."""
    while not until.wait(0.05):
        os.write(line, word)


def test_a_device_pulled_out_is_silent_and_put_in_again_it_is_opened_by_itself(tmp_path):
    """A link to a pseudo-terminal stands for the device: it vanishes, and comes back as another one."""
    device = tmp_path / "ttyUSB0"
    master, slave = open_line()
    device.symlink_to(os.ttyname(slave))
    reconnecting_port = ReconnectingPort(str(device))
    os.write(master, b"one")
    assert chunk(reconnecting_port) == b"one"
    device.unlink()
    os.close(slave)
    os.close(master)
    assert reconnecting_port.read(bytearray(64), 50) == 0
    reconnecting_port.write(bytearray(b"lost"), 4)
    assert reconnecting_port.breaks == 1
    master, slave = open_line()
    device.symlink_to(os.ttyname(slave))
    heard = threading.Event()
    device_talks = threading.Thread(target=talk, args=(master, b"two", heard))
    device_talks.start()
    assert chunk(reconnecting_port).startswith(b"two")
    heard.set()
    device_talks.join()
    reconnecting_port.write(bytearray(b"three"), 5)
    assert os.read(master, 64) == b"three"
    reconnecting_port.close()
    os.close(slave)
    os.close(master)


def test_a_connection_that_breaks_is_made_again_from_either_side():
    port = free_tcp_port()
    listening, connecting = ReconnectingPort(f"tcp:{port}"), ReconnectingPort(f"tcp:127.0.0.1:{port}")
    for word in (b"one", b"two", b"three"):
        connecting.write(bytearray(word), len(word))
        assert chunk(listening) == word
        connecting._port.close()  # as a crash would
        connecting._port = None
        while connecting.read(bytearray(8), 10) or connecting._port is None:
            pass
        assert listening.read(bytearray(8), 100) == 0
    connecting.close()
    listening.close()


def test_a_line_that_nobody_reads_holds_nobody_up():
    reconnecting_port = ReconnectingPort("pty")
    frame = bytearray(b"x" * 55)
    for _ in range(5000):
        reconnecting_port.write(frame, len(frame))
    assert reconnecting_port.read(frame, 0) == 0 and reconnecting_port.breaks == 0
    reconnecting_port.close()
