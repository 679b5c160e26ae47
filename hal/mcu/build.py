"""From a board's plain [mcu] settings (hal/tables/mcu.py) to its driver. `machine` is passed in. Portable."""

from caudal.hal.core.number_line import NumberLine
from caudal.hal.mcu.driver import McuDriver
from caudal.hal.mcu.port import build_uart
from caudal.hal.mcu.pulses import PulsePins
from caudal.hal.mcu.sources import AnalogPin, LineField, Register, SwitchPin


def build_driver(settings, mcu, machine):
    """The driver of a vehicle's channels on this board's pins."""
    i2c = build_i2c(mcu, machine)
    line = NumberLine(build_uart(mcu["line"], machine), mcu["line"]["fields"]) if mcu["line"] else None
    pwms = [
        machine.PWM(machine.Pin(mcu["pulse"][actuator["name"]]), freq=mcu["pulse_hz"], duty_ns=0)
        for actuator in settings["actuators"]
    ]
    sources = [
        build_source(mcu["sensor"].get(sensor["name"]), i2c, line, machine) for sensor in settings["sensors"]
    ]
    return McuDriver(PulsePins(pwms), sources, line)


def build_i2c(mcu, machine):
    """The bus, with its devices set up as the file says."""
    wires = mcu["i2c"]
    if not wires:
        return None
    scl, sda = machine.Pin(wires["scl"]), machine.Pin(wires["sda"])
    i2c = machine.I2C(wires["id"], scl=scl, sda=sda, freq=wires["frequency_hz"])
    for write in mcu["setup"]:
        i2c.writeto_mem(write["address"], write["register"], bytes([write["value"]]))
    return i2c


def build_source(place, i2c, line, machine):
    if place is None:
        return None
    if place["on"] == "adc":
        return AnalogPin(machine.ADC(machine.Pin(place["pin"])))
    if place["on"] == "pin":
        return SwitchPin(build_input(place, machine), place["inverted"])
    if place["on"] == "line":
        return LineField(line, place["field"])
    little = place["order"] == "little"
    return Register(i2c, place["address"], place["register"], place["bytes"], little, place["signed"])


def build_input(place, machine):
    pull = {"up": machine.Pin.PULL_UP, "down": machine.Pin.PULL_DOWN, "none": None}[place["pull"]]
    return machine.Pin(place["pin"], machine.Pin.IN, pull)
