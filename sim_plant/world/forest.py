"""Trees of bodies in a world: their servos turn their joints, then each tree steps; sensors read its base.

All trees of a world stand in one bundle of arrays, each field of Tree one behind the other; `spans` says which
part is whose. So one compiled kernel steps a world whatever the number of its vehicles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from caudal.sim_plant.base.arrays import JOINT, Flat, Tree
from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import add, cross, quaternion_matrix, scale, turned, turned_back, vector
from caudal.sim_plant.base.types import Floats, Ints, Records
from caudal.sim_plant.parts.actuators import RELEASE, THRUSTER, VALVE, follow, post, pull_due, tell
from caudal.sim_plant.parts.motors import run, sag
from caudal.sim_plant.parts.sensors import sample_due
from caudal.sim_plant.parts.valves import fill
from caudal.sim_plant.scene.contact import clearance_m, place_hull, settle
from caudal.sim_plant.tables.devices import Servo
from caudal.sim_plant.tables.read import PlantSpec
from caudal.sim_plant.tree.energy import com_at
from caudal.sim_plant.tree.integrate import sound, step
from caudal.sim_plant.tree.model import Model
from caudal.sim_plant.tree.recursion import place
from caudal.sim_plant.water.tether import unwound
from caudal.sim_plant.world.clearance import feel, tell_skin
from caudal.sim_plant.world.soft_joints import press
from caudal.sim_plant.world.step_kernel import DIVERGED, LINE_FULL

TOLD = Tree._fields.index("told")


class Forest(NamedTuple):
    trees: Tree  # of all vehicles, field by field
    spans: Ints  # (vehicle, field of Tree, 2): from, to
    states: Floats  # of all vehicles
    state_spans: Ints  # (vehicle, 2)
    forces: Floats  # of all vehicles, on base and joints (none now); spans as of Tree.told
    moves: Floats  # (vehicle, 3, 3, driven joint): tree_step's rows for one step


def forest_of(planted: Sequence[tuple[Tree, Floats]]) -> Forest:
    """Trees, each in its state."""
    trees = [tree for tree, _ in planted]
    sizes = np.array([[len(field) for field in tree] for tree in trees])
    ends = np.cumsum(sizes, axis=0)
    lengths = np.array([len(state) for _, state in planted])
    state_ends = np.cumsum(lengths)
    return Forest(
        trees=Tree(*(np.concatenate(fields) for fields in zip(*trees, strict=True))),
        spans=np.stack([ends - sizes, ends], axis=2),
        states=np.concatenate([state for _, state in planted]),
        state_spans=np.column_stack([state_ends - lengths, state_ends]),
        forces=np.zeros(ends[-1, TOLD]),
        moves=np.zeros((len(trees), 3, 3, max(len(tree.told_q) for tree in trees))),
    )


def pack_joints(model: Model, spec: PlantSpec) -> Records:
    """JOINT records of a tree's joints of one freedom."""
    joints = np.zeros(len(spec.joints), JOINT)
    tail = {link.joint: link.length_m for link in (spec.hull.tail if spec.hull else [])}
    bodies = {body.joint.name: body.name for body in model.spec.body if body.joint}
    for row, name in zip(joints, spec.joints, strict=True):
        row["q_at"], row["qd_at"], row["v_at"] = (
            model.q[name].start,
            model.qd[name].start,
            model.v[name].start,
        )
        row["told"] = model.driven.index(name) if name in model.driven else -1
        row["body"] = model.place(bodies[name])
        row["length_m"], row["bends"] = tail.get(name, 0.0), name in tail
    return joints


def pack_torque(model: Model, name: str, servo: Servo) -> None:
    """Let a servo push a joint that yields."""
    bodies = {body.joint.name: body.name for body in model.spec.body if body.joint}
    row = model.flat.bodies[model.place(bodies[name])]
    row["servo_stiffness"], row["servo_damping"] = servo.stiffness_n_m_rad, servo.damping_n_m_s_rad
    row["servo_torque"], row["servo_rate"] = servo.torque_n_m, servo.rate_rad_s
    row["servo_play"] = 0.5 * servo.backlash_rad


@inner
def tree_of(forest: Forest, i: int) -> Tree:
    """Vehicle i's tree, as views."""
    t, s = forest.trees, forest.spans[i]
    return Tree(
        t.water[s[0, 0] : s[0, 1]],
        t.bodies[s[1, 0] : s[1, 1]],
        t.tubes[s[2, 0] : s[2, 1]],
        t.rounds[s[3, 0] : s[3, 1]],
        t.corners[s[4, 0] : s[4, 1]],
        t.sums[s[5, 0] : s[5, 1]],
        t.along[s[6, 0] : s[6, 1]],
        t.foils[s[7, 0] : s[7, 1]],
        t.edges[s[8, 0] : s[8, 1]],
        t.links[s[9, 0] : s[9, 1]],
        t.link_points[s[10, 0] : s[10, 1]],
        t.waves[s[11, 0] : s[11, 1]],
        t.told_q[s[12, 0] : s[12, 1]],
        t.told_v[s[13, 0] : s[13, 1]],
        t.told[s[14, 0] : s[14, 1]],
        t.rate[s[15, 0] : s[15, 1]],
        t.stage[s[16, 0] : s[16, 1]],
        t.sum[s[17, 0] : s[17, 1]],
        t.keep[s[18, 0] : s[18, 1]],
    )


@inner
def state_and_force(forest: Forest, i: int) -> tuple[Floats, Floats]:
    """Vehicle i's state, and the forces on its base and joints, as views."""
    return (
        forest.states[forest.state_spans[i, 0] : forest.state_spans[i, 1]],
        forest.forces[forest.spans[i, TOLD, 0] : forest.spans[i, TOLD, 1]],
    )


@inner
def actuate(flat: Flat, tree: Tree, i: int, x: Floats, move: Floats, dt_s: float) -> None:
    """Pulses become motions of driven joints, goals of the others' servos, pushes and springs, for one step."""
    body = flat.bodies[i]
    for k in range(body.first_joint, body.first_joint + body.joints):
        j = flat.joints[k].told
        if j >= 0:  # without a servo it stays
            for row in range(3):
                move[row, 0, j], move[row, 1, j], move[row, 2, j] = x[flat.joints[k].q_at], 0.0, 0.0
    for b in range(len(tree.bodies)):
        for r in range(6):
            tree.bodies[b].push[r] = 0.0
    thrusters_a = 0.0
    for a in range(body.first_actuator, body.first_actuator + body.actuators):
        actuator = flat.actuators[a]
        pull_due(flat, a, flat.world[0].time_us)
        if actuator.kind == VALVE:
            fill(actuator, flat.world[0].time_us, dt_s)
            continue
        if actuator.kind == THRUSTER:
            push_n = run(flat, actuator, body.battery_v, flat.world[0].time_us, dt_s)
            thrusters_a += actuator.current_a
            pushed = tree.bodies[actuator.body]
            for r in range(3):
                pushed.push[r] += push_n * actuator.push[r]
                pushed.push[r + 3] += push_n * actuator.moment[r]
            continue
        if actuator.kind == RELEASE:
            if actuator.goal > 0.0:
                lift = turned_back(quaternion_matrix(x[3], x[4], x[5], x[6]), (0.0, 0.0, actuator.force_n))
                for r in range(3):
                    tree.bodies[0].push[r] += lift[r]
            continue
        joint = flat.joints[actuator.joint]
        j = joint.told
        if j < 0:
            tree.bodies[joint.body].servo_live = actuator.live
            tree.bodies[joint.body].servo_goal = actuator.goal
            continue
        angle, rate = x[joint.q_at], x[joint.qd_at]
        acceleration = (follow(actuator, angle, rate, dt_s) - rate) / dt_s
        for row in range(3):
            t = 0.5 * row * dt_s
            move[row, 0, j] = angle + rate * t + 0.5 * acceleration * t * t
            move[row, 1, j] = rate + acceleration * t
            move[row, 2, j] = acceleration
    for k in range(body.first_soft, body.first_soft + body.softs):
        press(flat.softs[k], flat.actuators, tree.bodies)
    sag(body, thrusters_a, dt_s)
    body.wound_rad = unwound(body.heading_rad, body.wound_rad)
    tree.water[0].last_heading_rad = body.wound_rad


@inner
def look(flat: Flat, i: int, x: Floats) -> None:
    """Body i's record, as its sensors and the contacts read it, from its tree's state."""
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
def give_way(flat: Flat, tree: Tree, i: int, x: Floats) -> None:
    """Let a contact that moved body i act on its tree: moved as told, without the speed into the contact."""
    body = flat.bodies[i]
    if body.blocked:
        for j in range(len(x)):
            x[j] = tree.keep[j]
        for j in range(7, 13):
            x[j] = 0.0
        for j in range(tree.water[0].velocities_at, len(x)):
            x[j] = 0.0
        return
    m = quaternion_matrix(x[3], x[4], x[5], x[6])
    if body.depth_m < -x[2]:  # the floor lifted it
        x[2] = -body.depth_m
        v = turned(m, (x[7], x[8], x[9]))
        x[7], x[8], x[9] = turned_back(m, (v[0], v[1], max(v[2], 0.0)))
    dx, dy = body.x_m - x[0], body.y_m - x[1]
    way = math.hypot(dx, dy)
    if way == 0.0:
        return
    x[0], x[1] = body.x_m, body.y_m
    out = (dx / way, dy / way, 0.0)
    v = turned(m, (x[7], x[8], x[9]))
    into = min(v[0] * out[0] + v[1] * out[1], 0.0)
    v = turned_back(m, (v[0] - into * out[0], v[1] - into * out[1], v[2]))
    x[7], x[8], x[9] = v


@compiled
def advance_trees(flat: Flat, forest: Forest, duration_us: int, step_us: int) -> tuple[int, int]:
    """Step the world by duration_us. Returns (what went wrong: 0, LINE_FULL or DIVERGED; whose fault)."""
    world = flat.world[0]
    for i in range(len(flat.bodies)):
        if flat.written[i] and not post(flat, i):
            return LINE_FULL, i
        sample_due(flat, i)
    end_us = world.time_us + duration_us
    while world.time_us < end_us:
        dt_us = min(step_us, end_us - world.time_us)
        dt_s = dt_us * 1e-6
        meeting = False
        for i in range(len(flat.bodies)):
            body = flat.bodies[i]
            body.old_x_m, body.old_y_m = body.x_m, body.y_m
            body.old_heading_rad, body.old_speed_m_s = body.heading_rad, body.speed_m_s
            for k in range(body.first_joint, body.first_joint + body.joints):
                flat.joints[k].old_rad = flat.joints[k].angle_rad
            tree, (x, force) = tree_of(forest, i), state_and_force(forest, i)
            for j in range(len(x)):
                tree.keep[j] = x[j]
            actuate(flat, tree, i, x, forest.moves[i], dt_s)
            step(tree, x, force, forest.moves[i], 0, dt_s, True)
            if not sound(x):
                for j in range(len(x)):
                    x[j] = tree.keep[j]
                return DIVERGED, i
            look(flat, i, x)
            if body.meets:
                meeting = True
                place_hull(flat, i)
        if meeting:
            settle(flat)
            for i in range(len(flat.bodies)):
                x, _ = state_and_force(forest, i)
                give_way(flat, tree_of(forest, i), i, x)
                look(flat, i, x)
        world.time_us += dt_us
        for i in range(len(flat.bodies)):
            body = flat.bodies[i]
            body.surge_m_s2 = (body.speed_m_s - body.old_speed_m_s) / dt_s
            if body.skin_points > 0:
                x, _ = state_and_force(forest, i)
                feel(flat, tree_of(forest, i), i, x)
            sample_due(flat, i)
    return 0, 0


@compiled
def observe_tree(flat: Flat, forest: Forest, i: int, out: Floats) -> None:
    """Fill `out` with world.SEEN, TREE_SEEN, the joints of body i, what actuators.tell tells, and skin.SEEN."""
    body = flat.bodies[i]
    tree, (x, _) = tree_of(forest, i), state_and_force(forest, i)
    place(tree, x)
    total, way = 0.0, (0.0, 0.0, 0.0)
    for b in range(len(tree.bodies)):
        one = tree.bodies[b]
        v = add(vector(one.velocity, 0), cross(vector(one.velocity, 3), com_at(one)))
        total, way = total + one.mass_kg, add(way, scale(one.mass_kg, v))
    way = turned(
        quaternion_matrix(x[3], x[4], x[5], x[6]),
        add(scale(1.0 / total, way), vector(tree.water[0].drift, 0)),
    )
    c, s = math.cos(body.heading_rad), math.sin(body.heading_rad)
    out[0], out[1], out[2], out[3] = body.x_m, body.y_m, body.depth_m, body.heading_rad
    out[4], out[5], out[6] = c * way[0] + s * way[1], body.yaw_rate_rad_s, clearance_m(flat, i)
    out[7], out[8], out[9], out[10] = body.roll_rad, body.pitch_rad, way[2], math.hypot(way[0], way[1])
    for r in range(5):
        out[11 + r] = x[7 + r]
    for k in range(body.joints):
        out[16 + k] = flat.joints[body.first_joint + k].angle_rad
    tell(flat, i, out, 16 + body.joints)
    if body.skin_points > 0:
        tell_skin(flat, tree, i, out)
