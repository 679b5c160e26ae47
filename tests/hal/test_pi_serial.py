"""Sonar and lines of numbers over serial ports (hal/pi/ping.py, line.py)."""

import contextlib
import io
import os
import time
import tty

import pytest
from brping import PingMessage, definitions
from hypothesis import given
from hypothesis import strategies as st

from caudal.hal.emulated.ping import Ping1d
from caudal.hal.emulated.ping_pty import PingPty
from caudal.hal.pi.line import Lines, open_serial
from caudal.hal.pi.ping import MESSAGES, Reader, Sonar, request
from caudal.hal.pi.slot import Slot
from tests.hal.pi_bench import Bench, taken


class SonarRig(Bench):
    def __init__(self, **device) -> None:
        super().__init__()
        self.device = Ping1d(self.clock, **device)
        self.distance = Slot()
        self.opened = 0
        self.use(Sonar(self._open_line, self.distance, 50_000, confidence_least=60))

    def _open_line(self) -> Ping1d:
        self.opened += 1
        return self.device


def test_distances_come_out_as_they_are():
    rig = SonarRig()
    for distance_mm in (1, 4321, 100_000):
        rig.device.set(distance_mm, 100)
        rig.run(60)
        rig.distance.take()
        assert set(taken(rig.distance, rig, 200)) == {distance_mm}


def test_messages_without_a_request_are_skipped():
    rig = SonarRig()
    rig.device.set(4321)
    rig.run(1, tick=lambda: rig.device.write(request(definitions.COMMON_PROTOCOL_VERSION)))
    rig.run(150, 3, lambda: rig.device.write(request(definitions.PING1D_DEVICE_ID)))
    assert rig.distance.take() == 4321 and not rig.reason


def test_echo_of_low_confidence_is_no_reading():
    rig = SonarRig()
    rig.device.set(4321, 59)
    assert taken(rig.distance, rig, 300) == []
    rig.device.set(4321, 60)
    assert set(taken(rig.distance, rig, 300)) == {4321}


def test_another_device_on_the_port_is_named():
    rig = SonarRig()
    rig.device.wrong_identity = True
    rig.run(50)
    assert rig.reason == "ping is a device of type 2, not a Ping sonar (1); check which port it is on"


def test_silent_sonar_is_lost_and_its_port_opened_again():
    rig = SonarRig()
    rig.device.set(4321)
    rig.run(200)
    rig.device.silent = True
    rig.run(100)
    rig.distance.take()
    assert taken(rig.distance, rig, 2000) == []
    assert rig.reason == "ping does not answer; check its port, speed and supply"
    rig.device.silent = False
    rig.run(1700)
    assert set(taken(rig.distance, rig, 200)) == {4321} and rig.opened > 1


def test_garbled_answers_are_no_readings_and_nothing_is_printed(capfd):
    rig = SonarRig()
    rig.device.set(4321)
    rig.run(200)
    rig.distance.take()
    rig.device.garbled = True
    rig.run(20)
    rig.distance.take()
    assert taken(rig.distance, rig, 500) == []
    assert capfd.readouterr() == ("", "")


def test_request_that_was_lost_is_made_again():
    rig = SonarRig()
    rig.device.set(4321)
    rig.device.silent = True
    rig.run(300)
    rig.device.silent = False
    rig.run(600)
    assert rig.distance.take() == 4321 and rig.opened == 1


def first(slot: Slot, steps) -> int | None:
    """The first count of a device that runs by the real clock."""
    try:
        for wait_us in steps:
            count = slot.take()
            if count is not None:
                return count
            time.sleep(abs(wait_us or 1000) / 1e6)
    finally:
        steps.close()


def test_sonar_on_a_real_terminal_answers():
    with PingPty() as line:
        line.device.set(777)
        slot = Slot()
        steps = Sonar(lambda: open_serial(line.path, 115_200), slot, 1000).run()
        assert first(slot, steps) == 777


def message(distance: int, confidence: int) -> bytes:
    answer = PingMessage(definitions.PING1D_DISTANCE_SIMPLE, payload_dict=MESSAGES)
    answer.distance, answer.confidence = distance, confidence
    return bytes(answer.pack_msg_data())


@given(st.integers(0, 2**32 - 1), st.integers(0, 100), st.lists(st.integers(0, 15)))
def test_message_is_the_same_in_any_pieces(distance, confidence, cuts):
    whole = message(distance, confidence)
    reader, got = Reader(), []
    edges = [0, *sorted({cut for cut in cuts if cut < len(whole)}), len(whole)]
    for start, end in zip(edges, edges[1:], strict=False):
        got += reader.take(whole[start:end])
    assert [(m.distance, m.confidence) for m in got] == [(distance, confidence)]


@given(
    st.lists(st.one_of(st.binary(max_size=40), st.just(b"BR"), st.just(b"BR\x05\x00\xbb\x04")), max_size=6)
)
def test_noise_is_skipped_and_prints_nothing(noise):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        reader = Reader()
        for m in reader.take(b"".join(noise)):
            assert m.verify_checksum()
        reader.take(bytes(2000))  # whatever had begun has ended
        assert [m.distance for m in reader.take(message(42, 90) * 2)][-1] == 42
    assert printed.getvalue() == ""


def test_short_message_with_a_right_check_sum_is_skipped():
    bare = bytearray(request(definitions.PING1D_DISTANCE_SIMPLE))  # an answer's number and no payload
    assert Reader().take(bytes(bare)) == []
    unknown = bytearray(b"BR\x00\x00\x39\x30\x00\x00")
    unknown += (sum(unknown) & 0xFFFF).to_bytes(2, "little")
    assert Reader().take(bytes(unknown)) == []


class Port:
    """A serial port into which a test types."""

    def __init__(self) -> None:
        self.waiting = b""
        self.closed = False

    @property
    def in_waiting(self) -> int:
        return len(self.waiting)

    def read(self, count: int) -> bytes:
        got, self.waiting = self.waiting[:count], self.waiting[count:]
        return got

    def close(self) -> None:
        self.closed = True


class LineRig(Bench):
    def __init__(self) -> None:
        super().__init__()
        self.ports: list[Port] = []
        self.slots = {0: Slot(), 2: Slot()}
        self.use(Lines(self._open_port, 3, self.slots, 10_000))
        self.run(15)

    def _open_port(self) -> Port:
        self.ports.append(Port())
        return self.ports[-1]

    def type(self, text: bytes) -> tuple[int | None, int | None]:
        self.ports[-1].waiting += text
        self.run(15)
        return self.slots[0].take(), self.slots[2].take()


def test_numbers_of_a_line_go_to_their_slots_once():
    rig = LineRig()
    assert rig.type(b"1,2,") == (None, None)
    assert rig.type(b"-3\n") == (1, -3)
    assert rig.type(b"") == (None, None)
    assert rig.type(b"7,,\n") == (7, None)
    assert rig.type(b"7,x,3\n") == (None, None)
    assert not rig.reason


@pytest.mark.parametrize(("text", "said"), [(b"", "sent nothing"), (b"1,2\n", "bytes but no complete line")])
def test_line_without_numbers_for_a_second_is_named_and_opened_again(text, said):
    rig = LineRig()
    rig.type(b"1,2,3\n")
    rig.run(1100, 50, lambda: rig.type(text))
    assert said in rig.reason and "3 numbers" in rig.reason
    assert rig.ports[0].closed
    rig.run(200)
    assert len(rig.ports) == 2
    assert rig.type(b"4,5,6\n") == (4, 6)
    assert not rig.reason


def test_unknown_field_of_a_line_is_refused():
    with pytest.raises(ValueError, match="fields 0 to 2"):
        Lines(Port, 3, {3: Slot()}, 10_000)


def test_missing_port_is_an_os_error_and_a_real_one_reads_without_waiting():
    with pytest.raises(OSError, match="no/such"):
        open_serial("/dev/no/such", 9600)
    master, slave = os.openpty()
    tty.setraw(slave)
    slot = Slot()
    steps = Lines(lambda: open_serial(os.ttyname(slave), 115_200), 2, {1: slot}, 1000).run()
    next(steps)  # it is open
    os.write(master, b"10,20\n")
    assert first(slot, steps) == 20
    os.close(master)
    os.close(slave)
