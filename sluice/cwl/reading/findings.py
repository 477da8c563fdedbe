"""Collection of findings, each with its place in the text."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from sluice.contracts.common.problems import Finding
from sluice.text.visible_text import quoted, shortened

#: The number of findings that are shown.
MAX_FINDINGS = 100
#: The number of errors after which compilation stops. Each error may cost a comparison with all
#: names of the text.
_MAX_ERRORS = 2 * MAX_FINDINGS
#: The number of names, and of characters of each, that a word is compared with.
_MAX_NAMES, _MAX_CHARACTERS = 200, 40
#: The number of steps of a cycle that are named.
_MAX_CYCLE = 12


class TooManyErrors(Exception):
    """There are more errors than are shown."""


class TextPlace(NamedTuple):
    """Line and column, both from 1. ``file`` is set if it is not the template's own file."""

    line: int
    column: int
    file: str | None = None


START = TextPlace(1, 1)


def text_place(node: Any, key: Any = None) -> TextPlace:
    """Return the place of ``key`` in ``node`` (a mapping key or an index), or of the node."""
    where = node.lc.data.get(key) if key is not None and node.lc.data else None
    line, column = where[:2] if where else (node.lc.line, node.lc.col)
    return TextPlace((line or 0) + 1, (column or 0) + 1, getattr(node.lc, "filename", None))


def suggest_or_list(word: str, known_names: Iterable[str]) -> str:
    """Return a hint with the known name closest to a word.

    It is ``; did you mean 'x'?``, or the known names if none is close, or an empty text if there
    are none.
    """
    names = sorted(set(known_names))
    names_by_prefix = {name[:_MAX_CHARACTERS]: name for name in names[:_MAX_NAMES]}
    matches = get_close_matches(word[:_MAX_CHARACTERS], names_by_prefix, n=1, cutoff=0.6)
    if matches:
        return f"; did you mean {quoted(names_by_prefix[matches[0]])}?"
    if not names:
        return ""
    names_text = ", ".join(map(shortened, names[:12])) + (", …" if len(names) > 12 else "")
    return f"; there is: {names_text}"


def cycle_message(steps: Sequence[str]) -> str:
    """Return the message for steps that wait for each other in a circle."""
    path = [*steps[:_MAX_CYCLE], *(["…"] if len(steps) > _MAX_CYCLE else []), steps[0]]
    return f"the steps depend on each other in a cycle: {' → '.join(map(shortened, path))}"


class Findings:
    """The findings of one text.

    They may be added in any order, and duplicates are dropped. Adding raises ``TooManyErrors`` if
    there are too many errors.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self._findings: dict[tuple[str, int, int, str], Finding] = {}
        self._errors: set[tuple[str, int, int]] = set()

    def error(self, place: TextPlace, message: str) -> None:
        """Add an error."""
        self._add(place, message, "error")

    def warning(self, place: TextPlace, message: str) -> None:
        """Add a warning."""
        self._add(place, message, "warning")

    def _add(self, place: TextPlace, message: str, severity: str) -> None:
        file = place.file or self.file
        key = (file, place.line, place.column, message)
        if severity == "error":
            self._errors.add(key[:3])
        if key not in self._findings:
            self._findings[key] = Finding(
                message=message, severity=severity, file=file, line=place.line, column=place.column
            )
        if severity == "error" and len(self._errors) >= _MAX_ERRORS:
            raise TooManyErrors

    def include(self, other: "Findings") -> None:
        """Add all findings of another text."""
        self._findings |= other._findings
        self._errors |= other._errors

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return bool(self._errors)

    @property
    def full(self) -> bool:
        """Whether there are more errors than are shown."""
        return len(self._errors) > MAX_FINDINGS

    @property
    def is_crowded(self) -> bool:
        """Whether there are more findings than are worth the cost of looking for further ones."""
        return len(self._findings) > _MAX_ERRORS

    def has_error_at(self, place: TextPlace) -> bool:
        """Return whether there is an error at a place."""
        return (place.file or self.file, place.line, place.column) in self._errors

    def sorted(self) -> list[Finding]:
        """Return the errors, then the warnings, each sorted by file and place.

        At most `MAX_FINDINGS` are returned. The last one then says how many are missing.
        """
        ordered = [self._findings[key] for key in sorted(self._findings)]
        ordered.sort(key=lambda finding: finding.severity)
        if len(ordered) <= MAX_FINDINGS:
            return ordered
        hidden_count = len(ordered) - MAX_FINDINGS + 1
        last = ordered[MAX_FINDINGS - 1]
        qualifier = "at least " if len(self._errors) >= _MAX_ERRORS else ""
        note = f"{qualifier}{hidden_count} more findings are not shown; correct these first"
        return [*ordered[: MAX_FINDINGS - 1], last.model_copy(update={"message": note})]
