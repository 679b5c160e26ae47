"""Simulates the model of tools/identify/rigid_body_model.py from many starts, with many parameters.

Runge-Kutta of fourth order with the recorded wrench. In four freedoms (level), roll, pitch and their rates are not
simulated but given, as measured. A push is an additional acceleration: a disturbance.
"""

import math

import numpy as np

from caudal.sim_plant.base.jit import compiled, inner
from caudal.sim_plant.base.spatial import add, cross, vector
from caudal.tools.identify.motion import STEP_S
from caudal.tools.identify.rigid_body_model import LEVEL, Matrices

Array = np.ndarray
STATE = 12
HELD = 6  # roll, pitch, p, q and the accelerations of p and q
_DRAG, _INERTIA, _INVERSE, _QUADRATIC = 0, 36, 72, 108
_NET, _RIGHTING, _LEAD = 114, 115, 116
_MODEL = 117


def pack(model: Matrices, level: bool) -> np.ndarray:
    """A model as one array for the kernel, with the inverse of its inertia in the simulated freedoms."""
    rows = list(LEVEL) if level else list(range(6))
    inverse = np.zeros((6, 6))
    inverse[np.ix_(rows, rows)] = np.linalg.inv(model.inertia[np.ix_(rows, rows)])
    parts = (model.drag, model.inertia, inverse, model.quadratic)
    weights = [model.net_weight_n, model.righting_n_m, model.lead_n_m]
    return np.concatenate([*(part.ravel() for part in parts), weights])


def shoot(
    models: np.ndarray, starts: np.ndarray, first: np.ndarray, steps: int, wrench: np.ndarray,
    held: np.ndarray | None, push: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """States and their rates at every node, (model, window, node, 12), from starts (model, window, 12).

    Window w begins at node first[w]; at the end of the wrench it stops. `held` is (node, 6), or None for a model in six
    freedoms; `push` is (model, 6).
    """
    shape = (len(models), len(first), steps + 1, STATE)
    states, rates = np.zeros(shape), np.zeros(shape)
    level = held is not None
    given = held if held is not None else np.zeros((len(wrench) + 1, HELD))
    push = push if push is not None else np.zeros((len(models), 6))
    _shoot(models, starts, first, wrench, given, level, STEP_S, push, states, rates, np.zeros((6, STATE)))
    return states, rates


@inner
def _momentum(model: Array, v: Array, i: int) -> float:
    """Component i of M v."""
    total = 0.0
    for j in range(6):
        total += model[_INERTIA + 6 * i + j] * v[6 + j]
    return total


@inner
def _rate(
    model: Array, state: Array, wrench: Array, held: Array, level: bool, push: Array, rest: Array, out: Array
) -> None:
    """Fills `out` with d state / dt; `rest` is scratch for the accelerating forces."""
    if level:
        state[3], state[4], state[9], state[10] = held[0], held[1], held[2], held[3]
    cr, sr, cp, sp = math.cos(state[3]), math.sin(state[3]), math.cos(state[4]), math.sin(state[4])
    ch, sh = math.cos(state[5]), math.sin(state[5])
    u, v, w = state[6], state[7], state[8]
    p, q, r = state[9], state[10], state[11]
    across, up = sr * v + cr * w, cr * v - sr * w
    ahead = cp * u + sp * across
    out[0] = ch * ahead - sh * up
    out[1] = sh * ahead + ch * up
    out[2] = -sp * u + cp * across
    turn = (q * sr + r * cr) / cp
    out[3] = p + turn * sp
    out[4] = q * cr - r * sr
    out[5] = turn

    linear = (_momentum(model, state, 0), _momentum(model, state, 1), _momentum(model, state, 2))
    angular = (_momentum(model, state, 3), _momentum(model, state, 4), _momentum(model, state, 5))
    omega = vector(state, 9)
    pull = cross(omega, linear)
    turned = add(cross(omega, angular), cross(vector(state, 6), linear))
    net, righting, lead = model[_NET], model[_RIGHTING], model[_LEAD]
    rest[0] = wrench[0] - pull[0] + net * sp
    rest[1] = wrench[1] - pull[1] - net * sr * cp
    rest[2] = wrench[2] - pull[2] - net * cr * cp
    rest[3] = wrench[3] - turned[0] - righting * sr * cp
    rest[4] = wrench[4] - turned[1] - righting * sp - lead * cr * cp
    rest[5] = wrench[5] - turned[2] + lead * sr * cp
    for i in range(6):
        drag = model[_QUADRATIC + i] * abs(state[6 + i]) * state[6 + i]
        for j in range(6):
            drag += model[_DRAG + 6 * i + j] * state[6 + j]
        rest[i] -= drag
        if level:
            rest[i] -= model[_INERTIA + 6 * i + 3] * held[4] + model[_INERTIA + 6 * i + 4] * held[5]
    for i in range(6):
        total = push[i]
        for j in range(6):
            total += model[_INVERSE + 6 * i + j] * rest[j]
        out[6 + i] = total
    if level:
        out[9], out[10] = held[4], held[5]


@compiled
def _shoot(
    models: Array, starts: Array, first: Array, wrench: Array, held: Array, level: bool, step_s: float, push: Array,
    states: Array, rates: Array, scratch: Array,
) -> None:  # fmt: skip
    """Fills `states` and `rates`."""
    trial, k2, k3, k4, rest, middle = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    for m in range(len(models)):
        model, pushed = models[m], push[m]
        for w in range(len(first)):
            begin = first[w]
            last = min(states.shape[2] - 1, len(wrench) - begin)
            for i in range(12):
                states[m, w, 0, i] = starts[m, w, i]
            for n in range(last):
                now, k1, then = states[m, w, n], rates[m, w, n], states[m, w, n + 1]
                force, here, there = wrench[begin + n], held[begin + n], held[begin + n + 1]
                for i in range(6):
                    middle[i] = 0.5 * (here[i] + there[i])
                _rate(model, now, force, here, level, pushed, rest, k1)
                for i in range(12):
                    trial[i] = now[i] + 0.5 * step_s * k1[i]
                _rate(model, trial, force, middle, level, pushed, rest, k2)
                for i in range(12):
                    trial[i] = now[i] + 0.5 * step_s * k2[i]
                _rate(model, trial, force, middle, level, pushed, rest, k3)
                for i in range(12):
                    trial[i] = now[i] + step_s * k3[i]
                _rate(model, trial, force, there, level, pushed, rest, k4)
                for i in range(12):
                    then[i] = now[i] + step_s / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
            end = wrench[min(begin + last, len(wrench) - 1)]
            _rate(model, states[m, w, last], end, held[begin + last], level, pushed, rest, rates[m, w, last])
