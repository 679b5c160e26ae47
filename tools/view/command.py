"""Shows a run in the browser, in three dimensions: a log, or a run that still goes on.

A LOG is a .mcap file: a time line scrubs, plays and jumps to events. HOST:PORT is a run that may be looked on at
(`caudal run --stream`, or --view, which starts a view by itself); without either it is one on this machine. The page is
served on this machine alone unless --host says otherwise, and nothing in it comes from anywhere else.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.onboard.log.stream import PORT
from caudal.tools.common import options, output
from caudal.tools.log.live_run import LiveSource
from caudal.tools.log.recorded_run import RecordedRun, Run, Snapshot, require_run
from caudal.tools.view.video import FILMS, PICTURES, check, save_film, save_picture

PAGE_PORT = 8360
LOOPBACK = ("127.0.0.1", "localhost", "::1")
LOOKS_A_SECOND = 100  # for what a run has sent: thirty a second, and none of them is to be missed


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "what",
        nargs="?",
        default=f"127.0.0.1:{PORT}",
        metavar="LOG|HOST:PORT",
        help="a log, or a run's address",
    )
    command.add_argument(
        "--host", default="127.0.0.1", help="where the page is served (0.0.0.0: to everybody)"
    )
    command.add_argument(
        "--port", type=options.natural, default=PAGE_PORT, help="and on which port, or the next free one"
    )
    command.add_argument(
        "--allow-control",
        action="store_true",
        help="with --host: whoever opens the page may steer the run, too",
    )
    command.add_argument("--at", type=float, default=0.0, metavar="S", help="begin at this second of a log")
    command.add_argument(
        "--screenshot", type=Path, metavar="FILE", help="save a picture (.png, .jpg) and end"
    )
    command.add_argument("--video", type=Path, metavar="FILE", help="save a film (.mp4, .webm, .gif) and end")
    command.add_argument(
        "--for", dest="seconds", type=options.positive, default=30.0, metavar="S", help="of the film"
    )
    command.add_argument("--speed", type=options.positive, default=1.0, help="of the film")
    command.add_argument("--fps", type=options.whole, default=25, help="of the film")
    command.add_argument("--size", type=size, default=(1280, 720), metavar="WxH", help="of picture and film")
    command.add_argument(
        "--no-shadows",
        action="store_true",
        help="pictures and films without shadows and reflections: five times as fast where no graphics card draws",
    )
    command.add_argument("--sonar", action="store_true", help="show the sonars' wedges from the start")
    command.add_argument(
        "--forces", action="store_true", help="show weight, lift and the water's forces from the start"
    )


def size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and 64 <= int(width) <= 4096 and 64 <= int(height) <= 4096):
        raise argparse.ArgumentTypeError(f"{text} is no size such as 1280x720, of 64 to 4096")
    return int(width) // 2 * 2, int(height) // 2 * 2


def address(text: str) -> tuple[str, int]:
    """HOST:PORT, or a port on this machine."""
    host, _, port = text.rpartition(":")
    if not (port.isdigit() and 0 < int(port) < 65536):
        raise output.UsageError(f"{text} is neither a log (.mcap) nor the HOST:PORT of a run")
    return host or "127.0.0.1", int(port)


def url(server: Any) -> str:
    host = server.get_host()
    if host in ("0.0.0.0", ""):
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{server.get_port()}"


def run(args: argparse.Namespace) -> int:
    for path, kinds in ((args.screenshot, PICTURES), (args.video, FILMS)):
        if path:
            check(path, kinds)
    log = Path(args.what) if args.what.endswith(".mcap") or Path(args.what).exists() else None
    shown = None
    if log is None:
        if args.screenshot or args.video:
            raise output.UsageError(
                "pictures and films are made of logs; of a run, by the buttons in its page"
            )
        shown = Run(LiveSource(address(args.what)))
    elif args.at:
        shown = recorded_run(log, args.at)
    else:
        # what is no log is refused before there is a page; the rest is read while a browser loads it
        require_run(Log(log, only=()).run)
    from caudal.tools.view.page import Page, end, serve

    server = serve(args.host, args.port)
    try:
        if not (args.screenshot or args.video):
            what = shown.title if shown else args.what
            output.note(f"caudal: {what} on {url(server)} (Ctrl-C ends)")
        shown = shown or recorded_run(log, args.at)
        source: Any = shown.source
        with server.atomic():  # whoever looks already gets all of it at once
            page = Page(shown, server)
        exported = bool(args.screenshot or args.video)
        page.choose(sonar=args.sonar, forces=args.forces, light=exported and not args.no_shadows)
        if args.screenshot or args.video:
            export(args, page, source)
        elif log:
            show_recorded(page, source, args.at)
        else:
            show_live(page, source, allow_control=args.allow_control or args.host in LOOPBACK)
    except KeyboardInterrupt:
        if args.screenshot or args.video:
            raise  # it is not there
    finally:
        end(server)
    return 0


def recorded_run(log: Path, at_s: float) -> Run:
    recorded = RecordedRun(log)
    if not 0 <= at_s <= recorded.end_s:
        raise output.UsageError(f"--at {at_s:g}: the log goes from 0 to {recorded.end_s:.2f} s")
    return Run(recorded)


def show_recorded(page: Any, recorded: RecordedRun, at_s: float) -> None:
    with page.server.atomic():
        line = page.add_time_line(recorded)
        page.first_look(recorded.at(at_s))
        line.go(at_s)
    while True:
        line.send()
        page.keep_up(recorded.at(line.now_s(page.looked_at)))
        page.rest()


def show_live(page: Any, watched: LiveSource, allow_control: bool) -> None:
    if allow_control:
        page.add_helm(watched)
    while not watched.updates and not watched.ended:
        time.sleep(0.01)
    page.first_look(watched.newest)
    while not watched.ended:
        page.keep_up(watched.newest)
        page.rest(LOOKS_A_SECOND)
    output.note("caudal: the run has ended")


def export(args: argparse.Namespace, page: Any, recorded: RecordedRun) -> None:
    page.hide_words()

    def show(time_s: float, client: Any) -> None:
        snapshot: Snapshot = recorded.at(time_s)
        page.put(snapshot, client, args.size)

    if args.screenshot:
        save_picture(page.server, url(page.server), show, args.at, args.screenshot, args.size)
        print(args.screenshot)
    if args.video:
        times_s = args.at + np.arange(0.0, args.seconds, args.speed / args.fps)
        times_s = times_s[times_s <= recorded.end_s]
        save_film(page.server, url(page.server), show, times_s, args.video, args.size, args.fps)
        print(f"{args.video}: {len(times_s)} frames")
