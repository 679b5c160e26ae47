"""Pictures and films of a view, as somebody's browser renders them, or one without a window."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from caudal.tools.common.output import Progress, UsageError
from caudal.tools.view.headless_browser import Headless

PICTURES, FILMS = (".png", ".jpg", ".jpeg"), (".mp4", ".webm", ".gif")
RENDER_S = 120.0  # a browser that draws on the processor may take long over its first picture
OPEN_S = 90.0
SETTLE_S = 30.0  # after which a browser has loaded all that it will
SAME = 4  # pictures, half a second apart
LEAST_WINDOW = 500, 300


def check(path: Path, kinds: tuple[str, ...]) -> None:
    if path.suffix.lower() not in kinds:
        raise UsageError(
            f"{path}: there is no way to write {path.suffix or 'a file without an ending'}; take {', '.join(kinds)}"
        )
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")
    new = not path.exists()
    try:
        with path.open("ab"):
            pass
        if new:
            path.unlink()
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}); take another place") from error


def render(client: Any, width: int, height: int) -> np.ndarray:
    """(height, width, 3) of what that browser shows."""
    try:
        picture = client.get_render(height=height, width=width, transport_format="jpeg", timeout=RENDER_S)
    except (TimeoutError, RuntimeError, ConnectionError) as error:
        raise UsageError(f"the browser rendered nothing ({error})") from error
    return np.ascontiguousarray(picture[:, :, :3])


def settled(client: Any, width: int, height: int) -> np.ndarray:
    """The same, once nothing new comes: shapes are there first, light and shadows seconds after them."""
    picture = render(client, width, height)
    same, give_up_s = 0, time.monotonic() + SETTLE_S
    while same < SAME and time.monotonic() < give_up_s:
        time.sleep(0.5)
        before, picture = picture, render(client, width, height)
        same = same + 1 if np.abs(picture.astype(int) - before).mean() < 0.5 else 0
    return picture


def encoded(picture: np.ndarray, suffix: str = ".png") -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(picture).save(out, format="PNG" if suffix == ".png" else "JPEG", quality=92)
    return out.getvalue()


class Film:
    """Frames into a file; its ending says how."""

    def __init__(self, path: Path, width: int, height: int, fps: int) -> None:
        import imageio_ffmpeg

        words: dict[str, Any] = {
            ".mp4": {"codec": "libx264", "quality": 8},
            ".webm": {"codec": "libvpx-vp9", "bitrate": "4M"},
        }.get(path.suffix.lower(), {"codec": "gif", "pix_fmt_out": "pal8"})
        if path.suffix.lower() == ".gif":
            words = {"codec": "gif", "pix_fmt_out": "rgb8"}
        self._writer = imageio_ffmpeg.write_frames(
            str(path), (width, height), fps=fps, macro_block_size=2, ffmpeg_log_level="error", **words
        )
        self._writer.send(None)
        self.frames = 0

    def add(self, picture: np.ndarray) -> None:
        self._writer.send(picture.tobytes())
        self.frames += 1

    def close(self) -> None:
        self._writer.close()


def film_of(
    client: Any, show: Callable[[float], None], times_s: np.ndarray, size: tuple[int, int], fps: int
) -> bytes:
    """A film of these instants, as bytes of an MP4 file, for whoever asked for it in the browser."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        film = Film(path, *size, fps)
        try:
            for time_s in times_s:
                show(float(time_s))
                film.add(render(client, *size))
        finally:
            film.close()
        return path.read_bytes()


def opened(server: Any, page: Headless, patience_s: float = OPEN_S) -> Any:
    """The client that the browser without a window is, once it is there."""
    give_up = time.monotonic() + patience_s
    while time.monotonic() < give_up and not page.ended:
        clients = list(server.get_clients().values())
        if clients:
            return clients[0]
        time.sleep(0.05)
    raise UsageError("the browser did not open the view; is it one that can show WebGL?")


def window(size: tuple[int, int]) -> tuple[int, int]:
    """Of a browser that renders pictures of that size: it is drawn as well, each time, for nobody to see."""
    return max(size[0] // 2, LEAST_WINDOW[0]), max(size[1] // 2, LEAST_WINDOW[1])


def save_picture(
    server: Any, url: str, show: Callable[[float, Any], None], at_s: float, path: Path, size: tuple[int, int]
) -> None:
    with Headless(url, *window(size)) as page:
        client = opened(server, page)
        show(at_s, client)
        picture = encoded(settled(client, *size), path.suffix.lower())
    try:
        path.write_bytes(picture)
    except OSError as error:
        raise UsageError(f"{path}: the picture could not be written ({error.strerror})") from error


def save_film(
    server: Any,
    url: str,
    show: Callable[[float, Any], None],
    times_s: np.ndarray,
    path: Path,
    size: tuple[int, int],
    fps: int,
) -> None:
    progress = Progress("filming", len(times_s), "frames")
    with Headless(url, *window(size)) as page:
        client = opened(server, page)
        show(float(times_s[0]), client)
        settled(client, *size)
        film = Film(path, *size, fps)
        try:
            for k, time_s in enumerate(times_s):
                show(float(time_s), client)
                film.add(render(client, *size))
                progress.at(k)
        except OSError as error:  # the encoder has ended
            raise UsageError(f"{path}: the film could not be written; is the disk full? ({error})") from error
        finally:
            film.close()
            progress.end()
            if film.frames < len(times_s):
                path.unlink(missing_ok=True)  # half of what was asked for
