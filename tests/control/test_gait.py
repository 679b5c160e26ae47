"""The oscillator chain against the look-up table: the same wave when steady, smooth and quick when switched.

Figures are of the vehicle file's own gait at 100 Hz; each test prints its worst.
"""

import math
from itertools import pairwise

import pytest
from msgspec.structs import replace

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import ONE, to_q14
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.onboard.gait.build import build_gait
from caudal.onboard.gait.cpg import CpgGait
from caudal.onboard.gait.gait import TableGait
from caudal.onboard.gait.phase import MASK
from caudal.onboard.gait.shape import shape_of
from caudal.onboard.gait.wave import Wave
from caudal.onboard.tables.read import Settings
from caudal.tools.cli.gait import chord_error_m, lateral_error_m, node_error_m

RATE_HZ = 100
STEADY_TICKS = 600
STEADY_ERROR_DEG = 0.5
JERK_RAD_S = 2.5  # change of a joint's velocity from one tick to the next
SETTLE_S = 1.3
SETTLE_SHARE = 0.02  # of the joint's full amplitude
PHASES = 20


def settings(*overrides: str) -> Settings:
    return vehicles.read(VehicleFile.open(vehicles.find("fish"), overrides))


SETTINGS = settings()
GAIT = SETTINGS.gait
JOINTS = range(len(GAIT.joints))


def new_gait(source: str):
    return build_gait(replace(GAIT, source=source), build_board(SETTINGS, None, RATE_HZ), RATE_HZ)


def swim(gait, ticks: int) -> list[list[float]]:
    """Joint angles in rad, tick by tick."""
    commands = [0] * len(SETTINGS.actuators)
    angles = []
    for _ in range(ticks):
        gait.step(commands)
        angles.append([commands[joint] / ONE for joint in gait.joints])
    return angles


def steady(source: str, frequency_hz: float, amplitude: float = 1.0, turn_rad: float = 0.0):
    gait = new_gait(source)
    gait.ask(to_q14(frequency_hz), to_q14(amplitude), to_q14(turn_rad))
    swim(gait, STEADY_TICKS)
    return gait


def test_gait_source_chooses_table_or_oscillators():
    for word, kind in (("table", TableGait), ("cpg", CpgGait)):
        vehicle = settings(f'gait.source="{word}"')
        assert type(build_gait(vehicle.gait, build_board(vehicle, None, RATE_HZ), RATE_HZ)) is kind


@pytest.mark.parametrize("frequency_hz", [0.5, 1.0, 2.0, 3.0])
def test_table_and_oscillators_make_the_same_wave(frequency_hz):
    table = swim(steady("table", frequency_hz), 2 * RATE_HZ)
    cpg = swim(steady("cpg", frequency_hz), 2 * RATE_HZ)
    off = [abs(a - b) for row, other in zip(table, cpg, strict=True) for a, b in zip(row, other, strict=True)]
    print(f"{frequency_hz} Hz: oscillators off the table by {math.degrees(max(off)):.3f} deg at most")
    assert math.degrees(max(off)) < STEADY_ERROR_DEG
    for joint in JOINTS:  # and it is a wave, not two still tails
        assert max(abs(row[joint]) for row in cpg) > 0.9 * GAIT_AMPLITUDES[joint]


GAIT_AMPLITUDES = [amplitude / ONE for amplitude in shape_of(GAIT).amplitudes]
OTHER_SHAPE = shape_of(replace(GAIT, wavelength_m=0.6))

# Settings before and after (frequency_hz, amplitude, turn_rad), and whether the wavelength changes too.
SWITCHES = {
    "frequency up": ((1.0, 1.0, 0.0), (2.0, 1.0, 0.0), False),
    "frequency down": ((2.0, 1.0, 0.0), (1.0, 1.0, 0.0), False),
    "top frequency down": ((3.0, 1.0, 0.0), (1.0, 1.0, 0.0), False),
    "amplitude up": ((2.0, 0.5, 0.0), (2.0, 1.0, 0.0), False),
    "amplitude down": ((2.0, 1.0, 0.0), (2.0, 0.5, 0.0), False),
    "wavelength": ((2.0, 1.0, 0.0), (2.0, 1.0, 0.0), True),
    "turn": ((2.0, 1.0, 0.0), (2.0, 1.0, 0.5), False),
    "reverse": ((2.0, 1.0, 0.0), (-2.0, 1.0, 0.0), False),
    "stop": ((2.0, 1.0, 0.0), (0.0, 0.0, 0.0), False),
    # the largest the tail's limits allow
    "full turn": ((2.0, 1.0, 0.0), (2.0, 1.0, 1.05), False),
    "full turn over": ((2.0, 1.0, 1.05), (2.0, 1.0, -1.05), False),
    "top reverse": ((3.0, 1.0, 0.0), (-3.0, 1.0, 0.0), False),
    "start to top": ((0.0, 0.0, 0.0), (3.0, 1.0, 0.0), False),
    "all at once": ((1.0, 0.5, -0.5), (3.0, 1.0, 0.5), True),
}


def switched(name: str, phase: int):
    """A steady gait, switched at one of PHASES phases of the beat, and its angles just before."""
    before, after, reshaped = SWITCHES[name]
    gait = steady("cpg", *before)
    start = phase * (MASK + 1) // PHASES
    shift = start - gait.phases[0]
    gait.phases = [(own + shift) & MASK for own in gait.phases]
    lead = swim(gait, 3)
    gait.ask(*[to_q14(value) for value in after])
    if reshaped:
        gait.reshape(OTHER_SHAPE)
    return gait, lead


def final_steady(gait, ticks: int) -> list[list[float]]:
    """What a gait long in the final settings did over the last `ticks`, in phase with this one."""
    reference = new_gait("cpg")
    reference.reshape(gait.shape)
    for lag in ("frequency", "amplitude", "turn"):
        getattr(reference, lag).jump(getattr(gait, lag).value)
    swim(reference, STEADY_TICKS)
    back = ticks * ((gait.frequency.value << 10) // RATE_HZ)
    leads = gait.shape.leads
    common = gait.phases[0] - leads[0] - back
    reference.phases = [(common + lead) & MASK for lead in leads]
    return swim(reference, ticks)


@pytest.mark.parametrize("name", SWITCHES)
def test_switch_does_not_jerk_a_joint_at_any_phase_of_the_beat(name):
    worst = 0.0
    for phase in range(PHASES):
        gait, angles = switched(name, phase)
        angles += swim(gait, 2 * RATE_HZ)
        for joint in JOINTS:
            velocity = [(b[joint] - a[joint]) * RATE_HZ for a, b in pairwise(angles)]
            worst = max(worst, *(abs(b - a) for a, b in pairwise(velocity)))
    print(f"{name}: velocity changes by {worst:.2f} rad/s in a tick at most")
    assert worst <= JERK_RAD_S


def settled_after_s(name: str) -> float:
    """From the switch, the last time any joint was off the final steady gait, over all phases of the beat."""
    last_tick = 0
    for phase in range(PHASES):
        gait, _ = switched(name, phase)
        angles = swim(gait, STEADY_TICKS)
        wanted = final_steady(gait, STEADY_TICKS)
        for tick in range(last_tick, STEADY_TICKS):
            for joint in JOINTS:
                if abs(angles[tick][joint] - wanted[tick][joint]) > SETTLE_SHARE * GAIT_AMPLITUDES[joint]:
                    last_tick = tick + 1
    settled_s = last_tick / RATE_HZ
    print(f"{name}: within {SETTLE_SHARE:.0%} of each joint's amplitude after {settled_s:.2f} s")
    return settled_s


@pytest.mark.parametrize("name", SWITCHES)
def test_switch_settles_within_1_3_s_at_any_phase_of_the_beat(name):
    assert 0.2 < settled_after_s(name) <= SETTLE_S


class Small(int):
    """An integer that refuses to grow past what a 32-bit MicroPython board keeps off its heap."""

    def checked(self, name, *other):
        result = getattr(int, name)(self, *other)
        if result is NotImplemented:
            return result
        assert -(1 << 30) <= result < 1 << 30, f"{int(self)} {name} {other} gives {result}"
        return Small(result)


OPERATIONS = [
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "lshift",
    "rlshift",
    "rshift",
    "and",
    "rand",
    "floordiv",
]
for _name in OPERATIONS:
    _method = f"__{_name}__"
    setattr(Small, _method, lambda self, *other, _method=_method: self.checked(_method, *other))


def smaller(value):
    """The same gait with every integer in it a Small one."""
    if type(value) is int:
        return Small(value)
    if isinstance(value, list):
        return [smaller(item) for item in value]
    if hasattr(value, "__dict__"):
        for name, item in vars(value).items():
            setattr(value, name, smaller(item))
    return value


@pytest.mark.parametrize("source", ["table", "cpg"])
def test_numbers_of_a_tick_fit_small_integers_of_a_32_bit_board(source):
    gait = smaller(new_gait(source))
    gait.joints = list(JOINTS)
    top = SETTINGS.control
    for frequency_hz, turn_rad in ((1, 1), (-1, -1), (1, -1)):
        frequency = to_q14(frequency_hz * top.frequency_max_hz)
        gait.ask(Small(frequency), Small(ONE), Small(to_q14(turn_rad * top.deflection_max_rad)))
        angles = swim(gait, 150)
        assert any(max(row) != 0 for row in angles)
    assert type(gait.frequency.value) is Small


def wave() -> Wave:
    return Wave(GAIT.c1, GAIT.c2_per_m, GAIT.wavelength_m, GAIT.links_m)


def test_joints_of_the_table_lie_on_the_curve():
    for rows in (4, 18, GAIT.table_size):
        assert node_error_m(wave(), wave().table(rows)) < 1e-9


def test_table_of_18_rows_keeps_joints_within_0_6_mm_of_the_curve():
    error_m = lateral_error_m(wave(), wave().table(18))
    print(f"18 rows: joints {error_m * 1e3:.3f} mm off the curve sideways at most")
    assert error_m < 0.6e-3
    assert lateral_error_m(wave(), wave().table(36)) < error_m  # more rows, nearer


def test_straight_links_stay_within_3_mm_of_the_curve():
    error_m = chord_error_m(wave())
    print(f"links stray {error_m * 1e3:.3f} mm from the curve at most")
    assert 0 < error_m < 3e-3
