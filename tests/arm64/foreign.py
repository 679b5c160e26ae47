"""Runs a command where this machine can run arm64 programs too.

    python -m tests.arm64.foreign COMMAND...

A namespace of its own makes the kernel (6.7 or newer) start them with qemu-aarch64-static; the machine is left as it
is. Where arm64 programs run already, the command is just run. Needs root, for users other than one's own.
"""

import ctypes
import os
import subprocess
import sys

INTERPRETER = "/usr/bin/qemu-aarch64-static"
BINFMT = "/proc/sys/fs/binfmt_misc"
NEW_MOUNTS, NEW_USERS = 0x20000, 0x10000000
ALL_USERS = "0 0 65536\n"
# an ELF file of 64 bits, little endian, executable or shared, machine 183; F: open the interpreter now, for chroots
MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"


def runs_arm64() -> bool:
    return subprocess.run(["arch-test", "arm64"], capture_output=True).returncode == 0


def check(done: int, what: str) -> None:
    if done != 0:
        sys.exit(f"foreign: {what}: {os.strerror(ctypes.get_errno())}; is this root, and Linux 6.7 or newer?")


def run_inside(command: list[str], ready: int, go: int) -> None:
    """In the child: new namespaces, and once the parent has mapped the users, arm64 programs."""
    libc = ctypes.CDLL(None, use_errno=True)
    check(libc.unshare(NEW_MOUNTS | NEW_USERS), "no namespace of its own")
    os.write(ready, b"x")
    os.read(go, 1)
    os.setgid(0)
    os.setuid(0)
    check(libc.mount(b"binfmt_misc", BINFMT.encode(), b"binfmt_misc", 0, None), "no binfmt_misc of its own")
    with open(f"{BINFMT}/register", "w") as register:
        register.write(f":caudal-arm64:M::{MAGIC}:{MASK}:{INTERPRETER}:FP")
    os.execvp(command[0], command)


def main(command: list[str]) -> int:
    if runs_arm64():
        return subprocess.run(command).returncode
    ready_end, ready = os.pipe()
    go, go_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            run_inside(command, ready, go)
        finally:
            os._exit(1)
    os.close(ready)
    if os.read(ready_end, 1):
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{name}", "w") as users:
                users.write(ALL_USERS)
        os.write(go_end, b"x")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
