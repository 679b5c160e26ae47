"""A machine in QEMU, spoken to by the root shell that systemd opens on its serial line."""

import os
import re
import socket
import subprocess
import time
from pathlib import Path

from tests.arm64.image import Userland

# a Pi's first line is its Bluetooth's, so the shell is on its second
TTY = {"virt": "ttyAMA0", "raspi3b": "ttyS1"}


class Silent(Exception):
    """The machine did not say what was waited for."""


class Machine:
    """`virt` has a network and a hardware watchdog, `raspi3b` a Raspberry Pi's devices."""

    def __init__(self, kind: str, userland: Userland, log: Path) -> None:
        self.kind = kind
        self.ssh_port = free_port()
        line = f"console={TTY[kind]} systemd.debug_shell={TTY[kind]} quiet loglevel=3 systemd.show_status=no"
        words = f"qemu-system-aarch64 -M {kind} -display none -monitor none -no-reboot"
        if kind == "virt":
            words += " -serial stdio -cpu cortex-a72 -smp 2 -m 1536 -device virtio-rng-pci"
            words += f" -netdev user,id=net,hostfwd=tcp:127.0.0.1:{self.ssh_port}-:22"
            words += " -device virtio-net-pci,netdev=net,romfile= -device i6300esb -action watchdog=none"
            files = []
        else:
            words += " -serial null -serial stdio"
            line += " module_blacklist=hci_uart,btbcm"
            files = ["-dtb", str(userland.device_tree)]
        files += ["-kernel", str(userland.kernel), "-initrd", str(userland.pack()), "-append", line]
        self._log = log.open("wb")
        self._process = subprocess.Popen(
            [*words.split(), *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert self._process.stdout and self._process.stdin
        os.set_blocking(self._process.stdout.fileno(), False)
        self._said = b""
        self._count = 0
        self.started = time.monotonic()

    def since_start_s(self) -> float:
        return time.monotonic() - self.started

    def wait_for_shell(self, timeout_s: float = 300) -> None:
        """Sends nothing before the prompt: input that is too early blocks the emulated line."""
        end = time.monotonic() + timeout_s
        while b"root@" not in self._said:
            if time.monotonic() > end or self._process.poll() is not None:
                raise Silent(f"{self.kind} has no shell after {timeout_s:.0f} s")
            self._listen()
            time.sleep(0.1)
        time.sleep(1)
        self.run("stty -echo; PS1=; export TERM=dumb", timeout_s=60)

    def run(self, command: str, timeout_s: float = 60) -> tuple[int, str]:
        """A command's exit code and what it said."""
        self._count += 1
        begin, end = f"<<{self._count}:", f":{self._count}>>"
        # split in two, so that the line's own echo is not taken for the answer
        line = (
            f"printf '<''<{self._count}:'; {{ {command} ; }} 2>&1; printf '\\n%s:''{self._count}>''>\\n' $?\n"
        )
        assert self._process.stdin
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()
        pattern = re.compile(re.escape(begin) + r"(.*?)\r?\n(\d+)" + re.escape(end), re.S)
        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            self._listen()
            found = pattern.search(self._said.decode(errors="replace"))
            if found:
                self._said = b""
                return int(found[2]), found[1].replace("\r", "")
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise Silent(f"no answer to '{command}' within {timeout_s:.0f} s")

    def ask(self, command: str, timeout_s: float = 60) -> str:
        return self.run(command, timeout_s)[1].strip()

    def wait_until(self, command: str, timeout_s: float) -> float:
        """Seconds until the command succeeds."""
        start = time.monotonic()
        while time.monotonic() - start < timeout_s:
            if self.run(command)[0] == 0:
                return time.monotonic() - start
            time.sleep(0.3)
        raise Silent(f"'{command}' was not so within {timeout_s:.0f} s")

    def _listen(self) -> None:
        assert self._process.stdout
        got = self._process.stdout.read()
        if got:
            self._log.write(got)
            self._log.flush()
            self._said += got

    def off(self) -> None:
        self._process.kill()
        self._process.wait()
        self._log.close()


def free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]
