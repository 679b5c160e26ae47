"""Gaits: both sources swim one wave; frequency, amplitude, turn, reverse and stop do what they say."""

from bench_vehicle import BenchDriver, gait, settings

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import ONE, to_q14
from caudal.onboard.gait.build import build_gait
from caudal.onboard.gait.cpg import CpgGait
from caudal.onboard.gait.gait import TableGait
from caudal.onboard.gait.shape import Shape, shape_of

RATE_HZ = 100


def new_gait(source):
    board = build_board(settings(), BenchDriver(), RATE_HZ)
    return build_gait(gait(source), board, RATE_HZ)


def swim(gait, ticks):
    """Joint angles tick by tick."""
    ways = []
    commands = [0, 0, 0, 0]
    for _ in range(ticks):
        gait.step(commands)
        ways.append(list(commands))
    return ways


def settled(source, frequency_hz, amplitude=1.0, turn_rad=0.0):
    gait = new_gait(source)
    gait.ask(to_q14(frequency_hz), to_q14(amplitude), to_q14(turn_rad))
    swim(gait, 400)
    return gait


def peak(ways, joint):
    return max([abs(way[joint]) for way in ways])


def mean(ways, joint):
    return sum([way[joint] for way in ways]) / len(ways)


def test_one_word_chooses_the_source():
    assert isinstance(new_gait("table"), TableGait)
    assert isinstance(new_gait("cpg"), CpgGait)


def test_gait_without_a_setpoint_is_still():
    for source in ("table", "cpg"):
        assert swim(new_gait(source), 50) == [[0, 0, 0, 0]] * 50


def test_table_and_cpg_make_the_same_wave():
    table = swim(settled("table", 1.0), 100)
    cpg = swim(settled("cpg", 1.0), 100)
    for a, b in zip(table, cpg):
        for joint in range(4):
            assert abs(a[joint] - b[joint]) < to_q14(0.0087)  # half a degree


def test_a_settled_table_gait_repeats_its_rows():
    gait = settled("table", 1.0)
    shape = shape_of(gait_settings())
    ways = swim(gait, 100)
    for joint in range(4):
        highest = max([shape.angles[row * 4 + joint] for row in range(36)])
        assert abs(max([way[joint] for way in ways]) - highest) < 0.01 * ONE


def gait_settings():
    return gait("table")


def test_a_beat_takes_as_long_as_its_frequency_says():
    for source in ("table", "cpg"):
        for frequency_hz in (1.0, 2.0):
            beat = int(RATE_HZ / frequency_hz)
            ways = swim(settled(source, frequency_hz), 2 * beat)
            for joint in range(4):
                apart = [abs(ways[t][joint] - ways[t + beat][joint]) for t in range(beat)]
                assert max(apart) < 0.004 * ONE
                swing = [abs(ways[t][joint] - ways[t + beat // 2][joint]) for t in range(beat)]
                assert max(swing) > 1.5 * peak(ways, joint)


def test_half_the_amplitude_is_half_of_every_angle():
    for source in ("table", "cpg"):
        full = swim(settled(source, 1.0), 100)
        half = swim(settled(source, 1.0, 0.5), 100)
        for a, b in zip(full, half):
            for joint in range(4):
                assert abs(a[joint] - 2 * b[joint]) <= 8


def test_a_turn_is_shared_out_over_the_joints():
    for source in ("table", "cpg"):
        ways = swim(settled(source, 1.0, 1.0, 0.6), 100)
        shares = [mean(ways, joint) / to_q14(0.6) for joint in range(4)]
        for share, wanted in zip(shares, (0.5, 0.5, 0.0, 0.0)):
            assert abs(share - wanted) < 0.01


def test_a_turn_the_other_way_is_the_mirror():
    for source in ("table", "cpg"):
        port = swim(settled(source, 0.0, 0.0, 0.4), 3)
        starboard = swim(settled(source, 0.0, 0.0, -0.4), 3)
        for joint in range(4):
            assert abs(port[2][joint] + starboard[2][joint]) <= 3


def test_a_negative_frequency_runs_the_wave_backward():
    for source in ("table", "cpg"):
        ways = swim(settled(source, -1.0), 100)
        forward = swim(settled(source, 1.0), 100)
        # the same angles in the opposite order: find the shift that fits best
        misses = []
        for shift in range(100):
            off = 0
            for t in range(0, 100, 5):
                for joint in range(4):
                    off = max(off, abs(ways[t][joint] - forward[(shift - t) % 100][joint]))
            misses.append(off)
        assert min(misses) < 0.02 * ONE


def test_stop_brings_every_joint_to_rest_at_zero():
    for source in ("table", "cpg"):
        gait = settled(source, 2.0, 1.0, 0.5)
        gait.stop()
        swim(gait, 400)
        for way in swim(gait, 50):
            for angle in way:
                assert abs(angle) <= 2


def test_another_shape_is_made_with_its_own_amplitudes():
    for source in ("table", "cpg"):
        gait = settled(source, 1.0)
        small = Shape([[angle / 2 for angle in row] for row in rows_of(gait.shape)])
        before = swim(gait, 100)
        gait.reshape(small)
        swim(gait, 400)
        after = swim(gait, 100)
        for joint in range(4):
            assert abs(peak(before, joint) - 2 * peak(after, joint)) < 0.01 * ONE


def rows_of(shape):
    return [[shape.angles[row * 4 + joint] / ONE for joint in range(4)] for row in range(shape.rows)]


def test_disturbed_oscillators_pull_each_other_back_into_step():
    gait = settled("cpg", 1.0)
    gait.phases[2] = (gait.phases[2] + (1 << 22)) & ((1 << 24) - 1)  # a quarter turn off
    swim(gait, 300)
    leads = gait.shape.leads
    for i in range(3):
        apart = (gait.phases[i + 1] - leads[i + 1] - gait.phases[i] + leads[i]) & ((1 << 24) - 1)
        apart = min(apart, (1 << 24) - apart)
        assert apart < (1 << 24) // 360


def test_a_reshaped_chain_never_steps_but_a_table_does():
    steps = []
    for source in ("cpg", "table"):
        gait = settled(source, 1.0)
        last = swim(gait, 1)[0]
        gait.reshape(Shape([[-angle for angle in row] for row in rows_of(gait.shape)]))
        now = swim(gait, 1)[0]
        steps.append(max([abs(a - b) for a, b in zip(last, now)]))
    assert steps[0] < 0.1 * ONE < steps[1]


def test_angles_are_integers():
    for source in ("table", "cpg"):
        for way in swim(settled(source, 1.3, 0.7, 0.2), 20):
            for angle in way:
                assert isinstance(angle, int)
