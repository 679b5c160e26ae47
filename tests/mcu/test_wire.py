"""Frames of the HIL link on MicroPython: the same bytes as CPython's, and no heap."""

import subprocess
import sys

from tests.conftest import ROOT
from tests.waiting import LIMIT_S


def frames(runtime: str, *words: str) -> str:
    done = subprocess.run(
        [runtime, "tests/mcu/frames.py", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_micropython_and_cpython_send_the_same_bytes(micropython):
    line = frames(micropython, "bytes", "3000")
    print(line)
    assert line == frames(sys.executable, "bytes", "3000")
    assert line.endswith("good 3000 bad 3000 wrong 0")  # one stretch of noise before each frame


def test_packing_encoding_decoding_and_unpacking_sixteen_channels_allocate_nothing(micropython):
    lines = (line.split() for line in frames(micropython, "heap").splitlines())
    taken = {part: float(count) for part, count in lines}
    print(f"bytes a frame: {taken}")
    for part in ("pack", "encode", "decode", "unpack", "exchange"):
        assert taken[part] == 0, f"{part} allocates {taken[part]} bytes a frame"
    assert taken["box"] > 0  # the measurement does see an allocation
