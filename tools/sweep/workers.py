"""The work of a sweep: points in threads of this machine, or in chunks on the workers of a dask scheduler."""

from __future__ import annotations

import collections
import concurrent.futures
import logging
import socket
import tempfile
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.sim_plant.base.jit import sources_digest
from caudal.tools.common.output import UsageError, note
from caudal.tools.common.version import VERSION
from caudal.tools.simulate import rollout
from caudal.tools.sweep.grid import Point, Varied, overrides

CHUNK_S = 3.0  # of work: little to lose with a worker, much beside the cost of sending it
AHEAD = 2  # chunks each thread of a worker has been given, so that none waits for the next
TIMEOUT_S = 10.0  # for a scheduler to answer
DIED = "every worker that ran it, or its chunk, died; look at the workers' memory and logs"
THIS_CAUDAL = f"{VERSION} {sources_digest()}"  # as loaded: a worker may live longer than its sources
Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """What all points of a sweep have in common."""

    vehicle: str  # name, or path here
    text: str  # of its file: a worker elsewhere has no such path, or another file there
    scenario: str | None
    set: tuple[str, ...]
    seconds: float | None
    varied: tuple[Varied, ...]
    measures: tuple[str, ...]
    caudal: str  # version and plant, as results of two do not mix


def run_point(job: Job, point: Point) -> Row:
    """Never raises: a point that fails has a sentence in place of its values."""
    row: Row = {"point": point.index, "values": None, "error": None}
    try:
        keys = [*job.set, *overrides(list(job.varied), point)]
        result = rollout.measure(job.vehicle, job.scenario, keys, point.seed, job.seconds)
    except (VehicleFileError, UsageError, ArithmeticError, ValueError) as error:
        return row | {"error": str(error)}
    except Exception as error:  # a bug shows in its row; the other points are worth having
        return row | {"error": f"{type(error).__name__}: {error}"}
    there = [key for key, value in result.items() if value is None or isinstance(value, int | float)]
    missing = [name for name in job.measures if name not in there]
    if missing:
        sentence = f"there is no measure {missing[0]}; there are {', '.join(there)}"
        return row | {"error": sentence, "unknown": True}
    return row | {"values": [result[name] for name in job.measures]}


def in_threads(job: Job, points: list[Point], jobs: int) -> Generator[Row, None, None]:
    """As they finish. The first runs alone: it compiles the plant, and shows if the measures are there."""
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
    if caudal != THIS_CAUDAL:
        raise UsageError(f"a worker has another Caudal ({THIS_CAUDAL}, not {caudal}); install the same there")


def run_chunk(job: Job, points: list[Point]) -> tuple[list[Row], float]:
    """On a worker: the rows, and the seconds that a point took."""
    expect_same(job.caudal)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(job.vehicle).with_suffix(".toml").name
        path.write_text(job.text)
        here = Job(**{**job.__dict__, "vehicle": str(path)})
        rows = [run_point(here, point) for point in points]
    for row in rows:
        if row["error"]:
            row["error"] = row["error"].replace(str(path), job.vehicle)
    return rows, (time.monotonic() - start) / len(points)


def _knock(address: str) -> None:
    """Is anybody there? dask's own way to find out takes long, and ends in more than a sentence."""
    host, colon, port = address.removeprefix("tcp://").removeprefix("tls://").rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--dask {address}: write the scheduler's address as tcp://HOST:PORT")
    try:
        socket.create_connection((host.strip("[]"), int(port)), TIMEOUT_S).close()
    except OSError as error:
        raise UsageError(
            f"no dask scheduler answers at {address}; start one with dask scheduler, and on every machine "
            f"dask worker {address}"
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
    """As their chunks finish. dask runs a lost worker's chunks again elsewhere; `died` is what becomes of those that no
    worker survives."""
    if not points:
        return
    try:
        from distributed import Client, as_completed
        from distributed.scheduler import KilledWorker
    except ModuleNotFoundError:
        raise UsageError("work across machines needs dask; pip install 'caudal[sweep]'") from None
    for name in ("distributed", "distributed.client"):  # what matters is said here, in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    _knock(address)
    try:
        client = Client(address, timeout=TIMEOUT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"what listens at {address} does not answer as a dask scheduler; check --dask"
        ) from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            note(f"{address} has no workers yet; waiting for one")
        waiting, least_s = collections.deque(points), None
        futures = as_completed(loop=client.loop)
        sent: dict[str, list[Any]] = {}

        def send() -> None:
            nonlocal threads
            threads = max(1, sum(client.nthreads().values()))
            size = chunk or (1 if least_s is None else max(1, int(CHUNK_S / max(least_s, 1e-3))))
            if not chunk:  # towards the end smaller ones, so that all end together
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
                    f"the scheduler at {address} is gone; the same command goes on from the journal"
                ) from error
            least_s = point_s if least_s is None else min(least_s, point_s)
            yield from rows
            while waiting and len(sent) < AHEAD * max(1, threads):
                send()
