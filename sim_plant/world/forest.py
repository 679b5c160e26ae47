"""Trees of bodies in a world: servos turn the joints, each tree steps, then sensors read the base.

The arrays of all trees are joined, one tree after the other in each array; `spans` holds where each tree's part begins
and ends. So one compiled kernel steps a world with any number of vehicles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from caudal.sim_plant.base.arrays import JOINT, Flat, Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import (
    add,
    copy,
    cross,
    quaternion_matrix,
    rotate,
    rotate_back,
    scale,
    vector,
)
from caudal.sim_plant.base.types import Floats, Ints, Records
from caudal.sim_plant.parts.actuators import (
    RELEASE,
    THRUSTER,
    VALVE,
    apply_due_pulses,
    observe_actuators,
    servo_rate,
)
from caudal.sim_plant.parts.motors import discharge_battery, run_thruster
from caudal.sim_plant.parts.sensors import sample_due
from caudal.sim_plant.parts.valves import fill_chamber
from caudal.sim_plant.scene.contact import clearance_m, place_hull, resolve_contacts
from caudal.sim_plant.tables.devices import Servo
from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tree.energy import body_centre_of_mass
from caudal.sim_plant.tree.integrate import is_finite_and_bounded, step
from caudal.sim_plant.tree.model import Model
from caudal.sim_plant.tree.recursion import place_bodies
from caudal.sim_plant.water.tether import unwrap_heading
from caudal.sim_plant.world.clearance import observe_skin, update_clearance
from caudal.sim_plant.world.soft_joints import set_soft_springs
from caudal.sim_plant.world.step_kernel import DIVERGED, QUEUE_FULL, queue_all, save_pose

ACCELERATION = Tree._fields.index("acceleration")


class Forest(NamedTuple):
    """The arrays of all trees of a world, one tree after the other in each."""

    trees: Tree  # each field: those of all vehicles
    spans: Ints  # (vehicle, field of Tree, 2): from, to
    states: Floats  # of all vehicles
    state_spans: Ints  # (vehicle, 2)
    forces: Floats  # of all vehicles, on base and joints (all 0); spans as of Tree.acceleration
    moves: Floats  # (vehicle, 3, 3, driven joint): rows of tree.integrate.step for one step


def join_trees(trees_and_states: Sequence[tuple[Tree, Floats]]) -> Forest:
    """Join trees and their states to a forest."""
    trees = [tree for tree, _ in trees_and_states]
    sizes = np.array([[len(field) for field in tree] for tree in trees])
    ends = np.cumsum(sizes, axis=0)
    lengths = np.array([len(state) for _, state in trees_and_states])
    state_ends = np.cumsum(lengths)
    return Forest(
        trees=Tree(*(np.concatenate(fields) for fields in zip(*trees, strict=True))),
        spans=np.stack([ends - sizes, ends], axis=2),
        states=np.concatenate([state for _, state in trees_and_states]),
        state_spans=np.column_stack([state_ends - lengths, state_ends]),
        forces=np.zeros(ends[-1, ACCELERATION]),
        moves=np.zeros((len(trees), 3, 3, max(len(tree.driven_q) for tree in trees))),
    )


def pack_joints(model: Model, spec: PlantSpec) -> Records:
    """JOINT records of a tree's joints with one freedom."""
    joints = np.zeros(len(spec.joints), JOINT)
    tail = {link.joint: link.length_m for link in (spec.hull.tail if spec.hull else [])}
    bodies = {body.joint.name: body.name for body in model.spec.body if body.joint}
    for row, name in zip(joints, spec.joints, strict=True):
        row["q_at"], row["qd_at"] = model.q[name].start, model.qd[name].start
        row["driven_index"] = model.driven.index(name) if name in model.driven else -1
        row["body"] = model.place(bodies[name])
        row["length_m"], row["bends"] = tail.get(name, 0.0), name in tail
    return joints


def pack_servo(model: Model, name: str, servo: Servo) -> None:
    """Let a servo apply a torque to a joint with mode "torque"."""
    bodies = {body.joint.name: body.name for body in model.spec.body if body.joint}
    row = model.flat.bodies[model.place(bodies[name])]
    row["servo_stiffness"], row["servo_damping"] = servo.stiffness_n_m_rad, servo.damping_n_m_s_rad
    row["servo_torque"], row["servo_rate"] = servo.torque_n_m, servo.rate_rad_s
    row["servo_play"] = 0.5 * servo.backlash_rad


@inner
def tree_of(forest: Forest, i: int) -> Tree:
    """Vehicle i's tree, as views of the forest's arrays."""
    t, s = forest.trees, forest.spans[i]
    return Tree(
        t.water[s[0, 0] : s[0, 1]],
        t.bodies[s[1, 0] : s[1, 1]],
        t.tubes[s[2, 0] : s[2, 1]],
        t.ellipsoids[s[3, 0] : s[3, 1]],
        t.corners[s[4, 0] : s[4, 1]],
        t.corner_sums[s[5, 0] : s[5, 1]],
        t.sections[s[6, 0] : s[6, 1]],
        t.foils[s[7, 0] : s[7, 1]],
        t.edges[s[8, 0] : s[8, 1]],
        t.links[s[9, 0] : s[9, 1]],
        t.link_points[s[10, 0] : s[10, 1]],
        t.waves[s[11, 0] : s[11, 1]],
        t.driven_q[s[12, 0] : s[12, 1]],
        t.driven_v[s[13, 0] : s[13, 1]],
        t.acceleration[s[14, 0] : s[14, 1]],
        t.rate[s[15, 0] : s[15, 1]],
        t.stage[s[16, 0] : s[16, 1]],
        t.rk4_sum[s[17, 0] : s[17, 1]],
        t.saved[s[18, 0] : s[18, 1]],
    )


@inner
def state_and_force_of(forest: Forest, i: int) -> tuple[Floats, Floats]:
    """Vehicle i's state, and the forces on its base and joints, as views of the forest's arrays."""
    return (
        forest.states[forest.state_spans[i, 0] : forest.state_spans[i, 1]],
        forest.forces[forest.spans[i, ACCELERATION, 0] : forest.spans[i, ACCELERATION, 1]],
    )


@inner
def step_tree_actuators(flat: Flat, tree: Tree, i: int, x: Floats, move: Floats, dt_s: float) -> None:
    """Run body i's actuators for one step: motion of driven joints, goals of other servos, thrust, soft springs."""
    body = flat.bodies[i]
    for k in range(body.first_joint, body.first_joint + body.joints):
        j = flat.joints[k].driven_index
        if j >= 0:  # without a servo the joint stays where it is
            for row in range(3):
                move[row, 0, j], move[row, 1, j], move[row, 2, j] = x[flat.joints[k].q_at], 0.0, 0.0
    for b in range(len(tree.bodies)):
        for r in range(6):
            tree.bodies[b].push[r] = 0.0
    thrusters_a = 0.0
    for a in range(body.first_actuator, body.first_actuator + body.actuators):
        actuator = flat.actuators[a]
        apply_due_pulses(flat, a, flat.world[0].time_us)
        if actuator.kind == VALVE:
            fill_chamber(actuator, flat.world[0].time_us, dt_s)
            continue
        if actuator.kind == THRUSTER:
            push_n = run_thruster(flat, actuator, body.battery_v, flat.world[0].time_us, dt_s)
            thrusters_a += actuator.current_a
            pushed = tree.bodies[actuator.body]
            for r in range(3):
                pushed.push[r] += push_n * actuator.push[r]
                pushed.push[r + 3] += push_n * actuator.moment[r]
            continue
        if actuator.kind == RELEASE:
            if actuator.goal > 0.0:
                lift = rotate_back(quaternion_matrix(x[3], x[4], x[5], x[6]), (0.0, 0.0, actuator.force_n))
                for r in range(3):
                    tree.bodies[0].push[r] += lift[r]
            continue
        joint = flat.joints[actuator.joint]
        j = joint.driven_index
        if j < 0:
            tree.bodies[joint.body].servo_powered = actuator.powered
            tree.bodies[joint.body].servo_goal = actuator.goal
            continue
        angle, rate = x[joint.q_at], x[joint.qd_at]
        acceleration = (servo_rate(actuator, angle, rate, dt_s) - rate) / dt_s
        for row in range(3):
            t = 0.5 * row * dt_s
            move[row, 0, j] = angle + rate * t + 0.5 * acceleration * t * t
            move[row, 1, j] = rate + acceleration * t
            move[row, 2, j] = acceleration
    for k in range(body.first_soft, body.first_soft + body.softs):
        set_soft_springs(flat.softs[k], flat.actuators, tree.bodies)
    discharge_battery(body, thrusters_a, dt_s)
    body.unwrapped_heading_rad = unwrap_heading(body.heading_rad, body.unwrapped_heading_rad)
    tree.water[0].last_heading_rad = body.unwrapped_heading_rad


@inner
def read_tree_state(flat: Flat, i: int, x: Floats) -> None:
    """Fill body i's record from its tree's state, for sensors and contacts."""
    body = flat.bodies[i]
    m = quaternion_matrix(x[3], x[4], x[5], x[6])
    body.x_m, body.y_m, body.depth_m = x[0], x[1], -x[2]
    body.heading_rad = math.atan2(m[3], m[0])
    body.pitch_rad = -math.asin(min(max(m[6], -1.0), 1.0))
    body.roll_rad = math.atan2(m[7], m[8])
    body.speed_m_s = x[7]
    body.roll_rate_rad_s, body.pitch_rate_rad_s, body.yaw_rate_rad_s = x[10], x[11], x[12]
    for k in range(body.first_joint, body.first_joint + body.joints):
        flat.joints[k].angle_rad = x[flat.joints[k].q_at]


@inner
def apply_contact(flat: Flat, tree: Tree, i: int, x: Floats) -> None:
    """Move body i's tree as a contact moved its record, and remove its speed into the contact."""
    body = flat.bodies[i]
    if body.blocked:
        copy(tree.saved, x)
        for j in range(7, 13):
            x[j] = 0.0
        for j in range(tree.water[0].velocities_at, len(x)):
            x[j] = 0.0
        return
    m = quaternion_matrix(x[3], x[4], x[5], x[6])
    if body.depth_m < -x[2]:  # the floor lifted it
        x[2] = -body.depth_m
        v = rotate(m, (x[7], x[8], x[9]))
        x[7], x[8], x[9] = rotate_back(m, (v[0], v[1], max(v[2], 0.0)))
    dx, dy = body.x_m - x[0], body.y_m - x[1]
    distance = math.hypot(dx, dy)
    if distance == 0.0:
        return
    x[0], x[1] = body.x_m, body.y_m
    out = (dx / distance, dy / distance, 0.0)
    v = rotate(m, (x[7], x[8], x[9]))
    into = min(v[0] * out[0] + v[1] * out[1], 0.0)
    v = rotate_back(m, (v[0] - into * out[0], v[1] - into * out[1], v[2]))
    x[7], x[8], x[9] = v


@compiled
def advance_trees(flat: Flat, forest: Forest, duration_us: int, step_us: int) -> tuple[int, int]:
    """Step the world by duration_us; returns (0, QUEUE_FULL or DIVERGED; the index of the body at fault)."""
    world = flat.world[0]
    full = queue_all(flat)
    if full >= 0:
        return QUEUE_FULL, full
    end_us = world.time_us + duration_us
    while world.time_us < end_us:
        dt_us = min(step_us, end_us - world.time_us)
        dt_s = dt_us * 1e-6
        meeting = False
        for i in range(len(flat.bodies)):
            body = flat.bodies[i]
            save_pose(flat, i)
            tree, (x, force) = tree_of(forest, i), state_and_force_of(forest, i)
            copy(x, tree.saved)
            step_tree_actuators(flat, tree, i, x, forest.moves[i], dt_s)
            step(tree, x, force, forest.moves[i], 0, dt_s, True)
            if not is_finite_and_bounded(x):
                copy(tree.saved, x)
                return DIVERGED, i
            read_tree_state(flat, i, x)
            if body.has_hull:
                meeting = True
                place_hull(flat, i)
        if meeting:
            resolve_contacts(flat)
            for i in range(len(flat.bodies)):
                x, _ = state_and_force_of(forest, i)
                apply_contact(flat, tree_of(forest, i), i, x)
                read_tree_state(flat, i, x)
        world.time_us += dt_us
        for i in range(len(flat.bodies)):
            body = flat.bodies[i]
            body.surge_m_s2 = (body.speed_m_s - body.old_speed_m_s) / dt_s
            if body.skin_points > 0:
                x, _ = state_and_force_of(forest, i)
                update_clearance(flat, tree_of(forest, i), i, x)
            sample_due(flat, i)
    return 0, 0


@compiled
def observe_tree(flat: Flat, forest: Forest, i: int, out: Floats) -> None:
    """Write to `out` TRUTH_FIELDS, TREE_TRUTH_FIELDS, body i's joints, what observe_actuators adds, and its skin."""
    body = flat.bodies[i]
    tree, (x, _) = tree_of(forest, i), state_and_force_of(forest, i)
    place_bodies(tree, x)
    total, v_centre = 0.0, (0.0, 0.0, 0.0)
    for b in range(len(tree.bodies)):
        one = tree.bodies[b]
        v = add(vector(one.velocity, 0), cross(vector(one.velocity, 3), body_centre_of_mass(one)))
        total, v_centre = total + one.mass_kg, add(v_centre, scale(one.mass_kg, v))
    v_centre = rotate(
        quaternion_matrix(x[3], x[4], x[5], x[6]),
        add(scale(1.0 / total, v_centre), vector(tree.water[0].drift, 0)),
    )
    c, s = math.cos(body.heading_rad), math.sin(body.heading_rad)
    out[0], out[1], out[2], out[3] = body.x_m, body.y_m, body.depth_m, body.heading_rad
    out[4], out[5], out[6] = c * v_centre[0] + s * v_centre[1], body.yaw_rate_rad_s, clearance_m(flat, i)
    out[7], out[8], out[9], out[10] = (
        body.roll_rad,
        body.pitch_rad,
        v_centre[2],
        math.hypot(v_centre[0], v_centre[1]),
    )
    for r in range(5):
        out[11 + r] = x[7 + r]
    for k in range(body.joints):
        out[16 + k] = flat.joints[body.first_joint + k].angle_rad
    observe_actuators(flat, i, out, 16 + body.joints)
    if body.skin_points > 0:
        observe_skin(flat, tree, i, out)
