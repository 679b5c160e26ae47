"""A Raspberry Pi's system in QEMU, deployed to by `caudal deploy pi`. Run by `make test-arm64`, not by pytest."""
