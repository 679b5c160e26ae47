"""From plain settings (hal/spec.py, or what a board was sent) to maps, channels and the board. Portable."""

from hal.board import Actuator, Board, Sensor
from hal.fixed import fixed
from hal.maps import LinearSensor, PolynomialCurve, ServoMap, TableCurve, TableSensor, ThrusterMap, ValveMap


def build_board(settings, driver, rate_hz):
    actuators = [build_actuator(channel) for channel in settings["actuators"]]
    sensors = [build_sensor(channel, rate_hz) for channel in settings["sensors"]]
    return Board(actuators, sensors, driver)


def build_actuator(s):
    if s["map"] == "servo":
        unit = "rad"
        map = ServoMap(s["centre_us"], s["us_per_rad"], s["direction"], s["trim_us"], s["low_us"], s["high_us"])
    elif s["map"] == "thruster":
        unit = "n"
        curves = [build_curve(curve) for curve in s["curve"]]
        map = ThrusterMap(s["neutral_us"], s["low_us"], s["high_us"], curves, s["nominal_v"])
    else:
        unit = "pa"
        map = ValveMap(s["crack_ua"], s["ua_per_pa"], s["high_ua"])
    safe = s["safe_" + unit]
    return Actuator(
        s["name"],
        s["port"],
        map,
        fixed(s["min_" + unit]),
        fixed(s["max_" + unit]),
        fixed(s["slew_" + unit + "_s"]),
        None if safe == "off" else fixed(safe),
        s.get("battery"),
    )


def build_curve(s):
    if s["fit"] == "polynomial":
        return PolynomialCurve(s["battery_v"], s["dead_low_us"], s["dead_high_us"], s["forward"], s["reverse"])
    return TableCurve(s["battery_v"], s["pulses_us"], s["forces_n"])


def build_sensor(s, rate_hz):
    if s["map"] == "linear":
        map = LinearSensor(s["zero_count"], s["per_count"], s["low_count"], s["high_count"])
    else:
        map = TableSensor(s["counts"], s["values"])
    return Sensor(s["name"], s["port"], map, int(s["max_age_s"] * rate_hz + 0.5))
