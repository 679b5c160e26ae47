"""Folders of the installed package and of the files that come with it."""

from importlib.resources import files
from pathlib import Path

PACKAGE = Path(str(files("caudal")))
SOURCES = PACKAGE.parent  # the entry of sys.path: src/ in a checkout, site-packages for an installed wheel
DEPLOY = PACKAGE / "deploy"
