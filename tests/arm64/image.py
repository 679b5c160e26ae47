"""From the bare userland to what QEMU boots: a folder to deploy into, then one initramfs that is the whole system."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.conftest import ROOT

BUILD = ROOT / "build" / "arm64"
MODULES = (
    "virtio_net virtio_pci virtio_rng i6300esb i2c-dev i2c-bcm2835 af_packet cdc-acm usbserial gpio-pl061"
)
NETWORK = "[Match]\nName=en* eth*\n\n[Network]\nDHCP=yes\n"
SSH_KEY = BUILD / "key"


class Userland:
    """A copy of the userland, for one boot."""

    def __init__(self, tar: Path, name: str) -> None:
        self.root = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=BUILD))
        subprocess.run(["tar", "-xpf", str(tar), "-C", str(self.root), "--exclude=./dev/*"], check=True)
        self._take_kernel(BUILD / f"kernel-{tar.stem}")
        self._prepare()

    def _take_kernel(self, kernel: Path) -> None:
        """Copies the kernel next to the folder, and the modules that a test needs into it."""
        package = next((self.root / "root").glob("linux-image-*.deb"))
        if not kernel.is_dir():
            subprocess.run(["dpkg", "-x", str(package), f"{kernel}.new"], check=True)
            Path(f"{kernel}.new").rename(kernel)
        package.unlink()
        self.kernel = next(kernel.glob("boot/vmlinuz-*"))
        self.device_tree = next(kernel.glob("usr/lib/linux-image-*/broadcom/bcm2837-rpi-3-b.dtb"))
        version = self.kernel.name.removeprefix("vmlinuz-")
        modules = kernel / "lib/modules" / version
        if not modules.is_dir():  # newer packages have it below usr alone, where depmod does not look
            (kernel / "lib").symlink_to("usr/lib")
        subprocess.run(["depmod", "-b", str(kernel), version], check=True)
        target = self.root / "usr/lib/modules" / version
        for module in MODULES.split():
            asked = ["modprobe", "-d", str(kernel), "-S", version, "--show-depends", module]
            said = subprocess.run(asked, capture_output=True, text=True).stdout
            for line in said.splitlines():
                if line.startswith("insmod "):
                    path = Path(line.split()[1])
                    copy = target / path.relative_to(modules)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, copy)
        for path in modules.glob("modules.*"):
            shutil.copyfile(path, target / path.name)
        subprocess.run(["depmod", "-b", str(self.root), version], check=True)

    def _prepare(self) -> None:
        """A network, a way in, and no waiting for what a test does not need."""
        etc = self.root / "etc"
        (etc / "systemd/network/80-test.network").write_text(NETWORK)
        (etc / "machine-id").write_text("0" * 31 + "1\n")  # no first boot, which would take minutes
        (etc / "hostname").write_text("vehicle\n")
        if not SSH_KEY.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(SSH_KEY)], check=True)
        keys = self.root / "root/.ssh/authorized_keys"
        keys.parent.mkdir(mode=0o700, exist_ok=True)
        shutil.copyfile(SSH_KEY.with_suffix(".pub"), keys)
        wants = etc / "systemd/system/multi-user.target.wants"
        wants.mkdir(parents=True, exist_ok=True)
        (wants / "systemd-networkd.service").symlink_to("/usr/lib/systemd/system/systemd-networkd.service")
        masked = (
            "systemd-networkd-wait-online.service apt-daily.timer apt-daily-upgrade.timer getty@tty1.service"
        )
        masked += " serial-getty@ttyAMA0.service serial-getty@ttyS1.service"  # lines that are the test's
        for unit in masked.split():
            (etc / "systemd/system" / unit).unlink(missing_ok=True)
            (etc / "systemd/system" / unit).symlink_to("/dev/null")
        for folder in ("etc", "var"):  # nor an update's caches
            (self.root / folder / ".updated").touch()
        (self.root / "init").symlink_to("usr/lib/systemd/systemd")

    def pack(self) -> Path:
        """One initramfs; not compressed, because an emulated processor would take longer to unpack it."""
        image = self.root.with_suffix(".cpio")
        with image.open("wb") as out:
            find = subprocess.Popen(["find", ".", "-print0"], cwd=self.root, stdout=subprocess.PIPE)
            command = ["cpio", "--null", "--create", "--format=newc", "--quiet"]
            subprocess.run(command, cwd=self.root, stdin=find.stdout, stdout=out, check=True)
            find.wait()
        return image

    def remove(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.with_suffix(".cpio").unlink(missing_ok=True)
