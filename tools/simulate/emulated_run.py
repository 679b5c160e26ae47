"""Vehicles on emulated chips: the real drivers and registers between board and plant."""

from collections.abc import Sequence
from pathlib import Path

from caudal.hal.emulated.wiring import EmulatedDriver
from caudal.hal.tables import pi as pi_spec
from caudal.onboard.run.arming import Notify, ignore
from caudal.sim_plant.world.world import Body
from caudal.tools.config.vehicle import Vehicle
from caudal.tools.faults.kinds import Fault
from caudal.tools.simulate.simulation import SimSession, Simulation


def chips_of(vehicle: Vehicle) -> pi_spec.Pi:
    """The vehicle's [pi] table."""
    return pi_spec.read(vehicle.file, vehicle.settings)


def emulated_simulation(
    vehicle: Vehicle,
    scenario_name: str,
    seed: int,
    faults: Sequence[Fault] = (),
    registers: Path | None = None,
    notify: Notify = ignore,
) -> Simulation:
    """A simulation with a Raspberry Pi's chips between each loop and the plant.

    `registers` is a file that holds the first vehicle's PCA9685, as power does: they outlive this process.
    """
    pi = chips_of(vehicle)
    _, scenario = vehicle.scenario(scenario_name)

    def launch(name: str, body: Body) -> SimSession:
        first = name.endswith("_1")
        rate_hz, power = vehicle.settings.rate_hz, registers if first else None
        driver = EmulatedDriver(vehicle.settings, pi, rate_hz, body, lambda: body.time_us, power)
        return SimSession(name, vehicle.build_loop(scenario, driver), body, driver, notify)

    simulation = Simulation(vehicle, scenario_name, seed, launch, faults)
    simulation.about["pulse_step_us"] = repr(simulation.instances[0].driver.step_us)
    return simulation
