"""A tree of bodies as flat arrays, and what stands where in a state.

A state is one vector of float64:

    0:3           position of the base's origin, world (m)
    3:7           attitude of the base, quaternion w x y z (base to world)
    7:10          velocity of the base's origin, base axes (m/s)
    10:13         angular velocity of the base, base axes (rad/s)
    13:13+nq      joint positions in file order (rad, m; a spherical joint: quaternion w x y z, body to parent)
    13+nq:+nv     joint velocities in file order (rad/s, m/s; a spherical joint: angular velocity, body axes)
    the rest      lag of the foils that have one, in file order, two each (m/s; water/foils.py)

Velocities, accelerations and forces are vectors of 6 + nv: base linear, base angular, joints in file order.
An acceleration is the rate of the state's velocities. A force on the base acts at its origin, base axes.
"""

from __future__ import annotations

import numpy as np

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.types import F, Floats, N, Records
from caudal.sim_plant.tables.tree import Body, TreeSpec, Tube
from caudal.sim_plant.tree.frames import rpy_matrix, sorted_bodies
from caudal.sim_plant.water.buoyancy import pack_hulls
from caudal.sim_plant.water.foils import lag_states, pack_foils
from caudal.sim_plant.water.slender import pack_edges, pack_links
from caudal.sim_plant.water.waves import pack_waves, spectrum_waves

REVOLUTE, PRISMATIC, SPHERICAL, FIXED = range(4)
KINDS = {"revolute": REVOLUTE, "prismatic": PRISMATIC, "spherical": SPHERICAL, "fixed": FIXED}
POSITIONS = {"revolute": 1, "prismatic": 1, "spherical": 4, "fixed": 0}
FREEDOMS = {"revolute": 1, "prismatic": 1, "spherical": 3, "fixed": 0}
JOINTS_AT = 13  # where the joints begin in a state

WATER = np.dtype(
    [("gravity_m_s2", F), ("buoyancy_n_m3", F), ("current_m_s", F, 3), ("yields", N), ("velocities_at", N)]
    # seconds that the waves have gone
    + [("time_s", F)]
    # the tether (water/tether.py); last_heading_rad has the turns that a heading does not tell
    + [("tethered", N), ("tether_at", F, 3), ("tether_end", F, 3), ("tether_slack_m", F)]
    + [("tether_stiffness", F), ("tether_drag", F), ("tether_twist", F)]
    + [("start_heading_rad", F), ("last_heading_rad", F)]
    # written by sweep: up and the current in base axes, the base's velocity and height in the world
    + [("up", F, 3), ("drift", F, 3), ("base_velocity", F, 3), ("height_m", F)]
    # and the place of the common frame in the world
    + [("turn", F, 9), ("at", F, 3)]
)

# Everything spatial is about one origin and axes: an inertial frame that stands at this instant where the
# base stands. It drifts with the water, so a uniform current needs no terms of its own.
BODY = np.dtype(
    # the joint to its parent: where it stands in a state (q, qd) and in a vector of velocities (v)
    [("parent", N), ("kind", N), ("driven", N), ("q_at", N), ("qd_at", N), ("v_at", N)]
    + [("joint_at", F, 3), ("joint_turn", F, 9), ("axis", F, 3)]
    + [("stiffness", F), ("damping", F), ("rest", F)]
    # the servo of a joint that yields, if it has one
    + [("servo_live", N), ("servo_goal", F), ("servo_stiffness", F), ("servo_damping", F)]
    + [("servo_torque", F), ("servo_rate", F), ("servo_play", F)]
    # the body in its own frame; own_inertia has the water it carries, rigid says that there is none
    + [("mass_kg", F), ("com_m", F, 3), ("about_com", F, 9), ("own_inertia", F, (6, 6)), ("rigid", N)]
    # mixed: linear drag of one axis by the motion of another; mixes says that there is some
    + [("drags", N), ("drag_at", F, 3), ("linear", F, 6), ("quadratic", F, 6)]
    + [("mixes", N), ("mixed", F, (6, 6))]
    # what its thrusters push it with for a step: force and moment about its origin, body axes
    + [("push", F, 6)]
    # whether it meets the water at all; the carried water alone; where the body meets the waves
    + [("wet", N), ("added", F, (6, 6)), ("wave_at", F, 3)]
    # written by the kernels: pose and motion
    + [("turn", F, 9), ("at", F, 3), ("velocity", F, 6), ("coriolis", F, 6), ("acceleration", F, 6)]
    # the water around: height_m + up . r is above the surface, share of the hull below, velocity and its rate
    + [("height_m", F), ("up", F, 3), ("share", F), ("stream", F, 3), ("stream_rate", F, 3)]
    # motion for one unit of each joint velocity; force of spring and damper
    + [("axes", F, 18), ("joint_force", F, 3)]
    # its inertia and the force it asks for at no acceleration; later with those of its children
    + [("inertia", F, (6, 6)), ("force", F, 6)]
    # inertia times axes, inverse of what the joint feels, force left over for the joint
    + [("u", F, 18), ("d", F, 9), ("left", F, 3)]
)


def quaternion_turn(quaternion: Floats) -> Floats:
    """Turn 3x3 of a quaternion w x y z."""
    w, axis = quaternion[0], _skew(quaternion[1:])
    turn: Floats = np.eye(3) + 2 / np.dot(quaternion, quaternion) * (w * axis + axis @ axis)
    return turn


def _skew(a: Floats) -> Floats:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], dtype=float)


def shifted(inertia: Floats, at: Floats) -> Floats:
    """A 6x6 inertia about `at`, taken about the origin."""
    motion = np.eye(6)
    motion[:3, 3:] = -_skew(at)
    return motion.T @ inertia @ motion


def body_inertia(body: Body, fluid: bool) -> Floats:
    """6x6 about the body's origin, body axes, with the water it carries if there is fluid."""
    own = np.zeros((6, 6))
    own[:3, :3] = body.mass_kg * np.eye(3)
    own[3:, 3:] = body.inertia()
    own = shifted(own, np.array(body.com_m))
    return own + carried_inertia(body) if fluid else own


def carried_inertia(body: Body) -> Floats:
    """6x6 of the water it carries alone."""
    if body.added_inertia is None:
        return np.zeros((6, 6))
    return shifted(body.added_inertia.matrix(), np.array(body.added_inertia.at_m))


def pack_tree(spec: TreeSpec, gravity: bool, fluid: bool) -> tuple[Tree, list[int]]:
    """The flat tree, and for each of its bodies its place in the file."""
    order = sorted_bodies(spec.body)
    place = {spec.body[index].name: i for i, index in enumerate(order)}
    q_at, v_at, q, v = {}, {}, JOINTS_AT, 6
    for body in spec.body:
        if body.joint:
            q_at[body.joint.name], v_at[body.joint.name] = q, v
            q, v = q + POSITIONS[body.joint.kind], v + FREEDOMS[body.joint.kind]
    bodies = np.zeros(len(order), BODY)
    for row, index in zip(bodies, order, strict=True):
        _pack_body(row, spec.body[index], fluid)
        joint = spec.body[index].joint
        if joint is not None:
            row["parent"] = place[spec.body[index].parent or ""]
            row["q_at"], row["v_at"], row["qd_at"] = (
                q_at[joint.name],
                v_at[joint.name],
                q + v_at[joint.name] - 6,
            )
    water = np.zeros(1, WATER)
    water["up"], water["turn"] = (0.0, 0.0, 1.0), np.eye(3).ravel()
    water["velocities_at"] = q
    water["gravity_m_s2"] = spec.gravity_m_s2 if gravity else 0.0
    if fluid:
        water["buoyancy_n_m3"] = spec.density_kg_m3 * water["gravity_m_s2"]
        water["current_m_s"] = spec.current_m_s
    water["yields"] = ((bodies["kind"] != FIXED) & (bodies["driven"] == 0)).any()
    told = [
        b.joint.name for b in spec.body if b.joint and b.joint.mode == "driven" and b.joint.kind != "fixed"
    ]
    tubes, rounds, corners, sums, along = pack_hulls(
        [(i, spec.body[index].hull) for i, index in enumerate(order) if fluid]
    )
    foils, edges, links, link_points = _pack_parts(spec, place if fluid else {}, q + v - 6)
    waves = [*spec.wave, *(spectrum_waves(spec.spectrum) if spec.spectrum else [])]
    size = q + v - 6 + sum(lag_states(body.foil) for body in spec.body)
    tree = Tree(
        water=water, bodies=bodies, tubes=tubes, rounds=rounds, corners=corners, sums=sums, along=along,
        foils=foils, edges=edges, links=links, link_points=link_points,
        waves=pack_waves(waves if gravity and fluid else [], spec.gravity_m_s2),
        told_q=np.array([q_at[name] for name in told], N),
        told_v=np.array([q + v_at[name] - 6 for name in told], N),
        told=np.zeros(v), rate=np.zeros(size), stage=np.zeros(size), sum=np.zeros(size), keep=np.zeros(size),
    )  # fmt: skip
    return tree, order


def _pack_parts(
    spec: TreeSpec, place: dict[str, int], lag_at: int
) -> tuple[Records, Records, Records, Floats]:
    """Foils, edges, slender links and these links' points, of bodies that have a place; lags from lag_at on."""
    foils, bodies = [], [body for body in spec.body if body.name in place]
    for body in bodies:
        for foil in body.foil:
            foils.append((place[body.name], foil, lag_at))
            lag_at += lag_states([foil])
    edges = [(place[body.name], edge) for body in bodies for edge in body.edge]
    links = [(place[body.name], link) for body in bodies for link in body.slender]
    density = spec.density_kg_m3
    return pack_foils(foils, density), pack_edges(edges, density), *pack_links(links, density)


def _pack_body(row: np.void, body: Body, fluid: bool) -> None:
    row["kind"] = FIXED
    row["mass_kg"], row["com_m"], row["about_com"] = body.mass_kg, body.com_m, body.inertia().ravel()
    row["own_inertia"] = body_inertia(body, fluid)
    row["rigid"] = not (fluid and body.added_inertia is not None)
    row["added"], hull = carried_inertia(body), body.hull
    row["wet"] = any([body.added_inertia, body.drag, hull, body.foil, body.edge, body.slender])
    if hull is not None:
        row["wave_at"] = np.add(hull.from_m, hull.to_m) / 2 if isinstance(hull, Tube) else hull.at_m
    if fluid and body.drag is not None:
        row["drags"], row["drag_at"] = 1, body.drag.at_m
        linear = body.drag.matrix()
        row["linear"], row["quadratic"] = linear.diagonal(), body.drag.quadratic
        row["mixed"] = linear - np.diag(linear.diagonal())
        row["mixes"] = row["mixed"].any()
    joint = body.joint
    if joint is not None:
        row["kind"] = KINDS[joint.kind]
        row["driven"] = joint.mode == "driven" and joint.kind != "fixed"
        row["joint_at"], row["joint_turn"] = joint.at_m, rpy_matrix(joint.rpy_deg).ravel()
        row["axis"] = np.array(joint.axis) / (np.linalg.norm(joint.axis) or 1.0)
        row["stiffness"], row["damping"], row["rest"] = joint.stiffness, joint.damping, joint.rest
