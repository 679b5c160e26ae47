"""Screenshots and videos of a view, rendered by a connected browser or by one without a window."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from caudal.tools.common.output import Progress, UsageError
from caudal.tools.view.headless_browser import HeadlessBrowser

if TYPE_CHECKING:
    from viser import ClientHandle, ViserServer

IMAGES, VIDEOS = (".png", ".jpg", ".jpeg"), (".mp4", ".webm", ".gif")
ENCODERS: dict[str, dict[str, Any]] = {
    ".mp4": {"codec": "libx264", "quality": 8},
    ".webm": {"codec": "libvpx-vp9", "bitrate": "4M"},
    ".gif": {"codec": "gif", "pix_fmt_out": "rgb8"},
}
RENDER_S = 120.0  # a browser without a graphics card may need long for its first image
OPEN_S = 90.0
SETTLE_S = 30.0  # after this time a browser has loaded everything
SAME = 4  # equal images, half a second apart, that count as settled
LEAST_WINDOW = 500, 300

Size = tuple[int, int]
Show = Callable[[float, "ClientHandle"], None]  # shows an instant (s) in a browser


def check(path: Path, kinds: tuple[str, ...]) -> None:
    """Raises UsageError unless a file of one of these kinds can be written at a path."""
    if path.suffix.lower() not in kinds:
        what = f"{path.suffix} is not supported" if path.suffix else "the file name has no extension"
        raise UsageError(f"{path}: {what}; use {', '.join(kinds)}")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")
    new = not path.exists()
    try:
        with path.open("ab"):
            pass
        if new:
            path.unlink()
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}); choose another path") from error


def render(client: ClientHandle, width: int, height: int) -> np.ndarray:
    """Returns an image (height, width, 3) of what a browser shows."""
    try:
        picture = client.get_render(height=height, width=width, transport_format="jpeg", timeout=RENDER_S)
    except (TimeoutError, RuntimeError, ConnectionError) as error:
        raise UsageError(f"the browser did not render an image ({error})") from error
    return np.ascontiguousarray(picture[:, :, :3])


def settled(client: ClientHandle, width: int, height: int) -> np.ndarray:
    """Returns an image once it no longer changes: light and shadows appear seconds after the shapes."""
    picture = render(client, width, height)
    same, give_up_s = 0, time.monotonic() + SETTLE_S
    while same < SAME and time.monotonic() < give_up_s:
        time.sleep(0.5)
        before, picture = picture, render(client, width, height)
        same = same + 1 if np.abs(picture.astype(int) - before).mean() < 0.5 else 0
    return picture


def encoded(picture: np.ndarray, suffix: str = ".png") -> bytes:
    """Encodes an image as PNG or JPEG."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(picture).save(out, format="PNG" if suffix == ".png" else "JPEG", quality=92)
    return out.getvalue()


class VideoWriter:
    """Writes frames into a video file; its extension chooses the codec."""

    def __init__(self, path: Path, size: Size, fps: int) -> None:
        import imageio_ffmpeg

        self._writer = imageio_ffmpeg.write_frames(
            str(path),
            size,
            fps=fps,
            macro_block_size=2,
            ffmpeg_log_level="error",
            **ENCODERS[path.suffix.lower()],
        )
        self._writer.send(None)
        self.frames = 0

    def add(self, picture: np.ndarray) -> None:
        """Appends a frame."""
        self._writer.send(picture.tobytes())
        self.frames += 1

    def close(self) -> None:
        """Completes the file."""
        self._writer.close()


def video_bytes(
    client: ClientHandle, show: Callable[[float], None], times_s: np.ndarray, size: Size, fps: int
) -> bytes:
    """Returns an MP4 video of these instants, rendered by the browser that requested it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "video.mp4"
        writer = VideoWriter(path, size, fps)
        try:
            for time_s in times_s:
                show(float(time_s))
                writer.add(render(client, *size))
        finally:
            writer.close()
        return path.read_bytes()


@contextmanager
def _browser(server: ViserServer, url: str, size: Size) -> Iterator[ClientHandle]:
    """Context manager that opens a view in a browser without a window."""
    # The window is drawn as well, for every image, so it is kept small.
    window = max(size[0] // 2, LEAST_WINDOW[0]), max(size[1] // 2, LEAST_WINDOW[1])
    with HeadlessBrowser(url, *window) as browser:
        give_up_s = time.monotonic() + OPEN_S
        while not (clients := list(server.get_clients().values())):
            if time.monotonic() > give_up_s or browser.ended:
                raise UsageError("the browser did not open the view; does it support WebGL?")
            time.sleep(0.05)
        yield clients[0]


def save_screenshot(server: ViserServer, url: str, show: Show, at_s: float, path: Path, size: Size) -> None:
    """Writes a screenshot of an instant."""
    with _browser(server, url, size) as client:
        show(at_s, client)
        picture = encoded(settled(client, *size), path.suffix.lower())
    try:
        path.write_bytes(picture)
    except OSError as error:
        raise UsageError(f"{path}: the screenshot could not be written ({error.strerror})") from error


def save_video(
    server: ViserServer, url: str, show: Show, times_s: np.ndarray, path: Path, size: Size, fps: int
) -> None:
    """Writes a video of these instants; an incomplete file is deleted."""
    progress = Progress("rendering", len(times_s), "frames")
    with _browser(server, url, size) as client:
        show(float(times_s[0]), client)
        settled(client, *size)
        writer = VideoWriter(path, size, fps)
        try:
            for k, time_s in enumerate(times_s):
                show(float(time_s), client)
                writer.add(render(client, *size))
                progress.at(k)
        except OSError as error:  # the encoder has ended
            raise UsageError(
                f"{path}: the video could not be written; is the disk full? ({error})"
            ) from error
        finally:
            writer.close()
            progress.end()
            if writer.frames < len(times_s):
                path.unlink(missing_ok=True)
