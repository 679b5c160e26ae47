"""Chamber pressures for a desired shape, also where chambers do not follow."""

from __future__ import annotations

import arm
import numpy as np
import pytest

BENDS = [0.4, -0.2, 0.0, 0.3]
NONE_LOST = [False] * 6


def test_joint_rests_the_same_when_a_chamber_is_stuck():
    posture = arm.controller("mode1").posture
    free = posture.pressures(BENDS, [0.0] * 6, [0.0] * 6, NONE_LOST)
    measured = list(free)
    measured[1] += 80e3  # above its set-point, for good
    for _ in range(100):
        around = posture.pressures(BENDS, free, measured, NONE_LOST)
    assert posture.stuck(1) and not posture.stuck(0)
    chambers = arm.chain().chambers[0]
    rest, with_stuck = chambers.rest(free[:3]), chambers.rest([around[0], measured[1], around[2]])
    assert with_stuck[1:3] == pytest.approx(rest[1:3], abs=0.05) and around[3:] == pytest.approx(free[3:])


@pytest.mark.parametrize("lost", [[0], [0, 1], [1, 2], [0, 2]])
def test_last_chamber_brings_the_joint_nearest_when_the_others_do_not_follow(lost):
    posture, chambers = arm.controller("mode1").posture, arm.chain().chambers[0]
    free = posture.pressures(BENDS, [0.0] * 6, [0.0] * 6, NONE_LOST)
    measured = [p + (30e3 if k in lost else 0.0) * (1 + k) for k, p in enumerate(free)]
    around = posture.pressures(BENDS, free, measured, [k in lost for k in range(6)])
    assert around[3:] == pytest.approx(free[3:])
    left = next(k for k in range(3) if k not in lost)

    def error(pressure_pa: float) -> float:
        pressures = [measured[k] if k in lost else around[k] for k in range(3)]
        pressures[left] = pressure_pa
        rest = chambers.rest(pressures)[1:3]
        return float(np.hypot(*np.subtract(rest, chambers.rest(free[:3])[1:3])))

    nearest = min(error(p) for p in np.arange(0.0, 500e3, 2e3))
    assert error(around[left]) < nearest + 0.05
