"""Bodies on their own, the links between them, ropes along them, as flat arrays; what stands where in a state.

A state is one vector of float64:

    0:size        the state of the tree (tree/arrays.py): the base, and the joints as they are read off the bodies
    then          13 numbers each body with mass after the base, file order, laid out as the base's:
                  position, quaternion, velocity and angular velocity in its own axes
    then          positions of the closures' own joints, as a tree's; nothing else needs them
    then          six numbers each link, force (N) and torque (N m) that it puts on its second body, at its point,
                  that body's axes; two each rope, its tension (N) and its length (m)

A link joins two bodies with mass over one joint, or over several with bodies of no mass between them, or is a
closure; a rope is a rod or a tendon.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from caudal.sim_plant.base.arrays import Tree
from caudal.sim_plant.base.types import F, Floats, Ints, N, Records
from caudal.sim_plant.tables.closures import Pair, Rod, Tendon, guides_of
from caudal.sim_plant.tables.tree import Body, TreeSpec
from caudal.sim_plant.tree.arrays import FREEDOMS, KINDS, POSITIONS
from caudal.sim_plant.tree.frames import rpy_matrix

MOST_WAYS = 6  # freedoms of one link

# The common frame is that of tree_layout.BODY; velocities (v, half, before) are spatial, about its origin.
FREE = np.dtype(
    [("body", N), ("at", N)]  # in the tree; in a state
    + [("turn", F, 9), ("place", F, 3), ("v", F, 6), ("before", F, 6), ("half", F, 6)]
    + [("yields", F, (6, 6)), ("ahead_turn", F, 9), ("ahead_place", F, 3)]
)
JOINT = np.dtype(
    [
        ("body", N),
        ("kind", N),
        ("driven", N),
        ("q_at", N),
        ("qd_at", N),
        ("v_at", N),
    ]  # body, qd, v: -1 if none
    + [("at", F, 3), ("turn", F, 9), ("axis", F, 3)]
)
LINK = np.dtype(
    [("a", N), ("b", N), ("first", N), ("count", N), ("load_at", N), ("end_at", F, 3), ("end_turn", F, 9)]
    # where b should be and is: the link's point, the gap there (displacement, turn)
    + [("point", F, 3), ("gap", F, 6)]
    # motions at the point for one unit of each freedom, and for the rates of its driven joints
    + [
        ("ways", F, 36),
        ("count_ways", N),
        ("led", F, 6),
        ("grasp", F, (6, 6)),
        ("step", F, 6),
        ("push", F, 6),
    ]
    # what is held: unit forces at the point, the same about the common origin, what they do to a and b
    + [("rows", F, 36), ("count_rows", N), ("wrench", F, 36), ("on_a", F, 36), ("on_b", F, 36)]
    + [
        ("stiff", F, (6, 6)),
        ("impulse", F, 6),
        ("last", F, 6),
        ("run", F, 6),
        ("wanted", F, 6),
        ("miss", F, 6),
    ]
)
ROPE = np.dtype(
    [("first", N), ("count", N), ("first_end", N), ("count_ends", N), ("load_at", N), ("told", N)]
    + [("pulls_only", N), ("length_m", F), ("rate_m_s", F), ("over_m", F), ("yields", F), ("taut", N)]
    + [("impulse", F), ("last", F), ("run", F)]
)
GUIDE = np.dtype([("end", N), ("at", F, 3)])
END = np.dtype([("free", N), ("wrench", F, 6), ("on", F, 6)])  # of a rope on one of its bodies


class Chains(NamedTuple):
    """A vehicle in maximal coordinates, and the room its kernels work in; one each thread."""

    tree: Tree
    frees: Records  # FREE
    free_of: Ints  # (body of the tree): its place among the frees, or -1
    joints: Records  # JOINT
    links: Records  # LINK, those of the tree parents first, then closures
    ropes: Records  # ROPE
    guides: Records  # GUIDE
    ends: Records  # END
    loads_at: Ints  # (1): where forces begin in a state
    keep: Floats  # (state)


def carrier_problem(bodies: list[Body], body: Body) -> str | None:
    """Why a body without mass cannot be a part of a joint, if so."""
    bare = Body(
        name=body.name, mass_kg=0.0, com_m=body.com_m, inertia_kg_m2=body.inertia_kg_m2, parent=body.parent,
        joint=body.joint,
    )  # fmt: skip
    if body != bare:
        return f"the water moves {body.name}, which has no mass"
    if sum(other.parent == body.name for other in bodies) != 1:
        return f"{body.name} has no mass and does not carry just one body"
    return None


def _links(spec: TreeSpec, order: list[int]) -> list[tuple[str, str, list[int]]]:
    """(first body, second body, bodies whose joints lie between, in file order of their indices)."""
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
    """The flat chains of a tree that pack_tree has laid out, and the length of a state."""
    place = {spec.body[index].name: i for i, index in enumerate(order)}
    with_mass = [body.name for body in spec.body if body.mass_kg > 0]
    number = {name: i for i, name in enumerate(with_mass)}
    frees = np.zeros(len(with_mass), FREE)
    frees["body"] = [place[name] for name in with_mass]
    frees["at"] = [0, *(size + 13 * i for i in range(len(with_mass) - 1))]
    free_of = np.full(len(order), -1, N)
    free_of[frees["body"]] = range(len(frees))
    links: list[Records] = []
    joints: list[Records] = []
    for a, b, chain in _links(spec, order):
        links.append(_row(LINK, a=number[a], b=number[b], first=len(joints), count=len(chain),
                          end_turn=np.eye(3).ravel()))  # fmt: skip
        for index in chain:
            own = tree.bodies[place[spec.body[index].name]]
            joints.append(_row(
                JOINT, body=place[spec.body[index].name], kind=own["kind"], driven=own["driven"],
                q_at=own["q_at"], qd_at=own["qd_at"], v_at=own["v_at"],
                at=own["joint_at"], turn=own["joint_turn"], axis=own["axis"],
            ))  # fmt: skip
    end = size + 13 * (len(frees) - 1)
    for closure in spec.closure:
        if isinstance(closure, Pair):
            kind = str(closure.__struct_config__.tag)
            links.append(_row(
                LINK, a=number[closure.body_a], b=number[closure.body_b], first=len(joints), count=1,
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
    ropes, guides, ends, end = _pack_ropes(spec, number, len(tree.told_q), end)
    chains = Chains(
        tree=tree, frees=frees, free_of=free_of, joints=_rows(joints, JOINT), links=_rows(links, LINK),
        ropes=ropes, guides=guides, ends=ends,
        loads_at=np.array([loads_at], N), keep=np.zeros(end),
    )  # fmt: skip
    return chains, end


def _pack_ropes(
    spec: TreeSpec, number: dict[str, int], told: int, end: int
) -> tuple[Records, Records, Records, int]:
    """ROPE, GUIDE, END, and where a state ends; `told` things are driven before them."""
    ropes: list[Records] = []
    guides: list[Records] = []
    ends: list[Records] = []
    for closure in spec.closure:
        if isinstance(closure, Rod | Tendon):
            points = guides_of(closure)
            held = list(dict.fromkeys(guide.body for guide in points))
            driven = closure.mode == "driven"
            ropes.append(_row(
                ROPE, first=len(guides), count=len(points), first_end=len(ends), count_ends=len(held),
                load_at=end, told=told if driven else -1, pulls_only=isinstance(closure, Tendon),
                length_m=closure.length_m or 0.0,
            ))  # fmt: skip
            told, end = told + driven, end + 2
            guides += [_row(GUIDE, end=len(ends) + held.index(g.body), at=g.at_m) for g in points]
            ends += [_row(END, free=number[name]) for name in held]
    return _rows(ropes, ROPE), _rows(guides, GUIDE), _rows(ends, END), end


def ways_of(spec: TreeSpec, order: list[int]) -> dict[str, int]:
    """Freedoms of the link that ends at each body, driven ones too."""
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
