"""Only one station has the sticks: the first, until it releases them; the other gets one message."""

from hypothesis import given
from hypothesis import strategies as st

from caudal.onboard.station.sticks import SILENT_S, Sticks
from tests.station.afloat import Afloat, free_port, until
from tests.station.pilots import Pilot, mavlink


def test_the_first_keeps_the_sticks_until_it_is_silent_or_the_vehicle_is_disarmed():
    sticks = Sticks()
    assert sticks.take("a", 0.0, True) and not sticks.take("b", 0.1, True)
    assert sticks.take("a", 0.9, True) and not sticks.take("b", 0.9 + SILENT_S, True)
    assert sticks.take("b", 1.0 + SILENT_S, True) and not sticks.take("a", 1.1 + SILENT_S, True)
    assert sticks.take("a", 1.2 + SILENT_S, False)  # it has been disarmed: whoever comes next
    assert sticks.take("a", 1.3 + SILENT_S, True) and not sticks.take("b", 1.4 + SILENT_S, True)


def test_who_waits_is_told_once_for_each_that_flies():
    sticks = Sticks()
    sticks.take("a", 0.0, True)
    assert sticks.is_news("b") and not sticks.is_news("b") and sticks.is_news("c")
    sticks.take("b", 2.0, True)
    assert sticks.is_news("a") and sticks.is_news("c")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 3))))
def test_no_two_fly_within_the_time_that_lets_go(heard):
    sticks, now_s, flown = Sticks(), 0.0, []
    for station, later_s in heard:
        now_s += later_s
        if sticks.take(station, now_s, True):
            flown.append((station, now_s))
    for (first, before_s), (second, after_s) in zip(flown, flown[1:], strict=False):
        assert first == second or after_s - before_s > SILENT_S


def test_sticks_of_two_stations_do_not_alternate(monkeypatch):
    monkeypatch.setattr("caudal.onboard.station.sticks.SILENT_S", 1e9)  # a busy machine is not silence
    ports = free_port(), free_port()
    with Afloat(*(f"udp:{port}" for port in ports), vehicle="rov", scenario="station") as vehicle:
        first, second = (
            Pilot(f"udpout:127.0.0.1:{p}", system=s) for p, s in zip(ports, (255, 254), strict=True)
        )
        first.meet()
        second.meet()
        seen = set()
        slot = vehicle.vehicle_link.bridge.slot
        vehicle.vehicle_link.bridge.slot = lambda kind, *values: (
            seen.add(values) if kind == "sticks" else None,
            slot(kind, *values),
        )
        assert first.arm() == mavlink.MAV_RESULT_ACCEPTED

        def both() -> bool:
            first.mav.manual_control_send(1, 100, 0, 500, 0, 0)
            first.hear("ATTITUDE", patience_s=0.02)
            second.mav.manual_control_send(1, -100, 0, 500, 0, 0)
            second.hear("ATTITUDE", patience_s=0.02)
            return any("another station flies" in text for text in second.texts)

        first.mav.manual_control_send(1, 100, 0, 500, 0, 0)
        until("the first flies", lambda: bool(seen))
        until("the second is told", both)
        for _ in range(10):
            both()
        assert seen == {(0.1, 0.0, 0.0, 0.0)}
        assert sum("another station flies" in text for text in second.texts) == 1 and not first.texts

        monkeypatch.undo()

        def alone() -> bool:
            second.mav.manual_control_send(1, -100, 0, 500, 0, 0)
            second.hear("ATTITUDE", patience_s=0.05)
            return (-0.1, 0.0, 0.0, 0.0) in seen

        until("the first has fallen silent", alone)
        for pilot in (first, second):
            pilot.close()
