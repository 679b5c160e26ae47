"""Bodies with coordinates of their own, the links and ropes between them, as arrays; the layout of a state.

A state is one vector of float64:

    0:size        the state of the tree (tree/arrays.py): the base, and the joints as measured between the bodies
    then          13 numbers for each body with mass after the base, in file order, laid out as the base's:
                  position, quaternion, velocity and angular velocity in its own axes
    then          positions of the closures' own joints, as a tree's; nothing else needs them
    then          six numbers for each link: force (N) and torque (N m) on its second body, at the link's point,
                  along that body's axes; two for each rope: its tension (N) and its length (m)

A link joins two bodies with mass over one joint, or over several with massless bodies between them, or it is a
closure; a rope is a rod or a tendon.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.types import Floats, Ints, Records, floats, ints
from caudal.sim_plant.tables.closures import Pair, Rod, Tendon, guides_of
from caudal.sim_plant.tables.tree import Body, TreeSpec
from caudal.sim_plant.tree.arrays import FREEDOMS, KINDS, POSITIONS
from caudal.sim_plant.tree.frames import rpy_matrix

MAX_FREEDOMS = 6  # freedoms of one link

# The common frame is that of tree.arrays.BODY; velocities (v, middle_v, start_v) are spatial, about its origin.
FREE = np.dtype(
    ints("body at")  # index in the tree; index in a state
    + floats("turn next_turn", 9)
    + floats("place next_place", 3)
    + floats("v start_v middle_v", 6)
    + floats("inverse_inertia", 6, 6)
)
JOINT = np.dtype(
    ints("body kind driven q_at qd_at v_at") + floats("at axis", 3) + floats("turn", 9)
)  # -1: none
LINK = np.dtype(
    ints("a b first count load_at count_motions count_rows")
    # on body b, the frame that the joints from body a should lead to
    + floats("end_at", 3)
    + floats("end_turn", 9)
    # the link's point, and the gap there (displacement, rotation)
    + floats("point", 3)
    + floats("gap", 6)
    # motions of the point for one unit of each freedom, their inverse Gram matrix, the velocity of driven joints
    + floats("motions", 36)
    + floats("gram", 6, 6)
    + floats("driven_velocity step push", 6)
    # constraints: unit forces at the point, the same about the common origin, their effect on a and b
    + floats("rows wrench response_a response_b", 36)
    + floats("effective_mass", 6, 6)
    + floats("impulse last_impulse direction target_velocity error", 6)
)
ROPE = np.dtype(
    ints("first count first_end count_ends load_at driven_index pulls_only taut")
    + floats("length_m rate_m_s excess_m inverse_mass impulse last_impulse direction")
)
GUIDE = np.dtype(ints("end") + floats("at", 3))
END = np.dtype(ints("free_body") + floats("wrench response", 6))  # of a rope on one of its bodies


class Chains(NamedTuple):
    """All arrays of a vehicle in maximal coordinates and the work space of its kernels; each thread needs its own."""

    tree: Tree
    free_bodies: Records  # FREE: the bodies with mass
    free_index: Ints  # (body of the tree): its index among the free bodies, or -1
    joints: Records  # JOINT
    links: Records  # LINK: those of the tree, parents first, then closures
    ropes: Records  # ROPE
    guides: Records  # GUIDE
    ends: Records  # END
    loads_at: Ints  # (1): index of the first force in a state
    saved: Floats  # (state): the last one without divergence


def massless_body_problem(bodies: list[Body], body: Body) -> str | None:
    """What prevents a body without mass from being part of a joint, or None."""
    bare = Body(
        name=body.name, mass_kg=0.0, com_m=body.com_m, inertia_kg_m2=body.inertia_kg_m2, parent=body.parent,
        joint=body.joint,
    )  # fmt: skip
    if body != bare:
        return f"the water acts on {body.name}, which has no mass"
    if sum(other.parent == body.name for other in bodies) != 1:
        return f"{body.name} has no mass and does not carry exactly one body"
    return None


def _links(spec: TreeSpec, order: list[int]) -> list[tuple[str, str, list[int]]]:
    """(first body, second body, file indices of the bodies whose joints are between them) of each link."""
    at = {body.name: i for i, body in enumerate(spec.body)}
    links = []
    for index in order[1:]:
        body = spec.body[index]
        if body.mass_kg == 0:
            continue
        chain, parent = [index], body.parent or ""
        while spec.body[at[parent]].mass_kg == 0:
            chain.insert(0, at[parent])
            parent = spec.body[at[parent]].parent or ""
        links.append((parent, body.name, chain))
    return links


def pack_chains(spec: TreeSpec, tree: Tree, order: list[int], size: int) -> tuple[Chains, int]:
    """The arrays in maximal coordinates of a tree from pack_tree, and the length of a state."""
    place = {spec.body[index].name: i for i, index in enumerate(order)}
    with_mass = [body.name for body in spec.body if body.mass_kg > 0]
    free_at = {name: i for i, name in enumerate(with_mass)}
    free_bodies = np.zeros(len(with_mass), FREE)
    free_bodies["body"] = [place[name] for name in with_mass]
    free_bodies["at"] = [0, *(size + 13 * i for i in range(len(with_mass) - 1))]
    free_index = np.full(len(order), -1, np.int64)
    free_index[free_bodies["body"]] = range(len(free_bodies))
    links: list[Records] = []
    joints: list[Records] = []
    for a, b, chain in _links(spec, order):
        links.append(_row(LINK, a=free_at[a], b=free_at[b], first=len(joints), count=len(chain),
                          end_turn=np.eye(3).ravel()))  # fmt: skip
        for index in chain:
            own = tree.bodies[place[spec.body[index].name]]
            joints.append(_row(
                JOINT, body=place[spec.body[index].name], kind=own["kind"], driven=own["driven"],
                q_at=own["q_at"], qd_at=own["qd_at"], v_at=own["v_at"],
                at=own["joint_at"], turn=own["joint_turn"], axis=own["axis"],
            ))  # fmt: skip
    end = size + 13 * (len(free_bodies) - 1)
    for closure in spec.closure:
        if isinstance(closure, Pair):
            kind = str(closure.__struct_config__.tag)
            links.append(_row(
                LINK, a=free_at[closure.body_a], b=free_at[closure.body_b], first=len(joints), count=1,
                end_at=closure.at_b_m, end_turn=rpy_matrix(closure.rpy_b_deg).ravel(),
            ))  # fmt: skip
            joints.append(_row(
                JOINT, body=-1, kind=KINDS[kind], q_at=end, qd_at=-1, v_at=-1, at=closure.at_a_m,
                turn=rpy_matrix(closure.rpy_a_deg).ravel(),
                axis=np.array(closure.axis) / (np.linalg.norm(closure.axis) or 1.0),
            ))  # fmt: skip
            end += POSITIONS[kind]
    loads_at = end
    for row in links:
        row["load_at"] = end
        end += 6
    ropes, guides, ends, end = _pack_ropes(spec, free_at, len(tree.driven_q), end)
    chains = Chains(
        tree=tree, free_bodies=free_bodies, free_index=free_index, joints=_rows(joints, JOINT),
        links=_rows(links, LINK), ropes=ropes, guides=guides, ends=ends,
        loads_at=np.array([loads_at], np.int64), saved=np.zeros(end),
    )  # fmt: skip
    return chains, end


def _pack_ropes(
    spec: TreeSpec, free_at: dict[str, int], count_driven: int, end: int
) -> tuple[Records, Records, Records, int]:
    """ROPE, GUIDE and END records, and the end of a state; count_driven joints are driven before them."""
    ropes: list[Records] = []
    guides: list[Records] = []
    ends: list[Records] = []
    for closure in spec.closure:
        if isinstance(closure, Rod | Tendon):
            points = guides_of(closure)
            carriers = list(dict.fromkeys(guide.body for guide in points))
            driven = closure.mode == "driven"
            ropes.append(_row(
                ROPE, first=len(guides), count=len(points), first_end=len(ends), count_ends=len(carriers),
                load_at=end, driven_index=count_driven if driven else -1, pulls_only=isinstance(closure, Tendon),
                length_m=closure.length_m or 0.0,
            ))  # fmt: skip
            count_driven, end = count_driven + driven, end + 2
            guides += [_row(GUIDE, end=len(ends) + carriers.index(g.body), at=g.at_m) for g in points]
            ends += [_row(END, free_body=free_at[name]) for name in carriers]
    return _rows(ropes, ROPE), _rows(guides, GUIDE), _rows(ends, END), end


def link_freedoms(spec: TreeSpec, order: list[int]) -> dict[str, int]:
    """Number of freedoms of the link that ends at each body, driven ones included."""
    joints = [body.joint for body in spec.body]
    return {
        b: sum(FREEDOMS[joint.kind] for joint in (joints[i] for i in chain) if joint)
        for _, b, chain in _links(spec, order)
    }


def _row(kind: np.dtype[np.void], /, **fields: object) -> Records:
    row = np.zeros((), kind)
    for name, value in fields.items():
        row[name] = value
    return row


def _rows(rows: list[Records], kind: np.dtype[np.void]) -> Records:
    return np.array(rows, kind) if rows else np.zeros(0, kind)
