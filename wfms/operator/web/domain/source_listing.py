"""Listings of source texts with their findings, line by line, shortened around the findings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sluice.contracts.common.problems import Finding

#: Lines on a page. Of a text that exceeds the rest of them, only lines around findings are shown.
#: Hidden lines of a shorter text can be unfolded.
MAX_LINES = 3000
#: Lines shown around a finding and at the beginning.
AROUND = 5
#: Characters of a line that are shown.
MAX_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text; numbers start at 1."""

    number: int
    text: str
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines.

    Attributes:
        lines: The lines; empty if they are left out.
        count: The number of lines.
        folded: Whether the block is hidden because it has no findings.
    """

    lines: list[Line]
    count: int
    folded: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """A listing; ``general`` are findings without a place in the text."""

    blocks: list[Block]
    general: list[Finding]


def list_lines(
    text: str, findings: Sequence[Finding] = (), *, fold: bool = False, lines_left: int = MAX_LINES
) -> Listing:
    """Return the listing of a text.

    Args:
        text: The text.
        findings: The findings about the text.
        fold: Whether to hide what is not near a finding.
        lines_left: Lines up to which a text is listed completely.
    """
    source = text.split("\n")
    if source[-1] == "" and len(source) > 1:
        source.pop()
    findings_by_line: dict[int, list[Finding]] = {}
    general: list[Finding] = []
    for finding in findings:
        if finding.line is not None and 1 <= finding.line <= len(source):
            findings_by_line.setdefault(finding.line, []).append(finding)
        else:
            general.append(finding)
    long = len(source) > lines_left
    blocks = []
    for numbers, is_visible in _list_spans(findings_by_line if fold or long else None, len(source)):
        lines = (
            [
                Line(number, _cut(source[number - 1]), findings_by_line.get(number, []))
                for number in numbers
            ]
            if is_visible or not long
            else []
        )
        blocks.append(Block(lines, len(numbers), folded=not is_visible))
    return Listing(blocks, general)


@dataclass(frozen=True, slots=True)
class FileListing:
    """The listing of a file; ``mark`` is the prefix of the anchors of its lines."""

    path: str
    mark: str
    listing: Listing


@dataclass(frozen=True, slots=True)
class Reference:
    """A finding with the anchor of its line; the anchor is empty if the line is not shown."""

    finding: Finding
    anchor: str


@dataclass(frozen=True, slots=True)
class Listings:
    """The listings of files, the workflow first, and all findings in order."""

    files: list[FileListing]
    references: list[Reference]


def list_sources(
    files: Mapping[str, str],
    main: str | None,
    *,
    findings: Sequence[Finding] = (),
    fold: bool = False,
) -> Listings:
    """Return the listings of files; ``fold`` is as in ``list_lines``."""
    paths = sorted(files, key=lambda path: (path != main, path))
    # The path of a single file does not matter: it may be stored under another one.
    findings_by_path = {
        path: [finding for finding in findings if finding.file == path or len(paths) == 1]
        for path in paths
    }
    marks = {path: "" if number == 0 else f"F{number + 1}-" for number, path in enumerate(paths)}
    file_listings, lines_left = [], MAX_LINES
    for path in paths:
        listing = list_lines(files[path], findings_by_path[path], fold=fold, lines_left=lines_left)
        file_listings.append(FileListing(path, marks[path], listing))
        lines_left = max(0, lines_left - sum(len(block.lines) for block in listing.blocks))
    anchors = {
        (file.path, line.number): f"{file.mark}L{line.number}"
        for file in file_listings
        for block in file.listing.blocks
        for line in block.lines
    }
    only_path = paths[0] if len(paths) == 1 else None
    return Listings(
        file_listings,
        [
            Reference(
                finding, anchors.get((only_path or finding.file or "", finding.line or 0), "")
            )
            for finding in findings
        ],
    )


def _list_spans(line_numbers: Iterable[int] | None, count: int) -> Iterator[tuple[range, bool]]:
    """Yield ranges of lines and whether each is shown.

    The beginning and the surroundings of ``line_numbers`` are shown, or all lines for None.
    """
    visible_ranges = [range(1, min(count, AROUND if line_numbers is not None else count) + 1)]
    for line in sorted(line_numbers or ()):
        near = range(max(1, line - AROUND), min(count, line + AROUND) + 1)
        if near.start <= visible_ranges[-1].stop:
            visible_ranges[-1] = range(
                visible_ranges[-1].start, max(visible_ranges[-1].stop, near.stop)
            )
        else:
            visible_ranges.append(near)
    position = 1
    for lines in visible_ranges:
        if position < lines.start:
            yield range(position, lines.start), False
        yield lines, True
        position = lines.stop
    if position <= count:
        yield range(position, count + 1), False


def _cut(line: str) -> str:
    line = line.rstrip("\r")
    return line if len(line) <= MAX_CHARACTERS else line[:MAX_CHARACTERS] + " …"
