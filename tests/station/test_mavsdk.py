"""MAVSDK, with its server, connects, sets parameters, controls and disarms a vehicle that presents itself as a PX4.

MAVSDK 3 has no signing: neither its Python classes nor its server accept a key. So these tests do not sign, and a
vehicle with a key must reject it.
"""

import asyncio
import math
import time

import pytest

from caudal.hal.core.board import NEVER
from caudal.onboard.core import modes
from caudal.onboard.station.signing import Signing
from tests.station.pilots import mavlink
from tests.station.simulated import SimulatedVehicle, free_port, until
from tests.station.test_pymavlink import KEY
from tests.waiting import LIMIT_S

mavsdk = pytest.importorskip("mavsdk")
from mavsdk.mission import MissionItem, MissionPlan  # noqa: E402
from mavsdk.offboard import PositionNedYaw  # noqa: E402

TIMEOUT_S = LIMIT_S


async def first(stream, true=lambda value: True):
    async def wait():
        async for value in stream:
            if true(value):
                return value

    return await asyncio.wait_for(wait(), TIMEOUT_S)


async def connected(port: int):
    drone = mavsdk.System(port=free_port())
    await drone.connect(system_address=f"udpin://127.0.0.1:{port}")
    await first(drone.core.connection_state(), lambda state: state.is_connected)
    return drone


def ended(drone) -> None:
    drone._stop_mavsdk_server()


def test_mavsdk_connects_tunes_arms_moves_uploads_a_mission_and_disarms():
    port = free_port()
    with SimulatedVehicle(f"udpout:127.0.0.1:{port}") as vehicle:
        asyncio.run(fly(vehicle, port))


async def fly(vehicle: SimulatedVehicle, port: int) -> None:
    drone = await connected(port)
    try:
        await tune(vehicle, drone)
        await move(vehicle, drone)
        await follow_set_points(vehicle, drone)
    finally:
        ended(drone)


async def tune(vehicle: SimulatedVehicle, drone) -> None:
    start_s = time.monotonic()
    everything = await drone.param.get_all_params()
    print(f"MAVSDK: 300 parameters in {time.monotonic() - start_s:.2f} s")
    assert len(everything.float_params) == 290 and len(everything.int_params) == 10
    await drone.param.set_param_float("TUNE_007", -3.125)
    await drone.param.set_param_int("WHOLE_4", 42)
    assert await drone.param.get_param_float("TUNE_007") == -3.125
    assert await drone.param.get_param_int("WHOLE_4") == 42
    assert (vehicle.params.values["TUNE_007"], vehicle.params.values["WHOLE_4"]) == (-3.125, 42)


async def move(vehicle: SimulatedVehicle, drone) -> None:
    await drone.action.arm()
    assert vehicle.loop.state.armed
    assert await first(drone.telemetry.armed(), lambda armed: armed)
    await drone.action.hold()
    assert vehicle.loop.state.requested_mode == modes.HOLD
    mode = await first(drone.telemetry.flight_mode(), lambda mode: str(mode) == "HOLD")
    assert str(mode) == "HOLD"
    control = asyncio.create_task(steer(drone))
    while vehicle.loop.state.manual_input_age >= NEVER:  # without manual control the pilot counts as lost
        await asyncio.sleep(0.05)
    await drone.manual_control.start_position_control()
    assert vehicle.loop.state.requested_mode == modes.MANUAL
    start_m = vehicle.position_m
    await asyncio.wait_for(moved(vehicle, start_m), TIMEOUT_S)
    control.cancel()


async def steer(drone) -> None:
    while True:
        await drone.manual_control.set_manual_control_input(0.0, 0.0, 0.9, 0.2)
        await asyncio.sleep(0.05)


async def moved(vehicle: SimulatedVehicle, start_m) -> None:
    while vehicle.moved_m(start_m) < 0.3:
        await asyncio.sleep(0.05)


async def follow_set_points(vehicle: SimulatedVehicle, drone) -> None:
    nan = float("nan")
    items = [
        MissionItem(
            47.3978 + k * 1e-5, 8.5456, -0.5, 0.2, True, nan, nan, MissionItem.CameraAction.NONE, nan, nan, 0.5,
            nan, nan, MissionItem.VehicleAction.NONE,
        )
        for k in range(3)
    ]  # fmt: skip
    await drone.mission.set_return_to_launch_after_mission(True)
    await drone.mission.upload_mission(MissionPlan(items))
    assert len(vehicle.loop.state.mission) == 4 and vehicle.loop.state.mission[3] == "surface"
    plan = await drone.mission.download_mission()
    assert [round(item.latitude_deg, 7) for item in plan.mission_items] == [47.3978, 47.39781, 47.39782]
    await drone.mission.start_mission()
    assert vehicle.loop.state.requested_mode == modes.MISSION
    await drone.offboard.set_position_ned(PositionNedYaw(1.5, -1.0, 0.5, 0.0))
    await drone.offboard.start()
    assert vehicle.loop.state.requested_mode == modes.GOTO
    assert vehicle.loop.state.goto_pose[:3] == pytest.approx([1.5, 1.0, 0.5])
    await drone.offboard.stop()  # else its set-points go on, and the latest counts
    assert vehicle.loop.state.requested_mode == modes.HOLD
    await drone.action.goto_location(47.39775, 8.5456, -0.25, 90.0)
    assert vehicle.loop.state.goto_pose[2:] == pytest.approx([0.25, -math.pi / 2])
    assert vehicle.loop.state.station_age < NEVER  # its heartbeats count as those of a station
    await drone.action.disarm()
    assert not vehicle.loop.state.armed


def test_mavsdk_without_signing_changes_nothing_in_a_vehicle_with_a_key():
    port = free_port()
    signing = Signing(KEY, None)
    with SimulatedVehicle(f"udpout:127.0.0.1:{port}", signing=signing) as vehicle:

        async def attempt():
            drone = await connected(port)  # it accepts signed heartbeats without a key
            try:
                with pytest.raises(mavsdk.action.ActionError):
                    await drone.action.arm()
            finally:
                ended(drone)

        asyncio.run(attempt())
        assert not vehicle.loop.state.armed and signing.refused["unsigned"] > 0
        until("it is logged", lambda: any(kind == "frames refused" for kind, _ in vehicle.notes))
    assert mavlink.WIRE_PROTOCOL_VERSION == "2.0"
