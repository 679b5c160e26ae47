"""An emulated Ping1D answers bluerobotics-ping, in process and over a serial line."""

import struct
from unittest import mock

import pytest
import serial
from brping import Ping1D as BluePing
from brping import PingMessage, definitions
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.ping import Ping1d
from caudal.hal.emulated.ping_pty import PingPty
from tests.waiting import LIMIT_S

# The messages of this device alone: in the package's table of all, 1211 is another device's (0.2.5).
MESSAGES = definitions.payload_dict_ping1d


class Line:
    """A device, and the package at the other end, in time that the package's own sleeps make pass."""

    def __init__(self, **options) -> None:
        self.now_us = 0
        self.device = Ping1d(lambda: self.now_us, **options)
        self.blue = BluePing(payload_dict=MESSAGES)
        self.blue.iodev = self.device

    def __enter__(self) -> "Line":
        self._patch = mock.patch("brping.device.time", self)
        self._patch.start()
        return self

    def __exit__(self, *error) -> None:
        self._patch.stop()

    def time(self) -> float:
        return self.now_us / 1e6

    def sleep(self, seconds: float) -> None:
        self.now_us += round(seconds * 1e6)


@pytest.fixture
def line():
    with Line() as line:
        yield line


def request(message: int) -> bytes:
    asked = PingMessage(definitions.COMMON_GENERAL_REQUEST)
    asked.requested_id = message
    return bytes(asked.pack_msg_data())


def empty_answer() -> bytes:
    """To distance_simple, before there was an echo."""
    answer = PingMessage(definitions.PING1D_DISTANCE_SIMPLE)
    answer.src_device_id = 1
    return bytes(answer.pack_msg_data())


def test_package_initialises_and_knows_the_device(line):
    assert line.blue.initialize()
    assert line.blue.get_device_information()["device_type"] == 1
    assert line.blue.get_protocol_version()["version_major"] == 1
    assert line.blue.get_firmware_version()["device_model"] == 1
    assert line.blue.get_device_id() == {"device_id": 1}


@given(st.integers(0, 100_000), st.integers(0, 100))
def test_package_reads_the_distance_that_was_set(distance_mm, confidence):
    with Line() as line:
        line.device.set(distance_mm, confidence)
        assert line.blue.get_distance_simple() == {"distance": distance_mm, "confidence": confidence}
        long = line.blue.get_distance()
        assert (long["distance"], long["confidence"], long["ping_number"]) == (distance_mm, confidence, 1)


def test_unknown_message_is_refused_by_name(line):
    line.device.write(request(definitions.PING1D_PROFILE))
    refused = line.blue.wait_message([definitions.COMMON_NACK])
    assert refused.nacked_id == definitions.PING1D_PROFILE


def test_responses_arrive_at_the_speed_of_the_port(line):
    line.device.write(request(definitions.PING1D_DISTANCE_SIMPLE))
    line.now_us = 1_301
    assert line.device.in_waiting == 0 and line.device.read(100) == b""
    line.now_us = 1_303  # 15 bytes of ten bits at 115,200 baud
    assert line.device.in_waiting == 15
    assert line.device.read(4) + line.device.read(100) == empty_answer()
    with pytest.raises(BlockingIOError):
        line.device.recv(10)


def test_sonar_clock_may_start_below_zero(line):
    line.now_us = -1_500_000
    assert line.blue.get_distance_simple() == {"distance": 0, "confidence": 0}


@given(st.binary(max_size=40), st.integers(1, 12))
def test_request_is_found_after_noise_and_in_pieces(noise, piece):
    line = Line()
    # Noise may begin a message that swallows the first requests; it ends within the 74 bytes of the longest one.
    stream = noise + 8 * request(definitions.PING1D_DISTANCE_SIMPLE)
    for start in range(0, len(stream), piece):
        line.device.write(stream[start : start + piece])
    line.now_us = 1_000_000
    assert line.device.read(10_000).endswith(empty_answer())


@pytest.mark.parametrize("place", [2, 4, 8, 10])
def test_request_with_a_wrong_byte_has_no_response(line, place):
    broken = bytearray(request(definitions.PING1D_DISTANCE))
    broken[place] ^= 1
    line.device.write(bytes(broken))
    line.now_us = 1_000_000
    assert line.device.in_waiting == 0


def test_impossible_length_does_not_block_later_requests(line):
    line.device.write(b"BR\xff\xff\x00\x00" + request(definitions.PING1D_DISTANCE_SIMPLE))
    line.now_us = 1_000_000
    assert line.device.read(100) == empty_answer()


def test_waiting_bytes_can_be_dropped(line):
    line.device.write(request(definitions.PING1D_DISTANCE))
    line.device.write(request(definitions.PING1D_DISTANCE)[:5])
    line.now_us = 1_000_000
    line.device.flush()
    line.device.reset_input_buffer()
    line.device.reset_output_buffer()
    assert line.device.in_waiting == 0
    line.device.write(request(definitions.PING1D_DISTANCE)[5:])
    line.now_us = 2_000_000
    assert line.device.in_waiting == 0
    line.device.close()


def test_faults_are_silence_garbling_and_another_identity(line):
    line.device.wrong_identity = True
    assert line.blue.get_device_information()["device_type"] == 2
    line.device.silent = True
    assert line.blue.request(definitions.PING1D_DISTANCE) is None
    line.device.silent, line.device.garbled = False, True
    assert line.blue.request(definitions.PING1D_DISTANCE) is None
    assert line.blue.parser.errors == 1


def test_paced_device_sends_each_echo_once():
    line = Line(paced=True)
    for _ in range(2):
        line.device.write(request(definitions.PING1D_DISTANCE_SIMPLE))  # asked twice, answered once
    line.now_us = 10_000
    assert line.device.in_waiting == 0
    line.device.set(1234)
    line.now_us = 20_000
    assert struct.unpack_from("<I", line.device.read(100), 8) == (1234,)
    line.device.write(request(definitions.PING1D_DISTANCE_SIMPLE))
    line.now_us = 30_000
    assert line.device.in_waiting == 0


def test_package_opens_it_as_a_serial_port():
    with PingPty() as pty:
        pty.device.set(4321, 88)
        blue = BluePing(payload_dict=MESSAGES)
        blue.connect_serial(pty.path)
        answer = blue.request(definitions.PING1D_DISTANCE_SIMPLE, timeout=LIMIT_S)
        assert (answer.distance, answer.confidence) == (4321, 88)
        blue.iodev.close()
        with serial.Serial(pty.path, 115_200, timeout=LIMIT_S) as again:  # a driver may come back
            again.write(request(definitions.COMMON_PROTOCOL_VERSION))
            assert again.read(14)[:2] == b"BR"
