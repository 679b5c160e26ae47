"""The controller side of a HIL link. With --realtime it requests real-time priority, as on the vehicle.

The plant side logs the run. This side logs its own part, with estimates and events, if an option asks for what only it
has: --log, --report, --json, --params, --mavlink, --view or --stream. Each plant that connects gets a new loop, with
what was stored and its own ground station links; in the log it is NAME_again_1 and so on.
"""

import argparse
from contextlib import nullcontext

from caudal.onboard.core.loop import Loop
from caudal.onboard.host import realtime
from caudal.onboard.run.arming import ArmTimer
from caudal.onboard.run.config import open_controlled
from caudal.onboard.run.link_controller import SessionController
from caudal.onboard.run.services import Services
from caudal.onboard.run.session import Session
from caudal.onboard.run.vehicle_run import run_result
from caudal.tools.common import output
from caudal.tools.common.run_options import run_options
from caudal.tools.config.known_tables import known_tables
from caudal.tools.hil.reconnecting_port import ReconnectingPort

TIMEOUT_MS = 2000  # without a frame for so long, the outputs go safe


def control(args: argparse.Namespace, line: str) -> int:
    """Runs until the plant side closes the link, or for --for seconds."""
    vehicle, name, scenario = open_controlled(args.vehicle, args.set, args.scenario, known_tables())
    options = run_options(args)
    piloted = bool(options.stations.addresses)
    own = args.log or args.report or args.json or options.params or piloted or args.view or args.stream
    services = (
        Services(options, vehicle, name, "hil:controller", output.note, lossless=not options.realtime)
        if own
        else None
    )
    sessions: list[Session] = []

    def make(loop: Loop) -> Session:
        again = f"_again_{len(sessions)}" if sessions else ""
        session = Session(f"{vehicle.name}_1{again}", loop, notify=output.note)
        timer = ArmTimer(loop, options.arm_after_s)

        def before(time_ns: int, late_us: int) -> int:
            timer.step()
            return late_us

        session.before = before
        if services:
            session.record(services.attach([session]))
            if not sessions:
                services.stream([session])
            session.after.append(lambda session, time_ns: services.take(time_ns))
        if options.seconds:
            session.after.append(end)
        sessions.append(session)
        if not piloted:
            session.arm()
        return session

    def end(session: Session, time_ns: int) -> None:
        controller.ended = controller.ended or session.loop.ticks >= seconds * session.loop.rate_hz

    seconds = options.seconds or 0.0
    port = ReconnectingPort(line)
    controller = SessionController(vehicle.settings, scenario, vehicle.file.digest(), port, make)
    stopped = False
    with services or nullcontext():
        if args.realtime:
            for sentence in realtime.set_up():
                output.note(f"caudal: more jitter than need be: {sentence}")
        try:
            controller.serve(TIMEOUT_MS)
        except KeyboardInterrupt:
            if not sessions:
                raise
            stopped = True
        finally:
            if sessions:
                sessions[-1].safe()
            port.close()
    if controller.refusal:
        raise output.UsageError(controller.refusal)
    if not sessions:
        if own:
            raise output.UsageError(
                f"the plant on {line} closed the link before it connected; there is no log"
            )
        return 0
    result = run_result(vehicle, name, sessions[-1], services, stopped)
    if args.report and services:
        from caudal.tools.report.command import write_report

        result["report"] = str(write_report(services.log))
    if args.json:
        output.as_json(result)
    elif own:
        output.table([(key, "none" if value is None else value) for key, value in result.items()])
    if result["fault"]:
        output.note(f"the controller stopped safe: {result['fault']}")
    return 1 if stopped or result["fault"] or "not_armed" in result else 0
