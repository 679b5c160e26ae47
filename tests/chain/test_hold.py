"""A plan held with a thruster lost: what its motion takes is there, from chambers where no thruster can give it."""

from __future__ import annotations

import arm
import numpy as np
import pytest

from caudal.onboard.chain.lead import euler_turn
from caudal.onboard.chain.model import JOINT

SLIDES = np.array([0.16, 0.17])
BENDS = np.array([0.1, -0.6, -0.1, 0.4])


@pytest.mark.parametrize("thruster", ["mid_y", "head_y", "head_z"])
def test_a_planned_motion_is_had_from_the_other_thrusters_and_the_joints_rest(thruster):
    priority = arm.controller("mode1", f'control.dead=["{thruster}"]')
    hold, chain = priority._hold, arm.chain()
    rng = np.random.default_rng(3)
    turn, speed, push = euler_turn(0.05, 0.1, 0.7), rng.normal(0, 0.03, 10), rng.normal(0, 0.005, 10)
    thrust, rests = hold._trim(turn, SLIDES, BENDS, speed, push)
    q, qd = np.zeros(chain.joints), np.zeros(chain.joints)
    q[0::JOINT] = q[JOINT - 1 :: JOINT] = SLIDES
    q[chain.bends], qd[chain.bends] = BENDS, speed[6:]
    chain.update(turn, speed[:6], q, qd, np.zeros(6))
    pushes = chain.free_b @ thrust - chain.free_load
    pushes[6:] += hold._flow.stiffness * (BENDS + rests)
    assert thrust[chain.thrusters.index(thruster)] == 0.0
    assert pushes == pytest.approx(chain.free_mass @ push, abs=0.01)  # N, N m
