"""Tables [param.NAME]: each error is one sentence; 300 parameters work as well as one."""

import pytest
from msgspec import Struct
from msgspec.structs import asdict

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.vehicles import read
from caudal.tools.config.vehicle import read_vehicle
from tests.params.tuned import FOLDER, loop_of, ticked

ROV = (FOLDER / "rov.toml").read_text(encoding="utf-8")
BAD = {
    "name too long": ("SEVENTEEN_LETTERS_", "control.max_lead_m", 0.1, 2.0, "1 to 16 of A-Z"),
    "small letters": ("yaw", "control.max_lead_m", 0.1, 2.0, "1 to 16 of A-Z"),
    "a letter first": ("_YAW", "control.max_lead_m", 0.1, 2.0, "1 to 16 of A-Z"),
    "no such key": (
        "X",
        "control.max_led_m",
        0.1,
        2.0,
        'no "control.max_led_m" in this file; did you mean max_lead_m?',
    ),
    "no such row": ("X", "failsafe.moon.delay_s", 0.1, 2.0, 'no "failsafe.moon.delay_s"'),
    "of the plant": ("X", "plant.step_us", 0.1, 2.0, "is not in a table that may be tuned"),
    "of the loop": ("X", "loop.rate_hz", 10, 100, "is not in a table that may be tuned"),
    "no number": ("X", "control.kind", 0.1, 2.0, "is not a number"),
    "a switch": ("X", "control.feed_forward", 0, 1, "is not a number"),
    "a table": ("X", "control.gains", 0.1, 2.0, "is not a number"),
    "twice": ("X", "control.gains.yaw.kp", 0.1, 4.0, "is X's already"),
    "upside down": ("X", "control.max_lead_m", 2.0, 0.1, "must be below high"),
    "default outside": ("X", "control.gains.roll.ki", 0.1, 2.0, "is 0, outside 0.1 to 2"),
    "halves of whole numbers": ("X", "actuator.lift_fore.port", 0.5, 7, "takes whole numbers"),
    "not a number": ("X", "control.max_lead_m", "nan", 2.0, "finite number"),
    "infinite": ("X", "control.max_lead_m", 0.1, "inf", "finite number"),
}
CHECKED = {
    "an end that the schema refuses": ("X", "control.gains.roll.ki", -1.0, 1.0, "ki = -1 is within its range"),
    "two that cross": ("X", "failsafe.housing_pressure.low", 1e4, 2e5, "must be below high"),
    "a choice of two": ("X", "actuator.lift_fore.port", 0, 6, "port"),
}  # fmt: skip


def with_param(name, key, low, high):
    line = f'{name} = {{ key = "{key}", low = {low}, high = {high}, description = "a test\'s" }}\n'
    return VehicleFile.parse(ROV.replace("[param]\n", "[param]\n" + line), "mine.toml")


@pytest.mark.parametrize("kind", BAD)
def test_a_wrong_parameter_is_refused_in_a_sentence(kind):
    *param, words = BAD[kind]
    with pytest.raises(ValueError, match=r"^mine\.toml: param") as found:
        read(with_param(*param))
    assert words in str(found.value) and "\n" not in str(found.value)


@pytest.mark.parametrize("kind", CHECKED)
def test_a_range_that_would_be_refused_somewhere_is_found_by_check(kind):
    *param, words = CHECKED[kind]
    vehicle = read_vehicle(with_param(*param))
    with pytest.raises(ValueError, match=r"^mine\.toml: param\.X") as found:
        vehicle.try_params()
    assert words in str(found.value) and "\n" not in str(found.value)


def test_who_says_set_means_it():
    """A value beyond the range from --set is no slip: the range then reaches to it."""
    file = VehicleFile.parse(ROV, "mine.toml", ["control.gains.yaw.kp=40.0"])
    yaw = next(param for param in read(file).params if param.name == "YAW_P")
    assert (yaw.default, yaw.low, yaw.high) == (40.0, 0.2, 40.0)


def leaves(node, above):
    node = asdict(node) if isinstance(node, Struct) else node
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        named = getattr(value, "name", key)
        if isinstance(value, Struct | dict | list):
            yield from leaves(value, f"{above}.{named}")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{above}.{named}", value


# what other tables give or go by, and what must be one with something else
OTHERS = (
    ".curve.",
    ".trajectory.",
    ".inertia.",
    ".port",
    "sensor.depth.",
    "sensor.leak.",
    "not_armed.",
    "bad_command.",
)


def many(settings):
    """Numbers of a vehicle that may move by a hundredth, as [param] tables."""
    tables = {"control": settings.control, "estimate": settings.estimate}
    tables |= {key: getattr(settings, f"{key}s") for key in ("failsafe", "sensor", "actuator")}
    found = [pair for table in tables for pair in leaves(tables[table], table)]
    for k, (key, value) in enumerate(found):
        if not any(other in key for other in OTHERS):
            room = 1 if isinstance(value, int) else max(abs(value) * 0.01, 1e-4)
            low = value - room if value else value
            yield f'P{k} = {{ key = "{key}", low = {low!r}, high = {value + room!r}, description = "number {k}" }}\n'


def test_three_hundred_parameters_are_read_checked_loaded_and_set():
    bare = ROV[: ROV.index("[param]\n")] + ROV[ROV.index("[scenario.station]") :]
    lines = list(many(read(VehicleFile.parse(bare, "bare.toml"))))
    vehicle = read_vehicle(VehicleFile.parse(f"{bare}\n[param]\n{''.join(lines)}", "many.toml"))
    params = vehicle.settings.params
    assert len(params) >= 300
    vehicle.try_params()
    loop = loop_of(vehicle.settings)
    loop.send("load", [[param.name, param.high] for param in params])
    ticked(loop, 1)
    assert loop.taken[0][3] is None
    assert loop.handler.params.differing() == {param.name: param.high for param in params}
    for at in range(0, len(params), 16):
        for param in params[at : at + 16]:
            assert loop.send("set", param.name, param.default)
        ticked(loop, 1)
        assert all(refusal is None for _, _, _, refusal in loop.taken) and loop.taken
    assert loop.handler.params.differing() == {}
