"""Force of the water on each body at an instant of a run, by the plant's models: drag, lift, slender bodies, edges.

Poses are the recorded truth. Velocities of base and joints are the slopes of parabolas through three rows: in a log the
row before and the row after, in a stream the two rows before. The forces are therefore those of the mean motion over
two ticks. A servo moves to each new pulse and stops there, and the body recoils: within a tick velocities oscillate
about that mean, and mixing an instantaneous velocity with a mean one would give a wrong force. Compared with the mean
of the plant's forces over the two ticks the error is 1 % (fish: 7 %, as its servos are the fastest). A stream, with 30
rows per second, adds h^2 / 3 of the third derivative: 6 % of a beat of 2 Hz. Rows further apart give no velocity. A log
does not contain the wakes of foils with lag; they are taken as steady. The plant, and numba, are loaded on first use.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from caudal.sim_plant.tables.read import PlantSpec
from caudal.tools.common.output import slow_notice
from caudal.tools.log.poses import attitude, quaternion
from caudal.tools.log.recorded_run import BASE, RecordedRun, Run

if TYPE_CHECKING:
    from caudal.sim_plant.tree.model import Model

FURTHEST_S = 0.06  # largest distance of rows that give a velocity
SAMPLES = 200  # instants of a log from which the usual force is computed
USUAL = 95  # percentile


class WaterForces:
    """The forces of the water on all vehicles of a run; false where they cannot be computed."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._plant = run.vehicle.plant
        self._model: Model | None = None
        ends = {joint: "_m" if joint in self._plant.slides else "_rad" for joint in self._plant.joints}
        self._fields = [*BASE, *(joint + end for joint, end in ends.items())]
        self.scale_n = 0.0

    def __bool__(self) -> bool:
        """Returns whether the log and the plant allow the forces to be computed."""
        known = all(
            self._run.has(f"/{name}/truth", field) for name in self._run.names for field in self._fields
        )
        return known and has_water_forces(self._plant) and find_spec("numba") is not None

    def load(self) -> None:
        """Loads the models of the plant, once."""
        if self._model is not None:
            return
        from caudal.sim_plant.tree.model import Model

        assert self._plant.tree is not None
        bodies = [
            replace(body, foil=[replace(f, lag=False) for f in body.foil]) for body in self._plant.tree.body
        ]
        with slow_notice("loading the models of the water; the first time they are compiled"):
            model = Model(replace(self._plant.tree, body=bodies), label=self._run.vehicle.name)
            model.water_forces(model.state())
        self._model = model
        if isinstance(self._run.source, RecordedRun):
            self.scale_n = self._usual_n(self._run.source)

    @property
    def bodies(self) -> list[str]:
        """The names of the bodies, in the order of `forces_n`."""
        return [body.name for body in self._plant.tree.body] if self._plant.tree else []

    def full_n(self, forces_n: np.ndarray) -> float:
        """Returns the force of a long arrow: the usual force of a log, or the largest so far of a stream; rounded."""
        if not isinstance(self._run.source, RecordedRun):
            self.scale_n = max(self.scale_n, rounded_up(_largest_n(forces_n)))
        return self.scale_n

    def forces_n(self, time_s: float, vehicle: str) -> np.ndarray | None:
        """Returns the force on each body (body, 3) in world axes, N; None where rows are missing or too far apart."""
        state, at_s = self._state(time_s, vehicle)
        if state is None or self._model is None:
            return None
        self._model.time_s = at_s
        return self._model.water_forces(state)[:, :3]

    def _state(self, time_s: float, vehicle: str) -> tuple[np.ndarray | None, float]:
        """Returns the state as in sim_plant/tree/arrays.py (None where unknown), and the time of the world (s)."""
        topic = f"/{vehicle}/truth"
        times_s, rows, k = self._run.source.neighbours(topic, time_s)
        if not len(times_s):
            return None, 0.0
        columns = [self._run.source.fields[topic].index(field) for field in self._fields]
        values = np.array(rows, dtype=float)[:, columns]
        if len(times_s) < 2 or np.diff(times_s).max() > FURTHEST_S or not np.isfinite(values).all():
            return None, 0.0
        positions, joints = values[:, :3] * (1.0, 1.0, -1.0), values[:, len(BASE) :]
        rotations = [attitude(roll, pitch, heading) for heading, roll, pitch in values[:, 3 : len(BASE)]]
        relative = np.array([rotation_vector(rotations[k].T @ rotation) for rotation in rotations])
        slopes = slopes_at(times_s, np.hstack([positions @ rotations[k], relative, joints]), k)
        state = np.concatenate([positions[k], quaternion(rotations[k]), slopes[:6], joints[k], slopes[6:]])
        return state, times_s[k]

    def _usual_n(self, recorded: RecordedRun) -> float:
        largest = [0.0]
        for name in self._run.names:
            for time_s in np.linspace(0.0, recorded.end_s, SAMPLES):
                forces_n = self.forces_n(time_s, name)
                if forces_n is not None:
                    largest.append(_largest_n(forces_n))
        return rounded_up(float(np.percentile(largest, USUAL)))


def has_water_forces(plant: PlantSpec) -> bool:
    """Returns whether the plant models the force of the water on each body; the Strouhal model has one force in all."""
    if plant.model != "tree" or plant.tree is None or plant.tree.water != "full":
        return False
    spherical = any(body.joint and body.joint.kind == "spherical" for body in plant.tree.body)
    return not spherical and any(b.drag or b.foil or b.edge or b.slender for b in plant.tree.body)


def slopes_at(times_s: np.ndarray, values: np.ndarray, k: int) -> np.ndarray:
    """Returns the slopes of columns (row, column) at row k, of the polynomial through all rows, at most three."""
    out = np.zeros(values.shape[1])
    for j in range(len(times_s)):
        others = [i for i in range(len(times_s)) if i != j]
        if j == k:
            out += values[k] * sum(1.0 / (times_s[k] - times_s[i]) for i in others)
        else:
            rest = math.prod((times_s[k] - times_s[i]) / (times_s[j] - times_s[i]) for i in others if i != k)
            out += values[j] * rest / (times_s[j] - times_s[k])
    return out


def rotation_vector(rotation: np.ndarray) -> np.ndarray:
    """Returns axis times angle (rad) of a rotation of less than 180 degrees."""
    w, *axis = quaternion(rotation)
    size = float(np.linalg.norm(axis))
    angle = 2.0 * math.atan2(size, abs(w))
    return np.array(axis) * math.copysign(angle / size if size else 2.0, w)


def rounded_up(value: float) -> float:
    """Rounds up to one of six steps per power of ten."""
    if not value > 0.0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        step * power for step in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0) if step * power >= value * (1 - 1e-9)
    )


def _largest_n(forces_n: np.ndarray) -> float:
    return float(np.linalg.norm(forces_n, axis=1).max())
