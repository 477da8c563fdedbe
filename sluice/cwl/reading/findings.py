"""Where findings are collected, each with its place in the text."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from sluice.contracts.problems import Finding

#: Beyond this many a list of findings helps nobody.
MOST_FINDINGS = 100
#: Errors after which no more are looked for: of a text in which everything is wrong, each costs a
#: look at all names in it.
_MOST_ERRORS = 2 * MOST_FINDINGS
#: Names, and characters of each, that a word is compared with.
_MOST_NAMES, _MOST_CHARACTERS = 200, 40
#: Steps of a circle that are named.
_MOST_OF_CIRCLE = 12


class EnoughFound(Exception):
    """There are more errors than will be told."""


class TextPlace(NamedTuple):
    """Line and column, both from 1. ``file``: where it is not the template's own."""

    line: int
    column: int
    file: str | None = None


START = TextPlace(1, 1)


def text_place(node: Any, key: Any = None) -> TextPlace:
    """Place of ``key`` in ``node`` (a mapping's key, a sequence's item), or of the node itself."""
    where = node.lc.data.get(key) if key is not None and node.lc.data else None
    line, column = where[:2] if where else (node.lc.line, node.lc.col)
    return TextPlace((line or 0) + 1, (column or 0) + 1, getattr(node.lc, "filename", None))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?``, or what there is when nothing is close, or nothing when there is
    nothing."""
    names = sorted(set(known))
    alike = {name[:_MOST_CHARACTERS]: name for name in names[:_MOST_NAMES]}
    close = get_close_matches(word[:_MOST_CHARACTERS], alike, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{alike[close[0]]}'?"
    if not names:
        return ""
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"; there is: {shown}"


def circle(steps: Sequence[str]) -> str:
    """That each of ``steps`` waits for the next, and the last for the first."""
    shown = [*steps[:_MOST_OF_CIRCLE], "…"] if len(steps) > _MOST_OF_CIRCLE else steps
    return f"the steps wait for each other in a circle: {' → '.join([*shown, steps[0]])}"


class Findings:
    """All that was found in one text. Order and duplicates do not matter when adding. Adding raises
    ``EnoughFound`` when there are more errors than anybody reads."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: dict[tuple[str, int, int, str], Finding] = {}
        self._errors: set[tuple[str, int, int]] = set()

    def error(self, place: TextPlace, message: str) -> None:
        self._add(place, message, "error")

    def warning(self, place: TextPlace, message: str) -> None:
        self._add(place, message, "warning")

    def _add(self, place: TextPlace, message: str, severity: str) -> None:
        file = place.file or self.file
        key = (file, place.line, place.column, message)
        if severity == "error":
            self._errors.add(key[:3])
        if key not in self._found:
            self._found[key] = Finding(
                message=message, severity=severity, file=file, line=place.line, column=place.column
            )
        if severity == "error" and len(self._errors) >= _MOST_ERRORS:
            raise EnoughFound

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

    def has_error_at(self, place: TextPlace) -> bool:
        return (place.file or self.file, place.line, place.column) in self._errors

    def sorted(self) -> list[Finding]:
        """Errors first, then warnings, each by file and place. Cut at `MOST_FINDINGS`, and it says
        so."""
        ordered = [self._found[key] for key in sorted(self._found)]
        ordered.sort(key=lambda finding: finding.severity)
        if len(ordered) <= MOST_FINDINGS:
            return ordered
        left = len(ordered) - MOST_FINDINGS + 1
        last = ordered[MOST_FINDINGS - 1]
        least = "at least " if len(self._errors) >= _MOST_ERRORS else ""
        note = f"{least}{left} more findings are not shown; correct these first"
        return [*ordered[: MOST_FINDINGS - 1], last.model_copy(update={"message": note})]
