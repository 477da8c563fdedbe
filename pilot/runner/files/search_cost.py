"""What it takes to find a job's files: links back into folders make trees that have no end."""

from dataclasses import dataclass

_MOST_STEPS, _MOST_PATHS = 10_000_000, 1_000_000
#: Characters of a path that counts as one.
_LONG = 256


@dataclass(slots=True)
class SearchCost:
    """Of one job, so far. ``steps``: folders and links passed, and names read. ``paths``: found by
    patterns and in folders that are listed; a long one counts as several."""

    steps: int = 0
    paths: int = 0

    def add_path(self, path: str) -> None:
        self.paths += 1 + len(path) // _LONG

    @property
    def excess(self) -> str | None:
        """What no job takes."""
        if self.steps > _MOST_STEPS:
            return f"more than {_MOST_STEPS} steps through folders and links"
        if self.paths > _MOST_PATHS:
            return f"more than {_MOST_PATHS} paths, on the way or in the end"
        return None
