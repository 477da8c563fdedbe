"""Entry point of ``pilot.runner.inner_workflow.process``."""

import sys

from pilot.runner.inner_workflow.process import main

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
