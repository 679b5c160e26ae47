"""Keys of a TOML file are changed, and nothing else of it: not a comment, not a space, not its owner's rights."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caudal.onboard import vehicles
from caudal.tools.common.options import leaves
from caudal.tools.common.output import UsageError
from caudal.tools.common.toml_edit import changed, set_keys
from tests.conftest import on_a_pi

LAID_OUT = """\
# a vehicle
name = "a"   # its name

[pi.pulses]
frequency_hz = 333      # digital servos

# which chips there are
[pi.chip]
imu = { kind = "bno055" }   # the blue one

[actuator]
one = { map = "servo", port = 0 }   # ahead
two = {map = "servo", port = 1, trim_us = 4}
[actuator.three]
port = 2
trim_us   =   5  # by eye
# the end
"""


def test_values_change_where_they_stand_and_new_ones_stand_with_their_table():
    values = {
        "pi.pulses.clock_hz": 26_300_000,
        "actuator.one.trim_us": -7,
        "actuator.two.trim_us": 8,
        "actuator.three.trim_us": 9,
        "actuator.three.direction": -1,
    }
    assert changed(LAID_OUT, values, "file") == (
        LAID_OUT.replace("servos\n", "servos\nclock_hz = 26300000\n")
        .replace("port = 0 }", "port = 0, trim_us = -7 }")
        .replace("trim_us = 4}", "trim_us = 8}")
        .replace("trim_us   =   5  # by eye\n", "trim_us   =   9  # by eye\ndirection = -1\n")
    )


@pytest.mark.parametrize("vehicle", [name for name in vehicles.names() if on_a_pi(name)])
def test_every_vehicle_of_the_project_on_a_pi_can_be_calibrated_line_by_line(vehicle):
    text = Path(vehicles.find(vehicle)).read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    name = next(iter(tables["actuator"]))
    values = {"pi.pulses.clock_hz": 26_300_000, f"actuator.{name}.low_us": 1001}
    old, new = text.splitlines(), changed(text, values, vehicle).splitlines()
    assert len(new) == len(old) + 1
    assert new.pop(next(k for k, line in enumerate(new) if line == "clock_hz = 26300000"))
    assert sum(a != b for a, b in zip(old, new, strict=True)) == 1


@given(
    st.dictionaries(
        st.sampled_from(
            ["pi.pulses.clock_hz", "pi.new.a", "actuator.one.x", "actuator.four.y", "b.c.d", "name"]
        ),
        st.one_of(
            st.integers(-(2**40), 2**40),
            st.floats(allow_nan=False, width=32),
            st.text(max_size=5),
            st.booleans(),
        ),
    )
)
def test_whatever_is_set_reads_back_and_all_else_as_before(values):
    after = dict(leaves(tomllib.loads(changed(LAID_OUT, values, "file"))))
    assert after == {**dict(leaves(tomllib.loads(LAID_OUT))), **values}


def test_a_new_file_begins_with_its_head(tmp_path):
    path = tmp_path / "folder" / "new.toml"
    set_keys(path, {"pi.pulses.clock_hz": 1, "actuator.one.trim_us": 2}, "# head\n\n")
    assert path.read_text() == "# head\n\n[pi.pulses]\nclock_hz = 1\n\n[actuator.one]\ntrim_us = 2\n"
    set_keys(path, {"actuator.one.trim_us": 3}, "# head\n\n")
    assert path.read_text().count("head") == 1 and "trim_us = 3" in path.read_text()


def test_rights_and_links_stay(tmp_path):
    path, link = tmp_path / "real.toml", tmp_path / "link.toml"
    path.write_text(LAID_OUT)
    path.chmod(0o640)
    link.symlink_to(path)
    set_keys(link, {"name": "b"})
    assert link.is_symlink() and path.stat().st_mode & 0o777 == 0o640
    assert tomllib.loads(path.read_text())["name"] == "b"


def test_windows_line_ends_and_a_byte_order_mark_stay(tmp_path):
    path = tmp_path / "file.toml"
    before = ("\ufeff" + LAID_OUT.replace("\n", "\r\n")).encode()
    path.write_bytes(before)
    set_keys(path, {"name": "b"})
    assert path.read_bytes() == before.replace(b'"a"', b'"b"')


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(fails, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "file.toml"
    path.write_text(LAID_OUT)
    monkeypatch.setattr(os, fails, fail)
    with pytest.raises(UsageError, match="No space left on device"):
        set_keys(path, {"name": "b"})
    assert path.read_text() == LAID_OUT and os.listdir(tmp_path) == ["file.toml"]


@pytest.mark.parametrize(
    ("text", "says"),
    [("a = \n", "not valid TOML"), ("name = 3\n", "name is not a table"), ("\xff", "not valid TOML")],
)
def test_a_file_that_cannot_take_a_key_is_left_as_it_is(text, says, tmp_path):
    path = tmp_path / "file.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=says):
        set_keys(path, {"name.first": 1})
    assert path.read_text() == text


def test_a_change_that_tomlkit_gets_wrong_is_not_written(tmp_path, monkeypatch):
    import tomlkit

    path = tmp_path / "file.toml"
    path.write_text(LAID_OUT)
    monkeypatch.setattr(tomlkit, "dumps", lambda document: LAID_OUT.replace("333", "50"))
    with pytest.raises(UsageError, match="set by hand: name = "):
        set_keys(path, {"name": "b"})
    assert path.read_text() == LAID_OUT
