"""A tree of bodies as arrays, and the layout of a state.

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
from caudal.sim_plant.base.types import Floats, Records, floats, ints
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
JOINTS_AT = 13  # index of the first joint position in a state

WATER = np.dtype(
    ints("has_free_joints velocities_at tethered")
    # time_s: how long the waves have run
    + floats("gravity_m_s2 buoyancy_n_m3 time_s")
    + floats("current_m_s", 3)
    # the tether (water/tether.py); last_heading_rad counts whole turns
    + floats("tether_at tether_end", 3)
    + floats("tether_slack_m tether_stiffness tether_drag tether_twist start_heading_rad last_heading_rad")
    # written by place_base: up and the current in base axes, the base's velocity and height in the world
    + floats("up drift base_velocity", 3)
    + floats("height_m")
    # the pose of the common frame in the world
    + floats("turn", 9)
    + floats("at", 3)
)

# All spatial vectors are about one origin and along one set of axes, the common frame: an inertial frame that is at the
# base's pose at this instant. It drifts with the water, so that a uniform current needs no terms of its own.
BODY = np.dtype(
    # the joint to its parent: its index in a state (q, qd) and in a vector of velocities (v)
    ints("parent kind driven q_at qd_at v_at")
    + floats("joint_at axis", 3)
    + floats("joint_turn", 9)
    + floats("stiffness damping rest")
    # the servo of a joint that moves freely, if it has one
    + ints("servo_powered")
    + floats("servo_goal servo_stiffness servo_damping servo_torque servo_rate servo_play")
    # the body in its own frame; own_inertia includes the added mass, rigid: there is none
    + floats("mass_kg")
    + floats("com_m", 3)
    + floats("about_com", 9)
    + floats("own_inertia", 6, 6)
    + ints("rigid")
    # mixed: linear drag of one axis by the motion along another
    + ints("has_drag has_mixed_drag")
    + floats("drag_at", 3)
    + floats("linear quadratic", 6)
    + floats("mixed", 6, 6)
    # thrust in this step: force and moment about its origin, body axes
    + floats("push", 6)
    # wet: the water acts on it; the added mass alone; the point at which it takes the waves
    + ints("wet")
    + floats("added", 6, 6)
    + floats("wave_at", 3)
    # written by the kernels: pose and motion
    + floats("turn", 9)
    + floats("at", 3)
    + floats("velocity coriolis acceleration", 6)
    # the water around it: height_m + up . r is the height above the surface; the immersed share of the hull
    + floats("height_m immersed_share")
    + floats("up water_velocity water_acceleration", 3)
    # motion for one unit of each joint velocity; force of spring, damper and servo
    + floats("axes", 18)
    + floats("joint_force", 3)
    # its inertia, and its bias force: the force it needs for no acceleration; later with those of its children
    + floats("inertia", 6, 6)
    + floats("force", 6)
    # articulated-body algorithm: inertia times axes, inverse of the joint's inertia, force left for the joint
    + floats("u", 18)
    + floats("d", 9)
    + floats("residual", 3)
)


def rotation_matrix(quaternion: Floats) -> Floats:
    """Rotation matrix 3x3 of a quaternion w x y z."""
    w, axis = quaternion[0], _skew(quaternion[1:])
    turn: Floats = np.eye(3) + 2 / np.dot(quaternion, quaternion) * (w * axis + axis @ axis)
    return turn


def _skew(a: Floats) -> Floats:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], dtype=float)


def shift_inertia(inertia: Floats, at: Floats) -> Floats:
    """A 6x6 inertia about the point `at`, taken about the origin."""
    motion = np.eye(6)
    motion[:3, 3:] = -_skew(at)
    return motion.T @ inertia @ motion


def body_inertia(body: Body, fluid: bool) -> Floats:
    """6x6 inertia about the body's origin, body axes, with the added mass if there is fluid."""
    own = np.zeros((6, 6))
    own[:3, :3] = body.mass_kg * np.eye(3)
    own[3:, 3:] = body.inertia()
    own = shift_inertia(own, np.array(body.com_m))
    return own + added_inertia(body) if fluid else own


def added_inertia(body: Body) -> Floats:
    """6x6 added mass about the body's origin, body axes."""
    if body.added_inertia is None:
        return np.zeros((6, 6))
    return shift_inertia(body.added_inertia.matrix(), np.array(body.added_inertia.at_m))


def pack_tree(spec: TreeSpec, gravity: bool, fluid: bool) -> tuple[Tree, list[int]]:
    """The arrays of a tree, and for each of its bodies the index in the file."""
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
            row["q_at"], row["v_at"] = q_at[joint.name], v_at[joint.name]
            row["qd_at"] = q + v_at[joint.name] - 6
    water = np.zeros(1, WATER)
    water["up"], water["turn"] = (0.0, 0.0, 1.0), np.eye(3).ravel()
    water["velocities_at"] = q
    water["gravity_m_s2"] = spec.gravity_m_s2 if gravity else 0.0
    if fluid:
        water["buoyancy_n_m3"] = spec.density_kg_m3 * water["gravity_m_s2"]
        water["current_m_s"] = spec.current_m_s
    water["has_free_joints"] = ((bodies["kind"] != FIXED) & (bodies["driven"] == 0)).any()
    joints = [body.joint for body in spec.body if body.joint and body.joint.kind != "fixed"]
    driven = [joint.name for joint in joints if joint.mode == "driven"]
    tubes, ellipsoids, corners, sums, sections = pack_hulls(
        [(i, spec.body[index].hull) for i, index in enumerate(order) if fluid]
    )
    foils, edges, links, link_points = _pack_parts(spec, place if fluid else {}, q + v - 6)
    waves = [*spec.wave, *(spectrum_waves(spec.spectrum) if spec.spectrum else [])]
    size = q + v - 6 + sum(lag_states(body.foil) for body in spec.body)
    tree = Tree(
        water=water, bodies=bodies, tubes=tubes, ellipsoids=ellipsoids, corners=corners,
        corner_sums=sums, sections=sections, foils=foils, edges=edges, links=links, link_points=link_points,
        waves=pack_waves(waves if gravity and fluid else [], spec.gravity_m_s2),
        driven_q=np.array([q_at[name] for name in driven], np.int64),
        driven_v=np.array([q + v_at[name] - 6 for name in driven], np.int64),
        acceleration=np.zeros(v), rate=np.zeros(size), stage=np.zeros(size), rk4_sum=np.zeros(size),
        saved=np.zeros(size),
    )  # fmt: skip
    return tree, order


def _pack_parts(
    spec: TreeSpec, place: dict[str, int], lag_at: int
) -> tuple[Records, Records, Records, Floats]:
    """Foils, edges, slender links and these links' points of the bodies in `place`; foil lags start at index lag_at."""
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
    row["added"], hull = added_inertia(body), body.hull
    row["wet"] = any([body.added_inertia, body.drag, hull, body.foil, body.edge, body.slender])
    if hull is not None:
        row["wave_at"] = np.add(hull.from_m, hull.to_m) / 2 if isinstance(hull, Tube) else hull.at_m
    if fluid and body.drag is not None:
        row["has_drag"], row["drag_at"] = 1, body.drag.at_m
        linear = body.drag.matrix()
        row["linear"], row["quadratic"] = linear.diagonal(), body.drag.quadratic
        row["mixed"] = linear - np.diag(linear.diagonal())
        row["has_mixed_drag"] = row["mixed"].any()
    joint = body.joint
    if joint is not None:
        row["kind"] = KINDS[joint.kind]
        row["driven"] = joint.mode == "driven" and joint.kind != "fixed"
        row["joint_at"], row["joint_turn"] = joint.at_m, rpy_matrix(joint.rpy_deg).ravel()
        row["axis"] = np.array(joint.axis) / (np.linalg.norm(joint.axis) or 1.0)
        row["stiffness"], row["damping"], row["rest"] = joint.stiffness, joint.damping, joint.rest
