"""A log returns what was recorded, here and with the mcap package; invalid fields, values and files are rejected."""

import math
import struct
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.writer import Writer
from mcap_ros2.decoder import DecoderFactory

from caudal.onboard.log.reader import Log, LogError
from caudal.onboard.log.recorder import ABSENT, Recorder
from tests.record.logs import FIELDS, FLUSH_S, RUN, on_disk, record_ticks
from tests.waiting import wait_for

# ---- round trips -------------------------------------------------------------------------------------


def test_log_returns_recorded_values_and_absent_readings(tmp_path):
    path = tmp_path / "new" / "folder" / "run.mcap"
    rows = [(1.5, -2.0, 1500, None), (None, math.inf, None, 2_000_000_000), (0.0, None, -1, 0)]
    with Recorder(path, RUN, lossless=False) as recorder:
        topic = recorder.topic("/board/readings", FIELDS)
        for tick, row in enumerate(rows):
            topic.write(tick, row)
        recorder.event(1, "mode", to="swim", kind="nested", depths_m=[1.0, math.nan])
    log = Log(path)
    assert log.complete and log.run == RUN
    assert log.topics["/board/readings"].rows == rows
    assert log.topics["/board/readings"].column("tail_1") == [1500, None, -1]
    assert list(log.topics["/board/readings"].time_ns) == [0, 1, 2]
    assert log.topics["/board/readings"].fields == ["depth_m", "speed_m_s", "tail_1", "tail_2"]
    assert log.events == [(1, "mode", {"to": "swim", "kind": "nested", "depths_m": [1.0, None]})]


def test_log_without_topics_reads_only_the_facts_of_the_run(tmp_path, monkeypatch):
    path = tmp_path / "run.mcap"
    record_ticks(path, 50)
    monkeypatch.setattr("caudal.onboard.log.reader._unpack_chunk", None)
    log = Log(path, only=())
    assert log.run == RUN and not log.events and not log.complete


VALUES = {
    "float64": st.floats(allow_nan=False) | st.none(),
    "int64": st.integers(-(2**63), 2**63 - 1).filter(lambda value: value != ABSENT) | st.none(),
    "float32": st.floats(allow_nan=False, width=32) | st.none(),
    "int32": st.integers(ABSENT + 1, 2**31 - 1) | st.none(),
}


@st.composite
def field_sets(draw):
    names = draw(
        st.lists(
            st.from_regex(r"[a-z](_?[a-z0-9]){0,8}", fullmatch=True), min_size=1, max_size=8, unique=True
        )
    )
    kinds = sorted(
        (draw(st.sampled_from(sorted(VALUES))) for _ in names), key=lambda kind: kind[-2:], reverse=True
    )
    rows = draw(st.lists(st.tuples(*[VALUES[kind] for kind in kinds]), max_size=6))
    return list(zip(kinds, names, strict=True)), rows


@settings(max_examples=60, deadline=None)
@given(st.lists(field_sets(), min_size=1, max_size=3))
def test_log_returns_every_set_of_fields(topics):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.mcap"
        with Recorder(path, {}, lossless=True) as recorder:
            for number, (fields, rows) in enumerate(topics):
                topic = recorder.topic(f"/topic/{number}", fields)
                for time_ns, row in enumerate(rows):
                    topic.write(time_ns, row)
        log = Log(path)
        for number, (fields, rows) in enumerate(topics):
            columns = log.topics[f"/topic/{number}"]
            assert columns.rows == rows and columns.lost == 0
            for index, (_, name) in enumerate(fields):
                assert columns.column(name) == [row[index] for row in rows]
        with open(path, "rb") as file:
            reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
            numbers = [f"/topic/{number}" for number in range(len(topics))]
            for _, channel, message, decoded in reader.iter_decoded_messages(numbers):
                fields, rows = topics[int(channel.topic.rsplit("/", 1)[1])]
                for (kind, name), value in zip(fields, rows[message.log_time], strict=True):
                    found = getattr(decoded, name)
                    if value is None:
                        assert found != found if kind.startswith("float") else found == ABSENT
                    else:
                        assert found == value


# ---- the mcap package --------------------------------------------------------------------------------


def test_closed_log_has_the_summary_and_index_that_viewers_use(tmp_path):
    record_ticks(tmp_path / "run.mcap", 300)
    with open(tmp_path / "run.mcap", "rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == ""
        assert reader.get_header().library.startswith("caudal ")
        assert [(one.name, one.metadata) for one in reader.iter_metadata()] == [
            ("caudal", RUN | {"format": "2"})
        ]
        summary = reader.get_summary()
        assert summary.statistics.message_count == 301
        assert summary.statistics.chunk_count == len(summary.chunk_indexes) > 1
        assert (summary.statistics.message_start_time, summary.statistics.message_end_time) == (
            0,
            3_000_000_000,
        )
        assert {channel.topic for channel in summary.channels.values()} == {"/events", "/board/readings"}
        decoded = [item.decoded_message for item in reader.iter_decoded_messages("/board/readings")]
        assert [message.tail_2 for message in decoded] == [-tick for tick in range(300)]
        middle = reader.iter_messages(starting_at=1_000_000_000, ending_before=1_100_000_000)
        assert len(list(middle)) == 10
        for index in summary.chunk_indexes:
            for channel, offset in index.message_index_offsets.items():
                file.seek(offset)
                opcode, _, found = struct.unpack("<BQH", file.read(11))
                assert (opcode, found) == (0x07, channel)


def test_open_log_has_a_summary_for_viewers_that_do_not_scan(tmp_path):
    path = tmp_path / "run.mcap"
    with Recorder(path, RUN, lossless=True, flush_s=FLUSH_S) as recorder:
        topic = recorder.topic("/board/readings", FIELDS)
        topic.write(5, [1.0, 2.0, 3, 4])
        wait_for(lambda: on_disk(path) == 1)
        with open(path, "rb") as file:
            reader = make_reader(file)
            summary = reader.get_summary()
            assert summary.statistics.message_count == 1 and not summary.chunk_indexes
            assert {channel.topic for channel in summary.channels.values()} == {"/events", "/board/readings"}
            assert next(reader.iter_metadata()).metadata == RUN | {"format": "2"}
        assert not Log(path).complete
    assert Log(path).complete


# ---- bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        [],
        [("int32", "Tail")],
        [("int32", "tail-1")],
        [("int32", "1_tail")],
        [("int32", "tail_")],
        [("int32", "tail__1")],
        [("int32", "")],
        [("int8", "tail")],
        [("int32", "tail"), ("int32", "tail")],
        [("int32", "tail"), ("float64", "depth_m")],
    ],
)
def test_recorder_rejects_fields_that_viewers_cannot_plot(tmp_path, fields):
    with (
        Recorder(tmp_path / "run.mcap", {}, lossless=True) as recorder,
        pytest.raises(ValueError, match="/board"),
    ):
        recorder.topic("/board", fields)


def test_topic_has_one_set_of_fields(tmp_path):
    with Recorder(tmp_path / "run.mcap", {}, lossless=True) as recorder:
        assert recorder.topic("/board", FIELDS) is recorder.topic("/board", FIELDS)
        for name, fields in [("/board", FIELDS[:1]), ("/events", FIELDS), ("/", FIELDS)]:
            with pytest.raises(ValueError, match="name of its own"):
                recorder.topic(name, fields)


@pytest.mark.parametrize("row", [[1.0, 2.0, 3], [1.0, 2.0, 3, 4, 5], [1.0, 2.0, 3, 2**31], [1.0, "2", 3, 4]])
def test_topic_rejects_values_that_do_not_fit_its_fields(tmp_path, row):
    with Recorder(tmp_path / "run.mcap", {}, lossless=True) as recorder:
        topic = recorder.topic("/board", FIELDS)
        with pytest.raises(ValueError, match=r"/board cannot record.*int32 tail_2"):
            topic.write(0, row)


def test_recorder_rejects_a_fact_of_the_run_that_is_not_text(tmp_path):
    with pytest.raises(ValueError, match="seed"):
        Recorder(tmp_path / "run.mcap", {"seed": 7}, lossless=True)


def test_log_rejects_other_files_with_a_message(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("depth_m,1.0\n" * 100)
    (tmp_path / "zeros").write_bytes(bytes(10_000))
    with open(tmp_path / "foreign", "wb") as file:
        writer = Writer(file)
        writer.start(library="rosbag2")
        writer.finish()
    for name, words in [("ros", b"string data"), ("json", b"{}"), ("packed", b"\xff\x00")]:
        with open(tmp_path / name, "wb") as file:
            writer = Writer(file)
            writer.start(library="another 1.0")
            schema = writer.register_schema("a", "a", words)
            channel = writer.register_channel("/a", "a", schema)
            writer.add_message(channel, 1, b"{}", 1)
            writer.finish()
    for name, words in [
        ("none", "no log"),
        (".", "folder"),
        ("empty", "empty"),
        ("text", "not a log"),
        ("zeros", "not a log"),
        ("foreign", "written by rosbag2"),
        ("ros", "written by another 1.0"),
        ("json", "written by another 1.0"),
        ("packed", "written by another 1.0"),
    ]:
        with pytest.raises(LogError, match=words) as caught:
            Log(tmp_path / name)
        assert "\n" not in str(caught.value)
