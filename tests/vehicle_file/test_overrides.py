"""Keys changed for one run, the digest, and one sentence for any broken data."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from tests.vehicle_file.tables import (
    SOUND,
    Actuators,
    Battery,
    Burst,
    Gait,
    Link,
    Plant,
    Servo,
    Thruster,
    Valve,
    sentence,
    sound,
)


def test_override_changes_a_key_in_tables_and_in_lists():
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
def test_override_of_an_unknown_key_names_the_known_ones(override, expected):
    with pytest.raises(VehicleFileError) as caught:
        sound(override)
    assert str(caught.value) == f"fish.toml: --set {override}: {expected}"


def test_error_at_an_overridden_key_names_the_command_line():
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


def test_digest_ignores_layout_comments_and_order_but_no_value():
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
def test_override_sets_exactly_its_value_and_is_stored_for_a_log(value):
    file = sound(f"gait.label={toml(value)}")
    in_file = VehicleFile.parse(f"x = {toml(value)}", "x.toml")
    assert repr(file.tables["gait"]["label"]) == repr(in_file.tables["x"])
    again = VehicleFile.parse(file.text, file.label, file.overrides)
    assert again.digest() == file.digest() and again.overrides == file.overrides
