"""The comparison of the files of two template versions, line by line."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from sluice.contracts.templates.templates import Change, FileChange

#: Limit of the lines of all files between the first and last difference. The time of a diff grows
#: with their square.
MAX_LINES = 3000
#: Context lines around a difference.
_CONTEXT = 3
#: The header of a hunk in a unified diff; a length of 1 is left out.
_PLACE = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def compare_files(
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    labels: tuple[str, str],
    mains: tuple[str, str],
) -> list[FileChange]:
    """Return the files that differ, with diffs.

    Args:
        before: The old files by path.
        after: The new files by path.
        labels: The names of the versions in the diffs.
        mains: The paths of the workflows, which come first. The path of a single file is ignored.
    """
    if len(before) == len(after) == 1:
        before, mains = {mains[1]: next(iter(before.values()))}, (mains[1], mains[1])
    changes: list[FileChange] = []
    remaining_lines = MAX_LINES
    for path in sorted(before.keys() | after.keys(), key=lambda path: (path not in mains, path)):
        change = _classify_change(before.get(path), after.get(path))
        if change is not None:
            middle = _Middle(_split_lines(before.get(path, "")), _split_lines(after.get(path, "")))
            remaining_lines -= middle.size
            diff = (
                middle.diff(f"{labels[0]}: {path}", f"{labels[1]}: {path}")
                if remaining_lines >= 0
                else middle.in_words
            )
            changes.append(FileChange(path=path, change=change, diff=diff))
    return changes


def _classify_change(before: str | None, after: str | None) -> Change | None:
    if before == after:
        return None
    if before is None:
        return Change.ADDED
    return Change.REMOVED if after is None else Change.CHANGED


def _split_lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


class _Middle:
    """The lines between the common beginning and the common end of two texts."""

    def __init__(self, before: list[str], after: list[str]) -> None:
        self._counts = len(before), len(after)
        first = _count_common(before, after)
        last = _count_common(before[first:][::-1], after[first:][::-1])
        self.size = max(self._counts) - first - last
        self._offset = max(first - _CONTEXT, 0)
        self._before, self._after = (
            lines[self._offset : len(lines) - last + min(last, _CONTEXT)]
            for lines in (before, after)
        )

    @property
    def in_words(self) -> str:
        """The difference in words, for texts that are too long to compare."""
        old, new = self._counts
        return f"{old} lines become {new}: too many for a comparison line by line"

    def diff(self, before: str, after: str) -> str:
        """Return the unified diff; ``before`` and ``after`` are the names of the files in it."""
        lines = difflib.unified_diff(
            self._before, self._after, before, after, lineterm="", n=_CONTEXT
        )
        return "\n".join(self._with_line_numbers(lines)) or "only the end of the last line differs"

    def _with_line_numbers(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            place = _PLACE.fullmatch(line)
            if place is None:
                yield line
            else:
                old, old_length, new, new_length = place.groups(default="")
                yield (
                    f"@@ -{int(old) + self._offset}{old_length}"
                    f" +{int(new) + self._offset}{new_length} @@"
                )


def _count_common(before: Sequence[str], after: Sequence[str]) -> int:
    """Return the number of equal lines at the beginning."""
    same = next(
        (
            number
            for number, (old, new) in enumerate(zip(before, after, strict=False))
            if old != new
        ),
        None,
    )
    return min(len(before), len(after)) if same is None else same
