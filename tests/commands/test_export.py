"""`caudal export`: its files move in Pinocchio and MuJoCo as the tree of bodies moves here."""

import json
import tomllib
from xml.etree import ElementTree as Xml

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from caudal.onboard.vehicles import FOLDER, names
from caudal.sim_plant.tree.arrays import rotation_matrix
from caudal.tools.export.mjcf import mjcf
from caudal.tools.export.urdf import urdf
from tests.tree.trees import add_water, apart, model_of, random_state, random_tables

SNAKE = "snake"
URDF_KINDS = ["revolute", "prismatic", "fixed"]
STATES = 40  # for each of five vehicles


class InPinocchio:
    """A URDF file in Pinocchio, addressed in our coordinates; joints are found by name."""

    def __init__(self, text, ours, gravity=True):
        self.ours = ours
        self.model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
        if not gravity:
            self.model.gravity.linear = np.zeros(3)
        self.data = self.model.createData()
        self.rows = np.arange(ours.freedoms)
        for name in ours.joints:
            self.rows[ours.v[name]] = self.joint(name).idx_v

    def joint(self, name):
        return self.model.joints[self.model.getJointId(name)]

    def q_v(self, x):
        q = pin.neutral(self.model)
        q[:7] = x[[0, 1, 2, 4, 5, 6, 3]]
        v = np.zeros(self.model.nv)
        v[:6] = x[7:13]
        for name in self.ours.joints:
            joint, angle = self.joint(name), x[self.ours.q[name]][0]
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
            )
            v[joint.idx_v] = x[self.ours.qd[name]][0]
        return q, v

    def theirs(self, vector):
        out = np.zeros_like(vector)
        out[self.rows] = vector
        return out

    def mass_matrix(self, x):
        # From inverse dynamics, column by column: crba needs branches in order.
        q, _ = self.q_v(x)
        none = np.zeros(self.model.nv)
        rest = pin.rnea(self.model, self.data, q, none, none).copy()
        columns = [pin.rnea(self.model, self.data, q, none, e) - rest for e in np.eye(self.model.nv)]
        return np.array(columns)[np.ix_(self.rows, self.rows)]

    def bias(self, x):
        return pin.nonLinearEffects(self.model, self.data, *self.q_v(x))[self.rows]

    def forward_dynamics(self, x, tau):
        return pin.aba(self.model, self.data, *self.q_v(x), self.theirs(tau))[self.rows]

    def inverse_dynamics(self, x, acceleration):
        return pin.rnea(self.model, self.data, *self.q_v(x), self.theirs(acceleration))[self.rows]


class InMujoco:
    """An MJCF file in MuJoCo, addressed in our coordinates; its base has a linear velocity in world axes."""

    def __init__(self, text, ours):
        self.ours, self.model = ours, mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self.rows = np.arange(ours.freedoms)
        for name in ours.joints:
            v = ours.v[name]
            self.rows[v] = self.model.joint(name).dofadr[0] + np.arange(v.stop - v.start)

    def put(self, x):
        self.rotation = rotation_matrix(x[3:7])
        self.data.qpos[:7] = x[:7]
        self.data.qvel[:6] = np.concatenate([self.rotation @ x[7:10], x[10:13]])
        for name in self.ours.joints:
            q, at = x[self.ours.q[name]], self.model.joint(name).qposadr[0]
            self.data.qpos[at : at + len(q)] = q
            self.data.qvel[self.rows[self.ours.v[name]]] = x[self.ours.qd[name]]
        self.data.qfrc_applied[:] = 0.0
        mujoco.mj_forward(self.model, self.data)

    def mass_matrix(self, x):
        self.put(x)
        mass = np.array([self._times(e) for e in np.eye(self.model.nv)])[np.ix_(self.rows, self.rows)]
        to_world = np.eye(len(mass))
        to_world[:3, :3] = self.rotation
        return to_world.T @ mass @ to_world

    def _times(self, vector):
        out = np.zeros(self.model.nv)
        mujoco.mj_mulM(self.model, self.data, out, vector)
        return out

    def forward_dynamics(self, x, tau):
        self.put(x)
        self.data.qfrc_applied[self.rows] = np.concatenate([self.rotation @ tau[:3], tau[3:]])
        mujoco.mj_forward(self.model, self.data)
        out = self.data.qacc[self.rows].copy()
        out[:3] = self.rotation.T @ out[:3] - np.cross(
            x[10:13], x[7:10]
        )  # derivative of a velocity in base axes
        return out


def shipped(name):
    """A vehicle's bodies with free joints: Pinocchio and MuJoCo have no prescribed joints, URDF has no springs."""
    tables = tomllib.loads((FOLDER / f"{name}.toml").read_text())["plant"]["tree"]
    for body in tables["body"][1:]:
        body["joint"] |= {"mode": "free", "stiffness": 0.0, "damping": 0.0}
    return tables


def vehicles():
    """The vehicles that come with Caudal and are trees."""
    return [name for name in names() if "[[plant.tree.body]]" in (FOLDER / f"{name}.toml").read_text()]


def trees(kinds):
    yield shipped(SNAKE)
    for seed, count in ((1, 5), (2, 9), (3, 14), (4, 20)):
        yield random_tables(seed, count, kinds)


def agrees(tables, seed, states):
    """Compares with Pinocchio on our URDF, at random states."""
    ours, rng = model_of(tables, fluid=False), np.random.default_rng(seed)
    other = InPinocchio(urdf(ours.spec, "tree"), ours)
    assert other.model.nv == ours.freedoms
    for _ in range(states):
        x, given = random_state(ours, rng), rng.standard_normal(ours.freedoms)
        assert apart(ours.mass_matrix(x), other.mass_matrix(x)) < 1e-10
        assert apart(ours.bias(x), other.bias(x)) < 1e-10
        assert apart(ours.forward_dynamics(x, given), other.forward_dynamics(x, given)) < 1e-10
        assert apart(ours.inverse_dynamics(x, given), other.inverse_dynamics(x, given)) < 1e-10


@pytest.mark.parametrize("name", vehicles())
def test_pinocchio_agrees_on_each_vehicle_loaded_from_urdf(name):
    agrees(shipped(name), 0, 200)


def test_pinocchio_agrees_on_random_trees_loaded_from_urdf():
    for seed, tables in enumerate(trees(URDF_KINDS)):
        agrees(tables, seed, STATES)


def test_mujoco_agrees_on_random_trees_loaded_from_mjcf():
    for seed, tables in enumerate(trees([*URDF_KINDS, "spherical"])):
        ours, rng = model_of(tables, fluid=False), np.random.default_rng(seed)
        other = InMujoco(mjcf(ours.spec, "tree"), ours)
        for _ in range(STATES):
            x, given = random_state(ours, rng), rng.standard_normal(ours.freedoms)
            assert apart(ours.mass_matrix(x), other.mass_matrix(x)) < 1e-8
            assert apart(ours.forward_dynamics(x, given), other.forward_dynamics(x, given)) < 1e-8


def test_mujoco_agrees_on_springs_and_dampers_of_joints():
    tables = add_water(random_tables(5, 12), 5)
    for body in tables["body"][1:]:
        if body["joint"]["kind"] in ("revolute", "prismatic"):
            body["joint"]["rest"] = 0.3
    ours, rng = model_of(tables, fluid=False), np.random.default_rng(5)
    other = InMujoco(mjcf(ours.spec, "tree"), ours)
    for _ in range(STATES):
        x, given = random_state(ours, rng), rng.standard_normal(ours.freedoms)
        assert apart(ours.forward_dynamics(x, given), other.forward_dynamics(x, given)) < 1e-8


def with_added_inertia(seed, kinds=URDF_KINDS):
    """A tree with added inertia on most bodies, the same in all directions."""
    tables = random_tables(seed, 8, kinds)
    for i, body in enumerate(tables["body"][1:]):
        diagonal = [0.5 + 0.1 * i] * 3 + [0.011, 0.012, 0.013]
        body["added_inertia"] = {"at_m": [0.05, -0.02, 0.01 * i], "diagonal": diagonal}
    return tables


def test_pinocchio_agrees_on_added_inertia():
    ours, rng = model_of(with_added_inertia(7), gravity=False), np.random.default_rng(7)
    other = InPinocchio(urdf(ours.spec, "tree", carried=True), ours, gravity=False)
    for _ in range(STATES):
        x, given = random_state(ours, rng), rng.standard_normal(ours.freedoms)
        assert apart(ours.mass_matrix(x), other.mass_matrix(x)) < 1e-10
        assert apart(ours.forward_dynamics(x, given), other.forward_dynamics(x, given)) < 1e-10


def test_mujoco_agrees_on_added_inertia_without_weight():
    tables = with_added_inertia(8, [*URDF_KINDS, "spherical"])
    tables["body"][1]["added_inertia"]["diagonal"][3:] = [0.0, 0.0, 0.0]  # none for rotations
    ours, rng = model_of(tables), np.random.default_rng(8)
    other = InMujoco(mjcf(ours.spec, "tree", carried=True), ours)
    for _ in range(STATES):
        x, given = random_state(ours, rng), rng.standard_normal(ours.freedoms)
        assert apart(ours.mass_matrix(x), other.mass_matrix(x)) < 1e-8
        assert apart(ours.forward_dynamics(x, given), other.forward_dynamics(x, given)) < 1e-8


def test_mujoco_loads_a_flat_plate():
    tables = random_tables(9, 3)
    rng = np.random.default_rng(9)
    for body in tables["body"]:
        turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
        i = turn @ np.diag([0.001, 0.002, 0.003]) @ turn.T
        body["inertia_kg_m2"] = i[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist()
    ours = model_of(tables, fluid=False)
    x = random_state(ours, rng)
    assert apart(ours.mass_matrix(x), InMujoco(mjcf(ours.spec, "tree"), ours).mass_matrix(x)) < 1e-8


def test_urdf_visuals_keep_the_volume_of_hulls():
    tables = add_water(random_tables(3, 6, URDF_KINDS), 3)
    tables["body"][1]["hull"]["semi_axes_m"] = [0.1, 0.1, 0.1]
    spec = model_of(tables).spec
    links = {link.get("name"): link for link in Xml.fromstring(urdf(spec, "tree")).iter("link")}
    for body in spec.body:
        shape = links[body.name].find("visual/geometry")[0]
        radius = float(shape.get("radius"))
        if body.hull.__class__.__name__ == "Tube":
            length = np.linalg.norm(np.subtract(body.hull.to_m, body.hull.from_m))
            area = np.pi * body.hull.radius_m**2 * (1 + body.hull.lobe_share**2 / 2)
            expected, found = area * length, np.pi * radius**2 * float(shape.get("length"))
        elif shape.tag == "sphere":
            expected, found = 4 / 3 * np.pi * 0.1**3, 4 / 3 * np.pi * radius**3
        else:
            expected = 4 / 3 * np.pi * np.prod(body.hull.semi_axes_m)
            found = np.pi * radius**2 * float(shape.get("length"))
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("form, name", [("urdf", "snake.urdf"), ("mjcf", "snake.xml")])
def test_export_writes_a_file_that_loads_and_names_what_it_leaves_out(caudal, form, name):
    result = caudal.json("export", SNAKE, form)
    assert (result["bodies"], result["joints"], result["file"]) == (15, 14, name)
    path = caudal.folder / name
    assert "buoyancy" in path.read_text() and "mass" in path.read_text()
    if form == "urdf":
        loaded = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        assert loaded.nv == 20 and {f"q{k}" for k in (0, 1, 2, 3, 4, 5, 6, 7)} <= set(loaded.names)
    else:
        loaded = mujoco.MjModel.from_xml_path(str(path))
        assert loaded.nv == 20 and loaded.nu == 14 and loaded.opt.density == 0
    assert caudal("export", SNAKE, form, "--out", "a/b").returncode == 2


def refusal(caudal, tables, *words):
    """Returns the error message for a vehicle file with this tree."""
    bodies = [f"[[plant.tree.body]]\n{_toml(body)}" for body in tables["body"]]
    (caudal.folder / "tree.toml").write_text("\n".join(bodies))
    done = caudal("export", "tree.toml", *words)
    # A slow machine prints a notice first.
    said = [line for line in done.stderr.splitlines() if not line.startswith("loading the plant")]
    assert done.returncode == 2 and len(said) == 1 and not done.stdout, done.stderr
    return said[0]


def _toml(table):
    def value(v):
        if isinstance(v, dict):
            return "{ " + ", ".join(f"{k} = {value(w)}" for k, w in v.items()) + " }"
        return json.dumps(v)

    return "".join(f"{k} = {value(v)}\n" for k, v in table.items())


def test_export_rejects_what_the_format_does_not_have(caudal):
    assert "spherical" in refusal(caudal, random_tables(3, 4, ["spherical"]), "urdf")
    assert "body_1: its added inertia" in refusal(
        caudal, uneven := with_uneven_added_inertia(), "urdf", "--carried"
    )
    assert "body_1: its added inertia" in refusal(caudal, uneven, "mjcf", "--carried")
    closure = 'plant.tree.closure=[{ kind = "spherical", name = "loop", body_a = "head", body_b = "neck" }]'
    for override, said in (("plant.tree=1", "tree"), (closure, "loop closes a chain")):
        done = caudal("export", SNAKE, "urdf", "--set", override)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and said in done.stderr, done.stderr


def with_uneven_added_inertia():
    tables = with_added_inertia(7)
    tables["body"][1]["added_inertia"]["diagonal"][1] = 3.0
    return tables
