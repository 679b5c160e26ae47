"""The wave, the chain of links on it, and the beat's table."""

import math

from bench_vehicle import Table

from caudal.onboard.gait.phase import TURN
from caudal.onboard.gait.shape import Shape, shape_of
from caudal.onboard.gait.wave import Wave, chain, first_harmonic

LINKS_M = [0.07, 0.07, 0.06, 0.06]


def wave():
    return Wave(0.05, 0.25, 0.45, LINKS_M)


def test_the_envelope_is_the_polynomial_of_its_coefficients():
    assert abs(wave().envelope_m(0.2) - (0.05 * 0.2 + 0.25 * 0.04)) < 1e-15


def test_the_wave_runs_from_head_to_tail():
    # a crest at x moves aft as the phase grows
    later = 0.3
    x_m = 0.1
    crest = wave().wave_number * x_m - math.pi / 2
    moved_m = x_m + later / wave().wave_number
    assert abs(wave().lateral_m(x_m, crest) - wave().envelope_m(x_m)) < 1e-12
    assert abs(wave().lateral_m(moved_m, crest + later) - wave().envelope_m(moved_m)) < 1e-12


def test_every_node_lies_on_the_curve_a_link_apart():
    for k in range(8):
        phase = 2 * math.pi * k / 8
        nodes = wave().nodes(phase)
        assert nodes[0] == (0.0, 0.0)
        for (x0, y0), (x1, y1), length_m in zip(nodes, nodes[1:], LINKS_M):
            assert abs(y1 - wave().lateral_m(x1, phase)) < 1e-12
            assert abs(math.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2) - length_m) < 1e-12


def test_the_chain_of_the_angles_is_the_chain_of_the_nodes():
    for k in range(8):
        phase = 2 * math.pi * k / 8
        for (x0, y0), (x1, y1) in zip(chain(LINKS_M, wave().angles(phase)), wave().nodes(phase)):
            assert abs(x0 - x1) < 1e-12 and abs(y0 - y1) < 1e-12


def test_a_bent_joint_turns_all_links_behind_it():
    nodes = chain([1.0, 1.0, 1.0], [0.0, math.pi / 2, 0.0])
    assert abs(nodes[3][0] - 1.0) < 1e-12
    assert abs(nodes[3][1] - 2.0) < 1e-12


def test_half_a_beat_later_the_tail_is_mirrored():
    table = wave().table(36)
    assert len(table) == 36
    for row in range(18):
        for a, b in zip(table[row], table[row + 18]):
            assert abs(a + b) < 1e-12


def test_the_first_harmonic_finds_amplitude_and_lead():
    table = [
        [0.3 * math.sin(2 * math.pi * k / 36 + 0.7) + 0.1 * math.sin(6 * math.pi * k / 36)] for k in range(36)
    ]
    ((amplitude, lead),) = first_harmonic(table)
    assert abs(amplitude - 0.3) < 1e-12
    assert abs(lead - 0.7) < 1e-12


def test_a_shape_keeps_its_table_row_after_row():
    shape = Shape([[0.1, 0.2], [0.3, 0.4], [-0.1, -0.2], [-0.3, -0.4]])
    assert (shape.rows, shape.joints) == (4, 2)
    assert shape.angles == [1638, 3277, 4915, 6554, -1638, -3277, -4915, -6554]


def test_the_settings_of_a_gait_give_its_shape():
    settings = Table(
        kind="tail",
        c1=0.05,
        c2_per_m=0.25,
        wavelength_m=0.45,
        links_m=LINKS_M,
        table_size=36,
    )
    shape = shape_of(settings)
    assert (shape.rows, shape.joints) == (36, 4)
    for lead in shape.leads:
        assert 0 <= lead < TURN
    lags = [(shape.leads[i] - shape.leads[i + 1]) % TURN for i in range(3)]
    for lag in lags:  # joints further aft follow later
        assert 0 < lag < TURN // 2


def test_an_undulation_swings_every_joint_with_its_own_amplitude_and_lead():
    settings = Table(
        kind="undulation",
        amplitude_rad=0.25,
        growth_per_m=0.1,
        waves=1.5,
        length_m=1.2,
        joint_positions_m=[0.0, 0.4, 0.8],
        table_size=36,
    )
    shape = shape_of(settings)
    for amplitude, place_m in zip(shape.amplitudes, settings.joint_positions_m):
        assert abs(amplitude / 16384 - 0.25 * math.exp(0.1 * place_m)) < 1e-4
    for i in range(2):  # half a wave from joint to joint, and the one aft later
        assert abs((shape.leads[i] - shape.leads[i + 1]) % TURN - TURN // 2) <= 2
