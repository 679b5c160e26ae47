"""A wave around a jammed joint: the other joints restore the tail's path, without steering, within limits."""

from bench_vehicle import BenchDriver, gait, sensor, servo, settings

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import ONE, to_float, to_q14
from caudal.onboard.control.tail import Tail
from caudal.onboard.core.state import State
from caudal.onboard.gait.around import Around
from caudal.onboard.gait.build import build_gait
from caudal.onboard.gait.shape import places_of
from caudal.onboard.gait.wave import chain

RATE_HZ = 100
LINKS_M = [0.07, 0.07, 0.06, 0.06]
ANGLES = ("a1", "a2", "a3", "a4")


class Tailed:
    """A gait with the plan around jammed joints behind it; a jammed joint is where `stuck` says."""

    def __init__(self, source="cpg", slew_rad_s=12.0, limit_rad=1.0, share=None):
        plain = settings()
        plain.actuators = [
            servo(name, k, slew_rad_s=slew_rad_s, min_rad=-limit_rad, max_rad=limit_rad, feedback=ANGLES[k])
            for k, name in enumerate(gait().joints)
        ]
        plain.sensors = [sensor(name, k, 0.001, -2000, 2000) for k, name in enumerate(ANGLES)]
        self.driver = BenchDriver(ANGLES)
        self.board = build_board(plain, self.driver, RATE_HZ)
        self.state = State(self.board, 1000000 // RATE_HZ)
        shape = gait(source)
        if share:
            shape.turn_share = share
        self.tail = Tail(build_gait(shape, self.board, RATE_HZ), 3.0, 1.05)
        sensors = [self.board.sensor(name) for name in ANGLES]
        self.around = Around(self.tail, sensors, places_of(shape), self.board, RATE_HZ, 14.0)
        self.stuck = {}

    def jam(self, k, angle_rad):
        self.stuck[k] = angle_rad
        self.state.not_following[k] = True
        self.driver.counts[ANGLES[k]] = int(1000 * angle_rad)

    def free(self, k):
        del self.stuck[k]
        self.state.not_following[k] = False

    def swim(self, ticks, frequency_hz=1.0, turn_rad=0.0):
        """The joints' real angles, rad, tick by tick, and what the gait alone would have them do."""
        want = self.state.setpoint
        want.frequency_hz, want.amplitude, want.deflection_rad = frequency_hz, 1.0, turn_rad
        ways = []
        plain = []
        for _ in range(ticks):
            self.board.sense()
            self.tail.set_gait(self.state)
            self.tail.step(self.state)
            plain.append([to_float(c) for c in self.state.commands])
            self.around.step(self.state)
            ways.append([self.stuck.get(k, to_float(c)) for k, c in enumerate(self.state.commands)])
        return ways, plain


def mean(ways, joint):
    return sum([way[joint] for way in ways]) / len(ways)


def off_m(ways, plain):
    """Root mean square of how far the ends of the links are from where the whole tail would have them."""
    total = 0.0
    for way, wanted in zip(ways, plain):
        for a, b in zip(chain(LINKS_M, way)[1:], chain(LINKS_M, wanted)[1:]):
            total += (a[1] - b[1]) * (a[1] - b[1])
    return (total / len(ways) / len(LINKS_M)) ** 0.5


def test_nothing_changes_while_all_joints_follow():
    tail = Tailed()
    ways, plain = tail.swim(300, turn_rad=0.3)
    assert ways == plain


def test_the_others_bring_the_tail_back_onto_the_wave_with_both_sources():
    for source in ("cpg", "table"):
        for k, most in ((0, 0.25), (1, 0.2), (2, 0.3), (3, 0.55)):
            tail = Tailed(source)
            tail.swim(300)
            tail.jam(k, 0.0)
            tail.swim(200)
            ways, plain = tail.swim(100)
            left = [[tail.stuck.get(j, angle) for j, angle in enumerate(way)] for way in plain]
            assert off_m(ways, plain) < most * off_m(left, plain)


def test_a_bent_joint_steers_nothing_whichever_it_is():
    for share in ([0.5, 0.5, 0.0, 0.0], [0.5, 0.5, 0.3, 0.3]):
        for k in range(4):
            for turn_rad in (0.0, 0.2):
                tail = Tailed(share=share)
                tail.swim(300, turn_rad=turn_rad)
                tail.jam(k, 0.4)
                tail.swim(200, turn_rad=turn_rad)
                ways, _ = tail.swim(100, turn_rad=turn_rad)
                steers = 0.0
                for j in range(4):
                    if share[j]:
                        steers += mean(ways, j)
                assert abs(steers - turn_rad * sum(share)) < 0.02


def test_a_joint_that_follows_again_gets_its_wave_back_and_no_command_ever_jumps():
    tail = Tailed()
    before, _ = tail.swim(300)
    tail.jam(2, 0.5)
    jammed, _ = tail.swim(200)
    tail.jam(1, -0.3)  # a second one
    both, _ = tail.swim(300)
    tail.free(1)
    tail.free(2)
    freed, plain = tail.swim(400)
    assert freed[-100:] == plain[-100:]
    for ways in (before, jammed, both, freed):
        for a, b in zip(ways, ways[1:]):
            for j in range(4):
                if j not in (1, 2):
                    assert abs(a[j] - b[j]) < 0.12  # 12 rad/s


def test_a_wave_that_needs_more_rate_or_room_than_there_is_gets_slower_or_smaller():
    slow = Tailed(slew_rad_s=2.0)
    slow.swim(300, frequency_hz=2.0)
    assert abs(slow.tail.gait.frequency.value - to_q14(2.0)) < 100
    slow.jam(2, 0.0)
    ways, _ = slow.swim(600, frequency_hz=2.0)
    assert slow.tail.gait.frequency.value < to_q14(1.0)
    fastest = 0.0
    for a, b in zip(ways[300:], ways[301:]):
        fastest = max(fastest, max([abs(x - y) for x, y in zip(a, b)]) * RATE_HZ)
    assert fastest < 2.0
    small = Tailed(limit_rad=0.3)
    small.swim(300)
    small.jam(2, 0.0)
    ways, _ = small.swim(400)
    assert small.tail.gait.amplitude.value < to_q14(0.95)
    assert max([max([abs(angle) for angle in way]) for way in ways[200:]]) <= 0.3
    small.free(2)
    small.swim(400)
    assert abs(small.tail.gait.amplitude.value - ONE) < 100


def test_a_turn_leaves_the_wave_its_room():
    tail = Tailed()
    tail.swim(300)
    tail.jam(0, -0.6)
    ways, _ = tail.swim(400, turn_rad=1.05)  # 1.65 rad of the second joint, which has 1
    assert max([way[1] for way in ways]) <= 1.0
    beat = [way[1] for way in ways[-100:]]
    assert max(beat) - min(beat) > 0.2  # it still beats, none of it cut


def test_with_all_joints_jammed_nothing_is_planned_and_nothing_fails():
    tail = Tailed()
    tail.swim(100)
    for k in range(4):
        tail.jam(k, 0.1)
    ways, _ = tail.swim(200)
    assert ways[-1] == [0.1] * 4
