"""The electric ray of vehicles/ray.toml, the plant alone: two formulations agree, signs and energy are right."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.sim_plant.maximal.model import ImpulseModel
from caudal.sim_plant.tables import read as spec
from caudal.sim_plant.tables.tree import Ellipsoid, TreeSpec
from caudal.sim_plant.tree import trial
from caudal.sim_plant.tree.equilibrium import rotated
from caudal.sim_plant.tree.model import Model, read

DRIVEN_TAIL = "plant.tree.body.8.joint.mode=driven"  # the tail moves as given, whatever torque that takes
QUARTER = np.pi / 2


def tree_of(*overrides: str) -> TreeSpec:
    return read(VehicleFile.open(vehicles.find("ray"), list(overrides)))


@pytest.fixture(scope="module")
def swimmer() -> Model:
    return Model(tree_of(DRIVEN_TAIL))


def under_water(model: Model) -> np.ndarray:
    x = model.state()
    x[2] = -2.0
    return x


def beat(model: Model, steps: int, dt_s: float, lag_rad: float, hz: float = 1.0, **more: tuple) -> np.ndarray:
    """The tail's wave from rest within a second, the caudal fin behind by lag_rad.

    more: of another joint (offset, swing, Hz), begun as softly.
    """
    t = 0.5 * dt_s * np.arange(2 * steps + 1)
    motion, r = np.zeros((len(t), 3, len(model.driven))), np.clip(t, 0.0, 1.0)
    soft = np.array(
        [r**3 * (10 - 15 * r + 6 * r * r), 30 * r * r * (1 - r) ** 2, 60 * r * (1 - r) * (1 - 2 * r)]
    )
    waves = {"tail_yaw": (0.0, 0.5, hz, 0.0), "caudal": (0.0, 0.6, hz, lag_rad)}  # as [gait] has them
    for name, (offset, swing, own_hz, lag) in (waves | {k: (*v, 0.0) for k, v in more.items()}).items():
        w = 2 * np.pi * own_hz
        s, c = swing * np.sin(w * t - lag), swing * w * np.cos(w * t - lag)
        k = model.driven.index(name)
        motion[:, 0, k] = soft[0] * (offset + s)
        motion[:, 1, k] = soft[1] * (offset + s) + soft[0] * c
        motion[:, 2, k] = soft[2] * (offset + s) + 2 * soft[1] * c - soft[0] * w * w * s
    return motion


def ahead_m_s(model: Model, states: np.ndarray, dt_s: float) -> float:
    """Mean speed of the centre of mass along the heading, over the last four seconds, from states dt_s apart."""
    last = states[-1 - round(4 / dt_s) :]
    centres = np.array([model.centre_of_mass(x) for x in last])
    w, i, j, k = last[:-1, 3:7].T
    heading = np.arctan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k))
    way = np.diff(centres, axis=0)
    return float((way[:, 0] * np.cos(heading) + way[:, 1] * np.sin(heading)).sum() / 4)


def farthest_m(model: Model, x: np.ndarray, y: np.ndarray) -> float:
    return max(float(np.linalg.norm(model.pose(x, b)[1] - model.pose(y, b)[1])) for b in model.bodies)


def test_ray_has_nine_bodies_and_hinges_and_the_size_and_mass_of_raybot(swimmer):
    bodies = [body for body in swimmer.spec.body if body.mass_kg > 0]
    assert len(bodies) == 9 and len(swimmer.joints) == 9 and swimmer.freedoms == 15
    weight_kg = sum(body.mass_kg for body in bodies)
    assert weight_kg == pytest.approx(5.5, abs=1e-6)
    x, reach, displaced_kg = swimmer.state(), [], 0.0
    for body in bodies:
        assert isinstance(body.hull, Ellipsoid)
        turn, at = swimmer.pose(x, body.name)
        centre, semi = at + turn @ body.hull.at_m, np.array(body.hull.semi_axes_m)
        reach += [centre - semi, centre + semi]
        displaced_kg += 1000 * 4 / 3 * np.pi * float(np.prod(semi))
    size_m = np.ptp(np.array(reach), axis=0)
    assert size_m[0] == pytest.approx(0.75, abs=0.005) and size_m[1] == pytest.approx(0.50, abs=0.005)
    assert 0 < displaced_kg - weight_kg < 0.02  # slightly buoyant
    x = under_water(swimmer)
    assert abs(swimmer.bias(x)[4]) < 1e-3 * weight_kg * 9.81  # N m: it lies level


def test_ray_added_mass_matches_projected_areas_and_is_4_5_times_the_caudal_fins(swimmer):
    for body in swimmer.spec.body:
        if body.mass_kg == 0:
            continue
        a, b, c = 2 * np.array(body.hull.semi_axes_m)
        wanted = [np.pi * 1000 * (p * q) ** 2 / (6 * (p + q)) for p, q in ((b, c), (a, c), (a, b))]
        assert body.added_inertia.diagonal[:3] == pytest.approx(wanted, rel=5e-3)
        assert body.foil and body.drag  # every body lifts and drags
    caudal = swimmer.spec.body[-1]
    assert caudal.added_inertia.diagonal[1] / caudal.mass_kg == pytest.approx(4.5, abs=0.1)


@pytest.mark.parametrize("hz", [1.0, 2.0])
def test_ray_swims_forward_backward_or_stays_with_the_waves_direction(swimmer, hz):
    speed = {}
    for lag_rad in (QUARTER, -QUARTER, 0.0):
        motion = beat(swimmer, 8000, 0.002, lag_rad, hz)
        states = swimmer.rollout(under_water(swimmer), 8000, 0.002, driven=motion, every=5)
        speed[lag_rad] = ahead_m_s(swimmer, states, 0.01)
    assert speed[QUARTER] > 0.1 and speed[-QUARTER] < -0.1
    assert abs(speed[0.0]) < 0.02


def swum_without(swimmer: Model, mass_of: Model, lag_rad: float) -> float:
    """Speed of a build whose accelerations meet mass_of's mass matrix, and whose forces are all the vehicle's.

    What its inertia lacks against the vehicle's is given as a force, step by step.
    """
    steps, dt_s = 8000, 0.001
    motion, x = beat(swimmer, steps, dt_s, lag_rad), under_water(swimmer)
    driven = [swimmer.v[name].start for name in swimmer.driven]
    yields = [k for k in range(swimmer.freedoms) if k not in driven]
    states = [x]
    for n in range(steps):
        acceleration = np.zeros(swimmer.freedoms)
        acceleration[driven] = motion[2 * n, 2]
        mass, bias = mass_of.mass_matrix(x), swimmer.bias(x)
        asked = bias + mass @ acceleration
        acceleration[yields] = np.linalg.solve(mass[np.ix_(yields, yields)], -asked[yields])
        tau = swimmer.inverse_dynamics(x, acceleration)
        x = swimmer.step(x, tau, dt_s, "semi-implicit", motion[2 * n : 2 * n + 3])
        states.append(x)
    return ahead_m_s(swimmer, np.array(states), dt_s)


def test_ray_swims_backward_when_the_added_mass_is_missing_on_the_left(swimmer):
    bodies = [replace(body, added_inertia=None) for body in swimmer.spec.body]
    forgets = Model(replace(swimmer.spec, body=bodies))
    motion = beat(swimmer, 8000, 0.001, QUARTER)
    truth = ahead_m_s(swimmer, swimmer.rollout(under_water(swimmer), 8000, 0.001, driven=motion), 0.001)
    whole, broken = (swum_without(swimmer, mass_of, QUARTER) for mass_of in (swimmer, forgets))
    assert whole == pytest.approx(truth, rel=0.05) and whole > 0.05  # the build itself is sound
    assert broken < -0.1


def test_impulses_and_recursion_agree_on_the_ray_with_everything_on(swimmer):
    model = ImpulseModel(swimmer.spec, iterations=5)
    x, away_m = under_water(swimmer), []
    x[7], x[swimmer.q["left_front_flap"]] = 0.2, 0.3
    more = {"tail_pitch": (0.1, 0.1, 0.7), "left_fin": (0.2, 0.2, 0.9), "right_fin": (-0.1, 0.3, 0.7)}

    def motion(steps: int) -> np.ndarray:
        return beat(swimmer, steps, 4 / steps, QUARTER, 1.5, **more)

    truth = swimmer.rollout(x, 16000, 0.00025, driven=motion(16000), every=16000)[-1]
    for steps in (4000, 8000):
        states = model.rollout(x, steps, 4 / steps, driven=motion(steps), every=steps // 200)
        assert model.gap_m(states) < 1e-6 and model.gap_rad(states) < 1e-6
        away_m.append(farthest_m(swimmer, model.to_tree(states[-1]), truth))
    assert np.linalg.norm(truth[:3] - x[:3]) > 0.5  # it went somewhere
    assert away_m[0] < 1e-4 and away_m[1] < away_m[0] / 3  # required: 1 mm, and half of it


def test_impulses_and_recursion_agree_on_the_ray_with_a_torque_joint_in_the_tail():
    model = ImpulseModel(tree_of(), iterations=5)
    tree, away_m = model.tree, []
    x = under_water(tree)
    x[7] = 0.2

    def torque(steps: int) -> np.ndarray:
        tau = np.zeros((steps, tree.freedoms))
        tau[:, tree.v["tail_yaw"].start] = 1.5 * np.sin(2 * np.pi * 4 / steps * (np.arange(steps) + 0.5))
        return tau

    truth = tree.rollout(x, 16000, 0.00025, torque(16000), every=16000)[-1]
    for steps in (4000, 8000):
        states = model.rollout(x, steps, 4 / steps, torque(steps), every=steps // 200)
        assert model.gap_m(states) < 1e-6
        away_m.append(farthest_m(tree, model.to_tree(states[-1]), truth))
    assert away_m[0] < 1e-4 and away_m[1] < away_m[0] / 3


def test_ray_energy_never_grows_in_still_water_from_any_start():
    model, rng = Model(tree_of()), np.random.default_rng(7)
    for _ in range(6):
        x = rotated(under_water(model), *rng.uniform(-1.0, 1.0, 3))
        x[7:13] = rng.uniform(-0.6, 0.6, 6)
        for name in model.joints:
            x[model.q[name]] = rng.uniform(-0.6, 0.6)
            if name not in model.driven:
                x[model.qd[name]] = rng.uniform(-3.0, 3.0)
        energy = np.array([model.energy(state) for state in model.rollout(x, 5000, 0.001, every=5)])
        assert np.diff(energy).max() < 1e-9 and energy[0] - energy[-1] > 0.1  # J


def test_ray_moves_in_the_mirror_image_from_a_mirrored_start(swimmer):
    ends = []
    for side in (1.0, -1.0):
        motion = side * beat(swimmer, 4000, 0.001, QUARTER)
        fin = beat(swimmer, 4000, 0.001, QUARTER, left_fin=(0.5, 0.2, 0.8))[
            :, :, swimmer.driven.index("left_fin")
        ]
        motion[:, :, swimmer.driven.index("left_fin" if side > 0 else "right_fin")] = fin
        x = swimmer.rollout(under_water(swimmer), 4000, 0.001, driven=motion, every=4000)[-1]
        ends.append(x[:7])
    (x, y, z, w, i, j, k), mirrored = ends
    assert abs(k) > 0.01 and abs(i) > 0.003  # it turned and banked
    assert np.abs(np.array([x, -y, z, w, -i, j, -k]) - mirrored).max() < 1e-9


BALLAST = (
    "plant.tree.body.0.mass_kg=4.241",
    "plant.tree.body.0.com_m=[0.034,0.0,-0.009]",
)  # 0.1 kg in the nose


def glides(fins_rad: float, *overrides: str) -> tuple[float, float]:
    """Speed (m/s) and slope (degrees below the horizon) of trial.glide at its end; steady, or it fails."""
    trim = [f"trial.glide.start.joints.{side}_fin={fins_rad}" for side in ("left", "right")]
    file = VehicleFile.open(vehicles.find("ray"), [*overrides, *trim])
    plant = spec.read(file)
    assert plant.tree is not None
    model, states = Model(plant.tree), []
    trial.run(plant.tree, spec.read_trials(file, plant)["glide"], on_sample=lambda _, x: states.append(x))
    before, last, end = (model.centre_of_mass(states[k]) for k in (-1001, -501, -1))
    v, v_before = (end - last) / 5, (last - before) / 5
    assert np.linalg.norm(v - v_before) < 0.01 * np.linalg.norm(v)
    return float(np.linalg.norm(v)), float(np.degrees(np.arctan2(-v[2], np.hypot(v[0], v[1]))))


def test_ray_glides_steadily_with_ballast_and_slower_when_shallower():
    runs = [glides(fins_rad, *BALLAST) for fins_rad in (-0.15, -0.05, 0.05, 0.15)]
    speeds, slopes = (np.array(column) for column in zip(*runs, strict=True))
    assert (np.diff(slopes) < -0.5).all() and (np.diff(speeds) < -0.01).all()
    assert slopes[0] < 60 and slopes[-1] > 10


def test_ray_rises_without_ballast_and_the_trial_shows_it():
    file = VehicleFile.open(vehicles.find("ray"))
    plant = spec.read(file)
    assert plant.tree is not None
    short = replace(spec.read_trials(file, plant)["glide"], duration_s=15.0)
    assert trial.run(plant.tree, short)["depth_m"] < 0.9  # from 1.0


def test_ray_energy_trial_finds_no_gain():
    file = VehicleFile.open(vehicles.find("ray"))
    plant = spec.read(file)
    assert plant.tree is not None
    figures = trial.run(plant.tree, spec.read_trials(file, plant)["energy"])
    assert figures["energy_gain"] == 0 and figures["energy_error"] > 0.1
