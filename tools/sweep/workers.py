"""Runs the points of a sweep in threads of this machine, or in chunks on the workers of a dask scheduler."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import logging
import socket
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caudal.hal.errors import CaudalError
from caudal.onboard.run.recording import VERSION
from caudal.sim_plant.base.jit import sources_digest
from caudal.tools.common.output import UsageError, note
from caudal.tools.simulate import rollout
from caudal.tools.sweep.grid import Point, Varied, overrides

CHUNK_S = 3.0  # of work: little is lost with a worker, and sending it costs little in comparison
AHEAD = 2  # chunks queued for each thread of a worker, so that none waits for the next
TIMEOUT_S = 10.0  # for a scheduler to answer
DIED = "every worker that ran it, or its chunk, died; look at the workers' memory and logs"
THIS_CAUDAL = f"{VERSION} {sources_digest()}"  # as loaded: a worker may be older than its sources
Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """What all points of a sweep have in common."""

    vehicle: str  # name, or path here
    text: str  # of its file, which a worker on another machine may not have
    scenario: str | None
    set: tuple[str, ...]
    seconds: float | None
    varied: tuple[Varied, ...]
    metrics: tuple[str, ...]
    caudal: str  # version and plant, which have to be equal on all workers


def run_point(job: Job, point: Point) -> Row:
    """Runs one point: a row with its values, or with the error of a point that failed. It never raises."""
    row: Row = {"point": point.index, "values": None, "error": None}
    try:
        keys = [*job.set, *overrides(list(job.varied), point)]
        result = rollout.measure(job.vehicle, job.scenario, keys, point.seed, job.seconds)
    except (CaudalError, ArithmeticError, ValueError) as error:
        return row | {"error": str(error)}
    except Exception as error:  # a bug is reported in its row; the other points go on
        return row | {"error": f"{type(error).__name__}: {error}"}
    known = [key for key, value in result.items() if value is None or isinstance(value, int | float)]
    missing = [name for name in job.metrics if name not in known]
    if missing:
        error_text = f"there is no metric {missing[0]}; there are {', '.join(known)}"
        return row | {"error": error_text, "unknown": True}
    return row | {"values": [result[name] for name in job.metrics]}


def in_threads(job: Job, points: list[Point], jobs: int) -> Generator[Row, None, None]:
    """Rows in the order in which they finish. The first point runs alone: it compiles the plant and checks metrics."""
    if points:
        yield run_point(job, points[0])
    pool = concurrent.futures.ThreadPoolExecutor(jobs, thread_name_prefix="sweep")
    try:
        futures = [pool.submit(run_point, job, point) for point in points[1:]]
        for future in concurrent.futures.as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def expect_same(caudal: str) -> None:
    """A UsageError if this worker has another version of Caudal than the job."""
    if caudal != THIS_CAUDAL:
        raise UsageError(
            f"a worker has another Caudal ({THIS_CAUDAL}, not {caudal}); install the same version there"
        )


@contextlib.contextmanager
def local_copy(vehicle: str, text: str) -> Iterator[str]:
    """The path of a copy of a vehicle file, on a worker that may not have the file itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(vehicle).with_suffix(".toml").name
        path.write_text(text)
        yield str(path)


def run_chunk(job: Job, points: list[Point]) -> tuple[list[Row], float]:
    """Runs points on a worker: their rows, and the seconds that a point took."""
    expect_same(job.caudal)
    start = time.monotonic()
    with local_copy(job.vehicle, job.text) as path:
        rows = [run_point(replace(job, vehicle=path), point) for point in points]
    for row in rows:
        if row["error"]:
            row["error"] = row["error"].replace(path, job.vehicle)
    return rows, (time.monotonic() - start) / len(points)


def _check_address(address: str) -> None:
    """Does the scheduler accept connections? dask's own check takes long, and its message is long."""
    host, colon, port = address.removeprefix("tcp://").removeprefix("tls://").rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--dask {address}: write the scheduler's address as tcp://HOST:PORT")
    try:
        socket.create_connection((host.strip("[]"), int(port)), TIMEOUT_S).close()
    except OSError as error:
        raise UsageError(
            f"no dask scheduler responds at {address}; start one with 'dask scheduler', and on every machine "
            f"'dask worker {address}'"
        ) from error


def _died(part: list[Point]) -> list[Row]:
    return [{"point": point.index, "values": None, "error": DIED} for point in part]


def across_machines(
    job: Any,
    points: list[Any],
    address: str,
    chunk: int | None,
    run: Callable[[Any, list[Any]], tuple[list[Any], float]] = run_chunk,
    died: Callable[[list[Any]], list[Any]] = _died,
) -> Generator[Any, None, None]:
    """Runs points on a dask cluster; rows come in the order in which chunks finish.

    dask runs the chunks of a lost worker on another. `died` makes the rows of a chunk that kills every worker.
    """
    if not points:
        return
    try:
        from distributed import Client, as_completed
        from distributed.scheduler import KilledWorker
    except ModuleNotFoundError:
        raise UsageError("work across machines needs dask; pip install 'caudal[sweep]'") from None
    for name in ("distributed", "distributed.client"):  # this module reports errors itself
        logging.getLogger(name).setLevel(logging.CRITICAL)
    _check_address(address)
    try:
        client = Client(address, timeout=TIMEOUT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"the program at {address} is not a dask scheduler; check --dask") from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            note(f"{address} has no workers yet; waiting for one")
        waiting, least_s = collections.deque(points), None
        futures = as_completed(loop=client.loop)
        sent: dict[Any, list[Any]] = {}  # by key of their future

        def send() -> None:
            nonlocal threads
            threads = max(1, sum(client.nthreads().values()))
            size = chunk or (1 if least_s is None else max(1, int(CHUNK_S / max(least_s, 1e-3))))
            if not chunk:  # smaller ones towards the end, so that all workers finish together
                size = min(size, max(1, len(waiting) // (AHEAD * threads)))
            part = [waiting.popleft() for _ in range(min(size, len(waiting)))]
            future = client.submit(run, job, part, pure=False)
            sent[future.key] = part
            futures.add(future)

        while waiting and len(sent) < AHEAD * max(1, threads):
            send()
        for future in futures:
            part = sent.pop(future.key)
            try:
                rows, point_s = future.result()
            except KilledWorker:
                rows, point_s = died(part), CHUNK_S
            except (concurrent.futures.CancelledError, OSError) as error:
                raise UsageError(
                    f"the scheduler at {address} is gone; run the same command to continue from the journal"
                ) from error
            least_s = point_s if least_s is None else min(least_s, point_s)
            yield from rows
            while waiting and len(sent) < AHEAD * max(1, threads):
                send()
