"""From plain settings (hal/tables/channels.py, or what a board was sent) to maps, channels and the board. Portable."""

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


def build_board(settings, driver, rate_hz):
    actuators = [build_actuator(channel, rate_hz) for channel in settings["actuators"]]
    sensors = [build_sensor(channel, rate_hz) for channel in settings["sensors"]]
    return Board(actuators, sensors, driver)


UNITS = {"servo": "rad", "thruster": "n", "valve": "pa"}  # as the keys of a map's limits end


def build_actuator(s, rate_hz=None):
    unit = UNITS[s["map"]]
    safe = s["safe_" + unit]
    return Actuator(
        s["name"],
        s["port"],
        build_map(s, rate_hz),
        to_q14(s["min_" + unit]),
        to_q14(s["max_" + unit]),
        to_q14(s["slew_" + unit + "_s"]),
        None if safe == "off" else to_q14(safe),
        s.get("battery") or s.get("pressure"),
    )


def build_map(s, rate_hz=None):
    """rate_hz: of the board's ticks, which a valve's pressure loop goes by; without it the valve has none."""
    low_us, high_us = s.get("low_us"), s.get("high_us")
    if s["map"] == "servo":
        return ServoMap(s["centre_us"], s["us_per_rad"], s["direction"], s["trim_us"], low_us, high_us)
    if s["map"] == "thruster":
        curves = [build_curve(curve) for curve in s["curve"]]
        return ThrusterMap(s["neutral_us"], low_us, high_us, curves, s["nominal_v"])
    if rate_hz and s.get("pressure"):
        from caudal.hal.core.pressure_loop import PressureMap  # no vehicle without such a valve carries it

        loop = s["kp"], s["ki"], s["trim_ua"], rate_hz
        return PressureMap(s["crack_ua"], s["ua_per_pa"], s["high_ua"], *loop)
    return ValveMap(s["crack_ua"], s["ua_per_pa"], s["high_ua"])


def build_curve(s):
    if s["fit"] == "polynomial":
        return PolynomialCurve(
            s["battery_v"], s["dead_low_us"], s["dead_high_us"], s["forward"], s["reverse"]
        )
    return TableCurve(s["battery_v"], s["pulses_us"], s["forces_n"])


def build_sensor(s, rate_hz):
    return Sensor(s["name"], s["port"], build_sensor_map(s), int(s["max_age_s"] * rate_hz + 0.5))


def build_sensor_map(s):
    if s["map"] == "linear":
        return LinearSensor(s["zero_count"], s["per_count"], s["low_count"], s["high_count"])
    return TableSensor(s["counts"], s["values"])
