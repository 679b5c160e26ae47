"""The version of Caudal that logs and reports record."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("caudal")
except PackageNotFoundError:
    VERSION = "unpackaged"
