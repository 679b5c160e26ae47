"""A station can inject every fault into a simulated vehicle and clear it; a real vehicle rejects that."""

from types import SimpleNamespace

import pytest

from caudal.onboard.station.dialect import mavlink
from caudal.onboard.station.signing import Signing
from caudal.tools.common.output import UsageError
from caudal.tools.config.vehicle import open_scenario, open_vehicle
from caudal.tools.faults.kinds import possible_faults
from caudal.tools.simulate.on_request_faults import rehearsal
from caudal.tools.simulate.simulation import Simulation
from tests.station.afloat import Afloat, free_port, until
from tests.station.mutations import KEY, Bench, station
from tests.station.pilots import Pilot

NOTICE = mavlink.MAV_SEVERITY_NOTICE


def ask(pilot: Pilot, text: str) -> str:
    """The sentence that comes back."""
    known = len(pilot.texts)
    pilot.mav.statustext_send(NOTICE, text.encode())
    word = text.split(":")[0]
    pilot.hear("STATUSTEXT", where=lambda m: word in m.text)
    pilot.hear("ATTITUDE")  # a long one's further pieces
    return next(text for text in pilot.texts[known:] if word in text)


@pytest.mark.parametrize("key", [None, KEY])
def test_faults_are_let_happen_and_mended_by_a_text(key):
    port = free_port()
    with Afloat(f"udp:{port}", signing=Signing(key, None) if key else None) as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}", key)
        pilot.meet()
        loop, body = vehicle.loop, vehicle.instance.body
        assert ask(pilot, "fault hung:bus") == "fault hung:bus: done"
        until("the bus hangs", lambda: loop.state.host["bus_hung"])
        assert ask(pilot, "fault reads:leak*1") == "fault reads:leak*1: done"
        assert ask(pilot, "fault jammed:tail_2") == "fault jammed:tail_2: done"
        until("the joint is jammed", lambda: len(body.on_outputs) == 1)
        assert ask(pilot, "mend hung:bus") == "mend hung:bus: done"
        until("the bus is back", lambda: not loop.state.host["bus_hung"])
        assert len(body.on_outputs) == 1 and len(body.on_counts) == 1  # the other two go on
        assert "there is no such fault; there are reads:leak" in ask(pilot, "mend hung:bus ")
        assert "there is no kind bitten" in ask(pilot, "fault bitten:fin")
        assert ask(pilot, "mend") == "mend: done"
        until("all is well", lambda: not body.on_outputs and not body.on_counts)
        told = [details for kind, details in vehicle.notes if kind == "rehearsal"]
        assert [(one["fault"], "refused" in one) for one in told] == [
            ("hung:bus", False),
            ("reads:leak*1", False),
            ("jammed:tail_2", False),
            ("mend hung:bus", False),
            ("mend hung:bus", True),
            ("bitten:fin", True),
            ("mend", False),
        ]
        pilot.close()


def test_a_command_that_a_part_is_well_again_mends_that_part_alone():
    port = free_port()
    with Afloat(f"udp:{port}") as vehicle:
        pilot = Pilot(f"udpout:127.0.0.1:{port}")
        pilot.meet()
        m, effects = mavlink, vehicle.instance.body
        for unit, failure in (
            (m.FAILURE_UNIT_SENSOR_BARO, m.FAILURE_TYPE_STUCK),
            (m.FAILURE_UNIT_SYSTEM_SERVO, m.FAILURE_TYPE_STUCK),
            (m.FAILURE_UNIT_SENSOR_BARO, m.FAILURE_TYPE_OK),
            (m.FAILURE_UNIT_SENSOR_BARO, m.FAILURE_TYPE_OK),
        ):
            assert pilot.command(m.MAV_CMD_INJECT_FAILURE, unit, failure, 1) == m.MAV_RESULT_ACCEPTED
        until(
            "depth is mended, the joint is not",
            lambda: (len(effects.on_counts), len(effects.on_outputs)) == (0, 1),
        )
        pilot.close()


class Heard:
    """A bench, and the texts that come back from it."""

    def __init__(self, signing=None, rehearse=None) -> None:
        self.bench = Bench(signing, rehearse)
        self.texts: list[str] = []
        self.results: list[int] = []
        say = self.bench.peer.say

        def keep(vehicle_link, message):
            if message.get_type() == "STATUSTEXT":
                text = message.text if isinstance(message.text, bytes) else message.text.encode()
                self.texts.append(text.decode())
            if message.get_type() == "COMMAND_ACK":
                self.results.append(message.result)
            say(vehicle_link, message)

        self.bench.peer.say = keep

    def send(self, text: str, key=None, id: int = 0, piece: int = 0) -> None:
        self.bench.hear(
            mavlink.MAVLink_statustext_message(NOTICE, text.encode(), id, piece).pack(station(key))
        )
        self.bench.tick()


def test_a_real_vehicle_refuses_and_other_texts_are_nobodys_business():
    heard = Heard()
    heard.send("fault silent:depth")
    assert heard.texts == ["faults are rehearsed in simulations alone"]
    heard.send("faults are many")
    heard.send("hello")
    assert len(heard.texts) == 1


def test_a_command_breaks_the_one_of_a_kind_that_it_counts_to_and_all_of_them_for_nought():
    opened = open_vehicle("fish")
    servos = [channel["name"] for channel in opened.settings["actuators"] if channel["map"] == "servo"]
    said: list[str] = []
    ask = rehearsal(opened, SimpleNamespace(inject=lambda name, text: said.append(text)))
    heard = Heard(None, lambda asked: ask("one", asked))

    def inject(which: float, unit: int = mavlink.FAILURE_UNIT_SYSTEM_SERVO) -> tuple[int, list[str]]:
        said.clear()
        of = unit, mavlink.FAILURE_TYPE_STUCK, which
        command = mavlink.MAVLink_command_long_message(1, 1, 420, 0, *of, 0, 0, 0, 0)
        heard.bench.hear(command.pack(station(None)))
        heard.bench.tick()
        return heard.results[-1], [text.split(":")[1] for text in said]

    assert len(servos) > 2
    assert inject(0) == (mavlink.MAV_RESULT_ACCEPTED, servos)
    assert inject(2) == (mavlink.MAV_RESULT_ACCEPTED, servos[1:2])
    assert inject(len(servos) + 1) == (mavlink.MAV_RESULT_DENIED, [])
    fixes = [opened.settings["estimate"][axis] for axis in ("x", "y")]
    for which in (0, 1):
        assert inject(which, mavlink.FAILURE_UNIT_SENSOR_GPS) == (mavlink.MAV_RESULT_ACCEPTED, fixes)
    assert inject(2, mavlink.FAILURE_UNIT_SENSOR_GPS) == (mavlink.MAV_RESULT_DENIED, [])
    for which in (-1, -7, 0.5, float("nan")):
        assert inject(which) == (mavlink.MAV_RESULT_UNSUPPORTED, [])


def test_with_a_key_an_unsigned_fault_is_refused():
    asked: list[str] = []
    heard = Heard(Signing(KEY, None), asked.append)
    heard.send("fault silent:depth")
    heard.send("fault silent:depth", key=b"k" * 32)
    assert not asked
    heard.send("fault silent:depth", key=KEY)
    assert asked == ["fault silent:depth"]


def test_a_text_of_several_pieces_is_one_and_one_with_a_gap_is_none():
    asked: list[str] = []
    heard = Heard(None, asked.append)
    text = "fault shifted:housing_temperature@1234.125+100.125/0.5*-12.25"
    for id, pieces in ((7, (0, 1)), (8, (0,)), (9, (1,)), (10, (0, 0, 1))):
        for piece in pieces:
            heard.send(text[50 * piece : 50 * piece + 50], id=id, piece=piece)
    assert asked == [text]


@pytest.mark.parametrize("vehicle", ["fish", "rov"])
def test_every_fault_that_there_is_can_be_rehearsed_or_says_in_a_sentence_why_not(vehicle):
    opened, name, _ = open_scenario(vehicle, [], None)
    simulation = Simulation(opened, name, 1)
    inject, refused = rehearsal(opened, simulation), []
    for kind, target in possible_faults(opened):
        if kind in ("exception", "nan"):  # end a loop for good
            continue
        refusal = inject(f"{vehicle}_1", f"fault {kind}:{target}")
        simulation.step()
        if refusal:
            refused.append(refusal)
        else:
            assert inject(f"{vehicle}_1", f"mend {kind}:{target}") is None
    assert simulation.fault is None
    assert all("emulated chip" in why or "on a HIL link" in why for why in refused)


def test_no_fault_stops_the_time():
    """The same twice is two of it, however late; what never comes is refused, and so are too many."""
    opened, name, _ = open_scenario("rov", [], None)
    simulation = Simulation(opened, name, 1)
    for _ in range(2):
        simulation.inject("rov_1", "silent:depth@999999999")
    with pytest.raises(UsageError, match="no run reaches"):
        simulation.inject("rov_1", "silent:depth@1e999")
    with pytest.raises(UsageError, match="the most at a time"):
        for _ in range(200):
            simulation.inject("rov_1", "silent:depth")
