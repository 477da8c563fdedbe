"""Listings of source texts with their findings, line by line; of a long one only what stands around
them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sluice.contracts.problems import Finding

#: Lines on a page. A text that is longer than what is left of them is shown around its findings
#: only; lines that are left out of a shorter one can be unfolded.
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
    """Lines that stand together. ``folded``: nothing was found in them. ``count``: how many;
    ``lines`` may be left out.
    """

    lines: list[Line]
    count: int
    folded: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """``general``: findings that have no place in the text."""

    blocks: list[Block]
    general: list[Finding]


def list_lines(
    text: str, findings: Sequence[Finding] = (), *, fold: bool = False, room: int = MOST_LINES
) -> Listing:
    """``fold``: only what stands around the findings is open. ``room``: lines that a text may have
    to be there as a whole.
    """
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
    long = len(source) > room
    blocks = []
    for numbers, is_shown in _spans(placed if fold or long else None, len(source)):
        lines = (
            [Line(number, _cut(source[number - 1]), placed.get(number, [])) for number in numbers]
            if is_shown or not long
            else []
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


def list_sources(
    files: Mapping[str, str],
    main: str | None,
    *,
    findings: Sequence[Finding] = (),
    fold: bool = False,
) -> Listings:
    """``fold`` as in ``list_lines``."""
    paths = sorted(files, key=lambda path: (path != main, path))
    # Of a single file the name does not matter: it may have come with another one than it is kept
    # under.
    own = {
        path: [finding for finding in findings if finding.file == path or len(paths) == 1]
        for path in paths
    }
    marks = {path: "" if number == 0 else f"F{number + 1}-" for number, path in enumerate(paths)}
    listed, room = [], MOST_LINES
    for path in paths:
        listing = list_lines(files[path], own[path], fold=fold, room=room)
        listed.append(FileListing(path, marks[path], listing))
        room = max(0, room - sum(len(block.lines) for block in listing.blocks))
    shown = {
        (file.path, line.number): f"{file.mark}L{line.number}"
        for file in listed
        for block in file.listing.blocks
        for line in block.lines
    }
    only = paths[0] if len(paths) == 1 else None
    return Listings(
        listed,
        [
            Reference(finding, shown.get((only or finding.file or "", finding.line or 0), ""))
            for finding in findings
        ],
    )


def _spans(wanted: Iterable[int] | None, count: int) -> Iterator[tuple[range, bool]]:
    """The numbers of lines that stand together, and whether they are shown: those at the beginning
    and around the ``wanted`` ones, or (None) all.
    """
    shown = [range(1, min(count, AROUND if wanted is not None else count) + 1)]
    for line in sorted(wanted or ()):
        near = range(max(1, line - AROUND), min(count, line + AROUND) + 1)
        if near.start <= shown[-1].stop:
            shown[-1] = range(shown[-1].start, max(shown[-1].stop, near.stop))
        else:
            shown.append(near)
    at = 1
    for lines in shown:
        if at < lines.start:
            yield range(at, lines.start), False
        yield lines, True
        at = lines.stop
    if at <= count:
        yield range(at, count + 1), False


def _cut(line: str) -> str:
    line = line.rstrip("\r")
    return line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " …"
