"""Thrusters on a battery: the thrust of a pulse, its position and timing, and the sag of the voltage."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
import softened
import swimmer
from swimmer import truth
from thrusted import (
    AHEAD,
    CURRENTS_A,
    DRAG,
    FORCES_N,
    INERTIA,
    NET_WEIGHT_N,
    PULSES_US,
    QUADRATIC,
    SEVEN,
    VOLTS,
    adrift,
    allocation,
    each,
    plant,
    push,
    table,
)  # fmt: skip

from caudal.sim_plant.tables.read import PlantSpec, validate_plant
from caudal.sim_plant.world.world import Body
from caudal.tools.identify import rigid_body_model

BARE = {"tree__water": "none", "tree__gravity_m_s2": 0.0}  # a body and nothing else
LAG_S = 0.1


def pushes(body: Body) -> np.ndarray:
    now = truth(body)
    return np.array([now[f"{name}_n"] for name in SEVEN])


def blended(rows: list[list[float]], pulse_us: float, volts: float) -> float:
    return float(np.interp(volts, VOLTS, [np.interp(pulse_us, PULSES_US, row) for row in rows]))


def test_thrust_is_the_measured_curve_at_the_pulse_and_the_battery_voltage():
    rng = np.random.default_rng(1)
    for volts in (6.0, 10.0, 11.7, 14.0, 16.4, 18.0, 25.0):
        world, body = adrift(plant(battery={"volts": volts}))
        for _ in range(8):
            pulses_us = rng.integers(900, 2100, 7).tolist()
            body.write(pulses_us)
            world.step(5000)
            expected = [blended(FORCES_N, pulse, volts) for pulse in pulses_us]
            assert pushes(body) == pytest.approx(expected, abs=1e-12)


def test_thruster_pushes_and_turns_the_vehicle_by_its_position_and_axis():
    at, axis = np.array([0.3, -0.2, 0.12]), np.array([0.4, -1.1, 0.7])
    jet = {"kind": "thruster", "motor": "m", "at_m": at.tolist(), "axis": axis.tolist()}
    world = swimmer.World(swimmer.open_water())
    body = world.add(plant(actuator={"jet": jet}, **BARE), actuators=["jet"], sensors=[], name="one")
    body.write([1700])
    world.step(100)
    force = blended(FORCES_N, 1700, 16.0) * axis / np.linalg.norm(axis)
    rigid = np.diag([20.0, 20.0, 20.0, 0.45, 0.9, 1.1])
    felt = rigid @ body.state()[7:13] / 100e-6
    assert felt == pytest.approx(np.concatenate([force, np.cross(at, force)]), rel=1e-3)


BENT = {"fore_b": 0.2e6, "aft_b": 0.2e6, "aft_c": 0.05e6}


def bent_with(jets: dict, dry: bool) -> tuple[swimmer.World, Body]:
    """Three modules with bent soft joints that still swing, and these thrusters idle."""
    tables = softened.table(damped=False, step_us=1000, **softened.PUSHER)
    tables["actuator"] |= jets
    tables["tree"] |= {"water": "none"} if dry else {}
    world, body = softened.put_in(msgspec.convert(tables, PlantSpec))
    body.write([*softened.currents_ua(BENT), *[1500] * len(jets)])
    world.step(3_000_000)
    for near, far in (("m1", "m2"), ("m2", "m3")):
        assert math.acos(softened.turns(world, body, near, far)[0][0, 0]) > 0.3
    return world, body


@pytest.mark.parametrize("carrier", ["m1", "m2", "aft_2", "m3"])
def test_momentum_changes_by_the_impulse_of_thrust_on_any_body(carrier):
    at, axis = np.array([0.35, -0.2, 0.12]), np.array([0.4, -1.1, 0.7])
    jet = softened.pusher(carrier, at.tolist(), axis.tolist())
    world, body = bent_with({"jet": jet}, dry=True)
    model = world.models[0]
    body.write([*softened.currents_ua(BENT), 1700])
    before, wrench = model.momentum(body.state()), []
    for k in range(401):
        turn, origin = model.pose(body.state(), carrier)
        force = blended(FORCES_N, 1700, 14.0) * turn @ axis / np.linalg.norm(axis)
        wrench.append(np.concatenate([force, np.cross(origin + turn @ at, force)]))
        if k < 400:
            world.step(1000)
    # Simpson's rule over the steps' ends, world axes, about the world's origin.
    weights = np.array([1, *[4, 2] * 199, 4, 1]) * 1e-3 / 3
    gained = model.momentum(body.state()) - before
    assert np.abs(gained - weights @ np.array(wrench)).max() < 1e-8 * np.abs(gained).max()
    assert np.abs(gained).min() > 0.1


def test_thrust_on_the_base_by_name_equals_thrust_without_a_body():
    ends = []
    for keys in ({}, {"body": "frame"}):
        world, body = adrift(plant(actuator=each(**keys)))
        push(body, AHEAD, 180)
        world.step(2_000_000)
        ends.append(body.state())
    assert (ends[0] == ends[1]).all() and ends[0][7] > 0.1


def test_opposite_thrusts_on_one_module_cancel():
    one, other = (
        softened.pusher("m3", [0.2, 0.1, 0], [0, 1, 0]),
        softened.pusher("m3", [0.2, 0.3, 0], [0, -1, 0]),
    )
    ends = []
    for offset_us in (0, 250):
        world, body = bent_with({"one": one, "other": other}, dry=False)
        body.write([*softened.currents_ua(BENT), 1500 + offset_us, 1500 + offset_us])
        world.step(500_000)
        ends.append(body.state())
    assert truth(body)["one_n"] > 10 and np.abs(ends[0] - ends[1]).max() < 1e-10


def test_vehicle_moves_by_the_wrench_b_f_of_seven_vectored_thrusters():
    world, body = adrift(plant(tree__current_m_s=[0.1, -0.05, 0.02]))
    model, rng = world.models[0], np.random.default_rng(2)
    for _ in range(20):
        body.write(rng.integers(1250, 1750, 7).tolist())
        before = body.state()
        world.step(200_000)
        alone = model.rollout(before, 40, 0.005, tau=allocation() @ pushes(body))[-1]
        assert np.abs(body.state() - alone).max() <= 1e-12
        felt = model.mass_matrix(before) @ (
            model.forward_dynamics(before, allocation() @ pushes(body)) - model.forward_dynamics(before)
        )
        assert np.abs(felt - allocation() @ pushes(body)).max() <= 1e-12 * np.abs(felt).max() + 1e-12
    assert np.abs(body.state()[7:13]).min() > 0.01  # it moved in every way


def test_level_model_predicts_the_plants_accelerations_with_true_parameters():
    model, rng = adrift(plant())[0].models[0], np.random.default_rng(3)
    level, names = list(rigid_body_model.LEVEL), rigid_body_model.LEVEL_SETS["quadratic"]
    true = {"net_weight": NET_WEIGHT_N}
    for name in names:
        if name[1:].isdigit():
            i, j = int(name[1]) - 1, int(name[2]) - 1
            true[name] = {"m": INERTIA[i, j], "d": DRAG[i, j], "q": QUADRATIC[i]}[name[0]]
    values, s = np.array([true[name] for name in names]), rigid_body_model.coefficients(names, level)
    for _ in range(50):
        state = model.state()
        state[2], velocity, wrench = -1.0, np.zeros(6), rng.normal(0, 20, 6)
        velocity[level] = rng.normal(0, 0.5, 4)
        state[7:13] = velocity
        still = rigid_body_model.features(velocity[None], np.zeros((1, 6)))
        asked = rigid_body_model.regressor(s, still) @ values
        expected = np.linalg.solve(INERTIA[np.ix_(level, level)], wrench[level] - asked)
        assert np.abs(model.forward_dynamics(state, wrench)[level] - expected).max() < 1e-9


def test_thruster_runs_up_and_down_with_its_lag_after_the_delay():
    world, body = adrift(plant(actuator=each(lag_s=LAG_S, delay_s=0.02), step_us=1000))
    push(body, AHEAD, 200)
    goal = blended(FORCES_N, 1700, 16.0)
    for ms in range(1, 301):
        world.step(1000)
        run_up = -math.expm1(-max(ms - 20, 0) * 1e-3 / LAG_S)
        assert pushes(body)[0] == pytest.approx(goal * run_up, abs=1e-9)
    last = pushes(body)[0]
    body.write([0] * 7)  # no pulse
    world.step(120_000)
    assert pushes(body)[0] == pytest.approx(last * math.exp(-0.1 / LAG_S), rel=0.02)
    world.step(2_000_000)
    assert np.abs(pushes(body)).max() < 1e-6


@pytest.mark.parametrize("step_us", [500, 5000])
def test_thrust_impulse_does_not_depend_on_the_step(step_us):
    world, body = adrift(plant(actuator=each(lag_s=LAG_S), step_us=step_us, **BARE))
    push(body, AHEAD, 200)
    world.step(400_000)
    impulse = 4 * math.sqrt(0.5) * blended(FORCES_N, 1700, 16.0) * (0.4 + LAG_S * math.expm1(-0.4 / LAG_S))
    assert body.state()[7] == pytest.approx(impulse / 20.0, rel=1e-9)


def test_reversed_motor_takes_the_mirror_image_of_a_pulse():
    world, body = adrift(plant(actuator=each(direction=-1)))
    push(body, AHEAD, 200)
    world.step(5000)
    assert pushes(body)[0] == pytest.approx(blended(FORCES_N, 1300, 16.0))


def test_dead_thruster_runs_down_while_the_others_go_on():
    thrusters = each(lag_s=LAG_S)
    thrusters["aft_port"]["dead_from_s"] = 1.0
    world, body = adrift(plant(actuator=thrusters))
    push(body, AHEAD, 200)
    world.step(1_000_000)
    assert np.ptp(pushes(body)[:4]) == 0.0 and pushes(body)[0] > 5
    world.step(2_000_000)
    assert abs(pushes(body)[2]) < 1e-6 and pushes(body)[[0, 1, 3]].min() > 5


def test_turns_sensor_reads_unsigned_revolutions_of_the_present_thrust():
    turns = {"kind": "turns", "thruster": "aft_port", "turns_s_per_count": 0.001, "rate_hz": 1000.0}
    spec = plant(actuator=each(turn_n_s2=[0.014, 0.011], dead_from_s=2.0), sensor={"turns": turns})
    for us, n_s2 in ((200, 0.014), (-200, 0.011)):
        world, body = adrift(spec, sensors=["turns"])
        counts = [None]
        push(body, AHEAD, us)
        world.step(1_000_000)
        body.read(counts)
        assert 1e-3 * counts[0] == pytest.approx(math.sqrt(abs(pushes(body)[2]) / n_s2), abs=1e-3)
        world.step(2_000_000)
        body.read(counts)
        assert counts == [0]  # dead by then


def test_turns_sensor_is_refused_without_a_thruster():
    with pytest.raises(ValueError, match="none is not a thruster"):
        adrift(
            plant(
                sensor={
                    "turns": {
                        "kind": "turns",
                        "thruster": "none",
                        "turns_s_per_count": 0.1,
                        "rate_hz": 50.0,
                    }
                }
            )
        )


def test_symmetric_vehicle_moves_backwards_with_pulses_mirrored_fore_and_aft():
    curve = {
        "battery_v": 12.0,
        "pulses_us": [1100, 1480, 1520, 1900],
        "forces_n": [-30, 0, 0, 30],
        "currents_a": [9, 0, 0, 9],
    }
    diagonal = {"diagonal": [8.0, 20.0, 28.0, 0.45, 0.3, 0.5]}
    like_ends = {
        "body__added_inertia": diagonal,
        "body__drag": {"linear": DRAG.diagonal().tolist(), "quadratic": QUADRATIC},
    }
    states = []
    for way in (1, -1):
        world, body = adrift(plant(motor={"m": {"curve": [curve]}}, **like_ends))
        push(body, AHEAD, 150 * way)
        world.step(3_000_000)
        states.append(body.state())
    ahead, back = states
    turned_round = np.array([-1, 1, 1, 1, 1, -1, 1, -1, 1, 1, 1, -1, 1])
    assert ahead[0] > 1.0 and np.abs(ahead - turned_round * back).max() < 1e-12


def test_battery_sags_under_load_and_thrust_falls():
    stiff = adrift(plant(battery={"volts": 16.0}))
    soft = adrift(
        plant(battery={"volts": 16.0, "resistance_ohm": 0.03, "hotel_a": 2.0}, actuator=each(lag_s=LAG_S))
    )
    assert truth(soft[1])["battery_v"] == pytest.approx(16.0 - 0.03 * 2.0)
    for world, body in (stiff, soft):
        push(body, AHEAD, 250)
        world.step(5_000_000)
    volts = truth(soft[1])["battery_v"]
    idle, busy = blended(CURRENTS_A, 1500, volts), blended(CURRENTS_A, 1750, volts)
    assert volts == pytest.approx(16.0 - 0.03 * (2.0 + 3 * idle + 4 * busy), abs=1e-9) and volts < 15.5
    assert pushes(soft[1])[0] == pytest.approx(blended(FORCES_N, 1750, volts), abs=1e-9)
    assert pushes(soft[1])[0] < 0.97 * pushes(stiff[1])[0] and truth(stiff[1])["battery_v"] == 16.0
    body.write([0] * 7)
    soft[0].step(5_000_000)
    assert truth(soft[1])["battery_v"] == pytest.approx(16.0 - 0.03 * 2.0)


def test_battery_voltage_falls_linearly_with_charge_and_stays_empty():
    pack = {"volts": 16.0, "hotel_a": 3.6, "capacity_ah": 0.01, "volts_empty": 12.0}
    world, body = adrift(plant(battery=pack))
    for second in range(1, 13):
        world.step(1_000_000)
        assert truth(body)["battery_v"] == pytest.approx(max(16.0 - 0.4 * second, 12.0), abs=1e-9)


def test_battery_sensor_counts_the_voltage_under_load():
    sensor = {"volts": VOLTMETER}
    pack = {"volts": 16.0, "resistance_ohm": 0.03}
    for model in ("tree", "strouhal"):
        if model == "tree":
            world, body = adrift(plant(battery=pack, sensor=sensor), sensors=["volts"])
            push(body, AHEAD, 300)
        else:
            world = swimmer.World(swimmer.open_water())
            jet = {**swimmer.JET, "battery": pack}
            body = world.add(
                swimmer.plant(sensor=sensor, **jet), actuators=["jet"], sensors=["volts"], name="one"
            )
            body.write([2000])
        world.step(1_000_000)
        counts: list[int | None] = [None]
        body.read(counts)
        assert counts[0] == round(1000 * truth(body)["battery_v"]) < 15_990


def test_thrust_counts_only_along_the_heading_with_the_strouhal_model():
    speeds = []
    for axis in ([1, 0, 0], [1, 1, 0], [0, 1, 0]):
        jets = {**swimmer.JET["actuator"], "jet": {"kind": "thruster", "motor": "jet", "axis": axis}}
        world = swimmer.World(swimmer.open_water())
        spec = swimmer.plant(**{**swimmer.JET, "actuator": jets})
        body = world.add(spec, actuators=["jet"], sensors=[], name="one")
        body.write([1575])
        world.step(10_000)
        speeds.append(truth(body)["speed_m_s"])
        assert truth(body)["jet_n"] == pytest.approx(0.1) and truth(body)["yaw_rate_rad_s"] == 0.0
    assert (
        speeds[0] > 0
        and speeds[1] == pytest.approx(math.sqrt(0.5) * speeds[0], rel=1e-3)
        and speeds[2] == 0.0
    )


def test_thruster_on_a_body_is_refused_with_the_strouhal_model():
    jets = {**swimmer.JET["actuator"], "jet": {"kind": "thruster", "motor": "jet", "body": "tail"}}
    found = list(validate_plant(swimmer.plant(**{**swimmer.JET, "actuator": jets})))
    assert [key for key, _ in found] == ["actuator.jet.body"] and 'choose "tree".' in found[0][1]


VOLTMETER = {"kind": "battery", "volts_per_count": 0.001, "rate_hz": 100.0}
FLAT = {"battery_v": 12.0, "pulses_us": [1100, 1500, 1900], "forces_n": [-9, 0, 9], "currents_a": [5, 0, 5]}


def curve(**changes) -> dict:
    return {"motor": {"m": {"curve": [{**FLAT, **changes}]}}}


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"actuator": each(motor="t")}, "actuator.fore_port.motor", "there is no motor t; choose from m."),
        ({"motor": {}}, "actuator.fore_port.motor", "there is no motor m; add [plant.motor.m]."),
        ({"actuator": each(body="hull")}, "actuator.fore_port.body", "there is no body hull in plant.tree"),
        ({"actuator": each(axis=[0, 0, 0])}, "actuator.fore_port.axis", "the axis has no length"),
        (curve(pulses_us=[1100, 1100, 1900]), "motor.m.curve.0.pulses_us", "but 1100 follows 1100"),
        (curve(forces_n=[9, 0, -9]), "motor.m.curve.0.forces_n", "check signs and order"),
        (curve(currents_a=[5, 0]), "motor.m.curve.0.currents_a", "2 numbers for 3 pulses"),
        ({"motor": {"m": {"curve": [FLAT, FLAT]}}}, "motor.m.curve", "battery_v must grow"),
        ({"battery": None}, "battery", "the thruster fore_port has no battery; add [plant.battery]."),
        ({"battery": {"volts": 12.0, "capacity_ah": 3.0}}, "battery.capacity_ah", "give both, or neither"),
        ({"battery": {"volts": 12.0, "capacity_ah": 3.0, "volts_empty": 13.0}}, "battery.volts_empty", "above volts"),
        ({"battery": {"volts": 16.0, "resistance_ohm": 0.2}}, "battery.resistance_ohm", "a longer lag_s"),
        (
            {"actuator": {}, "battery": None, "sensor": {"v": VOLTMETER}},
            "sensor.v", "add [plant.battery]",
        ),
    ],
)  # fmt: skip
def test_inconsistent_thruster_is_refused_with_a_message(changes, key, words):
    found = list(validate_plant(plant(**changes)))
    assert found and found[0][0] == key and words in found[0][1] and found[0][1].endswith(".")
    with pytest.raises(ValueError, match=f"^one: plant.{key}: "):
        adrift(plant(**changes))


def test_drag_that_accelerates_is_refused():
    wild = DRAG.copy()
    wild[0, 1] = 80.0
    found = list(validate_plant(plant(body__drag={"linear_full": wild.tolist()})))
    assert [key for key, _ in found] == ["tree.body.0.drag.linear_full"] and "would accelerate" in found[0][1]
    both = {"linear_full": DRAG.tolist(), "linear": [1.0] * 6}
    assert [key for key, _ in validate_plant(plant(body__drag=both))] == ["tree.body.0.drag.linear"]
    assert not list(validate_plant(plant())) and table()["battery"]["volts"] == 16.0
