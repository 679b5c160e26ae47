"""`caudal excite`: limits, gradients, the reference's figures, reproducibility, and error messages."""

import json
import tomllib
from pathlib import Path

import msgspec
import numpy as np
import pytest

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.onboard.guidance.bezier import Trajectory
from caudal.onboard.tables.trajectory import TrajectoryTable, disagreements
from caudal.tools.cli.main import main
from caudal.tools.excite import output
from caudal.tools.excite.bezier import curve, motion, points
from caudal.tools.excite.command import find
from caudal.tools.excite.initial_guess import middle, start
from caudal.tools.excite.noise import row_noise
from caudal.tools.excite.objective import OBJECTIVES, Objective, quality
from caudal.tools.excite.optimizer import barrier
from caudal.tools.excite.tables import divided, read
from caudal.tools.identify import rigid_body_model

VEHICLE = Path(vehicles.find("rov")).read_text()


def vehicle_file(*overrides: str) -> VehicleFile:
    return VehicleFile.parse(VEHICLE, "tank.toml", overrides)


def shape_of(*overrides: str):
    return curve(read(vehicle_file(*overrides)))


@pytest.fixture(scope="module")
def reference():
    return shape_of()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("excite") / "tank.toml"
    path.write_text(VEHICLE)
    return path


@pytest.fixture(scope="module")
def best(path):
    """The trajectory that the default command writes."""
    out = path.with_name("best.toml")
    assert main(["excite", str(path), "--out", str(out)]) == 0
    table = tomllib.loads(out.read_text())["trajectory"]["excite"]
    return msgspec.convert(table, TrajectoryTable)


@pytest.fixture(scope="module")
def raw(reference):
    return find(reference, "cond", None, middle(reference, "tank"), 3, 0)


# The numbers --------------------------------------------------------------------------------------------------


def test_curve_has_as_many_constraints_as_the_equations(reference):
    assert reference.spread.shape == (105, 87)  # 420 numbers, 72 equalities, 348 free
    assert 4 * reference.limits.rows.shape[0] == 1152
    assert len(motion(reference, points(reference, middle(reference, "tank")))[0]) == 1401


@pytest.mark.parametrize("kind", OBJECTIVES)
@pytest.mark.parametrize("power", [None, 16.0])
def test_gradients_equal_central_differences(reference, kind, power):
    objective = Objective(reference, kind, row_noise(vehicle_file(), reference.table))
    random = np.random.default_rng(1)
    free = start(reference, middle(reference, "tank"), seed=5, turn=0)
    _, slope = objective(free, power)
    for _ in range(5):
        way = random.normal(size=free.shape)
        way *= 1e-4 / np.linalg.norm(way)
        rise = objective(free + way, power)[0] - objective(free - way, power)[0]
        assert np.vdot(slope, way) == pytest.approx(rise / 2, rel=1e-5)


def test_level_model_equals_the_equation_of_motion():
    """M a + C(v) v + D v + g of four freedoms (Panetsos and Kyriakopoulos eq. 2, 3), by hand."""
    random = np.random.default_rng(3)
    names = rigid_body_model.LEVEL_SETS["linear"]
    theta = random.normal(size=len(names))
    m = dict(zip(names, theta, strict=True))
    (u, v, w, r), acceleration = random.normal(size=4), random.normal(size=4)
    inertia = np.array(
        [
            [m["m11"], 0, m["m13"], 0],
            [0, m["m22"], 0, m["m26"]],
            [m["m13"], 0, m["m33"], 0],
            [0, m["m26"], 0, m["m66"]],
        ]
    )
    drag = np.array([[m[f"d{i}{j}"] for j in (1, 2, 3, 6)] for i in (1, 2, 3, 6)])
    a1, a2 = m["m11"] * u + m["m13"] * w, m["m22"] * v + m["m26"] * r
    turning = np.array([-r * a2, r * a1, 0.0, u * a2 - v * a1])
    assert np.vdot(turning, [u, v, w, r]) == pytest.approx(0.0, abs=1e-12)
    expected = inertia @ acceleration + turning + drag @ [u, v, w, r] + [0, 0, m["net_weight"], 0]
    six, change = np.array([[u, v, w, 0, 0, r]]), np.zeros((1, 6))
    change[0, list(rigid_body_model.LEVEL)] = acceleration
    s = rigid_body_model.coefficients(names, rigid_body_model.LEVEL)
    found = rigid_body_model.regressor(s, rigid_body_model.features(six, change)) @ theta
    assert found == pytest.approx(expected, abs=1e-12)


def in_base_frame(pose, velocity):
    """Velocities u v w p q r of a level vehicle, base frame with z up."""
    x, y, depth, turn = velocity
    c, s = np.cos(pose[3]), np.sin(pose[3])
    return np.array([c * x + s * y, c * y - s * x, -depth, 0.0, 0.0, turn])


def test_figures_equal_those_of_the_full_regressor(reference):
    """Compared with rigid_body_model's regressor on the onboard curve, with accelerations by small differences."""
    free = start(reference, middle(reference, "tank"), seed=2, turn=0)
    table = TrajectoryTable(segment_s=reference.table.segment_s, points=points(reference, free).tolist())
    trajectory, step_s = Trajectory(table), 1e-4
    v, a = np.empty((1401, 6)), np.empty((1401, 6))
    for k in range(1401):
        moved = []
        for t_s in (0.2 * k - step_s, 0.2 * k, 0.2 * k + step_s):
            trajectory.at(t_s)
            moved.append(in_base_frame(trajectory.pose, trajectory.velocity))
        v[k], a[k] = moved[1], (moved[2] - moved[0]) / (2 * step_s)
    s = rigid_body_model.coefficients(rigid_body_model.LEVEL_SETS["linear"], rigid_body_model.LEVEL)
    y = rigid_body_model.regressor(s, rigid_body_model.features(v, a))
    found = quality(reference, free)
    assert found.condition_number == pytest.approx(np.linalg.cond(y), rel=1e-6)
    scaled = np.linalg.cond(y / np.linalg.norm(y, axis=0))
    assert found.scaled_condition_number == pytest.approx(scaled, rel=1e-6)
    assert found.log_det == pytest.approx(np.linalg.slogdet(y.T @ y)[1], abs=1e-4)
    assert found.rms_heave_acc == pytest.approx(np.sqrt(np.mean(a[:, 2] ** 2)), rel=1e-6)


def test_random_starts_are_inside_all_limits_and_differ(reference):
    centre = middle(reference, "tank")
    starts = [start(reference, centre, seed, turn) for seed in (0, 1) for turn in (0, 1)]
    assert all(np.isfinite(barrier(reference.limits, free)[0]) for free in starts)
    assert all(np.abs(a - b).max() > 0.01 for k, a in enumerate(starts) for b in starts[:k])


def test_three_starts_reach_a_raw_condition_number_of_119(reference, raw):
    best = min(raw, key=lambda one: one.found.value).found
    found = quality(reference, best.free)
    assert found.condition_number <= 119.0
    assert found.condition_number < 0.7 * quality(reference, raw[0].start).condition_number


def test_optimum_of_cond_is_the_inverse_of_the_heave_acceleration(reference, raw):
    for one in raw:
        found = quality(reference, one.found.free)
        assert found.condition_number * found.rms_heave_acc == pytest.approx(1.0, rel=0.01)


def test_each_objective_is_best_by_its_own_figure(reference):
    noise = row_noise(vehicle_file(), reference.table)
    centre = middle(reference, "tank")
    found = {
        kind: quality(reference, find(reference, kind, noise, centre, 1, 0)[0].found.free, noise)
        for kind in OBJECTIVES
    }
    assert min(found, key=lambda kind: found[kind].condition_number) == "cond"
    assert min(found, key=lambda kind: found[kind].scaled_condition_number) == "scaled"
    assert max(found, key=lambda kind: found[kind].log_det) == "d"


def test_more_segments_excite_more_within_the_same_limits(reference, raw):
    table = divided(reference.table, 10)
    assert table.excited[::2] == table.excited[1::2] == reference.table.excited
    shape = curve(table)
    (one,) = find(shape, "cond", None, middle(shape, "tank"), 1, 0)
    assert quality(shape, one.found.free).condition_number < 33
    assert output.violation(shape, points(shape, one.found.free)) == 0


def test_noise_falls_with_the_rate_and_rises_with_a_shorter_window():
    noise = row_noise(vehicle_file(), read(vehicle_file()))
    per_kg = noise / [28, 40, 48, 1.6]
    reading_m = np.hypot(0.003, 0.001 / 12**0.5)
    assert per_kg[:3] == pytest.approx([np.sqrt(720 / 40) * reading_m / 4] * 3)
    faster = row_noise(vehicle_file("plant.sensor.depth.rate_hz=80.0"), read(vehicle_file()))
    assert faster / noise == pytest.approx([1, 1, 0.5, 1])
    shorter = vehicle_file("excite.smooth_s=1.0")
    assert row_noise(shorter, read(shorter)) / noise == pytest.approx([2**2.5] * 3 + [2**1.5])


def test_parabolas_fitted_to_noise_have_the_predicted_noise():
    random = np.random.default_rng(0)
    times = (np.arange(40) + 0.5) / 20 - 1.0
    readings = random.normal(scale=0.003, size=(40, 4000))
    second = 2 * np.polyfit(times, readings, 2)[0]
    first = np.polyfit(times, readings, 2)[1]
    assert second.std() == pytest.approx(0.003 * np.sqrt(720 / 40) / 4, rel=0.05)
    assert first.std() == pytest.approx(0.003 * np.sqrt(12 / 40) / 2, rel=0.05)


# The trajectory that is written -------------------------------------------------------------------------------


def test_written_trajectory_is_valid_and_smooth_at_its_joins(best):
    assert list(disagreements(best)) == []


def test_written_trajectory_is_within_all_limits(reference, best):
    assert output.violation(reference, np.array(best.points)) <= 1e-9
    table, trajectory = reference.table, Trajectory(best)
    for k in range(28001):
        trajectory.at(k * 0.01)
        segment = min(int(k * 0.01 / 56), 4)
        for kind in ("pose", "velocity", "acceleration"):
            low, high = table.bounds(kind, segment)
            if k % 5600:  # a join belongs to both
                values = getattr(trajectory, kind)
                assert all(a - 1e-9 <= b <= c + 1e-9 for a, b, c in zip(low, values, high, strict=True))


def test_trajectory_starts_and_ends_at_rest_at_the_given_poses(best):
    trajectory = Trajectory(best)
    for t_s in (1e-9, 280.0 - 1e-9):
        trajectory.at(t_s)
        assert trajectory.pose == pytest.approx([3.15, 1.85, 0.9, 0.0], abs=1e-8)
        assert trajectory.velocity == pytest.approx([0.0] * 4, abs=1e-8)
        assert trajectory.acceleration == pytest.approx([0.0] * 4, abs=1e-8)


def test_pose_velocity_and_acceleration_are_continuous_at_joins(best):
    trajectory = Trajectory(best)
    for join_s in (56.0, 112.0, 168.0, 224.0):
        sides = []
        for t_s in (join_s - 1e-9, join_s + 1e-9):
            trajectory.at(t_s)
            sides.append([*trajectory.pose, *trajectory.velocity, *trajectory.acceleration])
        assert sides[0] == pytest.approx(sides[1], abs=1e-8)


def test_segments_of_different_length_join_smoothly():
    shape = shape_of("excite.segment_s=[40.0, 60.0, 50.0, 70.0, 60.0]")
    control = points(shape, start(shape, middle(shape, "tank"), 0, 0))
    table = TrajectoryTable(segment_s=shape.table.segment_s, points=control.tolist())
    assert list(disagreements(table)) == []
    assert output.violation(shape, control) == 0


def test_trajectory_may_end_at_another_pose_than_its_start():
    shape = shape_of("excite.end.x_m=4.0", "excite.end.heading_rad=1.0")
    control = points(shape, start(shape, middle(shape, "tank"), 0, 0))
    assert control[-1, -1] == pytest.approx([4.0, 1.85, 0.9, 1.0])
    assert output.violation(shape, control) == 0


# The command --------------------------------------------------------------------------------------------------


def excite(capsys, path, *words, code=0):
    assert main(["excite", str(path), *words]) == code
    return capsys.readouterr()


def test_excite_writes_the_same_trajectory_with_the_same_seed(capsys, path, tmp_path):
    words = ["--starts", "1", "--seed", "3", "--objective", "cond", "--json", "--out"]
    results = [
        json.loads(excite(capsys, path, *words, str(tmp_path / name)).out) for name in ("a.toml", "b.toml")
    ]
    assert (tmp_path / "a.toml").read_bytes() == (tmp_path / "b.toml").read_bytes()
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    a, b = ({k: v for k, v in r.items() if k not in ("cpu_s", "out", "picture")} for r in results)
    assert a == b
    assert a["samples"] == 1401 and a["max_constraint_violation"] <= 1e-9
    assert a["cond_times_rms_heave_acc"] == pytest.approx(1.0, rel=0.01)
    assert results[0]["cpu_s"] > 0


def test_excite_prints_the_command_that_follows_the_trajectory(capsys, path, tmp_path):
    out = str(tmp_path / "a.toml")
    said = excite(capsys, path, "--starts", "1", "--segments", "3", "--out", out)
    assert f"--scenario excite --with {out}" in said.out and "best so far" in said.err


def test_slsqp_is_not_better_from_the_same_start(capsys, path, tmp_path):
    """A small problem, to save time; `caudal bench excite` measures the times."""
    small = [
        "--set",
        "excite.order=8",
        "--set",
        "excite.sample_s=1.0",
        "--starts",
        "1",
        "--objective",
        "cond",
    ]
    words = [*small, "--against", "slsqp", "--json", "--out", str(tmp_path / "a.toml")]
    result = json.loads(excite(capsys, path, *words).out)
    assert result["slsqp_cpu_s"] > 0 and result["slsqp_to_own_cpu"] > 0
    assert result["condition_number"] <= result["slsqp_condition_number"]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["excite.start.x_m=9.0"], ["start.x_m", "start outside the tank", "0.65 to 5.65"]),
        (["excite.end.depth_m=0.1"], ["end.depth_m", "outside the tank"]),
        (["excite.low.y_m=3.5"], ["low.y_m", "not below"]),
        (["excite.velocity.x_m_s=0.001", "excite.end.x_m=5.0"], ["no trajectory of x", "velocity", "widen"]),
        (["excite.end.depth_m=1.3", "excite.excited.4=[\"x\"]"], ["depth, pose in segment 5", "move it"]),
        (["excite.excited=[[\"x\"]]"], ["excited", "1 entries for 5 segments"]),
        (["excite.excited.0=[\"surge\"]"], ["excited", "surge"]),
        (["excite.acceleration.depth_m_s2=0.0"], ["depth_m_s2"]),
        (["excite.segment_s=[]"], ["segment_s"]),
        (["excite.sample_s=5.0"], ["sample_s", "fewer samples"]),
        (["excite.orders=3"], ["orders"]),
        (["estimate.x=\"\""], ["estimate.x", "--objective cond"]),
        (["estimate.x=\"sonar\""], ["sonar"]),
    ],
)  # fmt: skip
def test_excite_prints_one_sentence_for_impossible_limits(capsys, path, overrides, words):
    sets = [word for override in overrides for word in ("--set", override)]
    said = excite(capsys, path, "--starts", "1", *sets, code=2).err
    assert all(word in said for word in words), said
    assert "Traceback" not in said and said.count("\n") == 1


def test_excite_names_the_missing_table(capsys, tmp_path):
    for cut, words in (("[control.model]", "control"), ("[excite]", "excite: there is no such table")):
        bare = tmp_path / "bare.toml"
        bare.write_text(VEHICLE.replace(cut, "[spare]"))
        assert words in excite(capsys, bare, "--starts", "1", code=2).err


def test_excite_rejects_bad_arguments_before_the_search(capsys, path, tmp_path):
    assert ".toml" in excite(capsys, path, "--out", "a.csv", code=2).err
    assert "more than 60" in excite(capsys, path, "--segments", "1000", code=2).err
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "a.toml")
    assert (
        "cannot write"
        in excite(capsys, path, "--starts", "1", "--objective", "cond", "--out", out, code=2).err
    )


def test_disagreements_names_jumps_and_extra_segments():
    still = [[1.0, 1.0, 1.0, 0.0]] * 4
    moved = [[1.0, 1.0, 1.5, 0.0]] * 4
    (jump,) = disagreements(TrajectoryTable(segment_s=[5.0, 5.0], points=[still, moved]))
    assert jump[0] == "points.1" and "pose in depth jumps by 0.5" in jump[1]
    kink = [[1.0 + 0.1 * k, 1.0, 1.0, 0.0] for k in range(4)]
    (jump,) = disagreements(TrajectoryTable(segment_s=[5.0, 5.0], points=[still, kink]))
    assert "velocity in x jumps" in jump[1]
    (count,) = disagreements(TrajectoryTable(segment_s=[5.0], points=[still, still]))
    assert "2 segments, but segment_s has 1" in count[1]
