"""Keys that a scenario's loop does not read are found, and overrides of such keys are refused with the reason."""

import pytest

from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.onboard import vehicles
from caudal.onboard.run.unread import never_read, refusal, unread_keys
from caudal.tools.config.vehicle import open_scenario, open_vehicle
from tests.conftest import ROOT


@pytest.mark.parametrize("name", vehicles.names())
def test_shipped_file_has_no_key_that_no_scenario_reads(name):
    scenarios = open_vehicle(name).settings.scenarios
    assert never_read({one: open_scenario(name, [], one)[0] for one in scenarios}) == []


def test_key_is_unread_where_its_part_is_not_built():
    fish, snake = open_vehicle("fish"), open_vehicle("snake")
    assert unread_keys(fish, "pool") == []
    assert {"guidance", "mission", "control.mass_kg", "estimate.x"} < set(unread_keys(fish, "cruise"))
    assert "gait.frequency_hz" in unread_keys(snake, "turn") and "gait.frequency_hz" not in unread_keys(
        snake, "back"
    )
    assert "control.neck" not in unread_keys(open_vehicle("snake", ["control.gaze=on"]), "shells")


@pytest.mark.parametrize(
    "name, scenario, override, reason",
    [
        ("snake", "turn", "gait.frequency_hz=2", " (its rows set the frequency)"),
        ("snake", "turn", "control.neck.limit_rad=0.5", ' (control.gaze is "off")'),
        ("fish", "cruise", "guidance.steps=9", ' (its task is "schedule")'),
        ("fish", "cruise", "guidance.weights={ port = 0.1 }", ' (its task is "schedule")'),
        ("fish", "track", "guidance.preferred_clearance_m=0.4", ""),
    ],
)
def test_override_of_an_unread_key_is_refused_with_the_reason(name, scenario, override, reason):
    found = refusal(open_vehicle(name, [override]), scenario, [override])
    key = override.partition("=")[0]
    assert found == f'{key} is not used by scenario "{scenario}"{reason}; remove it'


@pytest.mark.parametrize(
    "name, scenario, override",
    [
        ("fish", "pool", "guidance.steps=9"),
        ("fish", "cruise", "failsafe.leak={ delay_s = 0.2 }"),
        ("fish", "cruise", "world.pool.vehicles=1"),
        ("fish", "cruise", "sensor.depth.max_age_s=0.5"),
        ("fish", "cruise", "scenario.cruise.duration_s=3"),
        ("rov", "rock", "scenario.rock.rock.roll_rad=0.1"),
        ("hybrid", "mode1", "control.thruster.tail_y.lag_s=0.1"),
    ],
)
def test_override_of_a_key_that_something_reads_is_accepted(name, scenario, override):
    assert refusal(open_vehicle(name, [override]), scenario, [override]) is None


def test_model_of_swimming_is_required_with_guidance_only():
    assert open_vehicle("ray").settings.control.mass_kg is None
    text = (ROOT / "onboard" / "vehicles" / "fish.toml").read_text()
    with pytest.raises(VehicleFileError, match=r"control\.mass_kg: is required with \[guidance\]"):
        vehicles.read(
            vehicles.VehicleFile.parse(text.replace("\nmass_kg = ", "\n# mass_kg = ", 1), "fish.toml")
        )
