"""The loop: order, rate groups, arming, overruns, and the safe state after any exception."""

from bench_vehicle import BenchDriver, Table, failsafe, schedule, sensor, servo, settings, wander

from caudal.hal.core.build import build_board
from caudal.hal.core.fixed_point import ONE, to_q14
from caudal.onboard.build import build_loop
from caudal.onboard.core.command_handler import CommandHandler
from caudal.onboard.core.failsafe import FailsafeMonitor, FailsafeRule
from caudal.onboard.core.limiter import OutputLimiter
from caudal.onboard.core.loop import COMMANDS_WAITING, Loop, Stage
from caudal.onboard.core.modes import TAIL
from caudal.onboard.core.state import State
from caudal.onboard.guidance.switch import Switch


class Bench:
    """Three stages that write down when they ran; the last asks one radian of both servos."""

    def __init__(self, every=(1, 1, 1), break_at=None):
        self.ran = []
        self.break_at = break_at
        self.driver = BenchDriver(("heading",))
        channels = Table(
            actuators=[servo("limp", 0), servo("held", 1, safe_rad=0.5)],
            sensors=[sensor("heading", 0, 0.001, -3000, 3000)],
        )
        board = build_board(channels, self.driver, 100)
        names = ("estimate", "guide", "control")
        stages = [Stage(name, n, self.stage(name)) for name, n in zip(names, every)]
        state = State(board, 10000)
        rows = [FailsafeRule(failsafe("not_armed", "not_armed", "disarm"), board, 100, TAIL)]
        monitor, limiter = FailsafeMonitor(rows, TAIL), OutputLimiter(board, 100)
        handler = CommandHandler(state, TAIL, rows, Table(method="buoyancy"))
        self.loop = Loop(board, state, stages[:1], monitor, stages[1:], limiter, handler, 100)
        self.spy("sense", board, "sense")
        self.spy("monitor", monitor, "step")
        self.spy("limiter", limiter, "step")
        self.spy("act", board, "act")

    def stage(self, name):
        def step(state):
            self.note(name)
            if name == "control":
                state.commands[0] = state.commands[1] = ONE

        return step

    def spy(self, name, owner, method):
        inner = getattr(owner, method)

        def call(*arguments):
            self.note(name)
            return inner(*arguments)

        setattr(owner, method, call)

    def note(self, name):
        self.ran.append(name)
        if name == self.break_at:
            raise ValueError("broken on purpose")


def test_a_tick_runs_its_stages_in_order_gate_and_act_last():
    bench = Bench()
    bench.loop.tick()
    assert bench.ran == ["sense", "estimate", "monitor", "guide", "control", "limiter", "act"]


def test_a_stage_runs_every_nth_tick_from_the_first():
    bench = Bench((1, 5, 10))
    for _ in range(20):
        bench.loop.tick()
    assert [
        bench.ran.count(name) for name in ("sense", "estimate", "monitor", "guide", "control", "act")
    ] == [
        20,
        20,
        20,
        4,
        2,
        20,
    ]
    assert bench.ran[:7] == ["sense", "estimate", "monitor", "guide", "control", "limiter", "act"]
    assert bench.ran[7:12] == ["sense", "estimate", "monitor", "limiter", "act"]


def test_stages_see_the_tick_they_run_in():
    bench = Bench()
    seen = []
    bench.loop.stages.append(Stage("spy", 1, lambda state: seen.append(state.tick)))
    for _ in range(3):
        bench.loop.tick()
    assert seen == [0, 1, 2]


def test_nothing_moves_before_arming():
    bench = Bench()
    for _ in range(5):
        bench.loop.tick()
        assert bench.driver.outputs == [0, 0]
    bench.loop.arm()
    bench.loop.tick()
    assert bench.loop.state.armed
    assert bench.driver.outputs != [0, 0]


def test_disarming_stills_everything_in_the_next_tick():
    bench = Bench()
    bench.loop.arm()
    for _ in range(5):
        bench.loop.tick()
    bench.loop.disarm()
    bench.loop.tick()
    assert not bench.loop.state.armed
    assert bench.driver.outputs == [0, 0]


def taken(loop):
    return [(kind, values, refusal) for kind, values, _, refusal in loop.taken]


def test_a_disarm_goes_before_all_that_waits_and_undoes_each_arm_among_it():
    bench = Bench()
    bench.loop.tick()
    for _ in range(20):
        assert bench.loop.send("station")
        assert bench.loop.send("arm")
    for _ in range(2):
        assert bench.loop.send("disarm")  # once is enough
    while bench.loop.send("station"):
        pass
    assert bench.loop.send("disarm")  # however many wait
    told = []
    for _ in range(5):
        bench.loop.tick()
        assert not bench.loop.state.armed
        told += taken(bench.loop)
    assert told[:20] == [("arm", (), "not armed: a disarm came in between")] * 20
    assert told[20:] == [("disarm", (), None)] + [("station", (), None)] * (COMMANDS_WAITING - 21)
    bench.loop.disarm()
    bench.loop.arm()
    bench.loop.tick()
    assert bench.loop.state.armed


def test_every_ticket_gets_its_answer_in_any_order_of_commands():
    bench = Bench()
    for ticket, kind in enumerate(("arm", "station", "disarm", "arm", "disarm", "station")):
        bench.loop.send(kind, ticket=ticket)
    bench.loop.tick()
    assert sorted(ticket for _, _, ticket, _ in bench.loop.taken) == [0, 1, 2, 3, 4, 5]
    assert not bench.loop.state.armed


def test_what_was_taken_is_taken_the_same_way_again():
    heaps = (
        ("arm", "disarm", "arm"),
        ("station", "arm", "disarm", "arm", "disarm", "station"),
        ("disarm", "arm"),
    )
    bench, again = Bench(), Bench()
    for heap in heaps:
        for kind in heap:
            bench.loop.send(kind)
        bench.loop.tick()
        for kind, values, _ in taken(bench.loop):
            again.loop.send(kind, *values)
        again.loop.tick()
        assert taken(again.loop) == taken(bench.loop)
        assert again.loop.state.armed == bench.loop.state.armed


def test_an_exception_in_any_stage_ends_in_the_safe_state_with_its_reason():
    for name in ("sense", "estimate", "monitor", "guide", "control", "limiter", "act"):
        bench = Bench()
        bench.loop.arm()
        for _ in range(5):
            bench.loop.tick()
        bench.break_at = name
        bench.loop.tick()
        assert bench.loop.fault == name + ": ValueError: broken on purpose"
        assert bench.driver.outputs == [0, 1800]
        assert bench.loop.state.outputs == [None, to_q14(0.5)]
        assert not bench.loop.state.armed


def test_later_ticks_only_say_safe_again():
    bench = Bench(break_at="guide")
    bench.loop.tick()
    bench.break_at = None
    bench.ran = []
    writes = bench.driver.writes
    bench.loop.arm()
    for _ in range(4):
        bench.loop.tick()
    assert bench.ran == []
    assert bench.driver.writes == writes + 4
    assert bench.driver.outputs == [0, 1800]
    assert bench.loop.fault == "guide: ValueError: broken on purpose"
    assert not bench.loop.state.armed


def broken_write(outputs):
    raise OSError(5)


def test_a_driver_that_fails_in_the_safe_state_too_is_reported_once_and_retried():
    bench = Bench()
    bench.loop.tick()
    good = bench.driver.write
    bench.driver.write = broken_write
    for _ in range(3):
        bench.loop.tick()
    assert bench.loop.fault.startswith("act: OSError")
    assert bench.loop.fault.count("; and safe state: OSError") == 1
    assert bench.loop.state.outputs == [None, to_q14(0.5)]
    bench.driver.write = good
    bench.loop.tick()
    assert bench.driver.outputs == [0, 1800]


def test_a_late_tick_is_counted_and_the_worst_kept():
    bench = Bench()
    for late_us in (0, 9999, 10000, 10001, 25000, 3):
        bench.loop.tick(late_us)
    assert bench.loop.overruns == 2
    assert bench.loop.worst_late_us == 25000
    assert bench.loop.state.late_us == 3
    assert bench.loop.ticks == 6


def test_ticks_are_counted_after_a_fault_too():
    bench = Bench(break_at="sense")
    for _ in range(3):
        bench.loop.tick()
    assert bench.loop.ticks == 3


def test_a_vehicle_swims_every_tick_and_guides_at_its_guidance_rate_and_in_a_new_mode_at_once():
    loop = build_loop(settings(), wander(), BenchDriver())
    ran = []

    class Spy:
        def begin(self, state):
            ran.append(("begin", state.tick))

        def step(self, state):
            ran.append(("step", state.tick))

    loop.stages[0] = Stage("guide", 1, Switch({0: Spy(), 2: Spy()}, 10).step)
    for tick in range(25):
        if tick == 14:
            loop.send("mode", "hold", "pilot")
        loop.tick()
    assert ran == [("step", 0), ("step", 10), ("begin", 14), ("step", 14), ("step", 20)]


def test_a_wired_vehicle_swims_only_when_armed():
    driver = BenchDriver()
    loop = build_loop(settings(), schedule((0.0, 1.0, 1.0, 0.0)), driver)
    for _ in range(50):
        loop.tick()
        assert driver.outputs == [0, 0, 0, 0]
    loop.arm()
    seen = []
    for _ in range(200):
        loop.tick()
        seen.append(driver.outputs[3])
    assert loop.fault is None
    assert min(seen[100:]) < 1400 and max(seen[100:]) > 1600
