"""Cost of a search for a job's files, as links to folders can form endless trees."""

from dataclasses import dataclass

_MAX_STEPS, _MAX_PATHS = 10_000_000, 1_000_000
#: Number of characters of a path that count as one more path.
_LONG = 256


@dataclass(slots=True)
class SearchCost:
    """Cost of all searches of one job.

    Attributes:
        steps: Number of folders and links on paths, and names read.
        paths: Number of results of patterns and listed folders. A long path counts more than once.
    """

    steps: int = 0
    paths: int = 0

    def add_path(self, path: str) -> None:
        """Count a path."""
        self.paths += 1 + len(path) // _LONG

    @property
    def excess(self) -> str | None:
        """Return which limit is exceeded, in words, or None."""
        if self.steps > _MAX_STEPS:
            return f"more than {_MAX_STEPS} steps through folders and links"
        if self.paths > _MAX_PATHS:
            return f"more than {_MAX_PATHS} paths, on the way or in the end"
        return None
