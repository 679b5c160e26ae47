"""A `caudal view` that prints, ten times per second, the number of browsers and of updates sent to them.

An update counts if a browser was connected; `python -m tests.view.counted_view HOST:PORT PAGE_PORT`.
"""

import sys
import threading
import time

from caudal.tools.cli import main as cli
from caudal.tools.log.recorded_run import Snapshot
from caudal.tools.view.scene import Scene


def main(address: str, port: str) -> int:
    scenes: list[Scene] = []
    counts = {"shown": 0}
    show = Scene.show

    def counted(scene: Scene, snapshot: Snapshot) -> None:
        show(scene, snapshot)
        scenes[:] = [scene]
        counts["shown"] += bool(scene.server.get_clients())

    Scene.show = counted  # type: ignore[method-assign]

    def send() -> None:
        while True:
            time.sleep(0.1)
            clients = sum(len(scene.server.get_clients()) for scene in scenes)
            print("seen", clients, counts["shown"], file=sys.stderr, flush=True)

    threading.Thread(target=send, daemon=True).start()
    return cli.main(["view", address, "--port", port])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
