"""What all parts share, and the product's face."""

import sys

# httpx loads a command line of its own, with rich's and pygments's tables, where it finds these;
# without, each of our processes starts 0.15 s sooner.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type] # None is how an import is told that there is nothing
