"""Frames of the HIL link: the same bytes on every runtime, and what a decoder returns for any input."""

from bench_vehicle import Table

from caudal.onboard.link.frame import (
    BYE,
    DELIMITER,
    HANDSHAKE,
    LARGEST_PAYLOAD,
    OUTPUTS,
    READINGS,
    Decoder,
    Encoder,
    crc16,
    wire_size,
)
from caudal.onboard.link.frame_counters import DUPLICATE, LATE, NEW, TICKS, FrameCounters
from caudal.onboard.link.handshake import SIZE, VERSION, Handshake, read_handshake
from caudal.onboard.link.layout import Layout, outputs_layout, readings_layout, width
from caudal.onboard.link.link_timeout import LinkTimeout

DIGEST = "0123456789abcdef" * 4


def encoded(kind, sequence, tick, payload):
    encoder = Encoder(bytearray(wire_size(len(payload))))
    length = encoder.frame(kind, sequence, tick, payload, len(payload))
    return bytes(encoder.buffer[:length])


def received(decoder, data):
    frames = []
    decoder.feed(data, len(data))
    while decoder.next():
        payload = bytes([decoder.payload[i] for i in range(decoder.size)])
        frames.append((decoder.kind, decoder.sequence, decoder.tick, payload))
    return frames


def hexed(data):
    return "".join([f"{byte:02x}" for byte in data])


def refused(call, *arguments):
    try:
        call(*arguments)
    except ValueError as error:
        return str(error)
    raise AssertionError("nothing was refused")


def test_the_crc_is_the_published_one():
    assert crc16(b"123456789", 9) == 0x29B1
    assert crc16(b"", 0) == 0xFFFF


def test_a_frame_is_these_bytes_on_every_runtime():
    assert hexed(encoded(BYE, 0, 0, b"")) == "0204010101010101f23b00"
    outputs = bytearray(8)
    Layout("hhhh").pack([1500, 0, -1, None], outputs)
    assert hexed(encoded(OUTPUTS, 513, 70000, outputs)) == "0703010270110103dc050103ffff0280dd7f00"


def test_a_frame_is_always_eleven_bytes_longer_than_its_payload():
    for size in range(247):
        for fill in (0, 1, 255):
            assert len(encoded(READINGS, 0xFFFF, TICKS, bytes([fill] * size))) == size + 11


def test_what_goes_in_comes_out_for_every_length():
    for size in range(LARGEST_PAYLOAD + 1):
        payload = bytes([(7 * i * i + size) & 0xFF for i in range(size)])
        for content in (payload, bytes(size), bytes([255] * size)):
            data = encoded(READINGS, size * 163, size * 2654435, content)
            assert data[-1] == 0 and 0 not in data[:-1]
            sent = [(READINGS, size * 163 & 0xFFFF, size * 2654435 & TICKS, content)]
            assert received(Decoder({READINGS: size}), data) == sent


def test_sequence_and_tick_wrap_rather_than_overflow():
    data = encoded(BYE, 0x10000 + 5, TICKS + 7, b"")
    assert received(Decoder({BYE: 0}), data) == [(BYE, 5, 6, b"")]


def test_a_crc_that_would_hold_a_zero_is_salted_away():
    salted = 0
    for tick in range(2000):
        data = encoded(BYE, 0, tick, b"")
        assert 0 not in data[:-1]
        if data[1] != BYE:
            salted += 1
        assert received(Decoder({BYE: 0}), data) == [(BYE, 0, tick, b"")]
    assert 2 <= salted <= 40  # one in 128 or so


def test_frames_come_whole_out_of_any_chunks():
    stream = b"".join([encoded(OUTPUTS, k, k, bytes([k, 0, 255])) for k in range(9)])
    sent = [(OUTPUTS, k, k, bytes([k, 0, 255])) for k in range(9)]
    for piece in range(1, len(stream) + 1):
        decoder = Decoder({OUTPUTS: 3})
        frames = []
        for start in range(0, len(stream), piece):
            frames += received(decoder, stream[start : start + piece])
        assert frames == sent
        assert decoder.counters.bad == 0


def test_only_the_first_count_bytes_of_a_chunk_are_read():
    data = encoded(BYE, 1, 2, b"")
    decoder = Decoder({BYE: 0})
    decoder.feed(data + data, len(data))
    assert decoder.next() and not decoder.next()
    decoder.feed(data, 1000)  # more than there are
    assert decoder.next() and not decoder.next()


def test_behind_garbage_without_an_end_at_most_one_frame_is_lost():
    good = [encoded(OUTPUTS, k, k, b"abc") for k in range(3)]
    for garbage in (b"\x01", b"\xff" * 5, b"\x07" * 5000, good[0][:-1], good[0][:4]):
        decoder = Decoder({OUTPUTS: 3})
        assert received(decoder, garbage + good[1] + good[2]) == [(OUTPUTS, 2, 2, b"abc")]
        assert decoder.counters.bad == 1
        decoder = Decoder({OUTPUTS: 3})
        behind_an_end = received(decoder, garbage + DELIMITER + good[1] + good[2])
        assert behind_an_end[-2:] == [(OUTPUTS, 1, 1, b"abc"), (OUTPUTS, 2, 2, b"abc")]


def test_lone_delimiters_are_neither_frames_nor_errors():
    decoder = Decoder({BYE: 0})
    assert received(decoder, DELIMITER * 50) == []
    assert decoder.counters.bad == 0 and decoder.counters.good == 0


def test_a_frame_of_an_unexpected_kind_or_size_is_not_let_through():
    decoder = Decoder({OUTPUTS: 4, BYE: 0})
    assert received(decoder, encoded(OUTPUTS, 0, 0, b"12345")) == []
    assert received(decoder, encoded(OUTPUTS, 0, 0, b"123")) == []
    assert received(decoder, encoded(READINGS, 0, 0, b"1234")) == []
    assert received(decoder, encoded(63, 0, 0, b"")) == []
    assert decoder.counters.bad == 4
    assert len(received(decoder, encoded(OUTPUTS, 0, 0, b"1234"))) == 1


def test_what_cannot_be_sent_is_refused_in_a_sentence():
    encoder = Encoder(bytearray(20))
    assert "kind 64" in refused(encoder.frame, 64, 0, 0, b"", 0)
    assert "kind 0" in refused(encoder.frame, 0, 0, 0, b"", 0)
    assert "buffer of 20" in refused(encoder.frame, BYE, 0, 0, bytes(10), 10)
    assert "401 bytes" in refused(Decoder, {READINGS: 401})
    assert "channel 1" in refused(Layout, "hq")
    assert "too short" in refused(Handshake, "abc", 100, 1, 1)
    assert "0 ticks" in refused(LinkTimeout, 0)


def test_arrivals_count_what_was_lost_came_twice_or_came_late():
    counters = FrameCounters()
    assert counters.classify(False, 65534, 10) == NEW
    assert counters.classify(False, 65535, 11) == NEW
    assert counters.classify(False, 65535, 11) == DUPLICATE
    assert counters.classify(False, 3, 15) == NEW  # 0, 1 and 2 did not come
    assert counters.classify(False, 4, 15) == NEW  # a second frame of one tick
    assert counters.classify(False, 1, 13) == LATE
    assert counters.classify(False, 5, 16) == NEW
    assert (counters.good, counters.lost, counters.duplicate, counters.late) == (7, 3, 1, 1)


def test_ticks_keep_their_order_where_they_wrap():
    counters = FrameCounters()
    assert counters.classify(False, 0, TICKS) == NEW
    assert counters.classify(False, 1, 0) == NEW
    assert counters.classify(False, 0, TICKS) == LATE


def test_handshake_starts_the_frame_order_again():
    counters = FrameCounters()
    counters.classify(False, 40000, 9000)
    assert counters.classify(True, 0, 0) == NEW
    assert counters.classify(True, 0, 0) == NEW  # said again
    assert counters.classify(False, 2, TICKS >> 1) == NEW  # whatever its tick
    assert counters.classify(False, 3, 5) == LATE
    assert counters.lost == 1


def test_restarted_sender_is_accepted_at_its_second_frame():
    counters = FrameCounters()
    counters.classify(False, 40000, 9000)
    assert counters.classify(False, 7, 7) == LATE
    assert counters.classify(False, 8, 8) == NEW
    assert counters.classify(False, 9, 9) == NEW
    assert counters.lost == 0


def test_one_wrong_tick_that_got_through_does_not_silence_the_link():
    counters = FrameCounters()
    counters.classify(False, 5, 100)
    assert counters.classify(False, 6, 400000000) == NEW
    assert counters.classify(False, 7, 102) == LATE
    assert counters.classify(False, 8, 103) == NEW


def test_round_trips_are_smoothed_and_the_worst_is_kept():
    counters = FrameCounters()
    for elapsed_us in [800] + [1600] * 60:
        counters.round_trip(elapsed_us)
    counters.round_trip(5000)
    assert counters.worst_round_trip_us == 5000
    assert 1590 <= counters.round_trip_us <= 1600 + 3400 // 8


def test_numbers_and_absences_cross_a_layout_unchanged():
    layout = Layout("hihi")
    payload = bytearray(layout.size)
    for row in (
        [0, 0, 0, 0],
        [None, None, None, None],
        [32767, 2147483647, -32767, -2147483647],
        [-1, -1, 1, 65536],
        [None, -32768, 255, 32768],
        [-256, 0x40000000, None, -0x40000001],
    ):
        assert layout.pack(row, payload) == layout.size == 12
        values = [99] * 4
        layout.unpack(payload, values)
        assert values == row


def test_a_count_beyond_its_width_stays_outside_the_channels_range():
    layout = Layout([width(-32766, 32766), width(0, 40000)])
    assert layout.kinds == "hi"
    payload = bytearray(layout.size)
    values = [0, 0]
    layout.pack([40000, 1 << 40], payload)
    layout.unpack(payload, values)
    assert values == [32767, 2147483647]
    layout.pack([-40000, -(1 << 40)], payload)
    layout.unpack(payload, values)
    assert values == [-32767, -2147483647]


def test_a_channel_is_as_wide_as_its_range_needs():
    assert width(0, 32766) == "h"
    assert width(0, 32767) == "i"
    assert width(-32766, 0) == "h"
    assert width(-32767, 0) == "i"
    sensors = [
        Table(map="linear", low_count=0, high_count=4095),
        Table(map="linear", low_count=-100000, high_count=100000),
        Table(map="table", counts=[0, 500, 60000]),
    ]
    assert readings_layout(sensors).kinds == "hii"
    actuators = [
        Table(map="servo", high_us=2400),
        Table(map="valve", high_ua=900000),
        Table(map="thruster", high_us=1900),
        Table(map="valve", high_ua=20000),
    ]
    assert outputs_layout(actuators).kinds == "hihh"
    assert outputs_layout([]).size == 0


def test_two_ends_with_the_same_vehicle_agree():
    payload = bytearray(SIZE)
    assert Handshake(DIGEST, 100, 20, 300).pack(payload) == SIZE
    assert hexed(payload) == "01" + DIGEST[:16] + "640014002c01"
    assert Handshake(DIGEST.upper(), 100, 20, 300).refusal(payload) is None
    assert read_handshake(payload).actuators == 300
    decoder = Decoder({HANDSHAKE: SIZE})
    received(decoder, encoded(HANDSHAKE, 0, 0, payload))
    assert Handshake(DIGEST, 100, 20, 300).refusal(decoder.payload) is None


def test_another_vehicle_file_is_refused_naming_both_digests():
    payload = bytearray(SIZE)
    Handshake("fedcba9876543210", 100, 20, 4).pack(payload)
    sentence = Handshake(DIGEST, 100, 20, 4).refusal(payload)
    assert "fedcba9876543210" in sentence and "0123456789abcdef" in sentence


def test_another_version_or_shape_is_refused_too():
    payload = bytearray(SIZE)
    Handshake(DIGEST, 100, 20, 4, VERSION + 1).pack(payload)
    assert f"version {VERSION + 1}" in Handshake(DIGEST, 100, 20, 4).refusal(payload)
    Handshake(DIGEST, 50, 20, 4).pack(payload)
    assert "at 50 Hz" in Handshake(DIGEST, 100, 20, 4).refusal(payload)


def test_link_timeout_trips_at_its_limit_and_ends_at_the_next_frame():
    link_timeout = LinkTimeout(3)
    assert link_timeout.step(False)  # the other side was not there yet
    assert not link_timeout.step(True)
    assert [link_timeout.step(False) for _ in range(4)] == [False, False, True, True]
    assert not link_timeout.step(True)
    assert link_timeout.trips == 1
