"""The output limiter at any command: outputs are integers or off, within limits and slew."""

import math
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import ONE, to_q14
from caudal.onboard.core.failsafe import ACTIONS, DISARM, NEUTRAL, NONE, FailsafeMonitor, FailsafeRule
from caudal.onboard.core.limiter import OutputLimiter
from caudal.onboard.core.modes import TAIL
from caudal.onboard.core.state import State

RATE_HZ = 100
LIMITS = ((-1.1, 1.1, 12.0, "off"), (-0.5, 1.0, 3.0, 0.25), (0.1, 0.9, 0.004, 0.9))


class OneSensor:
    def __init__(self):
        self.count = 0

    def read(self, counts):
        counts[0] = self.count

    def write(self, outputs):
        pass

    def close(self):
        pass


def channels():
    actuators = [
        SimpleNamespace(
            name=f"servo_{k}", map="servo", port=k, centre_us=1500, us_per_rad=600.0,
            direction=1, trim_us=0, low_us=800, high_us=2200,
            min_rad=low, max_rad=high, slew_rad_s=slew, safe_rad=safe,
        )
        for k, (low, high, slew, safe) in enumerate(LIMITS)
    ]  # fmt: skip
    sensor = SimpleNamespace(
        name="heading", map="linear", port=0, zero_count=0, si_per_count=0.001,
        low_count=-3000, high_count=3000, max_age_s=0.02,
    )  # fmt: skip
    return SimpleNamespace(actuators=actuators, sensors=[sensor])


triggers = st.sampled_from(["not_armed", "reading_lost", "overrun", "bad_command"])


@st.composite
def rows(draw):
    return SimpleNamespace(
        name="row",
        trigger=draw(triggers),
        action=draw(st.sampled_from(sorted(ACTIONS))),
        sensors=["heading"],
        limit_ticks=1.0,
        delay_s=draw(st.sampled_from([0.0, 0.01, 0.05])),
        clear_s=draw(st.sampled_from([0.0, 0.01, 0.1])),
        latched=draw(st.booleans()),
    )


ask = st.one_of(
    st.none(),
    st.integers(-2 * ONE, 2 * ONE),
    st.integers(),
    st.floats(),
    st.sampled_from([math.nan, math.inf, -math.inf, 10**400, -(10**400), 0.5, -0.0]),
)


@st.composite
def ticks(draw):
    """Asks, armed, heading there, late: each mostly as the tick before, so that delays and slews play out."""
    length = 50
    switches = draw(st.lists(st.tuples(st.integers(0, length), ask, ask, ask), min_size=1, max_size=12))
    toggles = [set(draw(st.lists(st.integers(0, length), max_size=5))) for _ in range(3)]
    sequence = []
    asks, armed, present, late = (0, 0, 0), draw(st.booleans()), True, False
    for tick in range(length):
        for at, *new in switches:
            if at == tick:
                asks = tuple(new)
        armed ^= tick in toggles[0]
        present ^= tick in toggles[1]
        late ^= tick in toggles[2]
        sequence.append((asks, armed, present, late))
    return sequence


@given(st.lists(rows(), max_size=4), ticks())
@settings(max_examples=150)
def test_outputs_keep_limits_and_slew_at_any_command_and_failsafe(failsafes, sequence):
    driver = OneSensor()
    board = build_board(channels(), driver, RATE_HZ)
    board.actuators[2].map.stays = False  # as a thruster's: off is no force
    watch = FailsafeMonitor([FailsafeRule(row, board, RATE_HZ, TAIL) for row in failsafes], TAIL)
    limiter = OutputLimiter(board, RATE_HZ)
    state = State(board, 10_000)
    rest = [min(max(a.safe or 0, a.low), a.high) for a in board.actuators]
    last = list(rest)
    for asks, armed, present, late in sequence:
        state.commands[:] = asks
        state.armed = armed
        state.late_us = 20_000 if late else 0
        driver.count = 0 if present else None
        board.sense()
        watch.step(state)
        limiter.step(state)
        for i, actuator in enumerate(board.actuators):
            output = state.outputs[i]
            if output is None:
                neutral = state.action == NEUTRAL and actuator.safe is None
                assert state.action == DISARM or not armed or neutral
                if not actuator.map.stays:
                    last[i] = rest[i]
                continue
            assert type(output) is int
            assert state.action != DISARM and armed
            assert actuator.low <= output <= actuator.high
            assert abs(output - last[i]) <= max(1, actuator.slew // RATE_HZ)
            last[i] = output
        board.act(state.outputs)


@given(st.integers(-2 * ONE, 2 * ONE))
def test_held_command_or_its_limit_is_reached(command):
    board = build_board(channels(), OneSensor(), RATE_HZ)
    limiter = OutputLimiter(board, RATE_HZ)
    state = State(board, 10_000)
    state.armed = True
    state.commands[:] = [command] * 3
    for _ in range(150):
        limiter.step(state)
    for i in (0, 1):
        actuator = board.actuators[i]
        assert state.outputs[i] == min(max(command, actuator.low), actuator.high)
    assert state.action == NONE


@given(st.lists(st.integers(-ONE, ONE), min_size=1, max_size=50))
def test_commands_within_limits_and_slew_pass_unchanged(steps):
    board = build_board(channels(), OneSensor(), RATE_HZ)
    limiter = OutputLimiter(board, RATE_HZ)
    state = State(board, 10_000)
    state.armed = True
    command = 0
    for step in steps:
        slew = to_q14(12.0) // RATE_HZ
        command = min(max(command + min(max(step, -slew), slew), to_q14(-1.1)), to_q14(1.1))
        state.commands[0] = command
        limiter.step(state)
        assert state.outputs[0] == command
