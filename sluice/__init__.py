"""Sluice, a workflow management system."""

import sys

# Without this entry httpx imports its command line with rich and pygments if they are installed.
# Processes start 0.15 s faster.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type] # None is how an import is told that there is nothing
