"""One station at a time has manual control: the first keeps it until its timeout or a disarm; others get one text."""

from hypothesis import given
from hypothesis import strategies as st

from caudal.onboard.station.manual_control import TIMEOUT_S, ManualControl
from tests.station.pilots import Pilot, mavlink
from tests.station.simulated import SimulatedVehicle, free_port, until


def test_first_station_keeps_manual_control_until_timeout_or_disarm():
    control = ManualControl()
    assert control.acquire("a", 0.0, True) and not control.acquire("b", 0.1, True)
    assert control.acquire("a", 0.9, True) and not control.acquire("b", 0.9 + TIMEOUT_S, True)
    assert control.acquire("b", 1.0 + TIMEOUT_S, True) and not control.acquire("a", 1.1 + TIMEOUT_S, True)
    assert control.acquire("a", 1.2 + TIMEOUT_S, False)  # a disarm releases it
    assert control.acquire("a", 1.3 + TIMEOUT_S, True) and not control.acquire("b", 1.4 + TIMEOUT_S, True)


def test_refused_station_gets_one_text_per_station_in_control():
    control = ManualControl()
    control.acquire("a", 0.0, True)
    assert (
        control.is_first_refusal("b") and not control.is_first_refusal("b") and control.is_first_refusal("c")
    )
    control.acquire("b", 2.0, True)
    assert control.is_first_refusal("a") and control.is_first_refusal("c")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 3))))
def test_two_stations_never_have_control_within_the_timeout(received):
    control, now_s, accepted = ManualControl(), 0.0, []
    for station, later_s in received:
        now_s += later_s
        if control.acquire(station, now_s, True):
            accepted.append((station, now_s))
    for (first, before_s), (second, after_s) in zip(accepted, accepted[1:], strict=False):
        assert first == second or after_s - before_s > TIMEOUT_S


def test_manual_control_of_two_stations_does_not_alternate(monkeypatch):
    monkeypatch.setattr(
        "caudal.onboard.station.manual_control.TIMEOUT_S", 1e9
    )  # on a busy machine there are gaps
    ports = free_port(), free_port()
    with SimulatedVehicle(*(f"udp:{port}" for port in ports), vehicle="rov", scenario="station") as vehicle:
        first, second = (
            Pilot(f"udpout:127.0.0.1:{p}", system=s) for p, s in zip(ports, (255, 254), strict=True)
        )
        first.connect()
        second.connect()
        seen = set()
        slot = vehicle.vehicle_link.bridge.slot
        vehicle.vehicle_link.bridge.slot = lambda kind, *values: (
            seen.add(values) if kind == "sticks" else None,
            slot(kind, *values),
        )
        assert first.arm() == mavlink.MAV_RESULT_ACCEPTED

        def both() -> bool:
            first.mav.manual_control_send(1, 100, 0, 500, 0, 0)
            first.receive("ATTITUDE", timeout_s=0.02)
            second.mav.manual_control_send(1, -100, 0, 500, 0, 0)
            second.receive("ATTITUDE", timeout_s=0.02)
            return any("another station has it" in text for text in second.texts)

        first.mav.manual_control_send(1, 100, 0, 500, 0, 0)
        until("the first has control", lambda: bool(seen))
        until("the second gets the text", both)
        for _ in range(10):
            both()
        assert seen == {(0.1, 0.0, 0.0, 0.0)}
        assert sum("another station has it" in text for text in second.texts) == 1 and not first.texts

        monkeypatch.undo()

        def alone() -> bool:
            second.mav.manual_control_send(1, -100, 0, 500, 0, 0)
            second.receive("ATTITUDE", timeout_s=0.05)
            return (-0.1, 0.0, 0.0, 0.0) in seen

        until("the first has timed out", alone)
        for pilot in (first, second):
            pilot.close()
