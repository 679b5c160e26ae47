"""A station can inject and clear every fault of a simulated vehicle by text or command; a real vehicle rejects them."""

from types import SimpleNamespace

import pytest

from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.signing import Signing
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_scenario, open_vehicle
from caudal.tools.faults.kinds import possible_faults
from caudal.tools.simulate.on_request_faults import rehearsal
from caudal.tools.simulate.simulation import Simulation
from tests.station.mutations import KEY, Bench, station
from tests.station.pilots import Pilot
from tests.station.simulated import SimulatedVehicle, free_port, until

NOTICE = mavlink.MAV_SEVERITY_NOTICE


def request(pilot: Pilot, text: str) -> str:
    """Sends a text; the answer."""
    known = len(pilot.texts)
    pilot.mav.statustext_send(NOTICE, text.encode())
    word = text.split(":")[0]
    pilot.receive("STATUSTEXT", where=lambda m: word in m.text)
    pilot.receive("ATTITUDE")  # further pieces of a long one
    return next(text for text in pilot.texts[known:] if word in text)


@pytest.mark.parametrize("key", [None, KEY])
def test_text_injects_and_clears_faults(key):
    port = free_port()
    with SimulatedVehicle(f"udp:{port}", signing=Signing(key, None) if key else None) as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}", key)
        pilot.connect()
        loop, body = vehicle.loop, vehicle.instance.body
        assert request(pilot, "fault hung:bus") == "fault hung:bus: done"
        until("the bus is hung", lambda: loop.state.host["bus_hung"])
        assert request(pilot, "fault reads:leak*1") == "fault reads:leak*1: done"
        assert request(pilot, "fault jammed:tail_2") == "fault jammed:tail_2: done"
        until("the joint is jammed", lambda: len(body.on_outputs) == 1)
        assert request(pilot, "mend hung:bus") == "mend hung:bus: done"
        until("the bus is back", lambda: not loop.state.host["bus_hung"])
        assert len(body.on_outputs) == 1 and len(body.on_counts) == 1  # the other two go on
        assert "there is no such fault; there are reads:leak" in request(pilot, "mend hung:bus ")
        assert "there is no kind bitten" in request(pilot, "fault bitten:fin")
        assert request(pilot, "mend") == "mend: done"
        until("all faults are cleared", lambda: not body.on_outputs and not body.on_counts)
        logged = [details for kind, details in vehicle.notes if kind == "rehearsal"]
        assert [(one["fault"], "refused" in one) for one in logged] == [
            ("hung:bus", False),
            ("reads:leak*1", False),
            ("jammed:tail_2", False),
            ("mend hung:bus", False),
            ("mend hung:bus", True),
            ("bitten:fin", True),
            ("mend", False),
        ]
        pilot.close()


def test_command_ok_clears_the_faults_of_one_part_only():
    port = free_port()
    with SimulatedVehicle(f"udp:{port}") as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.connect()
        m, effects = mavlink, vehicle.instance.body
        for unit, failure in (
            (m.FAILURE_UNIT_SENSOR_BARO, m.FAILURE_TYPE_STUCK),
            (m.FAILURE_UNIT_SYSTEM_SERVO, m.FAILURE_TYPE_STUCK),
            (m.FAILURE_UNIT_SENSOR_BARO, m.FAILURE_TYPE_OK),
            (m.FAILURE_UNIT_SENSOR_BARO, m.FAILURE_TYPE_OK),
        ):
            assert pilot.command(m.MAV_CMD_INJECT_FAILURE, unit, failure, 1) == m.MAV_RESULT_ACCEPTED
        until(
            "the fault of depth is cleared, that of the joint is not",
            lambda: (len(effects.on_counts), len(effects.on_outputs)) == (0, 1),
        )
        pilot.close()


class RecordingBench:
    """A bench that records texts and results of commands."""

    def __init__(self, signing=None, inject=None) -> None:
        self.bench = Bench(signing, inject)
        self.texts: list[str] = []
        self.results: list[int] = []
        send = self.bench.station.send

        def record(vehicle_link, message):
            if message.get_type() == "STATUSTEXT":
                text = message.text if isinstance(message.text, bytes) else message.text.encode()
                self.texts.append(text.decode())
            if message.get_type() == "COMMAND_ACK":
                self.results.append(message.result)
            send(vehicle_link, message)

        self.bench.station.send = record

    def send(self, text: str, key=None, id: int = 0, piece: int = 0) -> None:
        self.bench.receive(
            mavlink.MAVLink_statustext_message(NOTICE, text.encode(), id, piece).pack(station(key))
        )
        self.bench.tick()


def test_real_vehicle_rejects_a_fault_and_ignores_other_texts():
    recording = RecordingBench()
    recording.send("fault silent:depth")
    assert recording.texts == ["faults can be injected in simulations only"]
    recording.send("faults are many")
    recording.send("hello")
    assert len(recording.texts) == 1


def test_command_injects_a_fault_into_part_n_and_into_all_for_zero():
    opened = open_vehicle("fish")
    servos = [channel.name for channel in opened.settings.actuators if channel.map == "servo"]
    injected: list[str] = []
    inject_fault = rehearsal(opened, SimpleNamespace(inject=lambda name, text: injected.append(text)))
    recording = RecordingBench(None, lambda request: inject_fault("one", request))

    def inject(which: float, unit: int = mavlink.FAILURE_UNIT_SYSTEM_SERVO) -> tuple[int, list[str]]:
        injected.clear()
        of = unit, mavlink.FAILURE_TYPE_STUCK, which
        command = mavlink.MAVLink_command_long_message(1, 1, 420, 0, *of, 0, 0, 0, 0)
        recording.bench.receive(command.pack(station(None)))
        recording.bench.tick()
        return recording.results[-1], [text.split(":")[1] for text in injected]

    assert len(servos) > 2
    assert inject(0) == (mavlink.MAV_RESULT_ACCEPTED, servos)
    assert inject(2) == (mavlink.MAV_RESULT_ACCEPTED, servos[1:2])
    assert inject(len(servos) + 1) == (mavlink.MAV_RESULT_DENIED, [])
    position = [getattr(opened.settings.estimate, axis) for axis in ("x", "y")]
    for which in (0, 1):
        assert inject(which, mavlink.FAILURE_UNIT_SENSOR_GPS) == (mavlink.MAV_RESULT_ACCEPTED, position)
    assert inject(2, mavlink.FAILURE_UNIT_SENSOR_GPS) == (mavlink.MAV_RESULT_DENIED, [])
    for which in (-1, -7, 0.5, float("nan")):
        assert inject(which) == (mavlink.MAV_RESULT_UNSUPPORTED, [])


def test_vehicle_with_a_key_rejects_an_unsigned_fault():
    requests: list[str] = []
    recording = RecordingBench(Signing(KEY, None), requests.append)
    recording.send("fault silent:depth")
    recording.send("fault silent:depth", key=b"k" * 32)
    assert not requests
    recording.send("fault silent:depth", key=KEY)
    assert requests == ["fault silent:depth"]


def test_text_in_pieces_is_one_request_and_one_with_a_gap_is_none():
    requests: list[str] = []
    recording = RecordingBench(None, requests.append)
    text = "fault shifted:housing_temperature@1234.125+100.125/0.5*-12.25"
    for id, pieces in ((7, (0, 1)), (8, (0,)), (9, (1,)), (10, (0, 0, 1))):
        for piece in pieces:
            recording.send(text[50 * piece : 50 * piece + 50], id=id, piece=piece)
    assert requests == [text]


@pytest.mark.parametrize("vehicle", ["fish", "rov"])
def test_every_fault_can_be_injected_on_request_or_gives_a_reason(vehicle):
    opened, name, _ = open_scenario(vehicle, [], None)
    simulation = Simulation(opened, name, 1)
    inject, refused = rehearsal(opened, simulation), []
    for kind, target in possible_faults(opened):
        if kind in ("exception", "nan"):  # these stop the loop
            continue
        refusal = inject(f"{vehicle}_1", f"fault {kind}:{target}")
        simulation.step()
        if refusal:
            refused.append(refusal)
        else:
            assert inject(f"{vehicle}_1", f"mend {kind}:{target}") is None
    assert simulation.fault is None
    assert all("emulated chip" in why or "on a HIL link" in why for why in refused)


def test_repeated_and_endless_fault_requests_do_not_stop_the_run():
    """The same request twice is two faults; a fault after the end of time is rejected, and so are too many."""
    opened, name, _ = open_scenario("rov", [], None)
    simulation = Simulation(opened, name, 1)
    for _ in range(2):
        simulation.inject("rov_1", "silent:depth@999999999")
    with pytest.raises(UsageError, match="no run reaches"):
        simulation.inject("rov_1", "silent:depth@1e999")
    with pytest.raises(UsageError, match="the most at a time"):
        for _ in range(200):
            simulation.inject("rov_1", "silent:depth")
