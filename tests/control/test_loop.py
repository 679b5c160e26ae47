"""A real vehicle's whole controller against any readings: no fault, limits kept, safe without heading."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.onboard.build import build_loop
from caudal.onboard.core.failsafe import DISARM, NEUTRAL

SETTINGS = vehicles.read(VehicleFile.open(vehicles.find("fish")))
SENSORS = SETTINGS.sensors
VITAL = [k for k, s in enumerate(SENSORS) if s.name in ("heading", "turn_rate")]
FAILSAFE = next(row for row in SETTINGS.failsafes if row.name == "attitude_lost")


class AnyDriver:
    """Counts set from outside; checks what is written as it comes."""

    def __init__(self):
        self.counts = [None] * len(SENSORS)
        self.outputs = []

    def read(self, counts):
        counts[:] = self.counts

    def write(self, outputs):
        self.outputs = list(outputs)
        for output, actuator in zip(outputs, SETTINGS.actuators, strict=True):
            assert type(output) is int
            assert output == 0 or actuator.low_us <= output <= actuator.high_us

    def close(self):
        pass


def lost_after_ticks() -> int:
    """How long a vital reading may be gone until every actuator must be safe."""
    ages = [SENSORS[k].max_age_s for k in VITAL]
    return round((max(ages) + FAILSAFE.delay_s) * SETTINGS.rate_hz) + 1


@st.composite
def segments(draw):
    """Stretches of ticks in which each sensor is absent, at an end, beyond it, wandering, or anything."""
    kinds = st.sampled_from(
        ["absent", "low", "high", "middle", "beyond", "below", "noise", "flicker", "huge"]
    )
    rows = st.tuples(
        st.integers(5, 50),
        st.lists(kinds, min_size=len(SENSORS), max_size=len(SENSORS)),
        st.integers(0, 2**32),
    )
    return draw(st.lists(rows, min_size=1, max_size=6))


def count_of(kind, sensor, dice):
    low, high = sensor.low_count, sensor.high_count
    return {
        "absent": None,
        "low": low,
        "high": high,
        "middle": (low + high) // 2,
        "beyond": high + 1,
        "below": low - 1,
        "huge": 1 << 62,
        "noise": dice.randint(low, high),
        "flicker": dice.choice([None, low, high, low - 1]),
    }[kind]


@pytest.mark.parametrize("scenario", ["pool", "track", "pursue", "cruise"])
@given(sequence=segments())
@settings(max_examples=25, deadline=None)
def test_loop_and_its_limits_hold_at_any_sequence_of_readings(scenario, sequence):
    driver = AnyDriver()
    loop = build_loop(SETTINGS, SETTINGS.scenarios[scenario], driver)
    armed_at = len(sequence) % 3 * 20  # ticks; nothing may move before
    gone = [0] * len(VITAL)  # ticks for which each vital reading has been missing
    refused = False
    for length, kinds, seed in sequence:
        dice = random.Random(seed)
        for _ in range(length):
            driver.counts = [
                count_of(kind, sensor, dice) for kind, sensor in zip(kinds, SENSORS, strict=True)
            ]
            if loop.ticks == armed_at:
                loop.arm()
            loop.tick()
            assert loop.fault is None
            refused |= any(refusal for *_, refusal in loop.taken)
            if not loop.state.armed:
                assert driver.outputs == [0] * len(driver.outputs)
                assert loop.ticks <= armed_at or refused
            for output, actuator in zip(loop.state.outputs, loop.board.actuators, strict=True):
                assert output is None or (type(output) is int and actuator.low <= output <= actuator.high)
            for i, k in enumerate(VITAL):
                count = driver.counts[k]
                there = count is not None and SENSORS[k].low_count <= count <= SENSORS[k].high_count
                gone[i] = 0 if there else gone[i] + 1
            if max(gone) > lost_after_ticks():
                assert loop.state.action == (NEUTRAL if loop.state.armed else DISARM)
                assert driver.outputs == [0] * len(driver.outputs)


@pytest.mark.parametrize("scenario", ["pool", "track"])
@pytest.mark.parametrize("lost", VITAL)
def test_lost_heading_sends_the_safe_state_until_it_returns(scenario, lost):
    driver = AnyDriver()
    loop = build_loop(SETTINGS, SETTINGS.scenarios[scenario], driver)
    loop.arm()
    driver.counts = [count_of("middle", sensor, random) for sensor in SENSORS]
    for _ in range(300):
        loop.tick()
    assert loop.state.action != NEUTRAL and 0 not in driver.outputs
    driver.counts[lost] = None
    waited = 0
    while loop.state.action != NEUTRAL:
        loop.tick()
        waited += 1
        assert waited <= lost_after_ticks()
    assert driver.outputs == [0] * len(driver.outputs)
    assert waited > FAILSAFE.delay_s * SETTINGS.rate_hz  # and not at the first gap
    driver.counts[lost] = count_of("middle", SENSORS[lost], random)
    for _ in range(200):
        loop.tick()
    assert loop.state.action != NEUTRAL and 0 not in driver.outputs


@pytest.mark.parametrize("scenario", ["pool", "track", "pursue", "cruise"])
def test_same_readings_give_the_same_commands_to_the_bit(scenario):
    histories = []
    for _ in range(2):
        driver = AnyDriver()
        loop = build_loop(SETTINGS, SETTINGS.scenarios[scenario], driver)
        loop.arm()
        dice = random.Random(7)
        history = []
        for _ in range(300):
            driver.counts = [count_of("noise", sensor, dice) for sensor in SENSORS]
            loop.tick()
            history.append(driver.outputs)
        histories.append(history)
    assert histories[0] == histories[1]
    assert len({tuple(outputs) for outputs in histories[0]}) > 100
