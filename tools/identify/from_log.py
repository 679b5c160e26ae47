"""Converts a log's device units to a Motion: counts by the sensors' maps, pulses by the thrusters' maps.

All maps are from the vehicle file in the log, so that a log keeps its meaning. A thruster's force depends on its pulse
and the battery's voltage, with the lag in the file.
"""

from pathlib import Path

import numpy as np

from caudal.hal.core.build import build_sensor_map, build_thruster
from caudal.hal.tables import channels as hal_spec
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard.log.reader import Columns, Log
from caudal.onboard.tables.stack import EstimateTable
from caudal.tools.common.output import UsageError
from caudal.tools.config.from_log import vehicle_file
from caudal.tools.identify.motion import STEP_S, Motion, Readings, mean_by_step
from caudal.tools.identify.prior_model import Place, read_thrusters

ROLES = ("x", "y", "depth", "heading", "turn_rate", "roll", "pitch", "roll_rate", "pitch_rate")
NEEDED = {"x": "position", "y": "position", "depth": "depth", "heading": "heading"}
ANGLES = ("heading", "roll", "pitch")
SHORTEST_S = 20.0


def read_motions(path: Path, vehicle_name: str) -> list[Motion]:
    """The motion of every vehicle in a log."""
    log = Log(path)
    recorded = log.run.get("vehicle")
    if recorded != vehicle_name:
        raise UsageError(f"{path} is a log of {recorded}, not of {vehicle_name}; give logs of one vehicle")
    file = vehicle_file(log)
    names = [topic.split("/")[1] for topic in log.topics if topic.endswith("/counts")]
    if not names:
        raise UsageError(f"{path} holds no readings; give the log of a run, not of a trial of the plant")
    label = path.name
    return [_motion(log, name, label if len(names) == 1 else f"{label} {name}", file) for name in names]


def _motion(log: Log, name: str, label: str, file: VehicleFile) -> Motion:
    counts, outputs = log.topics[f"/{name}/counts"], log.topics.get(f"/{name}/outputs")
    channels = hal_spec.read(file)
    thrusters = [c for c in channels.actuators if isinstance(c, hal_spec.Thruster)]
    places = read_thrusters(file)
    if not thrusters or outputs is None or not len(outputs):
        raise UsageError(f"{label} records no thrusters; identification needs the forces on the vehicle")
    for channel in thrusters:
        if channel.name not in places:
            raise file.error("control.thruster", f"has no {channel.name}; add it with at_m and axis")
    sensors = {channel.name: channel for channel in channels.sensors}
    roles = file.read("estimate", EstimateTable)
    time_s = np.array(counts.time_ns) / 1e9
    if time_s[-1] - time_s[0] < SHORTEST_S:
        raise UsageError(
            f"{label} is {time_s[-1] - time_s[0]:.0f} s long; at least {SHORTEST_S:.0f} s are needed"
        )
    readings = {}
    for role in ROLES:
        sensor = getattr(roles, role)
        found = _readings(counts, time_s, sensors[sensor]) if sensor else None
        if found is None or len(found.time_s) < SHORTEST_S:  # at least one per second
            if role in NEEDED:
                why = f"estimate.{role} names no sensor" if not sensor else f"{sensor} has almost no readings"
                raise UsageError(f"{label} records no {NEEDED[role]} ({why}); identification needs it")
            continue
        if role in ANGLES:
            found = Readings(found.time_s, np.unwrap(found.value))
        if role == "depth":
            role, found = "z", Readings(found.time_s, -found.value)
        readings[role] = found
    ticks_s = np.array(outputs.time_ns) / 1e9
    edges_s = np.append(ticks_s, 2 * ticks_s[-1] - ticks_s[-2])
    wrench = np.zeros((len(ticks_s), 6))
    for channel in thrusters:
        volts = _volts(counts, time_s, ticks_s, sensors.get(channel.battery))
        set_n = _forces_n(channel, outputs.column(channel.name), volts)
        place = places[channel.name]
        wrench += _lagged(set_n, edges_s, place)[:, None] * place.wrench
    steps = int((edges_s[-1] - edges_s[0]) / STEP_S + 1e-6)
    return Motion(label, edges_s[0], mean_by_step(edges_s, wrench, edges_s[0], steps), readings)


def _readings(counts: Columns, time_s: np.ndarray, channel: hal_spec.Sensor) -> Readings:
    """A sensor's valid readings, in SI."""
    map = build_sensor_map(channel)
    column = zip(time_s, counts.column(channel.name), strict=True)
    valid = [(t, map.to_si(count)) for t, count in column if count is not None and map.valid(count)]
    return Readings(np.array([t for t, _ in valid]), np.array([value for _, value in valid]))


def _volts(
    counts: Columns, time_s: np.ndarray, ticks_s: np.ndarray, channel: hal_spec.Sensor | None
) -> np.ndarray | None:
    """The battery's voltage at every tick, or None if it is not measured."""
    if channel is None:
        return None
    found = _readings(counts, time_s, channel)
    return np.interp(ticks_s, *found) if len(found.time_s) else None


def _forces_n(
    channel: hal_spec.Thruster, pulses_us: list[int | None], volts: np.ndarray | None
) -> np.ndarray:
    """The motor's steady force at each pulse; without a pulse 0."""
    motor = build_thruster(channel)
    forces_n = np.zeros(len(pulses_us))
    for k, pulse_us in enumerate(pulses_us):
        if pulse_us:
            if volts is not None:
                motor.use_volts(volts[k])
            forces_n[k] = motor.force_n(pulse_us)
    return forces_n


def _lagged(set_n: np.ndarray, edges_s: np.ndarray, place: Place) -> np.ndarray:
    """Mean force over every tick, of a motor with a first-order lag."""
    if not place.lag_s:
        return set_n
    span_s = np.diff(edges_s)
    keep = np.exp(-span_s / place.lag_s)
    mean_n, now_n = np.empty(len(set_n)), 0.0
    for k, goal_n in enumerate(set_n):
        mean_n[k] = goal_n + (now_n - goal_n) * place.lag_s * (1 - keep[k]) / span_s[k]
        now_n = goal_n + (now_n - goal_n) * keep[k]
    return mean_n
