"""Texts with their findings, line by line; of a long one only what stands around them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sluice.contracts.problems import Finding

#: A longer text is shown around its findings only; lines that are left out of a shorter one can be unfolded.
MOST_LINES = 3000
#: Lines shown on either side of a finding, and at the beginning.
AROUND = 5
#: Characters of one line.
MOST_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Line:
    """``number`` from 1."""

    number: int
    text: str
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that stand together. ``folded``: nothing was found in them. ``count``: how many; ``lines`` may be left out."""

    lines: list[Line]
    count: int
    folded: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """``general``: findings that have no place in the text."""

    blocks: list[Block]
    general: list[Finding]


def list_lines(text: str, findings: Sequence[Finding] = (), *, fold: bool = False) -> Listing:
    """``fold``: only what stands around the findings is open."""
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
    long = len(source) > MOST_LINES
    shown = _around(placed, len(source)) if fold or long else set(range(1, len(source) + 1))
    blocks = []
    for is_shown, group in groupby(range(1, len(source) + 1), key=lambda number: number in shown):
        numbers = list(group)
        lines = (
            [Line(number, _cut(source[number - 1]), placed.get(number, [])) for number in numbers] if is_shown or not long else []
        )
        blocks.append(Block(lines, len(numbers), folded=not is_shown))
    return Listing(blocks, general)


@dataclass(frozen=True, slots=True)
class FileListing:
    """``mark``: what the anchors of its lines begin with."""

    path: str
    mark: str
    listing: Listing


@dataclass(frozen=True, slots=True)
class Reference:
    """A finding, with the anchor of the line that it is about: empty where that is not shown."""

    finding: Finding
    anchor: str


@dataclass(frozen=True, slots=True)
class Listings:
    """``files``: the workflow's own first. ``references``: all findings, in order."""

    files: list[FileListing]
    references: list[Reference]


def list_files(files: Mapping[str, str], main: str | None, findings: Sequence[Finding] = (), *, fold: bool = False) -> Listings:
    """``fold`` as in ``list_lines``."""
    paths = sorted(files, key=lambda path: (path != main, path))
    # Of a single file the name does not matter: it may have come with another one than it is kept under.
    own = {path: [one for one in findings if one.file == path or len(paths) == 1] for path in paths}
    marks = {path: "" if number == 0 else f"F{number + 1}-" for number, path in enumerate(paths)}
    listed = [FileListing(path, marks[path], list_lines(files[path], own[path], fold=fold)) for path in paths]
    shown = {
        (file.path, line.number): f"{file.mark}L{line.number}"
        for file in listed
        for block in file.listing.blocks
        for line in block.lines
    }
    only = paths[0] if len(paths) == 1 else None
    return Listings(listed, [Reference(one, shown.get((only or one.file or "", one.line or 0), "")) for one in findings])


def _around(wanted: Iterable[int], count: int) -> set[int]:
    shown = set(range(1, min(count, AROUND) + 1))
    for line in wanted:
        shown |= set(range(max(1, line - AROUND), min(count, line + AROUND) + 1))
    return shown


def _cut(line: str) -> str:
    line = line.rstrip("\r")
    return line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " …"
