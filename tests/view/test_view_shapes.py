"""Shapes in a view: bodies at the plant's poses, hulls with the plant's volume, errors of [appearance]."""

import numpy as np
import pytest

from caudal.onboard.log.reader import Log
from caudal.sim_plant.tables.tree import Body, Ellipsoid, Tube
from caudal.sim_plant.tables.water import Foil
from caudal.sim_plant.tree.model import Model
from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import open_scenario, open_vehicle
from caudal.tools.log.poses import Skeleton, attitude, quaternion
from caudal.tools.log.recorded_run import RecordedRun, Run
from caudal.tools.view.foil_mesh import fins, replaces_hull
from caudal.tools.view.hulls import hull_mesh, hull_volume, immersed, lobed
from caudal.tools.view.skin import make_bellows
from caudal.tools.view.vehicle import link_meshes, part_mesh
from tests.conftest import ROOT

VEHICLES = ("fish", "snake", "ray", "rov", "hybrid")


def volume_m3(mesh) -> float:
    """Returns the volume by the divergence theorem, positive if all faces point outwards."""
    a, b, c = (mesh[0][mesh[1][:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("name", VEHICLES)
def test_skeleton_has_the_poses_of_the_plant(name):
    vehicle = open_vehicle(name)
    model, skeleton = Model(vehicle.plant.tree), Skeleton(vehicle.plant)
    rng = np.random.default_rng(1)
    for _ in range(5):
        x = model.state()
        x[:3] = rng.normal(size=3)
        roll, pitch, heading = rng.uniform(-1, 1, 3)
        x[3:7] = quaternion(attitude(roll, pitch, heading))
        joints = dict(zip(model.joints, rng.uniform(-0.8, 0.8, len(model.joints)), strict=True))
        for joint, value in joints.items():
            x[model.q[joint]] = value
        turns, places = skeleton.pose(joints)
        for body in model.bodies:
            turn, at = model.pose(x, body)
            k = skeleton.index[body]
            assert np.allclose(attitude(roll, pitch, heading) @ turns[k], turn, atol=1e-12)
            assert np.allclose(x[:3] + attitude(roll, pitch, heading) @ places[k], at, atol=1e-12)


@pytest.mark.parametrize("name", VEHICLES)
def test_meshes_are_closed_and_hulls_have_the_plants_volume(name):
    vehicle = open_vehicle(name)
    for body in vehicle.plant.tree.body:
        if body.hull is not None:
            mesh, (_, exact_m3) = hull_mesh(body.hull), hull_volume(body.hull)
            assert volume_m3(mesh) == pytest.approx(exact_m3, rel=0.03), (
                body.name
            )  # flat faces, bevelled ends
    for part in vehicle.appearance.part:
        assert volume_m3(part_mesh(part)) > 0, part


def test_fin_has_the_area_and_position_of_its_foil():
    bodies = {body.name: body for body in open_vehicle("ray").plant.tree.body}
    for name, body in bodies.items():
        meshes = fins(body)
        assert bool(meshes) == replaces_hull(body) == (name not in ("disc", "tail", "carrier")), name
        for mesh, foil in zip(meshes, body.foil, strict=False):
            assert volume_m3(mesh) > 0, name
            a, b, c = (mesh[0][mesh[1][:, k]] for k in range(3))
            beyond = (a + b + c)[:, 1] * foil.at_m[1] >= 0  # the root of a wing is inside the disc
            shadow_m2 = 0.25 * np.abs(np.cross(b - a, c - a) @ foil.normal)[beyond].sum()  # two sides
            assert shadow_m2 == pytest.approx(foil.area_m2, rel=0.1), name
    (wing,), (caudal,) = fins(bodies["left_front"]), fins(bodies["caudal"])
    assert wing[0][:, 1].min() < 0 < 0.1 < wing[0][:, 1].max(), "the wing does not start inside the disc"
    assert np.ptp(caudal[0][:, 2]) > 0.1 > np.ptp(caudal[0][:, 1]), "the tail fin is not upright"
    alone = fins(
        Body(name="keel", mass_kg=0.1, foil=[Foil(at_m=(0.1, 0, 0), normal=(0, 1, 0), area_m2=0.01)])
    )
    assert len(alone) == 1 and np.ptp(alone[0][0][:, 0]) == pytest.approx(0.1, rel=0.1)


def test_lobed_splits_lobes_from_valleys():
    hull = next(body.hull for body in open_vehicle("snake").plant.tree.body if body.name == "shell_3")
    lobes, valleys = lobed(hull, hull_mesh(hull))
    ends = [np.linalg.norm(mesh[0][mesh[1]].mean(axis=1)[:, 1:], axis=1).max() for mesh in (lobes, valleys)]
    assert ends[0] == pytest.approx(1.06 * 0.045, rel=0.01) and ends[1] < 0.98 * 0.045
    angles = np.arctan2(*(valleys[0][valleys[1]].mean(axis=1)[:, k] for k in (1, 2)))
    found = np.histogram(angles, bins=np.radians([-180, -120, -90, -30, 30, 90, 120, 180]))[0] > 0
    assert found[[0, 2, 4, 6]].all() and not found[3], "the valleys are not between the lobes"


def test_vehicle_of_the_strouhal_model_has_head_links_and_fin():
    plant = open_vehicle(str(ROOT / "tests" / "vehicles" / "eel.toml")).plant
    head, first, last = link_meshes(plant)
    assert all(volume_m3(mesh) > 0 for mesh in (head, first, last))
    assert head[0][:, 0].max() == pytest.approx(0.12, rel=0.01) and first[0][:, 0].min() == pytest.approx(
        -0.12
    )
    assert np.ptp(last[0][:, 2]) > np.ptp(first[0][:, 2]), "there is no tail fin"


@pytest.mark.parametrize("hull", [
    Ellipsoid(at_m=(0.1, 0.0, 0.02), semi_axes_m=(0.3, 0.1, 0.05)),
    Ellipsoid(semi_axes_m=(0.02, 0.2, 0.2)),
])  # fmt: skip
def test_immersed_share_of_an_ellipsoid_matches_random_points(hull):
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (200_000, 3))
    points = points[(points**2).sum(axis=1) < 1] * hull.semi_axes_m
    turn = attitude(0.4, -0.7, 1.0)
    for height_m in (-0.4, -0.03, 0.0, 0.04, 0.4):
        below = float(((points @ turn.T)[:, 2] + height_m < 0).mean())
        assert immersed(hull, turn, height_m) == pytest.approx(below, abs=0.005)
    tube = Tube(from_m=(0, 0, 0), to_m=(1, 0, 0), radius_m=0.1)
    assert immersed(tube, np.eye(3), -0.2) == 1 and immersed(tube, np.eye(3), 0.2) == 0


def test_bellows_meet_both_faces_at_right_angles():
    plant = open_vehicle("hybrid").plant
    skeleton = Skeleton(plant)
    soft = make_bellows(skeleton, plant, plant.soft["aft"], 0.11)
    turns, places = skeleton.pose({"aft_d1": 0.15, "aft_th1": 0.3, "aft_th2": -0.9, "aft_d2": 0.15})
    bones, at = soft.bones(turns, places)
    tail, mid = skeleton.index["tail"], skeleton.index["mid"]
    assert np.allclose(at[0], places[tail] + [0.8, 0, 0]) and np.allclose(at[-1], places[mid])
    assert np.allclose(bones[0][:, 0], turns[tail][:, 0]) and np.allclose(bones[-1][:, 0], turns[mid][:, 0])


def test_snapshot_has_the_last_rows_before_an_instant(tmp_path):
    path = tmp_path / "ray.mcap"
    assert main(["run", "ray", "--scenario", "cruise", "--for", "2", "--log", str(path), "--json"]) == 0
    recorded, log = RecordedRun(path), Log(path)
    run = Run(recorded)
    truth = log.topics["/ray_1/truth"]
    rng = np.random.default_rng(0)
    for time_s in rng.uniform(0, recorded.end_s, 50):
        k = max(i for i, time_ns in enumerate(truth.time_ns) if time_ns <= round(time_s * 1e9))
        row = dict(zip(truth.fields, truth.rows[k], strict=True))
        snapshot = recorded.at(time_s)
        assert run.base(snapshot, "ray_1")[:4] == tuple(
            row[f] for f in ("x_m", "y_m", "depth_m", "heading_rad")
        )
        joints = Skeleton(run.vehicle.plant).joints
        assert [run.joint(snapshot, "ray_1", j) for j in joints] == [row[f"{j}_rad"] for j in joints]


@pytest.mark.parametrize(("key", "found"), [
    ('appearance.colour="orange"', "appearance.colour"),
    ('appearance.skin=["head", "lnk_1"]', "there is no body lnk_1"),
    ('appearance.part=[{kind="ball", body="nose", semi_axes_m=[1,1,1]}]', "there is no body nose"),
    ('appearance.part=[{kind="cone"}]', "appearance.part.0"),
])  # fmt: skip
def test_wrong_look_gives_one_message(capsys, key, found):
    assert main(["run", "fish", "--for", "1", "--set", key]) == 2
    message = capsys.readouterr().err
    assert found in message and message.count("\n") == 1


@pytest.mark.parametrize(("words", "found"), [
    (["nothing.mcap"], "no log"),
    (["localhost:x"], "neither a log"),
    (["127.0.0.1:1", "--port", "0"], "no run to view"),
    (["{log}", "--screenshot", "a.bmp"], ".bmp is not supported"),
    (["{log}", "--screenshot", "/proc/x.png"], "/proc/x.png: cannot be written"),
    (["{log}", "--video", "/proc/x.mp4"], "/proc/x.mp4: cannot be written"),
    (["{log}", "--screenshot", "{folder}"], "{folder}: cannot be written (Is a directory)"),
    (["{log}", "--at", "99"], "goes from 0 to"),
    (["{log}", "--size", "big"], "not a size"),
    (["{log}", "--port", "65536"], "the largest port is 65535"),
    (["{log}", "--host", "nobody.invalid"], "cannot be served on nobody.invalid: "),
    (["{log}", "--host", "192.0.2.1"], "cannot be served on 192.0.2.1: Cannot assign requested address"),
    (["{text}"], "not a log"),
    (["{trial}"], "energy is an open-loop trial without a controller, which caudal view cannot show"),
])  # fmt: skip
def test_view_answers_what_it_cannot_show_with_one_message(tmp_path, capsys, words, found, monkeypatch):
    monkeypatch.setattr("caudal.tools.log.live_run.CONNECT_TIMEOUT_S", 0.2)
    log, text, trial = (tmp_path / f"{name}.mcap" for name in ("rov", "text", "trial"))
    text.write_text("no log at all")
    folder = tmp_path / "folder.png"
    folder.mkdir()
    found = found.format(folder=folder)
    if "{log}" in words:
        assert main(["run", "rov", "--scenario", "station", "--for", "0.1", "--log", str(log), "--json"]) == 0
    if "{trial}" in words:
        run = ["run", "snake", "--scenario", "energy", "--for", "0.1", "--log", str(trial), "--json"]
        assert main(run) == 0
    capsys.readouterr()
    paths = {"log": log, "text": text, "trial": trial, "folder": folder}
    try:
        code = main(["view", *(word.format(**paths) for word in words)])
    except SystemExit as error:
        code = error.code
    message = capsys.readouterr().err
    assert code == 2 and found in message and message.count("\n") == 1


def test_articulated_and_strouhal_scenarios_have_the_same_skeleton():
    quick, *_ = open_scenario("fish", [], "pool")
    tree, *_ = open_scenario("fish", [], "articulated")
    assert Skeleton(quick.plant).joints == Skeleton(tree.plant).joints
