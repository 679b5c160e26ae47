"""What the tests of impulses share: a model of plain tables, a hinge, the largest gap allowed."""

from __future__ import annotations

import msgspec

from caudal.sim_plant.maximal.model import ImpulseModel
from caudal.sim_plant.tables.tree import TreeSpec

ENOUGH_M = 1e-6  # a joint's gap at a step of 1 ms with 5 iterations


def impulses_of(tables: dict, **options) -> ImpulseModel:
    return ImpulseModel(msgspec.convert(tables, TreeSpec), **options)


def hinge(parent: str, name: str, axis: tuple, at_m: tuple, **more) -> dict:
    return {"parent": parent, "joint": {"name": name, "axis": list(axis), "at_m": list(at_m)} | more}
