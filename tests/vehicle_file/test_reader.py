"""The reader of vehicle files: typed tables, or one sentence that says what to change."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from caudal.hal.vehicle_file.reader import DEEPEST, LARGEST_BYTES, VehicleFile, VehicleFileError
from tests.vehicle_file.tables import (
    SOUND,
    Actuators,
    Battery,
    Burst,
    Gait,
    Link,
    Plant,
    Servo,
    Table,
    Valve,
    in_gait,
    in_servo,
    not_opened,
    sentence,
    sound,
)
from tests.waiting import LIMIT_S


def test_sound_file_reads_into_its_structs_with_defaults_filled_in():
    file = sound()
    gait = file.read("gait", Gait)
    assert gait == Gait(frequency_hz=2.0, amplitude_rad={"tail_1": 0.2})
    assert isinstance(gait.frequency_hz, float)
    assert file.read("actuator", Actuators) == {"tail_1": Servo(centre_us=1500.0)}
    links = [Link(length_m=0.2), Link(length_m=0.3, mount_m=[0.1, 0.0, 0.0])]
    assert file.read("plant", Plant) == Plant(link=links)
    assert file.read("plant.link.1", Link) == links[1]
    assert file.text == SOUND and file.label == "fish.toml" and file.overrides == []


def test_table_that_is_not_there_reads_as_empty_only_if_it_may_be_empty():
    file = sound()
    assert file.read("battery", Battery) == Battery()
    assert file.read("sensor", Actuators) == {}
    assert file.read("scenario.pool.things", list[Link]) == []
    assert sentence("[x]", "plant", Plant) == "fish.toml has no plant, which is required (a table with link)."
    assert sentence("[gait]", "gait.burst", Burst) == (
        "fish.toml: gait has no burst, which is required (a table with length_s)."
    )
    assert sentence("[x]", "scenario.pool.world", Plant) == (
        "fish.toml has no scenario, which is required (a table)."
    )
    assert sentence("scenario = 3", "scenario.pool.world", Plant) == (
        "fish.toml: scenario is 3; allowed is a table with pool."
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("centre_us = 15000", "actuator.tail_1.centre_us is 15000; allowed is 500 to 2500 us."),
        ("", "actuator.tail_1 has no centre_us, which is required (a number, 500 to 2500 us)."),
        ("centre_ms = 1.5", "actuator.tail_1.centre_ms: this key takes us, not ms; write centre_us."),
        ("centre = 1500", "actuator.tail_1.centre is not a key of actuator.tail_1; did you mean centre_us?"),
        ('centre_us = "mid"', 'actuator.tail_1.centre_us is "mid"; allowed is a number, 500 to 2500 us.'),
        ("centre_us = true", "actuator.tail_1.centre_us is true; allowed is a number, 500 to 2500 us."),
        ("centre_us = nan", "actuator.tail_1.centre_us is nan; allowed is a finite number, 500 to 2500 us."),
        (
            "centre_us = -inf",
            "actuator.tail_1.centre_us is -inf; allowed is a finite number, 500 to 2500 us.",
        ),
        ("port = 1.0", "actuator.tail_1.port is 1.0; allowed is a whole number, 0 to 15."),
        ("port = false", "actuator.tail_1.port is false; allowed is a whole number, 0 to 15."),
        ("port = 16", "actuator.tail_1.port is 16; allowed is 0 to 15."),
        ("slew_rad_s = 0.0", "actuator.tail_1.slew_rad_s is 0.0; allowed is more than 0 rad/s."),
        ("slew_rad_s = []", "actuator.tail_1.slew_rad_s is []; allowed is a number, more than 0 rad/s."),
        ("slew_deg_s = 9", "actuator.tail_1.slew_deg_s: this key takes rad/s, not deg/s; write slew_rad_s."),
        (
            "colour = 1",
            "actuator.tail_1.colour is not a key of actuator.tail_1; "
            "its keys are centre_us, port, slew_rad_s.",
        ),
    ],
)
def test_error_names_the_key_what_was_found_and_what_is_allowed(line, expected):
    assert in_servo(line) == f"fish.toml: {expected}"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("frequncy_hz = 2", "gait.frequncy_hz is not a key of gait; did you mean frequency_hz?"),
        ('source = "tabel"', 'gait.source is "tabel"; choose one of table, wave; did you mean table?'),
        ("source = 1", "gait.source is 1; choose one of table, wave."),
        ('ceiling_m = "of"', 'gait.ceiling_m is "of"; allowed is a number in m or off; did you mean off?'),
        ("ceiling_m = true", "gait.ceiling_m is true; allowed is a number in m or off."),
        ("amplitude_rad = {a = 1, b = -1}", "gait.amplitude_rad.b is -1; allowed is at least 0 rad."),
        (
            'amplitude_rad = {"Tail 1" = 1}',
            'gait.amplitude_rad."Tail 1": the name is "Tail 1"; allowed is text that matches ^[a-z_0-9]+$.',
        ),
        ("lead-in = 1", "gait.lead-in is 1; allowed is true or false."),
        ("lead = true", "gait.lead is not a key of gait; did you mean lead-in?"),
        ('label = ""', 'gait.label is ""; allowed is text of 1 to 12 characters.'),
        ("label = 2020-01-01", "gait.label is 2020-01-01; allowed is text of 1 to 12 characters."),
        ("burst = {}", "gait.burst has no length_s, which is required (a number, more than 0 s)."),
        ("burst = [1, 2]", "gait.burst is [1, 2]; allowed is a table with length_s."),
        ('"x y" = {}', 'gait."x y" is not a key of gait; its keys are frequency_hz, source, ceiling_m, '
         "amplitude_rad, lead-in, label, burst."),
    ],
)  # fmt: skip
def test_choices_names_texts_and_inner_tables_are_checked_by_the_schema(line, expected):
    assert in_gait(line) == f"fish.toml: {expected}"


def test_tag_of_a_table_chooses_its_keys():
    def actuator(line: str) -> str:
        return sentence(f"[actuator.a]\n{line}", "actuator", Actuators).removeprefix("fish.toml: actuator.a")

    choices = "servo, thruster, valve"
    assert actuator('map = "sevo"') == f'.map is "sevo"; choose one of {choices}; did you mean servo?'
    assert actuator("map = 1") == f".map is 1; choose one of {choices}."
    assert actuator("port = 1") == f" has no map, which is required (one of {choices})."
    assert actuator('port = 1\nmap = "valve"') == ".port is not a key of actuator.a; its keys are step_ua."
    assert (
        actuator('map = "valve"\nstep_ua = 70')
        == ".step_ua is 70; allowed is at least 0, a multiple of 50 uA."
    )
    assert (
        actuator('map = "thruster"\nmost_n = 100')
        == ".most_n is 100; allowed is more than 0 and less than 100 N."
    )
    thruster = 'map = "thruster"\nmost_n = 10\ncurve = '
    assert (
        actuator(thruster + "[[1, 2], [3]]") == ".curve.1 is [3]; allowed is a list of 2: a number, a number."
    )
    assert actuator(thruster + "[[1, 2], [3, '4']]") == '.curve.1.1 is "4"; allowed is a number.'
    assert sentence("actuator = {a = 3}", "actuator", Actuators) == (
        "fish.toml: actuator.a is 3; allowed is a table with map = servo or thruster or valve."
    )


def test_entries_of_a_list_of_tables_are_counted_from_0():
    text = "[[plant.link]]\nlength_m = 1\n[[plant.link]]\nlength_m = 1\nmount_m = "
    assert sentence(text + "[1, 2]", "plant", Plant) == (
        "fish.toml: plant.link.1.mount_m is [1, 2]; allowed is a list of 3 entries, each a number in m."
    )
    assert sentence(text + "[1, 2, {}]", "plant", Plant) == (
        "fish.toml: plant.link.1.mount_m.2 is a table; allowed is a number in m."
    )
    assert sentence("[plant]\nlink = []", "plant", Plant) == (
        "fish.toml: plant.link is []; allowed is a list of 1 or more entries, each a table with length_m."
    )
    assert sentence("[plant.link]\nlength_m = 1", "plant", Plant) == (
        "fish.toml: plant.link is a table; "
        "allowed is a list of 1 or more entries, each a table with length_m."
    )


def test_first_problem_in_the_file_is_the_one_reported():
    both = ["frequency_hz = 90", 'source = "tabel"']
    assert "frequency_hz" in sentence("[gait]\n" + "\n".join(both), "gait", Gait)
    assert "gait.source" in sentence("[gait]\n" + "\n".join(reversed(both)), "gait", Gait)


def test_required_key_is_described_by_its_note():
    assert sentence("[gait]", "gait", Gait) == (
        "fish.toml: gait has no frequency_hz, which is required "
        "(a number, more than 0 and at most 10 Hz: tail beats a second)."
    )


def test_note_on_a_member_of_a_union_is_printed():
    class Tether(Table):
        reel: Annotated[Valve, Meta(description="the valve of the reel")]
        length_m: Annotated[float, Meta(gt=0, description="paid out")] | None

    assert sentence("tether.reel = {}", "tether", Tether) == (
        "fish.toml: tether has no length_m, which is required (a number, more than 0 m: paid out)."
    )
    assert sentence('tether.reel = {map = "servo"}', "tether", Tether) == (
        'fish.toml: tether.reel.map is "servo"; allowed is valve.'
    )
    assert sentence("tether.reel = 1", "tether", Tether) == (
        "fish.toml: tether.reel is 1; allowed is a table with map = valve: the valve of the reel."
    )


def test_unit_is_printed_only_if_the_key_has_one():
    def allowed(key: str) -> str:
        kind = msgspec.defstruct("Kind", [(key, Annotated[float, Meta(ge=0)])])
        return sentence(f"x.{key} = -1", "x", kind).partition("allowed is at least 0")[2]

    assert allowed("thrust_n_per_m") == " N/m."
    assert allowed("speed_m_s") == " m/s."
    assert allowed("damping_n_m_s_rad") == "."  # a unit that the table does not know is not cut to radians
    assert allowed("depth_min") == "."
    assert allowed("s") == "."


def test_rule_between_keys_of_one_table_is_reported_at_that_table():
    text = "[pack.main]\nfull_v = 5"
    expected = "fish.toml: pack.main: full_v is 5 V, which is not above empty_v."
    assert sentence(text, "pack", dict[str, Battery]) == expected


def test_package_reports_its_own_checks_in_the_same_form():
    problem = sound("actuator.tail_1.port=3").error("actuator.tail_1.port", "3 is taken by tail_2")
    assert str(problem) == "fish.toml: actuator.tail_1.port (from --set): 3 is taken by tail_2."
    assert (
        str(sound().error("actuator.tail_2.port", "3 is taken"))
        == "fish.toml: actuator.tail_2.port: 3 is taken."
    )


def test_unknown_table_is_refused_with_the_nearest_name():
    sound().expect_tables(["gait", "actuator", "plant", "loop"])
    with pytest.raises(VehicleFileError) as caught:
        sound().expect_tables(["gate", "actuator", "plant"])
    assert str(caught.value) == "fish.toml: gait is not a table of a vehicle file; did you mean gate?"
    with pytest.raises(VehicleFileError) as caught:
        sound("colour=red").expect_tables(["gait", "actuator", "plant"])
    assert str(caught.value) == (
        "fish.toml: colour (from --set) is not a key of a vehicle file; known are gait, actuator, plant."
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[gait]\nsource = table\n",
            "line 2, column 10: a value is missing or is not TOML; text needs quotes",
        ),
        ("[gait]\na = 1\na = 2\n", "line 3, column 6: a is given twice; keep one."),
        (
            "[gait]\n[loop]\n[gait]\n",
            "line 3, column 6: the table [gait] is declared twice or was closed above",
        ),
        ("a = {b = 1, b = 2}", "line 1, column 18: a key is given twice in one { }; keep one."),
        (
            'a = "cut',
            "line 1, column 9: a string is not closed; end it with its quote; the file ends here: was it",
        ),
        ('a = "cut\nb = 1\n', "line 1, column 9: a string is not closed on its line; end it with its quote."),
        ("a = 1\nb = [1,\n", "line 3, column 1: a value is missing or is not TOML; "),
        (
            "b = [1, 2",
            "line 1, column 10: a list is not closed, or a comma is missing in it; end it with ]; the file",
        ),
        ("b = {c = 1", "line 1, column 11: an inline table is not closed"),
        ("[gait\n", "line 1, column 6: the name of a table is not closed; write [name]"),
        (
            "a = 1,5\n",
            "line 1, column 6: there is more text after the value; one key = value a line, 1.5 not 1,5.",
        ),
        ("a\n", "line 1, column 2: a key needs = and a value after it"),
        ("= 1\n", "line 1, column 1: this is neither key = value nor [table]."),
        ('a = "C:\\q"\n', "line 1, column 10: a single backslash in a string; write it twice."),
        ("a = 2020-02-30", "line 1, column 5: invalid date or datetime."),
        ("a = " + "1" * 5000, "a number has thousands of digits; a whole number has at most 19."),
        ("a.b = 0x" + "f" * 5000, "a.b is a whole number of more than 64 bits; allowed is up to 2^63 - 1."),
        (".".join("a" * 2000) + " = 1", f"a.a is nested more than {DEEPEST} levels deep; make it flatter."),
    ],
)
def test_text_that_is_not_toml_is_reported_with_its_position(text, expected):
    with pytest.raises(VehicleFileError) as caught:
        VehicleFile.parse(text, "fish.toml")
    assert str(caught.value).startswith(f"fish.toml: {expected}")


def test_brackets_without_end_are_an_error_and_not_a_crash():
    with pytest.raises(VehicleFileError, match="nested too deeply"):
        VehicleFile.parse("a = " + "[" * 100_000, "fish.toml")


@pytest.mark.parametrize("cut", range(1, len(SOUND), 7))
def test_truncated_file_opens_or_reports_its_end(cut):
    try:
        VehicleFile.parse(SOUND[:cut], "fish.toml")
    except VehicleFileError as problem:
        lines = SOUND[:cut].split("\n")
        assert f"line {len(lines)}, " in str(problem) or "is empty" in str(problem)


def test_file_without_a_table_is_called_empty(tmp_path):
    for text in ("", " \n\n", "# only a comment\n"):
        (tmp_path / "x.toml").write_text(text)
        assert not_opened(tmp_path / "x.toml") == " is empty; copy a vehicle file that works and change that."


def test_file_that_cannot_be_opened_is_reported_with_a_hint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eel.toml").write_text(SOUND)
    assert not_opened("eel.tml") == " does not exist; did you mean eel.toml?"
    assert not_opened("eel") == " does not exist; did you mean eel.toml?"
    assert not_opened(tmp_path / "heel.toml") == f" does not exist; did you mean {tmp_path / 'eel.toml'}?"
    assert not_opened("submarine") == " does not exist; its folder has eel.toml."
    assert not_opened("nowhere/eel.toml") == " does not exist; neither does its folder nowhere."
    assert not_opened(tmp_path) == " is a folder; give a vehicle file in it."
    assert not_opened("eel.toml/x") == " cannot be read (Not a directory); check the path."
    assert not_opened("e\0l.toml") == " cannot be read (embedded null byte); check the path."
    (tmp_path / "latin.toml").write_bytes(b"# gr\xfc\xdfe\n")
    assert not_opened("latin.toml") == " is not UTF-8 text (byte 0xfc at offset 4); save it as UTF-8."
    (tmp_path / "video.toml").write_bytes(b"#" * (LARGEST_BYTES + 1))
    assert not_opened("video.toml").startswith(" cannot be read (larger than 4 MiB")


def test_file_without_read_permission_is_reported(tmp_path):
    path = tmp_path / "secret.toml"
    path.write_text(SOUND)
    path.chmod(0)
    # Root may read everything, so the reader is run by user 65534.
    program = (
        "import os, sys\n"
        "from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: VehicleFile.open(sys.argv[1])\n"
        "except VehicleFileError as problem: print(problem)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=LIMIT_S,
    )
    assert done.stderr == ""
    expected = f"{path} may not be read by this user; check the permissions of the file and its folder."
    assert done.stdout.strip() == expected


def test_file_keeps_its_exact_text_with_byte_order_mark_and_line_ends(tmp_path):
    content = ("\ufeff" + SOUND.replace("\n", "\r\n")).encode()
    (tmp_path / "windows.toml").write_bytes(content)
    file = VehicleFile.open(tmp_path / "windows.toml")
    assert file.text.encode() == content
    assert file.label == os.fspath(tmp_path / "windows.toml")
    assert file.digest() == sound().digest()
