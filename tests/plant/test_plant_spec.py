"""A wrong plant or world gives one sentence: what is wrong, where, and what to do."""

from __future__ import annotations

import json

import msgspec
import pytest
from swimmer import JOINTS, plant, sonar, table, world_of

from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.sim_plant.tables import read as door
from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.world.world import World


def toml(value) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return json.dumps(value)


def file_of(plant_table: dict, world: dict | None = None) -> VehicleFile:
    text = "[plant]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in plant_table.items())
    if world is not None:
        text += "[world.pool]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in world.items())
    return VehicleFile.parse(text, "swimmer.toml")


def test_vehicle_file_gives_the_same_plant_as_its_tables():
    keys = table(sensor={"front": sonar()})
    assert door.read(file_of(keys)) == msgspec.convert(keys, PlantSpec)


def test_worlds_are_read_by_name_and_an_empty_one_is_open_water():
    keys = {
        "length_m": 4.0,
        "width_m": 3.0,
        "vehicles": 3,
        "cylinders": [{"x_m": 1.0, "y_m": 1.0, "radius_m": 0.1}],
    }
    assert door.read_worlds(file_of(table(), keys)) == {"pool": world_of(**keys)}
    bare = VehicleFile.parse("[world.sea]\n", "swimmer.toml")
    assert door.read_worlds(bare)["sea"].length_m is None


def broken(**changes) -> dict:
    keys = table(
        sensor={
            "front": sonar(),
            "j": {"kind": "joint", "joint": "tail_2", "rad_per_count": 0.1, "rate_hz": 9.0},
        }
    )
    for path, value in changes.items():
        *parents, leaf = path.split("__")
        at = keys
        for parent in parents:
            at = at[int(parent)] if parent.isdigit() else at[parent]
        if value is None:
            del at[leaf]
        else:
            at[leaf] = value
    return keys


@pytest.mark.parametrize("changes, where, words", [
    ({"strouhal__link__3__joint": "tail_9"}, "plant.actuator.tail_4", "moves no joint"),
    ({"strouhal__link__1__joint": "tail_1"}, "plant.strouhal.link.1.joint", "joint of two links"),
    ({"strouhal__deflection_joints": ["fin"]}, "plant.strouhal.deflection_joints", "not the joint of a link"),
    ({"strouhal__deflection_joints": ["tail_1", "tail_1"]}, "plant.strouhal.deflection_joints", "twice"),
    ({"sensor__j__joint": "elbow"}, "plant.sensor.j.joint", "elbow is not a joint"),
    ({"sensor__front__metres_per_count": 9.0}, "plant.sensor.front.metres_per_count", "finer"),
    ({"actuator__extra": table()["actuator"]["tail_1"]}, "plant.actuator.extra", "moves no joint"),
    ({"strouhal__mass_kg": 0.0}, "plant.strouhal.mass_kg", "0"),
    ({"strouhal__mass_kg": None}, "plant", "mass_kg"),
    ({"model": "tree"}, "plant.model", "there is no [plant.tree]"),
    ({"strouhal": None}, "plant.model", "there is no [plant.strouhal]"),
    ({"model": "jelly"}, "plant.model", "jelly"),
    ({"sensor__front__kind": "radar"}, "plant.sensor.front.kind", "radar"),
    ({"sensor__front__dropout_share": 1.5}, "plant.sensor.front.dropout_share", "1.5"),
    ({"strouhal__link": []}, "plant.strouhal.link", "1"),
    ({"actuator__tail_1__travel": 1.0}, "plant.actuator.tail_1", "travel_rad"),
])  # fmt: skip
def test_inconsistent_plant_is_refused_with_a_message(changes, where, words):
    with pytest.raises(VehicleFileError) as caught:
        door.read(file_of(broken(**changes)))
    said = str(caught.value)
    assert said.startswith("swimmer.toml: ") and where in said and words in said
    assert "\n" not in said and said.rstrip()[-1] in ".?"


@pytest.mark.parametrize("world, where, words", [
    ({"length_m": 4.0}, "width_m", "give both"),
    ({"width_m": 4.0}, "length_m", "give both"),
    ({"length_m": 4.0, "width_m": 3.0, "cylinders": [{"x_m": 5.0, "y_m": 1.0, "radius_m": 0.1}]},
     "cylinders.0", "outside"),
    ({"vehicles": 2, "start": [{"x_m": 0.0, "y_m": 0.0}]}, "start", "1 poses for 2 vehicles"),
    ({"target": {"x_m": 0.0, "y_m": 0.0, "path": "circle"}}, "target.radius_m", "above 0"),
    ({"target": {"x_m": 0.0, "y_m": 0.0, "path": "line"}}, "target.length_m", "above 0"),
])  # fmt: skip
def test_inconsistent_world_is_refused_by_the_file_and_by_the_world(world, where, words):
    with pytest.raises(VehicleFileError) as caught:
        door.read_worlds(file_of(table(), world))
    assert f"world.pool.{where}" in str(caught.value) and words in str(caught.value)
    with pytest.raises(ValueError, match=words):
        World(world_of(**world))


@pytest.mark.parametrize("actuators, sensors, words", [
    (["tail_1", "rudder"], [], r"the plant has no actuator rudder; .*choose from: tail_1, tail_2"),
    (JOINTS, ["lidar"], "the plant has no sensor lidar"),
    (["tail_1", "tail_1"], [], "is named twice"),
])  # fmt: skip
def test_unknown_channel_is_refused_by_its_name(actuators, sensors, words):
    with pytest.raises(ValueError, match=words):
        World(world_of()).add(plant(), actuators=actuators, sensors=sensors, name="one")


def test_vehicle_is_refused_when_too_many_or_blocked_or_without_space():
    full = World(world_of())
    full.add(plant(), actuators=[], sensors=[], name="one")
    with pytest.raises(ValueError, match=r"two: world\.vehicles is 1; raise it"):
        full.add(plant(), actuators=[], sensors=[], name="two")
    start = [{"x_m": 0.0, "y_m": 0.0}, {"x_m": 0.1, "y_m": 0.0}]
    crowded = World(world_of(vehicles=2, start=start))
    crowded.add(plant(), actuators=[], sensors=[], name="one")
    with pytest.raises(ValueError, match=r"two: world\.start\.1 .* touches"):
        crowded.add(plant(), actuators=[], sensors=[], name="two")
    with pytest.raises(ValueError, match=r"found no place with 0\.35 m clearance"):
        World(world_of(length_m=0.8, width_m=0.8)).add(plant(), actuators=[], sensors=[], name="one")


def test_world_does_not_change_when_a_vehicle_is_refused():
    world = World(world_of(vehicles=2, start=[{"x_m": 0.0, "y_m": 0.0}, {"x_m": 0.1, "y_m": 0.0}]))
    one = world.add(plant(), actuators=JOINTS, sensors=[], name="one")
    with pytest.raises(ValueError):
        world.add(plant(), actuators=JOINTS, sensors=[], name="two")
    world.step(10_000)
    assert len(world.bodies) == 1 and one.clearance_m == float("inf")


def test_world_refuses_a_negative_step():
    with pytest.raises(ValueError, match="backwards"):
        World(world_of()).step(-1)
