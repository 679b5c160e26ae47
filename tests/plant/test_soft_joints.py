"""Soft joints: how they move with the pressures of their chambers, through currents and counts."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
import softened
from softened import (
    LENGTH_M,
    PUSHER,
    VALVES,
    away_from,
    counts,
    currents_ua,
    plant,
    pusher,
    put_in,
    settled,
    turns,
)
from swimmer import truth

from caudal.sim_plant.tables.read import PlantSpec, validate_plant
from caudal.sim_plant.tables.tree import TreeSpec
from caudal.sim_plant.tree.model import Model

FORE = ["fore_a", "fore_b", "fore_c"]
PAIRS = [["fore_a", "fore_b"], ["fore_b", "fore_c"], ["fore_c", "fore_a"]]


def uniform(pressure_pa: float) -> dict[str, float]:
    return dict.fromkeys(FORE, pressure_pa)


def bend_deg(world, body) -> float:
    return math.degrees(math.acos(turns(world, body, "m1", "m2")[0][0, 0]))


def test_joint_stretches_by_50_2_mm_without_bend_with_three_chambers_at_0_3_mpa():
    _, body = settled(uniform(0.3e6))
    read = counts(body)
    assert (read["fore_d1"] + read["fore_d2"]) * 1e-5 - LENGTH_M == pytest.approx(0.0502, abs=5e-5)
    assert read["fore_th1"] == read["fore_th2"] == 0
    assert (read["aft_d1"] + read["aft_d2"]) * 1e-5 == pytest.approx(LENGTH_M, abs=1e-5)
    assert [read[f"{valve}_p"] for valve in FORE] == [30_000] * 3


@pytest.mark.parametrize("chambers", [[one] for one in FORE] + PAIRS)
def test_joint_bends_away_from_its_chambers_and_further_with_two(chambers):
    pressures_pa = dict.fromkeys(chambers, 0.3e6)
    world, body = settled(pressures_pa)
    assert bend_deg(world, body) == pytest.approx(88.0 if len(chambers) == 1 else 1.08 * 88.0, abs=0.05)
    turn, at_m = turns(world, body, "m1", "m2")
    bend, (y, z) = away_from(pressures_pa)
    assert turn[:, 0] == pytest.approx([math.cos(bend), math.sin(bend) * y, math.sin(bend) * z], abs=1e-4)
    # The far end stands where an arc of this length and bend ends.
    arc_m = LENGTH_M + 0.1673e-6 * 0.3e6 * len(chambers) / 3
    across_m = arc_m * (1 - math.cos(bend)) / bend
    ends = [0.6 + arc_m * math.sin(bend) / bend, across_m * y, across_m * z]
    assert at_m == pytest.approx(ends, abs=1e-4)


def test_bend_follows_the_pressures_in_every_direction_up_to_sixty_degrees():
    rng = np.random.default_rng(1)
    for _ in range(4):
        weights = rng.uniform(0.0, 1.0, 3)
        pressures_pa = dict(zip(FORE, (0.14e6 * weights).tolist(), strict=True))
        world, body = settled(pressures_pa)
        bend, (y, z) = away_from(pressures_pa)
        assert 0.05 < bend < math.radians(60)
        axis = turns(world, body, "m1", "m2")[0][:, 0]
        assert axis == pytest.approx([math.cos(bend), math.sin(bend) * y, math.sin(bend) * z], abs=1e-4)


def swept(changing: list[dict[str, float]]) -> np.ndarray:
    """(case, 2): th1 and th2 (rad) that a joint rests at."""
    world, body = put_in(plant(step_us=2000))
    found = []
    for pressures_pa in changing:
        body.write(currents_ua(pressures_pa))
        world.step(45_000_000)
        read = counts(body)
        found.append([read["fore_th1"] * 1e-4, read["fore_th2"] * 1e-4])
    return np.array(found)


def test_rest_angles_never_jump_past_or_around_a_quarter_turn():
    # A chamber's plane is where the two hinges are worst: through a quarter turn with a little more on one side.
    past = swept([{"fore_b": (p + 2) * 1e3, "fore_c": p * 1e3} for p in range(260, 330, 10)])
    assert np.diff(past, axis=0)[:, 1] == pytest.approx(np.full(6, math.radians(3.2)), abs=0.02)
    assert np.abs(np.diff(past, axis=0)[:, 0]).max() < 0.02 and past[-1, 1] > math.radians(95)
    aside = swept([{"fore_b": (300 + p) * 1e3, "fore_c": (300 - p) * 1e3} for p in range(-6, 8, 3)])
    assert np.abs(np.diff(aside, axis=0)).max() < 0.1


@pytest.mark.parametrize("chamber", FORE)
def test_blocked_joint_has_about_ten_newton_metres_with_one_chamber_at_1_mpa(chamber):
    world, body = put_in(plant(damped=False, step_us=100))
    before, model = body.state(), world.models[0]
    body.write(currents_ua({chamber: 1e6}))
    world.step(100)  # it has not moved yet
    moved = body.state() - before
    rates = np.concatenate([moved[7:13], moved[model.lags.start - model.freedoms + 6 : model.lags.start]])
    felt = model.mass_matrix(before) @ rates / 100e-6
    torque_n_m = math.hypot(felt[model.v["fore_th1"]][0], felt[model.v["fore_th2"]][0])
    assert torque_n_m == pytest.approx(10.0, abs=0.15)


def stiffness_n_m_rad(two_pa: float, across: list[int], joint: str) -> float:
    """The stiffness that a push across the far module meets, at the same sum of pressures as two chambers at two_pa."""
    tables = softened.table(("fore",), step_us=2000, **PUSHER)
    tables["actuator"]["jet"] = pusher("m2", [0.2, 0.0, 0.0], across)
    tables["tree"]["body"][0] |= {
        "mass_kg": 1e6,
        "inertia_kg_m2": [1e6, 1e6, 1e6, 0.0, 0.0, 0.0],
    }  # as if clamped
    world, body = put_in(msgspec.convert(tables, PlantSpec))
    body.write([*currents_ua(uniform(2 / 3 * two_pa))[:3], 1535])
    world.step(60_000_000)
    read, now = counts(body), truth(body)
    assert 0.05 < abs(read[joint] * 1e-4) < 1.5
    return now["jet_n"] * (0.2 + read["fore_d2"] * 1e-5) / abs(read[joint] * 1e-4)


@pytest.mark.parametrize("across, joint", [([0, 1, 0], "fore_th2"), ([0, 0, 1], "fore_th1")])
def test_joint_is_three_times_as_stiff_above_half_a_megapascal(across, joint):
    for two_pa, share in ((0.0, 1.0), (0.1e6, 1.0), (0.3e6, 2.0), (0.5e6, 3.0), (0.8e6, 3.0)):
        assert stiffness_n_m_rad(two_pa, across, joint) == pytest.approx(0.651 * share, rel=2e-3)


PRESSED = {"fore_a": 0.15e6, "fore_b": 0.06e6, "aft_b": 0.1e6, "aft_c": 0.15e6}


def sprung_model(spec: PlantSpec) -> Model:
    """The same tree with the springs of the formula at PRESSED, computed here."""
    assert spec.tree is not None
    tables = msgspec.to_builtins(spec.tree)
    for name in ("fore", "aft"):
        bend, (y, z) = away_from(PRESSED, name)
        total = sum(p for valve, p in PRESSED.items() if valve.startswith(name))
        slide_m = 0.5 * (LENGTH_M + 0.1673e-6 * total / 3) * math.tan(bend / 2) / (bend / 2)
        stiffness = 0.651 * (1 + 2 * min(max((total / 2 - 0.1e6) / 0.4e6, 0), 1))
        rests = {
            "d1": (6000.0, slide_m), "th1": (stiffness, math.atan2(-math.sin(bend) * z, math.cos(bend))),
            "d2": (6000.0, slide_m), "th2": (stiffness, math.asin(math.sin(bend) * y)),
        }  # fmt: skip
        for body in tables["body"]:
            for part, (spring, rest) in rests.items():
                if body["joint"] and body["joint"]["name"] == f"{name}_{part}":
                    body["joint"] |= {"stiffness": spring, "rest": rest}
    return Model(msgspec.convert(tables, TreeSpec))


def lost(step_us: int) -> float:
    """Share of its energy that the vehicle loses in ten seconds after its chambers have filled."""
    spec = plant(damped=False, valve={"lag_s": 0.2}, step_us=step_us)
    world, body = put_in(spec)
    model = sprung_model(spec)
    body.write(currents_ua(PRESSED))
    world.step(7_000_000)  # 35 lags: what is left to fill is below rounding
    energies = [model.energies(body.state())]
    for _ in range(100):
        world.step(100_000)
        energies.append(model.energies(body.state()))
    total = np.array([sum(kinds.values()) for kinds in energies])
    for kind in ("kinetic", "springs"):
        assert np.ptp([kinds[kind] for kinds in energies]) > 0.3 * total[0]  # each took part
    return float(np.abs(total - total[0]).max() / total[0])


def test_energy_is_conserved_at_constant_pressures_with_added_mass():
    fine = lost(1000)
    assert fine < 1e-8
    assert 20 < lost(2000) / fine < 45  # what is lost is the step's error, of fifth order


def test_world_steps_soft_joints_as_a_tree_with_the_same_springs():
    spec = plant()
    world, body = put_in(spec)
    start = body.state()
    body.write(currents_ua(PRESSED))
    world.step(2_000_000)
    alone = sprung_model(spec).rollout(start, 2000, 0.001)[-1]
    assert np.abs(alone - start).max() > 0.1 and np.abs(body.state() - alone).max() < 1e-10


@pytest.mark.parametrize("lag_s, low, high", [(0.0, 12, 20), (0.1, 3.4, 4.6)])
def test_error_falls_by_sixteen_or_by_four_while_pressures_change_at_half_the_step(lag_s, low, high):
    ends = []
    for step_us in (4000, 2000, 250):
        world, body = put_in(plant(valve={"lag_s": lag_s}, step_us=step_us))
        body.write(currents_ua(PRESSED))
        world.step(400_000)
        ends.append(body.state())
    ratio = np.abs(ends[0] - ends[2]).max() / np.abs(ends[1] - ends[2]).max()
    assert low < ratio < high


def test_momentum_is_conserved_while_chambers_fill_and_empty():
    world, body = put_in(plant(valve={"lag_s": 0.1}, step_us=500))
    model, base, whole = world.models[0], [], []
    for pressures_pa in (PRESSED, {}, uniform(0.4e6)):
        body.write(currents_ua(pressures_pa))
        for _ in range(30):
            world.step(50_000)
            base.append(12.0 * body.state()[7:10])
            whole.append(model.momentum(body.state()))
    assert np.abs(base).max() > 1.0 and np.abs(whole).max() < 1e-9 * np.abs(base).max()


def test_vehicle_bends_to_the_mirror_image_with_mirrored_chambers():
    ends = []
    for chambers in (["fore_b", "aft_a", "aft_b"], ["fore_c", "aft_a", "aft_c"]):  # b above, c below
        world, body = put_in(plant(tree=level_tree()))
        body.write(currents_ua(dict.fromkeys(chambers, 0.2e6)))
        world.step(3_000_000)
        ends.append([turns(world, body, "m1", far) for far in ("m2", "m3")])
    flip = np.diag([1.0, 1.0, -1.0])
    for (turn, at_m), (other_turn, other_at_m) in zip(*ends, strict=True):
        assert np.abs(flip @ turn @ flip - other_turn).max() < 1e-9 and abs(turn[2, 0]) > 0.05
        assert np.abs(flip @ at_m - other_at_m).max() < 1e-9


def level_tree() -> dict:
    """With every centre of mass on the axis."""
    tree = softened.table()["tree"]
    return {**tree, "body": [{**b, "com_m": [0.3, 0, 0]} if "com_m" in b else b for b in tree["body"]]}


def test_vehicle_starts_straight_and_stays_at_rest_without_pressure():
    world, body = put_in(plant())
    start = counts(body)
    assert [start[f"{soft}_{d}"] for soft in ("fore", "aft") for d in ("d1", "d2")] == [15_000] * 4
    before = body.state()
    world.step(1_000_000)
    assert np.abs(body.state() - before).max() < 1e-12


def test_truth_holds_slides_in_metres_and_chambers_in_pascals_after_thrusts():
    actuators = {"jet": pusher("m2", [0, 0, 0], [0, 1, 0]), **softened.table()["actuator"]}
    world, body = put_in(plant(actuator=actuators, **PUSHER))
    joints = [f"{soft}_{part}" for soft in ("fore", "aft") for part in ("d1_m", "th1_rad", "th2_rad", "d2_m")]
    assert body.truth_fields[16:] == [*joints, "jet_n", *(f"{valve}_pa" for valve in VALVES), "battery_v"]
    assert truth(body)["aft_d2_m"] == 0.5 * LENGTH_M  # before the first step, too
    body.write([1500, *currents_ua({"fore_b": 0.2e6})])
    world.step(1_000_000)
    now, x, model = truth(body), body.state(), world.models[0]
    assert now["fore_b_pa"] == 0.2e6 and now["aft_c_pa"] == 0.0 and now["battery_v"] == 14.0
    assert now["fore_th1_rad"] == x[model.q["fore_th1"]][0] and now["aft_d2_m"] == x[model.q["aft_d2"]][0]


def test_chambers_stay_empty_when_their_valves_are_not_named():
    spec = plant()
    world = softened.World(softened.open_water((0.0, 0.0, 0.0)))
    body = world.add(spec, actuators=["fore_b"], sensors=["fore_a_p", "fore_b_p"], name="one")
    body.write([160_000])
    world.step(1_000_000)
    assert counts(body) == {"fore_a_p": 0, "fore_b_p": 20_000}


def test_vehicles_in_one_world_move_as_each_would_alone():
    pressed = [PRESSED, {"fore_c": 0.2e6, "aft_a": 0.1e6}]
    together = softened.World(softened.open_water((0.0, 0.0, 0.0), (9.0, 0.0, 0.0)))
    spec = plant(valve={"lag_s": 0.05})
    pair = [together.add(spec, actuators=VALVES, sensors=[], name=f"v{k}") for k in range(2)]
    for body, pressures_pa in zip(pair, pressed, strict=True):
        body.write(currents_ua(pressures_pa))
    together.step(1_000_000)
    for body, pressures_pa in zip(pair, pressed, strict=True):
        world, alone = put_in(spec)
        alone.write(currents_ua(pressures_pa))
        world.step(1_000_000)
        assert (alone.state()[13:] == body.state()[13:]).all() and (
            alone.state()[7:13] == body.state()[7:13]
        ).all()


def changed(**keys) -> PlantSpec:
    soft = softened.table()["soft"]
    return plant(soft={"fore": {**soft["fore"], **keys}, "aft": soft["aft"]})


@pytest.mark.parametrize(
    ("spec", "key", "words"),
    [
        (changed(joints=["fore_d1", "fore_th1", "x", "fore_d2"]), "soft.fore.joints", "there is no joint x in"),
        (changed(joints=["fore_d1", "fore_th2", "fore_th1", "fore_d2"]), "soft.fore.joints", "along its own y"),
        (changed(joints=["fore_th1", "fore_th1", "fore_th2", "fore_d2"]), "soft.fore.joints", "must be prismatic"),
        (changed(joints=["fore_d1", "fore_th1", "fore_th2", "aft_d2"]), "soft.fore.joints", "does not follow"),
        (changed(chambers=["fore_a", "fore_b", "fore_x"]), "soft.fore.chambers", "fore_x is not a valve; choose from"),
        (changed(chambers=["fore_a", "fore_b", "fore_b"]), "soft.fore.chambers", "is here twice"),
        (changed(stiff_pa=0.1e6), "soft.fore.stiff_pa", "is not above soft_pa"),
    ],
)  # fmt: skip
def test_inconsistent_soft_joint_is_refused_with_a_message(spec, key, words):
    found = list(validate_plant(spec))
    assert found and found[0][0] == key and words in found[0][1] and found[0][1].endswith(".")
    with pytest.raises(ValueError, match=f"^one: plant.{key}: "):
        put_in(spec)
