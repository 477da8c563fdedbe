"""Where findings are collected, each with its place in the text."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

from sluice.contracts.problems import Finding

#: Beyond this many a list of findings helps nobody.
MOST_FINDINGS = 100


class Place(NamedTuple):
    """Line and column, both from 1. ``file``: where it is not the template's own."""

    line: int
    column: int
    file: str | None = None


START = Place(1, 1)


def place_of(node: Any, key: Any = None) -> Place:
    """Place of ``key`` in ``node`` (a mapping's key, a sequence's item), or of the node itself."""
    where = node.lc.data.get(key) if key is not None and node.lc.data else None
    line, column = where[:2] if where else (node.lc.line, node.lc.col)
    return Place((line or 0) + 1, (column or 0) + 1, getattr(node.lc, "filename", None))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?``, or what there is when nothing is close, or nothing when there is nothing."""
    names = sorted(set(known))
    close = get_close_matches(word[:80], names[:200], n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    if not names:
        return ""
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"; there is: {shown}"


class Findings:
    """All that was found in one text. Order and duplicates do not matter when adding."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: dict[tuple[str, int, int, str], Finding] = {}
        self._errors: set[tuple[str, int, int]] = set()

    def error(self, place: Place, message: str) -> None:
        self._add(place, message, "error")

    def warning(self, place: Place, message: str) -> None:
        self._add(place, message, "warning")

    def _add(self, place: Place, message: str, severity: str) -> None:
        file = place.file or self.file
        key = (file, place.line, place.column, message)
        if severity == "error":
            self._errors.add(key[:3])
        if key not in self._found:
            self._found[key] = Finding(message=message, severity=severity, file=file, line=place.line, column=place.column)

    def include(self, other: "Findings") -> None:
        """Adds all that was found in another text."""
        self._found |= other._found
        self._errors |= other._errors

    @property
    def failed(self) -> bool:
        return bool(self._errors)

    @property
    def full(self) -> bool:
        """Are there more than will be shown already?"""
        return len(self._errors) > MOST_FINDINGS

    def has_error_at(self, place: Place) -> bool:
        return (place.file or self.file, place.line, place.column) in self._errors

    def sorted(self) -> list[Finding]:
        """Errors first, then warnings, each by file and place. Cut at `MOST_FINDINGS`, and it says so."""
        ordered = [self._found[key] for key in sorted(self._found)]
        ordered.sort(key=lambda finding: finding.severity)
        if len(ordered) <= MOST_FINDINGS:
            return ordered
        left = len(ordered) - MOST_FINDINGS + 1
        last = ordered[MOST_FINDINGS - 1]
        note = f"{left} more findings are not shown; correct these first"
        return [*ordered[: MOST_FINDINGS - 1], last.model_copy(update={"message": note})]
