"""Requests real time from Linux: priority of the loop's thread, one core, locked memory, no collector. CPython only.

`set_up` is called once by the loop's thread, after what the loop needs has been loaded and other threads have started:
they would inherit its core. Its priority they do not inherit (SCHED_RESET_ON_FORK), or a recorder that compresses would
hold up the loop. A thread that the loop waits for, such as a bus's, calls `first_in_line` itself with a lower priority.

Nothing here raises. What is refused is returned as messages: a vehicle runs without it, with more jitter.
"""

import ctypes
import gc
import os
import sys

PRIORITY = 60  # the loop's: above the kernel's interrupt threads (50), below its watchdogs (99)
BUS_PRIORITY = 40  # of the threads that talk to devices
RECORD_PRIORITY = 30  # of the recorder's: a thread without processor time holds the interpreter's lock, too
STATION_PRIORITY = 20  # of the one that talks to ground stations, for the same reason
SWITCH_S = 0.0005  # how long another thread may keep the interpreter from the loop; Python's own is 5 ms
_MCL_CURRENT, _MCL_FUTURE = 1, 2


def set_up(priority: int = PRIORITY, cpu: "int | None" = None) -> "list[str]":
    """Real time for the calling thread and this process's memory; what could not be had."""
    missing = first_in_line(priority)
    if cpu is not None:
        missing += stay_on(cpu)
    missing += lock_memory()
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()  # what is loaded by now stays; the collector need not visit it
    gc.disable()
    return missing


def first_in_line(priority: int) -> "list[str]":
    """SCHED_FIFO for the calling thread."""
    try:
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except (OSError, ValueError, AttributeError, TypeError) as error:
        hint = f"the service needs LimitRTPRIO={priority}" if 1 <= priority <= 99 else "it is 1 to 99"
        return [f"no SCHED_FIFO priority {priority} ({_reason(error)}); {hint}"]
    return []


def stay_on(cpu: int) -> "list[str]":
    """One core for the calling thread."""
    try:
        os.sched_setaffinity(0, {cpu})
    except (OSError, ValueError, OverflowError, AttributeError, TypeError) as error:
        return [f"not alone on core {cpu} ({_reason(error)}); this machine has {os.cpu_count()}, from 0"]
    return []


def lock_memory() -> "list[str]":
    """No page of this process leaves memory, now or later: a page from an SD card takes longer than a tick."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mlockall(_MCL_CURRENT | _MCL_FUTURE) == 0:
            return []
        reason = os.strerror(ctypes.get_errno())
    except (OSError, AttributeError, TypeError) as error:
        reason = _reason(error)
    return [f"memory is not locked ({reason}); the service needs LimitMEMLOCK=infinity"]


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
