"""A `caudal view` of a run that says, ten times a second, how many look on and how many updates went to them.

An update counts when it was shown while a browser was there; `python -m tests.view.counted_view HOST:PORT PAGE_PORT`.
"""

import sys
import threading
import time

from caudal.tools.cli import main as cli
from caudal.tools.log.recorded_run import Snapshot
from caudal.tools.view.scene import Stage


def main(where: str, port: str) -> int:
    stages: list[Stage] = []
    counts = {"shown": 0}
    show = Stage.show

    def counted(stage: Stage, snapshot: Snapshot) -> None:
        show(stage, snapshot)
        stages[:] = [stage]
        counts["shown"] += bool(stage.server.get_clients())

    Stage.show = counted  # type: ignore[method-assign]

    def send() -> None:
        while True:
            time.sleep(0.1)
            clients = sum(len(stage.server.get_clients()) for stage in stages)
            print("seen", clients, counts["shown"], file=sys.stderr, flush=True)

    threading.Thread(target=send, daemon=True).start()
    return cli.main(["view", where, "--port", port])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
