"""The public interface of trees: messages say what is wrong, where, and what to do."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from trees import add_water, model_of, random_state, random_tables
from undulation import FILE

from caudal import sim_plant
from caudal.hal.vehicle_file.reader import VehicleFile, VehicleFileError
from caudal.sim_plant.tree.equilibrium import find_equilibrium
from caudal.sim_plant.tree.model import PlantDiverged

SOUND = """
[[plant.tree.body]]
name = "head"
mass_kg = 1.0
inertia_kg_m2 = [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]
hull = { kind = "tube", from_m = [0.1, 0.0, 0.0], to_m = [-0.1, 0.0, 0.0], radius_m = 0.05 }
[[plant.tree.body]]
name = "middle"
parent = "head"
mass_kg = 0.5
inertia_kg_m2 = [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]
joint = { name = "bend", axis = [0, 0, 1], at_m = [-0.1, 0.0, 0.0] }
[[plant.tree.body]]
name = "tail"
parent = "middle"
mass_kg = 0.5
inertia_kg_m2 = [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]
joint = { name = "flap", axis = [0, 1, 0], at_m = [-0.1, 0.0, 0.0] }
added_inertia = { diagonal = [0.1, 0.2, 0.3, 0.01, 0.01, 0.01] }
"""
BROKEN = [
    ("mass_kg = 1.0\n", "", "body.0 has no mass_kg"),
    ("mass_kg = 1.0\n", "mass_kg = 0.0\n", "has inertia but no mass"),
    ("mass_kg = 1.0\ninertia_kg_m2 = [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]", "mass_kg = 0.0",
     "floating base and has no mass"),
    ('"tail"\nparent = "middle"\nmass_kg = 0.5\ninertia_kg_m2 = [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]',
     '"tail"\nparent = "middle"\nmass_kg = 0.0', "has no mass and carries no body"),
    ("inertia_kg_m2 = [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]\nhull", "hull", "has mass but no inertia_kg_m2"),
    ("[0.01, 0.02, 0.02, 0.0, 0.0, 0.0]\nhull", "[0.01, 0.02, 0.02, 0.0, 0.05, 0.0]\nhull", "not positive definite"),
    ("[0.01, 0.02, 0.02, 0.0, 0.0, 0.0]\nhull", "[0.01, 0.02, 0.04, 0.0, 0.0, 0.0]\nhull", "sum of the others"),
    ("radius_m = 0.05", "radius_m = -0.05", "radius_m"),
    ("radius_m = 0.05", "radius_m = 0.05, lobe_share = 0.2", "concave between its lobes; stay below 0.100"),
    ("to_m = [-0.1, 0.0, 0.0]", "to_m = [0.1, 0.0, 0.0]", "the hull has no length"),
    ("radius_m = 0.05", "radius_m = 0.05, apex = [1, 0, 0]", "apex has no length or is parallel to the hull"),
    ('name = "tail"', 'name = "head"', "two bodies are named head"),
    ('name = "flap"', 'name = "bend"', "two joints are named bend"),
    ('parent = "middle"', 'parent = "midle"', "there is no body midle; choose from head, middle, tail"),
    ('parent = "head"', 'parent = "tail"', "a loop, middle -> tail -> middle"),
    ('parent = "head"\n', "", "middle needs a parent and a joint"),
    ('name = "head"\n', 'name = "head"\nparent = "tail"\n', "the floating base; remove its parent"),
    ("axis = [0, 0, 1]", "axis = [0, 0, 0]", "the axis has no length"),
    ('name = "bend"', 'name = "bend", kind = "spherical", mode = "driven"', "cannot be driven"),
    ("0.3, 0.01, 0.01, 0.01]", "0.3, 0.01, 0.01, 0.01], full = [0.0]", "added_inertia"),
    ("0.2, 0.3, 0.01", "0.2, -0.3, 0.01", "added_inertia"),
    ('"middle"\nparent = "head"\nmass_kg = 0.5\ninertia_kg_m2 = [0.01, 0.02, 0.02, 0.0, 0.0, 0.0]',
     '"middle"\nparent = "head"\nmass_kg = 0.0', None),  # its child's mass is enough
]  # fmt: skip


def file_of(text: str) -> VehicleFile:
    return VehicleFile.parse(text, "swimmer.toml")


@pytest.mark.parametrize("old, new, words", BROKEN)
def test_wrong_file_is_refused_with_one_sentence(old, new, words):
    assert old in SOUND
    text = SOUND.replace(old, new, 1)
    if words is None:
        sim_plant.load(file_of(text))
        return
    with pytest.raises(VehicleFileError, match=f"^swimmer.toml: plant.*{re.escape(words)}.*[.]$") as error:
        sim_plant.load(file_of(text))
    assert "\n" not in str(error.value)


def test_free_joint_is_refused_when_it_moves_no_mass():
    spin = 'joint = { name = "spin", axis = [0, 0, 1] }'
    idle = f'[[plant.tree.body]]\nname = "idle"\nparent = "head"\nmass_kg = 0.0\n{spin}\n'
    text = (
        SOUND
        + idle
        + SOUND[SOUND.rindex("[[plant.tree.body]]") :]
        .replace("tail", "fin")
        .replace('"middle"', '"idle"')
        .replace('"flap", axis = [0, 1, 0], at_m = [-0.1, 0.0, 0.0]', '"turn", axis = [0, 0, 1]')
    )
    with pytest.raises(VehicleFileError, match=r"(spin|turn) can move without moving any mass; .*[.]$"):
        sim_plant.load(file_of(text))
    sim_plant.load(file_of(text.replace('"spin", axis', '"spin", mode = "driven", axis')))


def test_state_is_refused_with_the_name_of_its_part_that_is_not_finite():
    model = sim_plant.load(file_of(SOUND))
    flap, bend = (model.q["flap"], "the position of flap"), (model.qd["bend"], "the velocity of bend")
    for part, name in ((2, "head's z"), flap, bend):
        x = model.state()
        x[part] = np.nan
        with pytest.raises(ValueError, match=f"{name}, is nan; give a finite number[.]$"):
            model.step(x, None, 0.001)
    with pytest.raises(ValueError, match="a state is 17 numbers"):
        model.energy(np.zeros(3))
    with pytest.raises(ValueError, match=r"tau is .*; give finite numbers of shape \(8,\)"):
        model.forward_dynamics(model.state(), np.full(8, np.inf))
    with pytest.raises(ValueError, match="has no length"):
        model.bias(np.zeros(17))


def test_forces_and_motions_are_refused_with_the_wrong_shape():
    model = sim_plant.load(FILE)
    with pytest.raises(ValueError, match=r"driven is \(3, 3, 2\); give finite numbers of shape \(3, 3, 14\)"):
        model.step(model.state(), None, 0.001, driven=np.zeros((3, 3, 2)))
    with pytest.raises(ValueError, match=r"tau is .*; give finite numbers of shape \(1, 20\)"):
        model.rollout(model.state(), 5, 0.001, np.zeros((4, 20)))
    with pytest.raises(ValueError, match="no method euler; choose rk4 or semi-implicit"):
        model.step(model.state(), None, 0.001, "euler")
    with pytest.raises(ValueError, match="must be above 0"):
        model.step(model.state(), None, 0.0)
    with pytest.raises(KeyError, match="no body hat; choose from head"):
        model.pose(model.state(), "hat")


def test_divergence_is_reported_with_time_body_and_hint():
    model = sim_plant.load(file_of(SOUND.replace('"flap"', '"flap", stiffness = 1e6, damping = 0.0')))
    x = model.state()
    x[model.q["flap"]] = 0.1
    with pytest.raises(
        PlantDiverged, match=r"diverged 0.0[0-9]+ s into the run, at body tail; take a step shorter than"
    ):
        model.rollout(x, 10_000, 0.01)


def test_equilibrium_is_refused_when_the_vehicle_cannot_float():
    model = sim_plant.load(file_of(SOUND.replace("radius_m = 0.05", "radius_m = 0.01")))
    with pytest.raises(ValueError, match="found no equilibrium"):
        find_equilibrium(model, model.state())


def test_arguments_are_never_changed_and_results_are_new_arrays():
    model = model_of(add_water(random_tables(3, 6), 3))
    x = random_state(model, np.random.default_rng(3))
    before, tau = x.copy(), np.ones(model.freedoms)
    first = model.mass_matrix(x)
    kept = first.copy()
    model.rollout(x, 5, 0.001, tau)
    model.mass_matrix(model.state())
    assert (x == before).all() and (tau == 1.0).all() and (first == kept).all()


def test_state_has_the_base_first_and_then_joints_in_file_order():
    model = sim_plant.load(FILE)
    x = model.state()
    assert x[3] == 1.0 and not x[:3].any() and not x[4:].any() and len(x) == 13 + 2 * 14
    order = ["q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "r2", "r3", "r4", "r5", "r6", "r7"]
    assert model.joints == order
    assert [model.q[name].start for name in order] == list(range(13, 27))
    assert [model.qd[name].start for name in order] == list(range(27, 41))
    turn, at = model.pose(x, "shell_7")
    assert np.allclose(turn, np.eye(3)) and np.allclose(at, [-0.1 - 0.105 - 5 * 0.17 - 0.085, 0, 0])


def test_rollout_allocates_nothing_in_its_kernel():
    model = sim_plant.load(FILE)
    model.rollout(model.state(), 1, 0.001)
    _nrt_python.memsys_enable_stats()
    counts = []
    for steps in (10, 1000):
        before = rtsys.get_allocation_stats().alloc
        model.rollout(model.state(), steps, 0.001, every=steps)
        counts.append(rtsys.get_allocation_stats().alloc - before)
    assert counts[0] == counts[1]


def test_import_of_the_plant_does_not_import_numba():
    code = "import sys, caudal.sim_plant; assert 'numba' not in sys.modules and 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
