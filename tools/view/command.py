"""Shows a run in the browser in three dimensions: a log, or a run in progress.

A log (.mcap) has a timeline with play, speed, a slider and jumps to events. HOST:PORT is the stream of a run in
progress (`caudal run --stream`; `caudal run --view` starts a view by itself). Without an argument it is a run on this
machine. The page is served on this machine only, unless --host says otherwise, and loads nothing from other servers.
"""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from caudal.onboard.log.reader import Log
from caudal.onboard.log.stream import PORT
from caudal.tools.common import options, output
from caudal.tools.log.live_run import LiveSource
from caudal.tools.log.recorded_run import RecordedRun, Run, require_run
from caudal.tools.view.video import IMAGES, VIDEOS, check, save_screenshot, save_video

if TYPE_CHECKING:
    from viser import ClientHandle, ViserServer

    from caudal.tools.view.page import Page

PAGE_PORT = 8360
LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLLS_PER_S = 100  # of a stream, which sends 30 updates per second


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of `caudal view`."""
    command.add_argument(
        "what",
        nargs="?",
        default=f"127.0.0.1:{PORT}",
        metavar="LOG|HOST:PORT",
        help=f"a log, or the address of a run in progress (default: port {PORT} on this machine)",
    )
    command.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to serve the page on; 0.0.0.0 allows access from other machines (default 127.0.0.1)",
    )
    command.add_argument(
        "--port",
        type=options.natural,
        default=PAGE_PORT,
        help=f"port to serve the page on, or the next free one (default {PAGE_PORT})",
    )
    command.add_argument(
        "--allow-control",
        action="store_true",
        help="with --host: users on other machines may control the run",
    )
    command.add_argument("--at", type=float, default=0.0, metavar="S", help="start at this second of a log")
    command.add_argument(
        "--screenshot", type=Path, metavar="FILE", help="save a screenshot (.png, .jpg) and exit"
    )
    command.add_argument(
        "--video", type=Path, metavar="FILE", help="save a video (.mp4, .webm, .gif) and exit"
    )
    command.add_argument(
        "--for",
        dest="seconds",
        type=options.positive,
        default=30.0,
        metavar="S",
        help="duration of the log that the video shows, s (default 30)",
    )
    command.add_argument(
        "--speed",
        type=options.positive,
        default=1.0,
        help="speed of the video; 2 is twice as fast (default 1)",
    )
    command.add_argument("--fps", type=options.whole, default=25, help="frames per second (default 25)")
    command.add_argument(
        "--size",
        type=size,
        default=(1280, 720),
        metavar="WxH",
        help="size of screenshot and video in pixels (default 1280x720)",
    )
    command.add_argument(
        "--no-shadows",
        action="store_true",
        help="render without shadows and reflections: five times as fast without a graphics card",
    )
    command.add_argument("--sonar", action="store_true", help="show sonar beams from the start")
    command.add_argument(
        "--forces", action="store_true", help="show weight, buoyancy and forces of the water from the start"
    )


def size(text: str) -> tuple[int, int]:
    """Parses WxH in pixels (an argparse type); odd numbers are rounded down."""
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and 64 <= int(width) <= 4096 and 64 <= int(height) <= 4096):
        raise argparse.ArgumentTypeError(f"{text} is not a size such as 1280x720, of 64 to 4096 pixels")
    return int(width) // 2 * 2, int(height) // 2 * 2


def address(text: str) -> tuple[str, int]:
    """Parses HOST:PORT, or a port on this machine."""
    host, _, port = text.rpartition(":")
    if not (port.isdigit() and 0 < int(port) < 65536):
        raise output.UsageError(f"{text} is neither a log (.mcap) nor the HOST:PORT of a run")
    return host or "127.0.0.1", int(port)


def url(server: "ViserServer") -> str:
    """Returns the address of the page for a browser on this machine."""
    host = server.get_host()
    if host in ("0.0.0.0", ""):
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{server.get_port()}"


def run(args: argparse.Namespace) -> int:
    """Runs `caudal view`."""
    exports = bool(args.screenshot or args.video)
    for path, kinds in ((args.screenshot, IMAGES), (args.video, VIDEOS)):
        if path:
            check(path, kinds)
    if args.what.endswith(".mcap") or Path(args.what).exists():
        view_log(args, Path(args.what), exports)
    elif exports:
        raise output.UsageError(
            "screenshots and videos need a log; for a run in progress use the Export tab of its page"
        )
    else:
        view_stream(args)
    return 0


def view_log(args: argparse.Namespace, log: Path, exports: bool) -> None:
    """Shows a log until Ctrl-C, or exports images of it."""
    require_run(Log(log, only=()).run)
    recorded = open_log(log, args.at) if args.at else None
    with _page_server(args, exports) as server:
        if not exports:
            _announce(args.what, server)
        recorded = recorded or open_log(log, args.at)  # a browser loads the page meanwhile
        page = _page(args, Run(recorded), server, light=exports and not args.no_shadows)
        if exports:
            export(args, page, recorded)
        else:
            show_recorded(page, recorded, args.at)


def view_stream(args: argparse.Namespace) -> None:
    """Shows a run in progress until its end or Ctrl-C."""
    source = LiveSource(address(args.what))
    shown = Run(source)
    with _page_server(args, exports=False) as server:
        _announce(shown.title, server)
        page = _page(args, shown, server, light=False)
        show_live(page, source, allow_control=args.allow_control or args.host in LOOPBACK)


@contextmanager
def _page_server(args: argparse.Namespace, exports: bool) -> Iterator["ViserServer"]:
    from caudal.tools.view.page import serve, stop

    server = serve(args.host, args.port)
    try:
        yield server
    except KeyboardInterrupt:
        if exports:
            raise  # there is no file
    finally:
        stop(server)


def _announce(title: str, server: "ViserServer") -> None:
    output.note(f"caudal: {title} on {url(server)} (Ctrl-C ends)")


def _page(args: argparse.Namespace, shown: Run, server: "ViserServer", light: bool) -> "Page":
    from caudal.tools.view.page import Page

    with server.atomic():  # a connected browser gets everything at once
        page = Page(shown, server)
    page.set_options(sonar=args.sonar, forces=args.forces, light=light)
    return page


def open_log(log: Path, at_s: float) -> RecordedRun:
    """Reads a log; raises UsageError if it does not contain an instant."""
    recorded = RecordedRun(log)
    if not 0 <= at_s <= recorded.end_s:
        raise output.UsageError(f"--at {at_s:g}: the log goes from 0 to {recorded.end_s:.2f} s")
    return recorded


def show_recorded(page: "Page", recorded: RecordedRun, at_s: float) -> None:
    """Shows a log until it is interrupted."""
    with page.server.atomic():
        timeline = page.add_timeline(recorded)
        page.open(recorded.at(at_s))
        timeline.go(at_s)
    while True:
        timeline.update()
        page.update(recorded.at(timeline.now_s(page.viewed)))
        page.wait()


def show_live(page: "Page", source: LiveSource, allow_control: bool) -> None:
    """Shows a run in progress until its end."""
    if allow_control:
        page.add_control_panel(source)
    while not source.updates and not source.ended:
        time.sleep(0.01)
    page.open(source.newest)
    while not source.ended:
        page.update(source.newest)
        page.wait(POLLS_PER_S)
    output.note("caudal: the run has ended")


def export(args: argparse.Namespace, page: "Page", recorded: RecordedRun) -> None:
    """Writes the screenshot and the video of a log."""
    page.hide_labels()

    def show(time_s: float, client: "ClientHandle") -> None:
        page.show_in(client, recorded.at(time_s), args.size)

    if args.screenshot:
        save_screenshot(page.server, url(page.server), show, args.at, args.screenshot, args.size)
        print(args.screenshot)
    if args.video:
        times_s = args.at + np.arange(0.0, args.seconds, args.speed / args.fps)
        times_s = times_s[times_s <= recorded.end_s]
        save_video(page.server, url(page.server), show, times_s, args.video, args.size, args.fps)
        print(f"{args.video}: {len(times_s)} frames")
