"""Compares the CPU time of the tree engine with MuJoCo and Pinocchio, in the same run.

Ours: RK4 at 1 ms, driven joints follow a travelling wave. dry: without water; buoyant: with hulls only; full: with all
that the file has. The others get the exported file; `PEERS` lists what they leave out.
"""

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from caudal.hal.errors import CaudalError
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.sim_plant.tables.tree import TreeSpec, with_buoyancy_only
from caudal.sim_plant.tree.equilibrium import find_equilibrium
from caudal.sim_plant.tree.model import Model, PlantDiverged
from caudal.tools.common import output
from caudal.tools.export.command import open_tree
from caudal.tools.export.mjcf import mjcf
from caudal.tools.export.urdf import urdf

STEP_S = 0.001
STEPS = 1000  # of a run
RUNS = 12  # of which the fastest counts, because other load only adds time
SWING, SWING_HZ, LAG_RAD = 0.2, 1.0, 0.8  # of the wave: rad (of a slide: m), Hz, from joint to joint
SERVO_HZ = 10.0  # of each of MuJoCo's position servos; with stiffer ones the step is unstable
PEERS = {
    "mujoco": "MuJoCo: RK4 at 1 ms with its ellipsoid model of water; no buoyancy, no surface, and position servos "
    "in place of joints with prescribed motion.",
    "pin": "Pinocchio: only aba, per evaluation, compared with ours with every joint free; no water and no integrator, "
    "and the time of the call from Python is subtracted.",
}

Work = Callable[[], object]


class InvalidRun(Exception):
    """A run that cannot be timed; the text gives the reason."""


def run(names: list[str], overrides: list[str], as_json: bool) -> int:
    """Times vehicles and prints the figures."""
    models = {Path(model.label).stem: model for model in _models(names, overrides)}
    if not models:
        raise output.UsageError(
            "no vehicle that comes with Caudal has a plant.tree; give the path of a file that has one"
        )
    progress = output.Progress("timing plants", len(models) * RUNS, "runs")
    results: dict[str, dict[str, Any]] = {}
    for name, model in models.items():
        before = len(results) * RUNS

        def report(done: int, before: int = before) -> None:
            progress.at(before + done)

        results[name] = cost(model, report)
    progress.end()
    if as_json:
        output.as_json(results)
    else:
        show(results)
    return 0


def _models(names: list[str], overrides: list[str]) -> list[Model]:
    if names:
        return [open_tree(name, overrides) for name in names]
    models = []
    for name in vehicles.names():
        try:
            models += [open_tree(name, overrides)] if _has_tree(vehicles.find(name)) else []
        except output.UsageError as error:
            output.note(f"left out: {error}")
    return models


def _has_tree(path: str) -> bool:
    plant = VehicleFile.open(path).tables.get("plant")
    return isinstance(plant, dict) and "tree" in plant


def cost(model: Model, progress: Callable[[int], None]) -> dict[str, Any]:
    """Figures of one vehicle; None if an engine is not installed or cannot load it."""
    spec = model.spec
    ready: dict[str, Callable[[], Work]] = {
        "full": lambda: roll_out(model),
        "dry": lambda: roll_out(Model(spec, fluid=False, label=model.label)),
        "buoyant": lambda: roll_out(Model(with_buoyancy_only(spec), label=model.label)),
        "free": lambda: roll_out_free(spec),
        "mujoco": lambda: mujoco_rollout(model),
        "aba": lambda: pinocchio_calls(spec),
        "call": lambda: pinocchio_calls(msgspec.structs.replace(spec, body=spec.body[:1])),
    }
    works: dict[str, Work] = {}
    for name, make in ready.items():
        try:
            works[name] = make()
            works[name]()  # compiles, and raises if it cannot be timed
        except (PlantDiverged, InvalidRun, CaudalError) as error:
            output.note(f"{name}: {error}")
            works.pop(name, None)
        except ModuleNotFoundError as error:
            if error.name not in ("mujoco", "pinocchio"):
                raise
    best = best_cpu_s(works, progress)
    simulated_s = STEPS * STEP_S
    per_s = {name: best[name] / simulated_s for name in best}
    ours_us = best["free"] / (4 * STEPS) * 1e6 if "free" in best else None  # RK4 evaluates four times a step
    # a call for the base alone is mostly the call itself; subtracting it favours Pinocchio by one body's work
    aba_us = (best["aba"] - best["call"]) / STEPS * 1e6 if "aba" in best else None
    return {
        "bodies": len(model.bodies),
        "freedoms": model.freedoms,
        "cpu_s_per_s": per_s.get("full"),
        "cpu_s_per_s_dry": per_s.get("dry"),
        "cpu_s_per_s_buoyant": per_s.get("buoyant"),
        "cpu_s_per_s_full": per_s.get("full"),
        "mujoco_rk4_cpu_s_per_s": per_s.get("mujoco"),
        "ratio_to_mujoco_rk4": _ratio(per_s.get("full"), per_s.get("mujoco")),
        "forward_dynamics_us": ours_us,
        "pinocchio_aba_us": aba_us,
        "ratio_to_pinocchio_aba": _ratio(ours_us, aba_us),
    }


def best_cpu_s(works: dict[str, Work], progress: Callable[[int], None]) -> dict[str, float]:
    """Least CPU time of each, s. They run in turn, so that other load on the machine affects all of them."""
    costs: dict[str, list[float]] = {name: [] for name in works}
    for done in range(RUNS):
        for name, work in works.items():
            start = time.process_time()
            work()
            costs[name].append(time.process_time() - start)
        progress(done + 1)
    return {name: min(each) for name, each in costs.items()}


def wave(count: int, times_s: np.ndarray) -> np.ndarray:
    """(time, 3, joint): position, velocity, acceleration of every driven joint."""
    w = 2 * np.pi * SWING_HZ
    phase = w * times_s[:, None] - LAG_RAD * np.arange(count)
    return np.stack([np.sin(phase), w * np.cos(phase), -w * w * np.sin(phase)], axis=1) * SWING


def roll_out(model: Model) -> Work:
    """A simulated second of our engine, starting afloat if the vehicle floats."""
    start = model.state()
    try:
        start = find_equilibrium(model, start)
    except (ValueError, ArithmeticError):
        pass  # it sinks
    motion = wave(len(model.driven), 0.5 * STEP_S * np.arange(2 * STEPS + 1))
    return lambda: model.rollout(start, STEPS, STEP_S, driven=motion, every=STEPS)


def roll_out_free(spec: TreeSpec) -> Work:
    """The same second without water, weight and driven joints: only forward dynamics."""
    bodies = [
        msgspec.structs.replace(body, joint=msgspec.structs.replace(body.joint, mode="free"))
        if body.joint
        else body
        for body in spec.body
    ]
    model = Model(msgspec.structs.replace(spec, body=bodies), gravity=False, fluid=False)
    start = model.state()
    return lambda: model.rollout(start, STEPS, STEP_S, every=STEPS)


def mujoco_rollout(model: Model) -> Work:
    """The same second in MuJoCo, in one call, without Python between steps."""
    import mujoco
    from mujoco.rollout import rollout

    peer = mujoco.MjModel.from_xml_string(mjcf(model.spec, "bench"))
    peer.opt.density, peer.opt.timestep = model.spec.density_kg_m3, STEP_S
    data = mujoco.MjData(peer)
    mujoco.mj_forward(peer, data)
    motion = wave(len(model.driven), STEP_S * np.arange(STEPS))[:, 0]
    control = np.zeros((1, STEPS, peer.nu))
    inertia = _effective_inertia(peer, data)
    rate = 2 * np.pi * SERVO_HZ
    for k in range(peer.nu):
        name = peer.actuator(k).name
        if name in model.driven:  # its motor becomes a position servo, critically damped
            stiffness = rate**2 * inertia[peer.joint(name).dofadr[0]]
            peer.actuator_gainprm[k, 0] = stiffness
            peer.actuator_biastype[k] = mujoco.mjtBias.mjBIAS_AFFINE
            peer.actuator_biasprm[k, 1:3] = -stiffness, -2 * stiffness / rate
            control[0, :, k] = motion[:, model.driven.index(name)]
    everything = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros(mujoco.mj_stateSize(peer, everything))
    mujoco.mj_getState(peer, data, start, everything)

    def roll() -> None:
        rollout(peer, data, start[None], control)
        if data.warning.number.any():
            raise InvalidRun(f"{model.label}: this run is unstable in MuJoCo, so that its time means nothing")

    return roll


def _effective_inertia(peer: Any, data: Any) -> np.ndarray:
    """The inertia at each joint while the other joints are free."""
    import mujoco

    mass = np.zeros((peer.nv, peer.nv))
    for column, one in zip(mass, np.eye(peer.nv), strict=True):
        mujoco.mj_mulM(peer, data, column, one)
    return 1 / np.linalg.inv(mass).diagonal()


def pinocchio_calls(spec: TreeSpec) -> Work:
    """As many evaluations of forward dynamics in Pinocchio, one call each."""
    import pinocchio as pin

    peer = pin.buildModelFromXML(urdf(spec, "bench"), pin.JointModelFreeFlyer())
    data, aba = peer.createData(), pin.aba
    q, v, tau = pin.neutral(peer), np.zeros(peer.nv), np.zeros(peer.nv)

    def calls() -> None:
        for _ in range(STEPS):
            aba(peer, data, q, v, tau)

    return calls


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return ours / theirs if ours is not None and theirs else None


def show(results: dict[str, dict[str, Any]]) -> None:
    """Prints a column per vehicle, and what the other engines leave out."""
    keys = list(next(iter(results.values())))
    output.table([[key, *(result[key] for result in results.values())] for key in keys], ["", *results])
    print("cpu_s_per_s: CPU seconds per simulated second. With a ratio below 1, ours is faster.")
    for package, text in PEERS.items():
        print(text if _installed(package) else f"{package} is not installed; pip install 'caudal[test]'.")


def _installed(package: str) -> bool:
    return importlib.util.find_spec({"pin": "pinocchio"}.get(package, package)) is not None
