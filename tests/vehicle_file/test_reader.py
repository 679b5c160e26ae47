"""What the reader of vehicle files promises: typed tables, or one sentence that says what to change."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from hal.vehicle_file import DEEPEST, LARGEST_BYTES, VehicleFile, VehicleFileError


class Table(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What all tables of this test have in common."""


class Servo(Table, tag_field="map", tag="servo"):
    """A hobby servo."""

    centre_us: Annotated[float, Meta(ge=500, le=2500)]
    port: Annotated[int, Meta(ge=0, le=15)] = 0
    slew_rad_s: Annotated[float, Meta(gt=0)] | None = None


class Thruster(Table, tag_field="map", tag="thruster"):
    most_n: Annotated[float, Meta(gt=0, lt=100)]
    curve: list[tuple[float, float]] = msgspec.field(default_factory=list)


class Valve(Table, tag_field="map", tag="valve"):
    step_ua: Annotated[int, Meta(ge=0, multiple_of=50)] = 100


class Burst(Table):
    length_s: Annotated[float, Meta(gt=0)]


class Gait(Table):
    frequency_hz: Annotated[float, Meta(gt=0, le=10, description="tail beats a second")]
    source: Literal["wave", "table"] = "wave"
    ceiling_m: float | Literal["off"] = "off"
    amplitude_rad: dict[Annotated[str, Meta(pattern="^[a-z_0-9]+$")], Annotated[float, Meta(ge=0)]] = {}
    lead: bool = msgspec.field(default=False, name="lead-in")
    label: Annotated[str, Meta(min_length=1, max_length=12)] = "swim"
    burst: Burst | None = None


class Link(Table):
    length_m: Annotated[float, Meta(gt=0)]
    mount_m: Annotated[list[float], Meta(min_length=3, max_length=3)] = msgspec.field(
        default_factory=lambda: [0.0, 0.0, 0.0]
    )


class Plant(Table):
    link: Annotated[list[Link], Meta(min_length=1)]


class Battery(Table):
    empty_v: float = 9.0
    full_v: float = 12.6

    def __post_init__(self) -> None:
        if self.full_v <= self.empty_v:
            raise ValueError(f"full_v is {self.full_v:g} V, which is not above empty_v")


Actuators = dict[str, Servo | Thruster | Valve]

SOUND = """\
# A small vehicle.
[gait]
frequency_hz = 2
amplitude_rad = { tail_1 = 0.2 }

[actuator.tail_1]
map = "servo"
centre_us = 1500

[[plant.link]]
length_m = 0.2
[[plant.link]]
length_m = 0.3
mount_m = [0.1, 0, 0]
"""


def sound(*overrides: str) -> VehicleFile:
    return VehicleFile.parse(SOUND, "fish.toml", overrides)


def sentence(text: str, key: str, kind: Any, *overrides: str) -> str:
    with pytest.raises(VehicleFileError) as caught:
        VehicleFile.parse(text, "fish.toml", overrides).read(key, kind)
    return str(caught.value)


def in_gait(line: str) -> str:
    return sentence(f"[gait]\nfrequency_hz = 2\n{line}\n", "gait", Gait)


def in_servo(line: str) -> str:
    return sentence(f'[actuator.tail_1]\nmap = "servo"\n{line}\n', "actuator", Actuators)


def not_opened(path: str | Path) -> str:
    with pytest.raises(VehicleFileError) as caught:
        VehicleFile.open(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def test_a_sound_file_reads_into_its_structs_with_defaults_filled_in():
    file = sound()
    gait = file.read("gait", Gait)
    assert gait == Gait(frequency_hz=2.0, amplitude_rad={"tail_1": 0.2})
    assert isinstance(gait.frequency_hz, float)
    assert file.read("actuator", Actuators) == {"tail_1": Servo(centre_us=1500.0)}
    links = [Link(length_m=0.2), Link(length_m=0.3, mount_m=[0.1, 0.0, 0.0])]
    assert file.read("plant", Plant) == Plant(link=links)
    assert file.read("plant.link.1", Link) == links[1]
    assert file.text == SOUND and file.label == "fish.toml" and file.overrides == []


def test_a_table_that_is_not_there_reads_as_empty_only_if_it_may_be_empty():
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
def test_an_error_names_the_key_what_was_found_and_what_is_allowed(line, expected):
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
def test_choices_names_texts_and_inner_tables_are_held_against_the_schema(line, expected):
    assert in_gait(line) == f"fish.toml: {expected}"


def test_the_tag_of_a_table_chooses_its_keys():
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


def test_the_first_problem_in_the_file_is_the_one_reported():
    both = ["frequency_hz = 90", 'source = "tabel"']
    assert "frequency_hz" in sentence("[gait]\n" + "\n".join(both), "gait", Gait)
    assert "gait.source" in sentence("[gait]\n" + "\n".join(reversed(both)), "gait", Gait)


def test_a_required_key_is_described_by_its_note():
    assert sentence("[gait]", "gait", Gait) == (
        "fish.toml: gait has no frequency_hz, which is required "
        "(a number, more than 0 and at most 10 Hz: tail beats a second)."
    )


def test_a_note_on_a_member_of_a_union_is_kept():
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


def test_a_unit_is_claimed_only_where_the_key_states_one():
    def allowed(key: str) -> str:
        kind = msgspec.defstruct("Kind", [(key, Annotated[float, Meta(ge=0)])])
        return sentence(f"x.{key} = -1", "x", kind).partition("allowed is at least 0")[2]

    assert allowed("thrust_n_per_m") == " N/m."
    assert allowed("speed_m_s") == " m/s."
    assert allowed("damping_n_m_s_rad") == "."  # a unit that the table does not know is not cut to radians
    assert allowed("depth_min") == "."
    assert allowed("s") == "."


def test_a_rule_between_keys_of_one_table_is_reported_at_that_table():
    text = "[pack.main]\nfull_v = 5"
    expected = "fish.toml: pack.main: full_v is 5 V, which is not above empty_v."
    assert sentence(text, "pack", dict[str, Battery]) == expected


def test_a_package_reports_its_own_cross_checks_in_the_same_form():
    problem = sound("actuator.tail_1.port=3").error("actuator.tail_1.port", "3 is taken by tail_2")
    assert str(problem) == "fish.toml: actuator.tail_1.port (from --set): 3 is taken by tail_2."
    assert (
        str(sound().error("actuator.tail_2.port", "3 is taken"))
        == "fish.toml: actuator.tail_2.port: 3 is taken."
    )


def test_a_table_that_belongs_to_nobody_is_refused_with_the_nearest_name():
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
            "line 2, column 10: a value is missing or is not TOML; text stands in quotes",
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
def test_text_that_is_not_toml_is_reported_with_its_place_in_plain_words(text, expected):
    with pytest.raises(VehicleFileError) as caught:
        VehicleFile.parse(text, "fish.toml")
    assert str(caught.value).startswith(f"fish.toml: {expected}")


def test_brackets_without_end_are_an_error_and_not_a_crash():
    with pytest.raises(VehicleFileError, match="nested too deeply"):
        VehicleFile.parse("a = " + "[" * 100_000, "fish.toml")


@pytest.mark.parametrize("cut", range(1, len(SOUND), 7))
def test_a_file_cut_off_anywhere_opens_or_says_where_it_ends(cut):
    try:
        VehicleFile.parse(SOUND[:cut], "fish.toml")
    except VehicleFileError as problem:
        lines = SOUND[:cut].split("\n")
        assert f"line {len(lines)}, " in str(problem) or "is empty" in str(problem)


def test_a_file_without_a_table_is_called_empty(tmp_path):
    for text in ("", " \n\n", "# only a comment\n"):
        (tmp_path / "x.toml").write_text(text)
        assert not_opened(tmp_path / "x.toml") == " is empty; copy a vehicle file that works and change that."


def test_a_file_that_cannot_be_opened_says_why_and_what_to_do(tmp_path, monkeypatch):
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


def test_a_file_that_this_user_may_not_read_says_so(tmp_path):
    path = tmp_path / "secret.toml"
    path.write_text(SOUND)
    path.chmod(0)
    # Root may read everything, so the reader is run by nobody (65534).
    program = (
        "import os, sys\n"
        "from hal.vehicle_file import VehicleFile, VehicleFileError\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: VehicleFile.open(sys.argv[1])\n"
        "except VehicleFileError as problem: print(problem)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )
    assert done.stderr == ""
    expected = f"{path} may not be read by this user; check the permissions of the file and its folder."
    assert done.stdout.strip() == expected


def test_a_file_keeps_its_exact_text_with_byte_order_mark_and_line_ends(tmp_path):
    content = ("\ufeff" + SOUND.replace("\n", "\r\n")).encode()
    (tmp_path / "windows.toml").write_bytes(content)
    file = VehicleFile.open(tmp_path / "windows.toml")
    assert file.text.encode() == content
    assert file.label == os.fspath(tmp_path / "windows.toml")
    assert file.digest() == sound().digest()


def test_an_override_changes_a_key_in_tables_and_in_lists():
    file = sound(
        "gait.frequency_hz=1.5", "gait.source=table", "plant.link.1.mount_m.2=0.4", "gait.label = a b "
    )
    gait = file.read("gait", Gait)
    assert (gait.frequency_hz, gait.source, gait.label) == (1.5, "table", "a b")
    assert file.read("plant", Plant).link[1].mount_m == [0.1, 0.0, 0.4]
    assert file.text == SOUND
    assert sound("gait.burst={length_s = 2}").read("gait", Gait).burst == Burst(length_s=2.0)
    assert sound("gait.label=1\ngait.x=2").tables["gait"]["label"] == "1\ngait.x=2"


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("gait.frequency_hz", "there is no = in it; write KEY=VALUE."),
        ("=3", "the key is empty or has an empty part; write KEY=VALUE, with dots inside KEY."),
        ("gait..x=3", "the key is empty or has an empty part; write KEY=VALUE, with dots inside KEY."),
        ("gate.frequency_hz=3", "there is no table gate; did you mean gait?"),
        ("actuator.tail1.port=3", "there is no table actuator.tail1; did you mean tail_1?"),
        ("zz.x=3", "there is no table zz; there is gait, actuator, plant."),
        ("plant.link.2.length_m=1", "plant.link has 2 entries, counted from 0; 2 is none of them."),
        ("plant.link.first.length_m=1", "plant.link has 2 entries, counted from 0; first is none of them."),
        ("plant.link.7=1", "plant.link has 2 entries, counted from 0; 7 is none of them."),
        ("gait.frequency_hz.x=1", "gait.frequency_hz is 2, which has no keys."),
        ("gait.frequency_hz.x.y=1", "gait.frequency_hz is 2, which has no keys."),
    ],
)
def test_an_override_that_finds_no_place_says_what_is_there(override, expected):
    with pytest.raises(VehicleFileError) as caught:
        sound(override)
    assert str(caught.value) == f"fish.toml: --set {override}: {expected}"


def test_an_error_at_an_overridden_key_says_that_it_came_from_the_command_line():
    assert sentence(SOUND, "gait", Gait, "gait.frequency_hz=20") == (
        "fish.toml: gait.frequency_hz (from --set) is 20; allowed is more than 0 and at most 10 Hz."
    )
    assert sentence(SOUND, "gait", Gait, "gait.frequncy_hz=2") == (
        "fish.toml: gait.frequncy_hz (from --set) is not a key of gait; did you mean frequency_hz?"
    )
    assert sentence(SOUND, "gait", Gait, "gait.burst={length_s = 0}") == (
        "fish.toml: gait.burst.length_s (from --set) is 0; allowed is more than 0 s."
    )
    assert "--set" not in sentence(SOUND + "x = 1", "plant", Plant, "gait.frequency_hz=1")


def test_the_digest_ignores_layout_comments_and_order_but_no_value():
    base = VehicleFile.parse("[a]\nx = 1\ny = 'z'\n[b]\nd = 2020-01-01\n", "one.toml").digest()
    same = '# another\n[b]\nd = 2020-01-01\n[a]\ny = "z" # why\nx    = 1.0\n'
    assert VehicleFile.parse(same, "two.toml").digest() == base
    assert VehicleFile.parse(same, "two.toml", ["a.x=1"]).digest() == base
    for override in (
        "a.x=1.0000001",
        "a.x=true",
        "a.y=Z",
        "a.y=1",
        "a.z=1",
        "b.d=2020-01-02",
        "b.d='2020-01-01'",
    ):
        assert VehicleFile.parse(same, "two.toml", [override]).digest() != base


# -- What holds for everything ----------------------------------------------------------------------------


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(entry) for entry in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)


# The keys and choices of the Structs above, so that data comes near to being right.
STRUCTS = [Servo, Thruster, Valve, Burst, Gait, Link, Plant, Battery]
WORDS = [key for struct in STRUCTS for key in struct.__struct_encode_fields__]
WORDS += ["map", "servo", "thruster", "valve", "wave", "table", "off", "centre_ms"]
printable = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
words = st.sampled_from(WORDS) | printable
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats() | st.sampled_from([0, 1, 2, 0.5, 1500, 700.0])
values = st.recursive(
    words | numbers | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=5),
    max_leaves=12,
)
KINDS = [
    Gait,
    Servo,
    Actuators,
    Plant,
    Battery,
    list[Link],
    dict[str, Battery],
    Link | None,
    float,
    dict[str, Any],
    Any,
]


@settings(max_examples=300, deadline=None)
@given(value=values, kind=st.sampled_from(KINDS))
def test_any_data_either_reads_or_is_refused_in_one_sentence_of_our_own(value, kind):
    file = VehicleFile.parse(f"x = {toml(value)}", "v.toml")
    file.digest()
    try:
        file.read("x", kind)
    except VehicleFileError as problem:
        text = str(problem)
        assert text.startswith("v.toml: x") and text[-1] in ".?" and "\n" not in text
        assert "Expected `" not in text  # that would be the words of msgspec


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=60) | st.text("[]{}=\"'#.,\n\\a1-_:T é", max_size=60).map(str.encode))
def test_any_bytes_either_open_or_are_refused_in_one_sentence(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(content)
    try:
        VehicleFile.open(path).read("a", Gait)
    except VehicleFileError as problem:
        assert str(problem).startswith(str(path)) and "\n" not in str(problem)


@settings(max_examples=200, deadline=None)
@given(
    override=st.text(max_size=30)
    | st.builds("{}.{}={}".format, st.sampled_from(["gait", "plant.link.0"]), words, words)
)
def test_any_override_either_applies_or_is_refused_in_one_sentence(override):
    try:
        file = sound(override)
        file.digest()
        file.read("gait", Gait)
    except VehicleFileError as problem:
        assert str(problem).startswith("fish.toml") and "\n" not in str(problem)


@given(value=values)
def test_an_override_sets_exactly_the_value_it_states_and_is_kept_for_a_log(value):
    file = sound(f"gait.label={toml(value)}")
    in_file = VehicleFile.parse(f"x = {toml(value)}", "x.toml")
    assert repr(file.tables["gait"]["label"]) == repr(in_file.tables["x"])
    again = VehicleFile.parse(file.text, file.label, file.overrides)
    assert again.digest() == file.digest() and again.overrides == file.overrides
