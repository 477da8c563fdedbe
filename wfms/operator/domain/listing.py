"""A text with its findings, line by line; of a long one only what stands around them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sluice.contracts.problems import Finding

#: A text of up to so many lines is shown whole; of a longer one, so many lines around each finding.
MOST_LINES = 1500
AROUND = 6
#: Characters of one line.
MOST_CHARACTERS = 400


@dataclass(slots=True)
class Line:
    """``skipped``: lines left out before this one."""

    number: int
    text: str
    skipped: int = 0
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Listing:
    """``general``: findings that have no place in the text. ``left_out``: lines after the last one shown."""

    lines: list[Line]
    general: list[Finding]
    left_out: int


def list_lines(text: str, findings: Sequence[Finding] = ()) -> Listing:
    source = text.split("\n")
    if source[-1] == "" and len(source) > 1:
        source.pop()
    placed: dict[int, list[Finding]] = {}
    general: list[Finding] = []
    for finding in findings:
        if finding.line is not None and 1 <= finding.line <= len(source):
            placed.setdefault(finding.line, []).append(finding)
        else:
            general.append(finding)
    lines: list[Line] = []
    last = 0
    for number in _shown(len(source), placed.keys()):
        lines.append(Line(number, _cut(source[number - 1]), number - last - 1, placed.get(number, [])))
        last = number
    return Listing(lines, general, len(source) - last)


def _shown(count: int, wanted: Iterable[int]) -> list[int]:
    if count <= MOST_LINES:
        return list(range(1, count + 1))
    shown = set(range(1, 2 * AROUND + 1))
    for line in wanted:
        shown |= set(range(max(1, line - AROUND), min(count, line + AROUND) + 1))
    return sorted(shown)


def _cut(line: str) -> str:
    line = line.rstrip("\r")
    return line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " …"
