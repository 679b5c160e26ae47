"""Which Caudal this is, as logs and reports name it."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("caudal")
except PackageNotFoundError:
    VERSION = "unpackaged"
