"""A vehicle on a test stand: its real driver, with pulses on one actuator at a time.

Whatever ends it (Ctrl-C, a closed terminal, an error), pulses end first, a motor's after a time at neutral
(tools/calibrate/shutdown.py). On emulated chips time is simulated.
"""

from __future__ import annotations

import time
from statistics import fmean
from types import TracebackType

from caudal.hal.core.build import build_sensor_map
from caudal.hal.emulated.wiring import feeds
from caudal.hal.pi.build import build_driver
from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.pca9685 import Scale, registers
from caudal.hal.tables.channels import Thruster
from caudal.hal.tables.pi import Ads1115
from caudal.tools.calibrate.shutdown import stop_signals
from caudal.tools.common.output import UsageError
from caudal.tools.config.pi_vehicle import PiVehicle, open_parts

TICK_S = 0.01
PATIENCE_S = 3.0  # for the chip to hold a pulse; a hung bus takes a second per transaction
NEUTRAL_S = 0.2
RAMP_US, RAMP_S = 10, 0.02  # step and period of a servo's slow move
_LED0 = 0x06


class Stand:
    """`with Stand(vehicle, on) as stand:` starts the driver; there are no pulses before `pulse` or `move`."""

    def __init__(self, vehicle: PiVehicle, on: str) -> None:
        pulses = vehicle.pi.pulses
        self._settings = vehicle.settings
        self._pi = vehicle.pi
        self._parts = open_parts(on, vehicle.pi)
        self._emulated = on != "pi"
        try:
            self.scale = Scale(pulses.frequency_hz, pulses.clock_hz)
            self._driver = build_driver(self._settings, self._pi, self._settings.rate_hz, self._parts)
        except ValueError as error:
            raise vehicle.file.error("pi.pulses", str(error)) from error
        self._bus = I2cBus(lambda: self._parts.smbus(pulses.bus), f"i2c-{pulses.bus}")
        self._index = {a.name: i for i, a in enumerate(self._settings.actuators)}
        self._sensor = {s.name: i for i, s in enumerate(self._settings.sensors)}
        self._outputs = [0] * len(self._index)
        self._neutral: dict[int, int] = {}  # of the motors that were pulsed
        self._now_us = 0
        # what emulated chips measure: a count per sensor
        self.emulated_counts: list[int | None] = self._first_counts() if self._emulated else []
        self._feeds = feeds(self._settings, self._pi, self._parts) if self._emulated else []

    def __enter__(self) -> Stand:
        stop_signals.watch()
        if not self._emulated:
            self._driver.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._neutral:
                self._outputs = [self._neutral.get(i, 0) for i in range(len(self._outputs))]
                self._driver.write(self._outputs)
                self._pass(NEUTRAL_S)
        finally:
            self._driver.close()
            self._close_bus()
            stop_signals.unwatch()
        if stop_signals.stopped and error is None:
            raise KeyboardInterrupt

    def pulse(self, name: str, pulse_us: int) -> None:
        """Pulses one actuator only, and waits until the chip holds the pulse; a UsageError if it does not."""
        index = self._send(name, pulse_us)
        actuator = self._settings.actuators[index]
        wanted = registers(self.scale.steps(pulse_us))
        waited_s = 0.0
        while self._held(actuator.port) != wanted:
            if waited_s >= PATIENCE_S:
                raise UsageError(f"no pulse for {name}: {self._reason()}; see caudal probe")
            self.wait(TICK_S)
            waited_s += TICK_S

    def move(self, name: str, pulse_us: int) -> None:
        """As `pulse`, but slowly from the present pulse."""
        at_us = self._outputs[self._index[name]] or pulse_us
        while abs(pulse_us - at_us) > RAMP_US:
            at_us += RAMP_US if pulse_us > at_us else -RAMP_US
            self._send(name, at_us)
            self.wait(RAMP_S)
        self.pulse(name, pulse_us)

    def wait(self, seconds: float) -> None:
        """Waits; a stop signal ends it."""
        with stop_signals.window():
            self._pass(seconds)

    def _pass(self, seconds: float) -> None:
        if not self._emulated:
            time.sleep(seconds)
            return
        end_us = self._now_us + round(seconds * 1e6)
        while self._now_us < end_us:
            self._now_us += round(TICK_S * 1e6)
            for feed in self._feeds:
                feed(self.emulated_counts)
            for worker in self._driver.workers:
                worker.run_until(self._now_us)

    def read(self, name: str, seconds: float) -> list[int]:
        """All counts of a sensor in this time, without earlier ones."""
        counts: list[int | None] = [None] * len(self._sensor)
        self._driver.read(counts)
        readings = []
        for _ in range(round(seconds / TICK_S)):
            self.wait(TICK_S)
            self._driver.read(counts)
            count = counts[self._sensor[name]]
            if count is not None:
                readings.append(count)
        return readings

    def read_si(self, name: str, seconds: float) -> float | None:
        """Mean of a sensor's valid readings in this time, in its SI unit; None if there are none."""
        sensor_map = build_sensor_map(self._settings.sensors[self._sensor[name]])
        values = [sensor_map.to_si(count) for count in self.read(name, seconds) if sensor_map.valid(count)]
        return fmean(values) if values else None

    def emulate(self, name: str, count: int | None) -> None:
        """Sets what a sensor's emulated chip measures from now on."""
        self.emulated_counts[self._sensor[name]] = count

    def emulated_pulse_us(self, name: str) -> float:
        """The pulse at the emulated chip's pin, by its own oscillator."""
        pulse_us: float = self._parts.pulses.pulses_us()[self._settings.actuators[self._index[name]].port]
        return pulse_us

    @property
    def lost(self) -> dict[str, str]:
        """The reason of each lost device."""
        return self._driver.lost

    def _send(self, name: str, pulse_us: int) -> int:
        index = self._index[name]
        actuator = self._settings.actuators[index]
        if actuator.map == "thruster":
            self._neutral[index] = actuator.neutral_us
        self._outputs = [0] * len(self._outputs)
        self._outputs[index] = pulse_us
        self._driver.write(self._outputs)
        return index

    def _held(self, channel: int) -> bytes:
        try:
            return self._bus.write_read(self._pi.pulses.address, bytes((_LED0 + 4 * channel,)), 4)
        except OSError:
            return b""

    def _reason(self) -> str:
        for device, reason in self.lost.items():
            if device.startswith("pulses"):
                return f"{device}: {reason}"
        return "another program writes to the PCA9685; stop it (systemctl stop caudal)"

    def _close_bus(self) -> None:
        try:
            self._bus.close()
        except OSError:  # the adapter is gone
            pass

    def _first_counts(self) -> list[int | None]:
        """Counts of batteries at their nominal voltage, of converters 0, of others none."""
        counts: list[int | None] = [None] * len(self._sensor)
        for name, reading in self._pi.readings.items():
            if isinstance(self._pi.chip[reading.chip], Ads1115):
                counts[self._sensor[name]] = 0
        for actuator in self._settings.actuators:
            if isinstance(actuator, Thruster) and actuator.battery:
                battery = actuator.battery
                sensor = self._settings.sensors[self._sensor[battery]]
                counts[self._sensor[battery]] = build_sensor_map(sensor).to_count(actuator.nominal_v)
        return counts
