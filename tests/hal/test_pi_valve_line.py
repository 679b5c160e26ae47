"""Valves on a board of their own: their currents go out as lines of numbers, and as zeros when all is over."""

from __future__ import annotations

import pytest

from caudal.hal.emulated.lines import CoilBoard
from caudal.hal.pi.slot import DeviceError
from caudal.hal.pi.valve_line import ValveLine
from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.tools.config.vehicle import open_vehicle


def started(board: CoilBoard):
    line = ValveLine(lambda: board, 3, 20_000)
    steps = line.run()
    assert next(steps) is None and line.working
    return line, steps


def test_currents_are_sent_as_lines_and_garbage_moves_no_coil():
    board = CoilBoard(3)
    line, steps = started(board)
    line.set([120_000, 0, 183_250])
    next(steps)
    assert board.currents_ua == [120_000, 0, 183_250]
    for garbage in (b"1,2\n", b"x,2,3\n", b"-1,2,3\n", b"1,2,3"):
        board.write(garbage)
        assert board.currents_ua == [120_000, 0, 183_250]


def test_closing_ends_every_current_in_any_state_of_the_port():
    board = CoilBoard(3)
    line, steps = started(board)
    line.set([1, 2, 3])
    next(steps)
    line.close()
    assert board.currents_ua == [0, 0, 0]
    board.write(b"4,5,6\n")
    ValveLine(lambda: board, 3, 20_000).close()  # never begun
    assert board.currents_ua == [0, 0, 0]


def test_lost_port_does_not_prevent_closing():
    def gone():
        raise FileNotFoundError("/dev/caudal-valves")

    line = ValveLine(gone, 1, 20_000)
    line.close()
    with pytest.raises((OSError, DeviceError)):
        next(line.run())


@pytest.mark.parametrize(
    "words, said",
    [
        (['pi.valves.order=["aft_a"]'], "a valve without a channel and a current"),
        (['pi.valves.order=["aft_a", "tail_x"]'], "tail_x is not a valve, or is listed twice"),
        (["pi.valves.device=/dev/caudal-topside"], "a port has one device"),
    ],
)
def test_valve_board_that_does_not_fit_is_refused(words, said):
    with pytest.raises(VehicleFileError, match=said):
        open_vehicle("hybrid", words)
