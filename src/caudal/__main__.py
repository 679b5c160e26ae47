"""`python -m caudal`: the command line."""

import sys

from caudal.tools.cli.main import main

sys.exit(main())
