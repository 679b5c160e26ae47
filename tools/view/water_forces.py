"""What the water does to each body at a moment of a run, by the plant's own laws: drag, lift, resistance, edges.

Poses are the recorded truth's. All velocities, of base and joints alike, are the slopes there of parabolas through
three rows: in a log the one before and the one after, in a live run the two before. So the forces are those of the mean
motion over two ticks. A servo runs to each new pulse and waits there, and a body recoils: within a tick velocities
swing about that mean, and a velocity of one instant beside a mean of another would give a force that never was. Against
the mean of the plant's forces over the two ticks the error is 1 % (fish 7 %, as its servos are the quickest); a live
run's rows, thirty a second, add h^2 / 3 of the third derivative, 6 % of a beat of 2 Hz. Rows further apart tell none.
The wakes of foils that lag are in no log; they are taken as settled. The plant, and numba with it, is loaded when
somebody asks.
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

FURTHEST_S = 0.06  # between rows that still tell a velocity
SAMPLES = 200  # of a log, for the forces that are usual in it
USUAL = 95  # per cent


class Water:
    """Of all vehicles of a run; false where it cannot be told."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._plant = run.vehicle.plant
        self._model: Model | None = None
        ends = {joint: "_m" if joint in self._plant.slides else "_rad" for joint in self._plant.joints}
        self._fields = [*BASE, *(joint + end for joint, end in ends.items())]
        self.scale_n = 0.0

    def __bool__(self) -> bool:
        known = all(
            self._run.has(f"/{name}/truth", field) for name in self._run.names for field in self._fields
        )
        return known and resists(self._plant) and find_spec("numba") is not None

    def load(self) -> None:
        """Get the plant's laws ready, once."""
        if self._model is not None:
            return
        from caudal.sim_plant.tree.model import Model

        assert self._plant.tree is not None
        bodies = [
            replace(body, foil=[replace(f, lag=False) for f in body.foil]) for body in self._plant.tree.body
        ]
        with slow_notice("getting the water's forces ready; the first time they are compiled"):
            model = Model(replace(self._plant.tree, body=bodies), label=self._run.vehicle.name)
            model.water_forces(model.state())
        self._model = model
        if isinstance(self._run.source, RecordedRun):
            self.scale_n = self._usual_n(self._run.source)

    @property
    def bodies(self) -> list[str]:
        return [body.name for body in self._plant.tree.body] if self._plant.tree else []

    def full_n(self, forces_n: np.ndarray) -> float:
        """What a long arrow stands for: in a log what is usual there, in a live run the most so far; rounded, so that
        it seldom changes."""
        if not isinstance(self._run.source, RecordedRun):
            self.scale_n = max(self.scale_n, rounded_up(_largest_n(forces_n)))
        return self.scale_n

    def forces_n(self, time_s: float, vehicle: str) -> np.ndarray | None:
        """(body as in `bodies`, 3), world axes; None where rows are missing or too far apart."""
        state, at_s = self._state(time_s, vehicle)
        if state is None or self._model is None:
            return None
        self._model.time_s = at_s
        return self._model.water_forces(state)[:, :3]

    def _state(self, time_s: float, vehicle: str) -> tuple[np.ndarray | None, float]:
        """As sim_plant/tree/arrays.py lays it out, and the world's time; None where it is not known."""
        topic = f"/{vehicle}/truth"
        times_s, rows, k = self._run.source.neighbours(topic, time_s)
        if not len(times_s):
            return None, 0.0
        columns = [self._run.source.fields[topic].index(field) for field in self._fields]
        values = np.array(rows, dtype=float)[:, columns]
        if len(times_s) < 2 or np.diff(times_s).max() > FURTHEST_S or not np.isfinite(values).all():
            return None, 0.0
        places, joints = values[:, :3] * (1.0, 1.0, -1.0), values[:, len(BASE) :]
        turns = [attitude(roll, pitch, heading) for heading, roll, pitch in values[:, 3 : len(BASE)]]
        from_here = np.array([turned_by(turns[k].T @ turn) for turn in turns])
        slopes = rates(times_s, np.hstack([places @ turns[k], from_here, joints]), k)
        return np.concatenate([places[k], quaternion(turns[k]), slopes[:6], joints[k], slopes[6:]]), times_s[
            k
        ]

    def _usual_n(self, recorded: RecordedRun) -> float:
        largest = [0.0]
        for name in self._run.names:
            for time_s in np.linspace(0.0, recorded.end_s, SAMPLES):
                forces_n = self.forces_n(time_s, name)
                if forces_n is not None:
                    largest.append(_largest_n(forces_n))
        return rounded_up(float(np.percentile(largest, USUAL)))


def resists(plant: PlantSpec) -> bool:
    """Whether a law of the plant gives each body a force of the water; the quick law has one for the whole vehicle."""
    if plant.model != "tree" or plant.tree is None or plant.tree.water != "full":
        return False
    spherical = any(body.joint and body.joint.kind == "spherical" for body in plant.tree.body)
    return not spherical and any(b.drag or b.foil or b.edge or b.slender for b in plant.tree.body)


def rates(times_s: np.ndarray, values: np.ndarray, k: int) -> np.ndarray:
    """Of columns (row, column), at row k: the slope there of the polynomial through all rows, of which there are three
    at most."""
    out = np.zeros(values.shape[1])
    for j in range(len(times_s)):
        others = [i for i in range(len(times_s)) if i != j]
        if j == k:
            out += values[k] * sum(1.0 / (times_s[k] - times_s[i]) for i in others)
        else:
            rest = math.prod((times_s[k] - times_s[i]) / (times_s[j] - times_s[i]) for i in others if i != k)
            out += values[j] * rest / (times_s[j] - times_s[k])
    return out


def turned_by(turn: np.ndarray) -> np.ndarray:
    """Axis times angle (rad) of a turn of less than half a circle."""
    w, *axis = quaternion(turn)
    size = float(np.linalg.norm(axis))
    angle = 2.0 * math.atan2(size, abs(w))
    return np.array(axis) * math.copysign(angle / size if size else 2.0, w)


def rounded_up(value: float) -> float:
    """To one of seven steps a power of ten."""
    if not value > 0.0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        step * power for step in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0) if step * power >= value * (1 - 1e-9)
    )


def _largest_n(forces_n: np.ndarray) -> float:
    return float(np.linalg.norm(forces_n, axis=1).max())
