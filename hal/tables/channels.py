"""The HAL's tables of the vehicle file: [actuator.*], [motor.*] and [sensor.*], as typed structs. CPython only.

`read` checks them and gives the channels that hal/core/build.py (portable) builds a board from.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta
from msgspec.structs import replace

from caudal.hal.core.build import UNITS, build_curve
from caudal.hal.tables import feedback as feedback_spec
from caudal.hal.tables import mcu as mcu_spec
from caudal.hal.tables import pi as pi_spec
from caudal.hal.tables.types import Named, Number, Positive, Table, named
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.hal.vehicle_file.schema import filled_in

Pulse = Annotated[int, Meta(ge=400, le=2600)]
Count = Annotated[int, Meta(ge=-(2**31) + 1, le=2**31 - 1)]
FitError = Annotated[float, Meta(ge=0, le=1e6)] | None  # for people only
Port = Annotated[int, Meta(ge=0, le=255)]


class _Actuator(Named, tag_field="map", kw_only=True, frozen=True):
    """`feedback`: the sensor that measures what the actuator does (hal/tables/feedback.py)."""

    feedback: str = ""
    lag_s: Annotated[float, Meta(ge=0, le=10)] | None = None  # from command to motion, delays included
    detect_s: Annotated[float, Meta(ge=0.02, le=60)] | None = None  # out of tolerance until it is marked


class Servo(_Actuator, tag="servo", kw_only=True, frozen=True):
    """Angle to pulse. A limp servo ("off") moves with the water."""

    map: Literal["servo"] = filled_in("map", "servo")
    port: Port
    centre_us: Pulse = 1500
    us_per_rad: Annotated[float, Meta(ge=10, le=2000)]
    direction: Literal[1, -1] = 1
    trim_us: Annotated[int, Meta(ge=-300, le=300)] = 0
    low_us: Pulse
    high_us: Pulse
    min_rad: Annotated[float, Meta(ge=-3.2, le=3.2)]
    max_rad: Annotated[float, Meta(ge=-3.2, le=3.2)]
    slew_rad_s: Positive
    safe_rad: Annotated[float, Meta(ge=-3.2, le=3.2)] | Literal["off"] = "off"
    tolerance_rad: Annotated[float, Meta(gt=0, le=3.2)] | None = None  # tolerance of its feedback


class _Curve(Table, tag_field="fit", kw_only=True, frozen=True):
    battery_v: Positive
    rms_n: FitError = None


class Polynomial(_Curve, tag="polynomial", kw_only=True, frozen=True):
    """Thrust at one voltage, N = sum c_k u^k, k = 1..5, u in 100 us from the dead-band's edge."""

    dead_low_us: Pulse
    dead_high_us: Pulse
    forward: Annotated[list[Number], Meta(min_length=1, max_length=5)]
    reverse: Annotated[list[Number], Meta(min_length=1, max_length=5)]
    fit: Literal["polynomial"] = filled_in("fit", "polynomial")


class CurvePoints(_Curve, tag="table", kw_only=True, frozen=True):
    """Thrust at one voltage as points of growing pulse and force, straight lines between them."""

    pulses_us: Annotated[list[Pulse], Meta(min_length=2)]
    forces_n: Annotated[list[Number], Meta(min_length=2)]
    fit: Literal["table"] = filled_in("fit", "table")


Curve = Polynomial | CurvePoints


class Motor(Table, kw_only=True, frozen=True):
    """Thrust of one make of motor, measured at one or more battery voltages and fitted (caudal thrust)."""

    description: str = ""  # origin of the measurements
    use: Literal["table", "polynomial"]
    polynomial: list[Polynomial] = []
    table: list[CurvePoints] = []

    @property
    def curves(self) -> dict[str, Sequence[Curve]]:
        """Both kinds, by their names in `use`."""
        return {"polynomial": self.polynomial, "table": self.table}


class Thruster(_Actuator, tag="thruster", kw_only=True, frozen=True):
    """Force to pulse through its motor's curves."""

    map: Literal["thruster"] = filled_in("map", "thruster")
    port: Port
    neutral_us: Pulse = 1500
    low_us: Pulse
    high_us: Pulse
    nominal_v: Positive
    battery: str = ""
    motor: str
    min_n: Number
    max_n: Number
    slew_n_s: Positive
    safe_n: Number | Literal["off"] = "off"
    tolerance_n: Positive | None = None
    # N per (rev/s)2, ahead and back
    turn_n_s2: Annotated[list[Positive], Meta(min_length=2, max_length=2)] = []
    curve: list[Curve] = filled_in("curve", [])  # the motor's curves in use


class Valve(_Actuator, tag="valve", kw_only=True, frozen=True):
    """Pressure to coil current. `pressure`: the sensor of a loop that corrects it (hal/core/pressure_loop.py).

    The same sensor is its feedback, unless `feedback` names another.
    """

    map: Literal["valve"] = filled_in("map", "valve")
    port: Port
    cracking_current_ua: Annotated[int, Meta(ge=0, le=1_000_000)]
    ua_per_pa: Positive
    high_ua: Annotated[int, Meta(gt=0, le=1_000_000)]
    min_pa: Annotated[float, Meta(ge=0)] = 0.0
    max_pa: Positive
    slew_pa_s: Positive
    safe_pa: Annotated[float, Meta(ge=0)] | Literal["off"] = "off"
    pressure: str = ""
    kp: Annotated[float, Meta(ge=0, le=1e6)] = 0.0  # uA/Pa
    ki: Annotated[float, Meta(ge=0, le=1e6)] = 0.0  # uA/(Pa s)
    trim_ua: Annotated[int, Meta(ge=0, le=1_000_000)] = 0  # largest correction of the loop
    tolerance_pa: Positive | None = None


class Place(Table, kw_only=True, frozen=True):
    """Position and beam of a range sensor in the vehicle's frame (x ahead, y to port)."""

    x_m: Number
    y_m: Number
    bearing_deg: Annotated[float, Meta(ge=-180, le=180)]
    half_angle_deg: Annotated[float, Meta(ge=0, le=90)]
    range_m: Positive


Unit = Literal["m", "rad", "rad/s", "m/s", "m/s2", "N", "Pa", "V", "A", "K", "rev/s", "1"]


class _Sensor(Named, tag_field="map", kw_only=True, frozen=True):
    port: Port
    unit: Unit
    max_age_s: Positive
    place: Place | None = None


class Linear(_Sensor, tag="linear", kw_only=True, frozen=True):
    """value = (count - zero_count) * si_per_count, in `unit`."""

    map: Literal["linear"] = filled_in("map", "linear")
    si_per_count: Number
    zero_count: Count = 0
    low_count: Count
    high_count: Count


class Points(_Sensor, tag="table", kw_only=True, frozen=True):
    """Measured points of growing count, straight lines between them."""

    map: Literal["table"] = filled_in("map", "table")
    counts: Annotated[list[Count], Meta(min_length=2)]
    values: Annotated[list[Number], Meta(min_length=2)]


Actuator = Servo | Thruster | Valve
Sensor = Linear | Points
Actuators = dict[str, Actuator]
Motors = dict[str, Motor]
Sensors = dict[str, Sensor]
TABLES = ("actuator", "motor", "sensor", "mcu", "pi")


class Channels(Table, kw_only=True, frozen=True):
    """A vehicle's channels in file order: the settings that a board is built from."""

    actuators: list[Actuator]
    sensors: list[Sensor]


class BoardSettings(Protocol):
    """Channels, or settings that include them (onboard/tables/read.py)."""

    @property
    def actuators(self) -> list[Actuator]:
        """Output channels in file order."""

    @property
    def sensors(self) -> list[Sensor]:
        """Input channels in file order."""


def read(file: VehicleFile) -> Channels:
    """The channels, every value checked."""
    actuators = file.read("actuator", Actuators)
    motors = file.read("motor", Motors)
    sensors = file.read("sensor", Sensors)
    if not actuators:
        raise file.error("actuator", "the vehicle has none; it needs at least one")
    for kind, channels in (("actuator", actuators), ("sensor", sensors)):
        _check_ports(file, kind, channels)
    for name, motor in motors.items():
        _check_motor(file, f"motor.{name}", motor)
    for name, actuator in actuators.items():
        key = f"actuator.{name}"
        _check_range(file, key, actuator)
        if isinstance(actuator, Thruster):
            _check_thruster(file, key, actuator, motors, sensors)
        elif isinstance(actuator, Valve):
            _check_loop(file, key, actuator, sensors)
    _check_thrusts(file, actuators, motors)
    for name, sensor in sensors.items():
        if isinstance(sensor, Linear):
            if sensor.si_per_count == 0:
                raise file.error(f"sensor.{name}.si_per_count", "0 would make every reading the same")
            if sensor.low_count >= sensor.high_count:
                raise file.error(f"sensor.{name}.low_count", f"must be below high_count, {sensor.high_count}")
        else:
            _check_growing(file, f"sensor.{name}.counts", sensor.counts, len(sensor.values))
            rising = sensor.values if sensor.values[0] < sensor.values[-1] else sensor.values[::-1]
            _check_growing(file, f"sensor.{name}.values", rising, len(sensor.counts))
    found = Channels(
        actuators=[_completed(file, actuator, motors, sensors) for actuator in named(actuators)],
        sensors=named(sensors),
    )
    if "mcu" in file.tables:  # only checked; commands that use the pins read it again
        mcu_spec.read(file, found)
    if "pi" in file.tables:
        pi_spec.read(file, found)
    return found


def _completed(file: VehicleFile, actuator: Actuator, motors: Motors, sensors: Sensors) -> Actuator:
    """With its feedback's defaults; of a thruster, with its motor's curves in use."""
    complete = feedback_spec.complete(file, actuator, sensors)
    if isinstance(complete, Thruster):
        return replace(complete, curve=_curves(motors[complete.motor]))
    return complete


def _curves(motor: Motor) -> list[Curve]:
    """The curves in use, without the errors of their fit, which a board does not need."""
    return [replace(curve, rms_n=None) for curve in motor.curves[motor.use]]


def _check_ports(file: VehicleFile, kind: str, channels: dict[str, Any]) -> None:
    """Every port is used once; valves and pulses have different drivers."""
    taken: dict[tuple[str, int], str] = {}
    for name, channel in channels.items():
        if not (name.isidentifier() and name == name.lower()):
            raise file.error(f"{kind}.{name}", "a channel's name is made of small letters, digits and _")
        wire = (
            "current" if isinstance(channel, Valve) else "pulse" if kind == "actuator" else kind,
            channel.port,
        )
        if wire in taken:
            problem = f"{channel.port} is taken by {kind}.{taken[wire]} already; give each its own"
            raise file.error(f"{kind}.{name}.port", problem)
        taken[wire] = name


def _check_range(file: VehicleFile, key: str, actuator: Servo | Thruster | Valve) -> None:
    unit = UNITS[actuator.map]
    low, high = getattr(actuator, f"min_{unit}"), getattr(actuator, f"max_{unit}")
    safe = getattr(actuator, f"safe_{unit}")
    if low >= high:
        raise file.error(f"{key}.min_{unit}", f"{low} must be below max_{unit}, {high}")
    if safe != "off" and not low <= safe <= high:
        raise file.error(
            f"{key}.safe_{unit}", f"{safe} lies outside min_{unit} to max_{unit}, {low} to {high}"
        )
    if isinstance(actuator, Valve) and actuator.cracking_current_ua >= actuator.high_ua:
        raise file.error(
            f"{key}.cracking_current_ua",
            f"{actuator.cracking_current_ua} must be below high_ua, {actuator.high_ua}",
        )
    if not isinstance(actuator, Valve) and actuator.low_us >= actuator.high_us:
        raise file.error(f"{key}.low_us", f"{actuator.low_us} must be below high_us, {actuator.high_us}")


def _check_motor(file: VehicleFile, key: str, motor: Motor) -> None:
    if not motor.curves[motor.use]:
        raise file.error(f"{key}.use", f'there is no [[{key}.{motor.use}]] to use; add one or change "use"')
    for fit, listed in motor.curves.items():
        volts = [curve.battery_v for curve in listed]
        if volts != sorted(set(volts)):
            raise file.error(f"{key}.{fit}", f"battery_v must grow from entry to entry, found {volts}")
    for k, polynomial in enumerate(motor.polynomial):
        if not polynomial.dead_low_us < polynomial.dead_high_us:
            raise file.error(f"{key}.polynomial.{k}.dead_low_us", "must be below dead_high_us")
    for k, points in enumerate(motor.table):
        at, count = f"{key}.table.{k}", len(points.pulses_us)
        _check_growing(file, f"{at}.pulses_us", points.pulses_us, len(points.forces_n))
        _check_growing(file, f"{at}.forces_n", points.forces_n, count, strictly=False)


def _check_thruster(
    file: VehicleFile, key: str, thruster: Thruster, motors: Motors, sensors: Sensors
) -> None:
    if thruster.battery and thruster.battery not in sensors:
        raise file.error(f"{key}.battery", f'there is no sensor "{thruster.battery}"')
    if not thruster.low_us <= thruster.neutral_us <= thruster.high_us:
        problem = f"{thruster.neutral_us} lies outside low_us to high_us"
        raise file.error(f"{key}.neutral_us", problem)
    if thruster.motor not in motors:
        known = ", ".join(motors) or "none"
        raise file.error(f"{key}.motor", f"there is no [motor.{thruster.motor}]; there is {known}")


def _check_loop(file: VehicleFile, key: str, valve: Valve, sensors: Sensors) -> None:
    """A pressure loop has all of its keys or none."""
    if not valve.pressure:
        for part in ("kp", "ki", "trim_ua"):
            if getattr(valve, part):
                problem = "there is no pressure to close the loop with; name its sensor in `pressure`"
                raise file.error(f"{key}.{part}", problem)
        return
    if valve.pressure not in sensors:
        raise file.error(f"{key}.pressure", f'there is no sensor "{valve.pressure}"')
    unit = sensors[valve.pressure].unit
    if unit != "Pa":
        raise file.error(f"{key}.pressure", f'sensor "{valve.pressure}" reads {unit}; name one of unit "Pa"')
    if not (valve.kp or valve.ki):
        raise file.error(f"{key}.pressure", "a loop without a gain does nothing; give kp or ki")
    if not valve.trim_ua:
        raise file.error(f"{key}.trim_ua", "the loop may add nothing; give it some current above 0")


def _check_thrusts(file: VehicleFile, actuators: Actuators, motors: Motors) -> None:
    """Checks every curve over the pulses of its thrusters, once for thrusters with the same pulses."""
    checked = set()
    for name, thruster in actuators.items():
        if not isinstance(thruster, Thruster):
            continue
        asked = (thruster.motor, thruster.low_us, thruster.neutral_us, thruster.high_us)
        if asked in checked:
            continue
        checked.add(asked)
        for fit, curves in motors[thruster.motor].curves.items():
            for k, curve in enumerate(curves):
                at = f"motor.{thruster.motor}.{fit}.{k}"
                _check_monotone(file, f"actuator.{name}", at, thruster, curve)


def _check_monotone(file: VehicleFile, key: str, at: str, thruster: Thruster, curve: Curve) -> None:
    """An inverse map needs thrust that never falls as the pulse grows, and none at neutral."""
    force = build_curve(curve).force_n
    if force(thruster.neutral_us) != 0:
        problem = f"{at} pushes at {thruster.neutral_us} us; neutral must lie in its dead-band"
        raise file.error(f"{key}.neutral_us", problem)
    before = force(thruster.low_us)
    for pulse_us in range(thruster.low_us, thruster.high_us):
        after = force(pulse_us + 1)
        if after < before:
            problem = (
                f"thrust falls as the pulse grows past {pulse_us} us; between {key}'s low_us and high_us"
            )
            raise file.error(at, f"{problem} it must never fall")
        before = after


def _check_growing(
    file: VehicleFile, key: str, values: Sequence[float], count: int, strictly: bool = True
) -> None:
    if len(values) != count:
        raise file.error(key, f"has {len(values)} values, its counterpart {count}; they must be as many")
    for before, after in zip(values, values[1:], strict=False):
        if after < before or (strictly and after == before):
            raise file.error(key, f"must grow from value to value, found {before} then {after}")
