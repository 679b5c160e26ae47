"""Logs for tests of the recorder, read with the mcap package."""

import math
from collections.abc import Callable

from mcap.reader import make_reader

from caudal.onboard.log.mcap_writer import McapFile, packed
from caudal.onboard.log.reader import Log
from caudal.onboard.log.recorder import Recorder
from tests.waiting import wait_for

RUN = {"vehicle": "[vehicle]\nname = 'pike'\n", "seed": "7", "scenario": "pool"}
FIELDS = [("float64", "depth_m"), ("float64", "speed_m_s"), ("int32", "tail_1"), ("int32", "tail_2")]
PAGE_BYTES = 4096
FLUSH_S = 0.002  # so that tests do not wait


def standard_messages(path) -> list:
    """All messages as the mcap package reads them, with checked checksums."""
    with open(path, "rb") as file:
        return [message for _, _, message in make_reader(file, validate_crcs=True).iter_messages()]


def on_disk(path) -> int:
    """The number of messages and events that can be read now, while the recorder may be writing."""
    log = Log(path)
    return sum(map(len, log.topics.values())) + len(log.events)


def record_ticks(path, ticks: int) -> None:
    """Records a log of five chunks or more."""
    with Recorder(path, RUN, lossless=True, flush_s=FLUSH_S) as recorder:
        topic = recorder.topic("/board/readings", FIELDS)
        for tick in range(ticks):
            topic.write(tick * 10_000_000, [0.01 * tick, math.sin(tick), tick, -tick])
            if tick % (ticks // 4) == 0:
                wait_for(lambda written=tick + 1: on_disk(path) == written)
        recorder.event(ticks * 10_000_000, "failsafe", trigger="leak", depth_m=1.5)


def without(source, path, gone: Callable[[str, int], bool], **about: str | None) -> None:
    """Copies a log without the messages that are `gone`, by topic and time, as a stalled disk loses them.

    A topic without messages is left out. `about` changes the facts of the run; None removes one.
    """
    with open(source, "rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        kept = [
            message
            for _, channel, message in reader.iter_messages()
            if not gone(channel.topic, message.log_time)
        ]
    left = {message.channel_id for message in kept}
    channels = [channel for channel in summary.channels.values() if channel.id in left]
    started = {key: value for key, value in (Log(source).run | about).items() if value is not None}
    copy = McapFile(path, started)
    copy.append([packed(record) for record in (*summary.schemas.values(), *channels, *kept)])
    copy.finish()
    copy.close()
