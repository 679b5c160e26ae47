"""A HIL link cut and repaired: each side goes safe by itself, and no joint jumps when it returns."""

import socket
import threading

import pytest
from msgspec.structs import replace

from caudal.onboard.log.reader import Log
from caudal.tools.config.vehicle import open_vehicle
from caudal.tools.hil.remote_vehicle import LINK_TIMEOUT_TICKS
from caudal.tools.hil.slew_back import Ramp
from tests.hil.cuts import LENGTHS_S, Cutter
from tests.hil.sides import free_tcp_port, said, swims_on
from tests.waiting import LIMIT_S


@pytest.mark.parametrize("length_s", LENGTHS_S)
def test_in_lockstep_a_cut_at_any_instant_stops_the_servos_at_once_and_costs_no_step_beyond_the_slew(
    length_s,
):
    cutter = Cutter("fish", "cruise", free=False, seed=1)
    for _ in range(3):
        cut = cutter.cut(length_s)
        print(cut)
        assert cut.plant_safe_ticks <= 1  # the first without an answer; a cut may come at a tick's very end
        assert cut.step_to_limit <= 1
    assert cutter.wire.controller.loop.fault is None
    cutter.close()


def test_free_running_cut_stops_the_servos_after_the_link_timeout():
    cutter = Cutter("fish", "cruise", free=True, seed=2)
    for _ in range(2):
        cut = cutter.cut(0.5)
        print(cut)
        assert cut.plant_safe_ticks <= LINK_TIMEOUT_TICKS + 1
        assert cut.step_to_limit <= 1
    cutter.close()


def test_a_loop_whose_answers_are_lost_is_not_ahead_of_the_servos_when_they_come_again(bench):
    """Deaf, not mute: readings reach the controller, its answers reach nobody, for as long as one likes."""
    whole, half_cut = bench("fish", "cruise"), bench("fish", "cruise", gone_s=0.0)
    whole.swim(3)
    half_cut.swim(1)
    half_cut.line.deaf = True
    half_cut.swim(2)
    assert half_cut.vehicle.gone and half_cut.controller.loop.ticks == 101
    half_cut.line.deaf = False
    while half_cut.vehicle.gone:
        half_cut.swim(0.01)
    assert half_cut.outputs[-1] == whole.outputs[100]  # the very next step of its motion


def test_ramp_leads_servos_to_their_setpoints_and_leaves_other_outputs_alone():
    servo = replace(open_vehicle("fish").settings.actuators[0], slew_rad_s=10.0, us_per_rad=600)
    valve = next(one for one in open_vehicle("hybrid").settings.actuators if one.map == "valve")
    ramp = Ramp([servo, valve], rate_hz=100)
    assert ramp.step([1500, 0]) == [1500, 0]
    assert ramp.step([1600, 7]) == [1600, 7]  # no gap: the output limiter keeps the slew rate
    ramp.start()
    assert ramp.step([0, 0]) == [0, 0]  # off is off at once
    assert [ramp.step([1400, 900])[0] for _ in range(5)] == [1540, 1480, 1420, 1400, 1400]
    assert ramp.step([2000, 0]) == [2000, 0]  # it has caught up
    ramp.start()
    assert ramp.step([0, 0]) == [0, 0]
    assert ramp.step([2000, 900]) == [2000, 900]


class Relay:
    """A cable between two sockets: pulled out, both ends' connections break and nobody listens."""

    def __init__(self, near: int, far: int) -> None:
        self._near, self._far = near, far
        self._open: list[socket.socket] = []

    def plug_in(self) -> None:
        listener = socket.create_server(("127.0.0.1", self._near))
        self._open = [listener]
        threading.Thread(target=self._serve, args=(listener,), daemon=True).start()

    def _serve(self, listener: socket.socket) -> None:
        try:
            one, _ = listener.accept()
            two = socket.create_connection(("127.0.0.1", self._far))
        except OSError:
            return  # pulled out before anybody came
        self._open += [one, two]
        for source, sink in ((one, two), (two, one)):
            threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(4096):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def pull_out(self) -> None:
        for end in self._open:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


def test_a_cable_pulled_out_and_put_in_again_between_two_processes_is_survived_by_both(sides, tmp_path):
    near, far = free_tcp_port(), free_tcp_port()
    controller = sides.controller(f"tcp:{far}")
    said(controller, "listening")
    relay = Relay(near, far)
    relay.plug_in()
    plant = sides.plant(f"tcp:127.0.0.1:{near}", "--for", 100_000, "--realtime")
    swims_on(tmp_path / "hil.mcap")
    relay.pull_out()
    said(plant, "waiting for it to come back")
    swims_on(tmp_path / "hil.mcap")  # alone, for longer than the link timeout
    relay.plug_in()
    said(plant, "controller is back")
    plant.terminate()
    out, error = plant.communicate(timeout=LIMIT_S)
    assert '"fault": null' in out, error
    assert controller.wait(timeout=LIMIT_S) == 0
    relay.pull_out()
    kinds = [event.kind for event in Log(tmp_path / "hil.mcap").events if event.kind.startswith("controller")]
    assert kinds[:2] == ["controller gone", "controller back"]
