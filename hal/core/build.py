"""Builds maps, channels and the board from a vehicle's settings (hal/tables/channels.py). Portable."""

from caudal.hal.core.board import Actuator, Board, Sensor
from caudal.hal.core.fixed_point import to_q14
from caudal.hal.core.maps import (
    LinearSensor,
    PolynomialCurve,
    ServoMap,
    TableCurve,
    TableSensor,
    ThrusterMap,
    ValveMap,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Driver
    from caudal.hal.core.maps import ActuatorMap, Curve, SensorMap
    from caudal.hal.tables import channels


UNITS = {"servo": "rad", "thruster": "n", "valve": "pa"}  # suffix of the keys of a map's limits


def build_board(settings: "channels.BoardSettings", driver: "Driver", rate_hz: int) -> Board:
    """The board of a vehicle whose loop runs at rate_hz."""
    actuators = [build_actuator(table, rate_hz) for table in settings.actuators]
    sensors = [build_sensor(table, rate_hz) for table in settings.sensors]
    return Board(actuators, sensors, driver)


def build_actuator(table: "channels.Actuator", rate_hz: int = 0) -> Actuator:
    """The output channel of one [actuator.NAME]; rate_hz as for build_map."""
    follows = ""
    safe: float | str
    if table.map == "servo":
        low, high, slew, safe = table.min_rad, table.max_rad, table.slew_rad_s, table.safe_rad
    elif table.map == "thruster":
        low, high, slew, safe = table.min_n, table.max_n, table.slew_n_s, table.safe_n
        follows = table.battery
    else:
        low, high, slew, safe = table.min_pa, table.max_pa, table.slew_pa_s, table.safe_pa
        follows = table.pressure
    return Actuator(
        table.name,
        table.port,
        build_map(table, rate_hz),
        to_q14(low),
        to_q14(high),
        to_q14(slew),
        None if safe == "off" else to_q14(safe),
        follows,
    )


def build_map(table: "channels.Actuator", rate_hz: int = 0) -> "ActuatorMap":
    """The map of one actuator; a valve has a pressure loop only if rate_hz, the board's tick rate, is given."""
    if table.map == "servo":
        return ServoMap(
            table.centre_us, table.us_per_rad, table.direction, table.trim_us, table.low_us, table.high_us
        )
    if table.map == "thruster":
        return build_thruster(table)
    if rate_hz and table.pressure:
        from caudal.hal.core.pressure_loop import PressureMap  # loaded only for vehicles with such a valve

        loop = table.kp, table.ki, table.trim_ua, rate_hz
        return PressureMap(table.cracking_current_ua, table.ua_per_pa, table.high_ua, *loop)
    return ValveMap(table.cracking_current_ua, table.ua_per_pa, table.high_ua)


def build_thruster(table: "channels.Thruster") -> ThrusterMap:
    """The map of a thruster."""
    curves = [build_curve(curve) for curve in table.curve]
    return ThrusterMap(table.neutral_us, table.low_us, table.high_us, curves, table.nominal_v)


def build_curve(table: "channels.Curve") -> "Curve":
    """One measured curve of a motor."""
    if table.fit == "polynomial":
        return PolynomialCurve(
            table.battery_v, table.dead_low_us, table.dead_high_us, table.forward, table.reverse
        )
    return TableCurve(table.battery_v, table.pulses_us, table.forces_n)


def build_sensor(table: "channels.Sensor", rate_hz: int) -> Sensor:
    """The input channel of one [sensor.NAME]."""
    return Sensor(table.name, table.port, build_sensor_map(table), int(table.max_age_s * rate_hz + 0.5))


def build_sensor_map(table: "channels.Sensor") -> "SensorMap":
    """The map of one sensor."""
    if table.map == "linear":
        return LinearSensor(table.zero_count, table.si_per_count, table.low_count, table.high_count)
    return TableSensor(table.counts, table.values)
