"""Stored parameters return; a broken file, disk or folder gives one sentence, and nothing else is lost."""

import json
import os
import socket
import stat
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from caudal.onboard.params.store import ParamStore, ParamWriter, StoreError
from caudal.onboard.params.update import checked
from tests.conftest import ROOT
from tests.params.tuned import loop_of, send, settings_of

PARAMS = settings_of("fish").params
ABOUT = {param.name: param for param in PARAMS}


def a_store(path):
    return ParamStore(path, "fish", PARAMS)


@st.composite
def sets(draw):
    names = draw(st.lists(st.sampled_from(sorted(ABOUT)), unique=True))
    return {name: draw(st.floats(ABOUT[name].low, ABOUT[name].high)) for name in names}


@given(sets())
def test_stored_values_come_back_to_the_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("store") / "fish.params"
    a_store(path).save(values)
    store = a_store(path)
    assert store.load() == values and store.notes == []
    assert os.listdir(path.parent) == ["fish.params"]


@given(
    st.sampled_from([*sorted(ABOUT), "NONE", ""]),
    st.one_of(st.floats(), st.integers(), st.text(), st.none(), st.booleans(), st.lists(st.floats())),
)
def test_a_set_is_taken_within_its_range_and_nowhere_else(name, value):
    loop = LOOP
    before = {name: loop.handler.params.value(name) for name in loop.handler.params.names}
    refusal = loop.handler.params.set(name, value, False)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = name in ABOUT and number and ABOUT[name].low <= value <= ABOUT[name].high
    assert (refusal is None) == fits
    if fits:
        assert loop.handler.params.value(name) == value
        assert loop.handler.params.set(name, before[name], False) is None
    assert {name: loop.handler.params.value(name) for name in loop.handler.params.names} == before


LOOP = loop_of(settings_of("fish"))
LOOP.tick()


def test_whole_numbers_stay_whole():
    about = {"ROWS": replace(ABOUT["BEAT_MAX"], name="ROWS", kind="int", low=4, high=64)}
    assert checked(about, "ROWS", 36.0) == (36, None) and isinstance(checked(about, "ROWS", 36.0)[0], int)
    assert "whole number" in checked(about, "ROWS", 36.5)[1]


def test_a_file_that_is_cut_or_changed_anywhere_is_reported_and_never_taken(tmp_path):
    path = tmp_path / "fish.params"
    a_store(path).save({"BEAT_MAX": 2.5, "DIVE_P": 3.0})
    whole = path.read_bytes()
    for at in range(len(whole) - 2):  # the last two are } and a line's end
        for broken in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x11]) + whole[at + 1 :]):
            path.write_bytes(broken)
            store = a_store(path)
            values = store.load()
            if values:
                assert values == {"BEAT_MAX": 2.5, "DIVE_P": 3.0}, (
                    broken
                )  # white space, or 0 for a zero's dot
            else:
                assert len(store.notes) == 1 and str(path) in store.notes[0], broken
    for junk in (
        b"",
        b"\0" * 100,
        b"[]",
        b"{}",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"caudal_params": "x"}',
    ):
        path.write_bytes(junk)
        store = a_store(path)
        assert store.load() == {} and "is broken" in store.notes[0] and "defaults are used" in store.notes[0]
    store.save({"DIVE_P": 1.0})
    assert (
        a_store(path).load() == {"DIVE_P": 1.0} and path.with_name("fish.params.broken").read_bytes() == junk
    )


@pytest.mark.parametrize(
    "newer",
    [
        {"vehicle": "fish", "crc32": "?", "values": {"BEAT_MAX": "2.5"}},
        {"vehicle": "fish", "groups": {}},
        {"fleet": ["fish", "eel"], "values": []},
        {},
    ],
)
def test_a_file_of_a_newer_version_is_reported_and_not_written_over_whatever_it_holds(tmp_path, newer):
    path = tmp_path / "fish.params"
    path.write_text(json.dumps({"caudal_params": 2, **newer}))
    before = path.read_bytes()
    store = a_store(path)
    assert store.load() == {}
    assert len(store.notes) == 1 and "newer caudal (version 2, here 1)" in store.notes[0]
    with pytest.raises(StoreError, match="of version 2"):
        store.save({"BEAT_MAX": 2.5})
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["fish.params"]


def test_a_file_of_another_vehicle_is_reported_and_not_written_over(tmp_path):
    path = tmp_path / "some.params"
    ParamStore(path, "eel", PARAMS).save({"BEAT_MAX": 2.5})
    store = a_store(path)
    assert store.load() == {} and "another vehicle, eel" in store.notes[0]
    with pytest.raises(StoreError, match="another vehicle"):
        store.save({})
    assert ParamStore(path, "eel", PARAMS).load() == {"BEAT_MAX": 2.5}


def test_values_that_the_file_rejects_are_reported_and_unused(tmp_path):
    path = tmp_path / "fish.params"
    more = [*PARAMS, replace(ABOUT["BEAT_MAX"], name="OLD")]
    wider = [replace(param, high=100.0) if param.name == "DIVE_P" else param for param in more]
    ParamStore(path, "fish", wider).save({"BEAT_MAX": 2.5, "DIVE_P": 50.0, "OLD": 3.0})
    store = a_store(path)
    assert store.load() == {"BEAT_MAX": 2.5}
    assert len(store.notes) == 2
    assert any("DIVE_P: 50.0 is out of range; allowed is 0 to 6" in note for note in store.notes)
    assert any("OLD is no parameter of this vehicle any more" in note for note in store.notes)
    store.save({"BEAT_MAX": 2.2})  # does not cost what sleeps
    assert ParamStore(path, "fish", wider).load() == {"BEAT_MAX": 2.2, "DIVE_P": 50.0, "OLD": 3.0}


def test_a_full_disk_is_one_sentence_and_the_old_file_stays(tmp_path):
    path = tmp_path / "fish.params"
    a_store(path).save({"BEAT_MAX": 2.5})
    os.symlink("/dev/full", tmp_path / "fish.params.new")  # the kernel's own: there is never room
    with pytest.raises(StoreError, match="No space left on device") as found:
        a_store(path).save({"BEAT_MAX": 3.0})
    assert str(found.value).count("\n") == 0 and str(path) in str(found.value)
    assert a_store(path).load() == {"BEAT_MAX": 2.5}
    a_store(path).save({"BEAT_MAX": 3.0})  # there is room again
    assert a_store(path).load() == {"BEAT_MAX": 3.0}


def test_a_disk_that_takes_half_a_file_leaves_the_old_one(tmp_path):
    """A limit on the size of files, in a process of its own: the write itself is cut short."""
    path = tmp_path / "fish.params"
    a_store(path).save({"BEAT_MAX": 2.5})
    program = f"""
import resource
from pathlib import Path
from tests.params.test_store import a_store, StoreError
resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))
try:
    a_store(Path({str(path)!r})).save({{"BEAT_MAX": 3.0}})
except StoreError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "File too large" in done.stdout, done.stderr
    assert a_store(path).load() == {"BEAT_MAX": 2.5} and os.listdir(tmp_path) == ["fish.params"]


@pytest.mark.parametrize("path", ["/sys/fish.params", "/sys/folder/fish.params", "/dev/null/fish.params"])
def test_a_folder_that_may_not_be_written_is_one_sentence(path):
    """Of the kernel's own, which not even root may write."""
    from pathlib import Path

    store = a_store(Path(path))
    store.load()
    with pytest.raises(StoreError, match="parameters are not stored"):
        store.save({"BEAT_MAX": 3.0})


def a_pipe(path):
    os.mkfifo(path)


def a_socket(path):
    socket.socket(socket.AF_UNIX).bind(str(path))


@pytest.mark.parametrize("make", [a_pipe, a_socket, os.mkdir])
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_regular_file_is_neither_read_nor_replaced(tmp_path, monkeypatch, make, linked):
    monkeypatch.chdir(tmp_path)  # a socket's path may not be long
    path = tmp_path / "fish.params"
    make("it" if linked else "fish.params")
    if linked:
        path.symlink_to("it")
    before = {name: os.lstat(name) for name in os.listdir()}
    store = a_store(path)
    assert store.load() == {}
    assert (
        len(store.notes) == 1 and "regular file" in store.notes[0] and "defaults are used" in store.notes[0]
    )
    for again in (store, a_store(path)):  # with what it was found to be, and without having looked
        with pytest.raises(StoreError, match="they need a regular file"):
            again.save({"BEAT_MAX": 2.5})
    after = {name: os.lstat(name) for name in os.listdir()}
    assert {n: (s.st_ino, s.st_mode) for n, s in after.items()} == {
        n: (s.st_ino, s.st_mode) for n, s in before.items()
    }


def test_what_becomes_a_pipe_while_it_swims_is_not_replaced(tmp_path):
    path = tmp_path / "fish.params"
    a_store(path).save({"BEAT_MAX": 2.5})
    store = a_store(path)
    assert store.load() == {"BEAT_MAX": 2.5}
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(StoreError, match="a pipe"):
        store.save({"BEAT_MAX": 3.0})
    assert stat.S_ISFIFO(os.stat(path).st_mode) and os.listdir(tmp_path) == ["fish.params"]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link_and_the_file_behind_it_is_unchanged(tmp_path, there):
    kept, link = tmp_path / "kept" / "real.params", tmp_path / "fish.params"
    if there:
        a_store(kept).save({"BEAT_MAX": 2.5})
    link.symlink_to("kept/real.params")
    a_store(link).save({"BEAT_MAX": 3.0})
    assert link.is_symlink() and a_store(kept).load() == a_store(link).load() == {"BEAT_MAX": 3.0}
    assert os.listdir(kept.parent) == ["real.params"]
    kept.write_text("{")
    store = a_store(link)
    assert store.load() == {} and "moves it to real.params.broken" in store.notes[0]
    store.save({"BEAT_MAX": 2.0})
    assert link.is_symlink() and sorted(os.listdir(kept.parent)) == ["real.params", "real.params.broken"]


def test_store_has_the_last_of_all_sets_and_reports_when_it_cannot_write(tmp_path):
    path = tmp_path / "folder" / "fish.params"
    loop = loop_of(settings_of("fish"))
    keeper = ParamWriter(a_store(path))
    for value in (2.1, 2.2, 2.3):
        assert send(loop, "set", "BEAT_MAX", value) is None
        keeper.update(loop)
    assert send(loop, "set", "BEAT_MAX", 99.0) is not None
    keeper.update(loop)
    keeper.close()
    assert a_store(path).load() == {"BEAT_MAX": 2.3} and not keeper.failing and keeper.news() == []
    os.symlink("/dev/full", path.with_name("fish.params.new"))
    keeper = ParamWriter(a_store(path))
    assert send(loop, "set", "DIVE_P", 1.0) is None
    keeper.update(loop)
    keeper.close()
    assert keeper.failing and len(keeper.news()) == 1 and keeper.news() == []
    assert a_store(path).load() == {"BEAT_MAX": 2.3}


def test_default_is_not_stored(tmp_path):
    loop = loop_of(settings_of("fish"))
    keeper = ParamWriter(a_store(tmp_path / "fish.params"))
    for value in (2.5, 3.0):  # and back
        assert send(loop, "set", "BEAT_MAX", value) is None
        keeper.update(loop)
    keeper.close()
    assert json.loads((tmp_path / "fish.params").read_text())["values"] == {}


def test_a_vehicle_killed_at_any_instant_leaves_the_old_or_the_new_value():
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "params" / "kills.py"), "40"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "'kills': 40" in done.stdout
