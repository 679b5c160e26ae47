"""Files that come with the package: programs for boards, units for a Pi."""

from importlib.resources import files
from pathlib import Path

PACKAGE = Path(str(files("caudal")))
SOURCES = PACKAGE.parent  # what stands on sys.path: src/ in a checkout, site-packages of an installed wheel
DEPLOY = PACKAGE / "deploy"
