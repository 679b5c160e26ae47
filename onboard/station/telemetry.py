"""Telemetry: one table of messages and rates. A station may change the rates for itself."""

import math
from collections.abc import Callable
from typing import Any

from caudal.onboard.core import modes
from caudal.onboard.core.failsafe import HOLD
from caudal.onboard.station.bridge import Snapshot
from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.mode_numbers import BASE
from caudal.onboard.station.vehicle_link import VehicleLink

NAN = float("nan")
WATER_PA_PER_M = 9806.65  # fresh, 4 degrees
SURFACE_HPA = 1013.25
FASTEST_HZ = 50.0

MakeMessage = Callable[[VehicleLink, Snapshot], Any]  # a message, or None without data


def heartbeat(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """Mode, and whether it is armed."""
    status = mavlink.MAV_STATE_STANDBY
    if now.fault:
        status = mavlink.MAV_STATE_EMERGENCY
    elif now.armed:
        status = mavlink.MAV_STATE_CRITICAL if now.action >= HOLD else mavlink.MAV_STATE_ACTIVE
    base = BASE[now.mode] | (mavlink.MAV_MODE_FLAG_SAFETY_ARMED if now.armed else 0)
    return mavlink.MAVLink_heartbeat_message(
        mavlink.MAV_TYPE_SUBMARINE,
        vehicle_link.autopilot,
        base,
        vehicle_link.numbers.number[now.mode],
        status,
        3,
    )


SENSORS = (  # of SYS_STATUS: bit, key of [estimate] that names the sensor, estimate from it
    (mavlink.MAV_SYS_STATUS_SENSOR_3D_GYRO, "turn_rate", "turn_rate_rad_s"),
    (mavlink.MAV_SYS_STATUS_SENSOR_3D_MAG, "heading", "heading_rad"),
    (mavlink.MAV_SYS_STATUS_SENSOR_ABSOLUTE_PRESSURE, "depth", "depth_m"),
    (mavlink.MAV_SYS_STATUS_SENSOR_VISION_POSITION, "x", "x_m"),
)


def sys_status(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """Sensors, battery and overruns."""
    present = health = mavlink.MAV_SYS_STATUS_SENSOR_MOTOR_OUTPUTS | mavlink.MAV_SYS_STATUS_PREARM_CHECK
    health |= mavlink.MAV_SYS_STATUS_GEOFENCE  # there is none; MAVProxy would show it as failed
    for bit, key, field in SENSORS:
        if key in vehicle_link.known:
            present |= bit
            health |= bit if now.estimate[field] is not None else 0
    if now.battery_v is not None:
        present |= mavlink.MAV_SYS_STATUS_SENSOR_BATTERY
        health |= mavlink.MAV_SYS_STATUS_SENSOR_BATTERY
    if now.fault or now.arming_refusal or any(action >= HOLD for _, action in vehicle_link.active_rules(now)):
        health &= ~mavlink.MAV_SYS_STATUS_PREARM_CHECK
    millivolts = 0xFFFF if now.battery_v is None else _within(now.battery_v * 1000, 0, 0xFFFE)
    errors = _within(now.overruns, 0, 0xFFFF)
    return mavlink.MAVLink_sys_status_message(
        present, present, health, 0, millivolts, -1, -1, 0, 0, errors, 0, 0, 0
    )


def extended_sys_state(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """Armed is "in air": stations offer hold and goto only then."""
    state = mavlink.MAV_LANDED_STATE_IN_AIR if now.armed else mavlink.MAV_LANDED_STATE_ON_GROUND
    return mavlink.MAVLink_extended_sys_state_message(mavlink.MAV_VTOL_STATE_UNDEFINED, state)


def attitude(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """Estimates count nose down and turns to port as positive; a value that is not measured is NaN."""
    is_ = now.estimate
    if is_["heading_rad"] is None:
        return None
    return mavlink.MAVLink_attitude_message(
        vehicle_link.time_ms(now),
        _number(is_["roll_rad"]),
        -_number(is_["pitch_rad"]),
        vehicle_link.coordinates.yaw_rad(is_["heading_rad"]),
        _number(is_["roll_rate_rad_s"]),
        -_number(is_["pitch_rate_rad_s"]),
        -_number(is_["turn_rate_rad_s"]),
    )


def local_position_ned(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """Position and velocity in metres."""
    is_ = now.estimate
    if is_["x_m"] is None or is_["y_m"] is None:
        return None
    north_m, east_m = vehicle_link.coordinates.north_east(is_["x_m"], is_["y_m"])
    vn, ve, vd = _velocity(vehicle_link, now)
    return mavlink.MAVLink_local_position_ned_message(
        vehicle_link.time_ms(now), north_m, east_m, _number(is_["depth_m"]), vn, ve, vd
    )


def global_position_int(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """Position and velocity on the globe."""
    is_ = now.estimate
    if vehicle_link.coordinates.origin is None or is_["x_m"] is None or is_["y_m"] is None:
        return None
    latitude, longitude = (
        _within(1e7 * a, -(2**31), 2**31 - 1)
        for a in vehicle_link.coordinates.on_globe(is_["x_m"], is_["y_m"])
    )
    altitude = _within(-(is_["depth_m"] or 0.0) * 1000, -(2**31), 2**31 - 1)
    speeds = [_within(0.0 if v != v else v * 100, -32767, 32767) for v in _velocity(vehicle_link, now)]
    course = 0xFFFF
    if is_["heading_rad"] is not None:
        course = _within(
            math.degrees(vehicle_link.coordinates.yaw_rad(is_["heading_rad"])) % 360 * 100, 0, 35999
        )
    return mavlink.MAVLink_global_position_int_message(
        vehicle_link.time_ms(now), latitude, longitude, altitude, altitude, *speeds, course
    )


def vfr_hud(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """Speed, course and depth."""
    is_ = now.estimate
    yaw = 0.0 if is_["heading_rad"] is None else vehicle_link.coordinates.yaw_rad(is_["heading_rad"])
    speed = _number(is_["speed_m_s"])
    course = _within(math.degrees(yaw) % 360, 0, 359)
    return mavlink.MAVLink_vfr_hud_message(
        speed, speed, course, 0, -_number(is_["depth_m"]), _number(is_["heave_m_s"])
    )


def scaled_pressure(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """The pressure of the depth, in fresh water."""
    depth_m = now.estimate["depth_m"]
    if depth_m is None:
        return None
    above_hpa = depth_m * WATER_PA_PER_M / 100
    return mavlink.MAVLink_scaled_pressure_message(
        vehicle_link.time_ms(now), SURFACE_HPA + above_hpa, above_hpa, 0
    )


def battery_status(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """The battery's voltage."""
    if now.battery_v is None:
        return None
    cells = [_within(now.battery_v * 1000, 0, 0xFFFE)] + [0xFFFF] * 9
    unknown = mavlink.MAV_BATTERY_FUNCTION_UNKNOWN, mavlink.MAV_BATTERY_TYPE_UNKNOWN
    return mavlink.MAVLink_battery_status_message(0, *unknown, 0x7FFF, cells, -1, -1, -1, -1)


def home_position(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """The origin, at the surface."""
    if vehicle_link.coordinates.origin is None:
        return None
    latitude, longitude = vehicle_link.coordinates.origin
    place = round(latitude * 1e7), round(longitude * 1e7), 0
    return mavlink.MAVLink_home_position_message(*place, 0, 0, 0, [1, 0, 0, 0], 0, 0, 0)


def gps_global_origin(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """The origin."""
    if vehicle_link.coordinates.origin is None:
        return None
    latitude, longitude = vehicle_link.coordinates.origin
    return mavlink.MAVLink_gps_global_origin_message(round(latitude * 1e7), round(longitude * 1e7), 0)


def mission_current(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """The current item of the mission."""
    plan = vehicle_link.plan
    if not plan.items:
        return mavlink.MAVLink_mission_current_message(0, 0, mavlink.MISSION_STATE_NO_MISSION, 0)
    state = mavlink.MISSION_STATE_ACTIVE if now.mode == modes.MISSION else mavlink.MISSION_STATE_PAUSED
    if now.mission_index >= now.mission_count:
        state = mavlink.MISSION_STATE_COMPLETE
    return mavlink.MAVLink_mission_current_message(plan.item_of(now.mission_index), len(plan.items), state, 0)


def failsafes(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """The active rules of the failsafe table, a bit each; a text reports changes too."""
    return mavlink.MAVLink_named_value_int_message(
        vehicle_link.time_ms(now), b"failsafes", now.active_rules & 0x7FFFFFFF
    )


def autopilot_version(vehicle_link: VehicleLink, now: Snapshot) -> Any:
    """Capabilities."""
    can = (
        mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_INT
        | mavlink.MAV_PROTOCOL_CAPABILITY_COMMAND_INT
        | mavlink.MAV_PROTOCOL_CAPABILITY_SET_POSITION_TARGET_LOCAL_NED
        | mavlink.MAV_PROTOCOL_CAPABILITY_SET_POSITION_TARGET_GLOBAL_INT
        | mavlink.MAV_PROTOCOL_CAPABILITY_MAVLINK2
    )
    can |= (
        mavlink.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE
        if vehicle_link.bytewise
        else mavlink.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_C_CAST
    )
    none = [0] * 8
    return mavlink.MAVLink_autopilot_version_message(
        can, 0, 0, 0, 0, none, none, none, 0, 0, vehicle_link.system
    )


# By message: rate in Hz (0: on request), and the function that makes it.
STREAMS: dict[int, tuple[float, MakeMessage]] = {
    mavlink.MAVLINK_MSG_ID_HEARTBEAT: (1.0, heartbeat),
    mavlink.MAVLINK_MSG_ID_SYS_STATUS: (1.0, sys_status),
    mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE: (1.0, extended_sys_state),
    mavlink.MAVLINK_MSG_ID_ATTITUDE: (10.0, attitude),
    mavlink.MAVLINK_MSG_ID_LOCAL_POSITION_NED: (5.0, local_position_ned),
    mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT: (5.0, global_position_int),
    mavlink.MAVLINK_MSG_ID_VFR_HUD: (4.0, vfr_hud),
    mavlink.MAVLINK_MSG_ID_SCALED_PRESSURE: (2.0, scaled_pressure),
    mavlink.MAVLINK_MSG_ID_BATTERY_STATUS: (0.5, battery_status),
    mavlink.MAVLINK_MSG_ID_HOME_POSITION: (0.5, home_position),
    mavlink.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN: (0.2, gps_global_origin),
    mavlink.MAVLINK_MSG_ID_MISSION_CURRENT: (1.0, mission_current),
    mavlink.MAVLINK_MSG_ID_NAMED_VALUE_INT: (1.0, failsafes),
    mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION: (0.0, autopilot_version),
}


class Telemetry:
    """Telemetry for one station, with its rates."""

    def __init__(self, vehicle_link: VehicleLink) -> None:
        self._vehicle_link = vehicle_link
        self._every_s = {number: 1 / hz if hz else math.inf for number, (hz, _) in STREAMS.items()}
        self._due_s = dict.fromkeys(STREAMS, -math.inf)

    def due(self, now_s: float) -> list[Any]:
        """The messages to send now."""
        snapshot = self._vehicle_link.snapshot
        messages = []
        for number, every_s in self._every_s.items():
            if every_s < math.inf and now_s >= self._due_s[number]:
                late = now_s > self._due_s[number] + every_s
                self._due_s[number] = (now_s if late else self._due_s[number]) + every_s
                message = STREAMS[number][1](self._vehicle_link, snapshot)
                if message is not None:
                    messages.append(message)
        return messages

    def once(self, number: int) -> Any:
        """A requested message; None if it is not supported or has no data."""
        stream = STREAMS.get(number)
        return stream and stream[1](self._vehicle_link, self._vehicle_link.snapshot)

    def knows(self, number: int) -> bool:
        """True if the message is supported."""
        return number in STREAMS

    def interval_us(self, number: int) -> int:
        """The interval as in MESSAGE_INTERVAL: -1 is never, 0 is not supported."""
        if number not in STREAMS:
            return 0
        every_s = self._every_s[number]
        return -1 if every_s == math.inf else round(every_s * 1e6)

    def set_interval(self, number: int, interval_us: float) -> bool:
        """Sets the interval; 0 is the default, negative is never, except for the heartbeat. False if not supported."""
        if number not in STREAMS or interval_us != interval_us:
            return False
        hz = STREAMS[number][0]
        usual_s = 1 / hz if hz else math.inf
        every_s = max(interval_us / 1e6, 1 / FASTEST_HZ)
        if interval_us <= 0:
            every_s = usual_s if interval_us == 0 else math.inf
        if number == mavlink.MAVLINK_MSG_ID_HEARTBEAT:
            every_s = min(every_s, usual_s)
        self._every_s[number] = every_s
        self._due_s[number] = -math.inf
        return True


def _velocity(vehicle_link: VehicleLink, now: Snapshot) -> tuple[float, float, float]:
    """North, east and down, m/s."""
    is_ = now.estimate
    ahead, port, heave = _number(is_["speed_m_s"]), is_["sway_m_s"] or 0.0, is_["heave_m_s"] or 0.0
    heading = _number(is_["heading_rad"])
    x = ahead * math.cos(heading) - port * math.sin(heading)
    y = ahead * math.sin(heading) + port * math.cos(heading)
    north, east = vehicle_link.coordinates.north_east(x, y)
    return north, east, -heave


def _number(value: float | None) -> float:
    return NAN if value is None else value


def _within(value: float, low: int, high: int) -> int:
    return min(max(round(value), low), high) if value == value else low
