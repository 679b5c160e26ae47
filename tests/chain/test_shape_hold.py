"""A plan held with a thruster lost: chambers give what the thrusters cannot."""

from __future__ import annotations

import arm
import numpy as np
import pytest

from caudal.onboard.chain.model import JOINT
from caudal.onboard.chain.rotations import euler_rotation

SLIDES = np.array([0.16, 0.17])
BENDS = np.array([0.1, -0.6, -0.1, 0.4])


@pytest.mark.parametrize("thruster", ["mid_y", "head_y", "head_z"])
def test_other_thrusters_and_joint_rests_give_a_planned_motion(thruster):
    planned = arm.controller("mode1", f'control.dead=["{thruster}"]').planned
    assert planned is not None
    hold, chain = planned.hold, arm.chain()
    rng = np.random.default_rng(3)
    rotation, speed, acceleration = (
        euler_rotation(0.05, 0.1, 0.7),
        rng.normal(0, 0.03, 10),
        rng.normal(0, 0.005, 10),
    )
    thrust, rests = hold._trim(rotation, SLIDES, BENDS, speed, acceleration)
    q, qd = np.zeros(chain.joints), np.zeros(chain.joints)
    q[0::JOINT] = q[JOINT - 1 :: JOINT] = SLIDES
    q[chain.bends], qd[chain.bends] = BENDS, speed[6:]
    chain.update(rotation, speed[:6], q, qd, np.zeros(6))
    forces = chain.free_b @ thrust - chain.free_load
    forces[6:] += hold._dynamics.stiffness * (BENDS + rests)
    assert thrust[chain.thrusters.index(thruster)] == 0.0
    assert forces == pytest.approx(chain.free_mass @ acceleration, abs=0.01)  # N, N m
