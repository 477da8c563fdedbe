"""Candidates and training examples, labelled by people, by the rules, or as random negatives."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from masstimes.classifier.features import MarkedContext
from masstimes.hours import clock
from masstimes.pages import read_lines
from sluice.packs.programs import BadData, CommandError
from sluice.text.visible_text import quoted

#: The text fields of a candidate of `mt-hours`.
TEXTS = ("id", "domain", "url", "hour", "time", "context")
_ANSWERS = {"yes": True, "no": False}


class TooFewAnswers(CommandError):
    """The answers are too few or too uniform to train on."""

    exit_code = 65


@dataclass(frozen=True, slots=True)
class Example:
    """A candidate with its label ``is_mass``."""

    id: str
    domain: str
    context: str
    start: int
    end: int
    is_mass: bool

    @property
    def marked(self) -> MarkedContext:
        """Return the context with the position of the hour."""
        return self.context, self.start, self.end


def read_candidates(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the candidates of a file.

    Raises:
        BadData: A line is no candidate, or the file is wrong as for ``read_lines``.
        MissingInput: The file cannot be opened.
    """
    for line in read_lines(path, fields=TEXTS):
        start, end = line.get("start"), line.get("end")
        if type(start) is not int or type(end) is not int or not _is_at(line, start, end):
            raise BadData(
                path,
                f"{quoted(line['id'])} has no hour {quoted(line['hour'])} at start and end of its"
                " context",
            )
        yield line


def _is_at(line: dict[str, Any], start: int, end: int) -> bool:
    try:
        clock(line["hour"])
    except ValueError:
        return False
    return start >= 0 and str(line["context"][start:end]) == line["hour"]


def make_example(line: dict[str, Any], *, is_mass: bool) -> Example:
    """Return an example with that label for a candidate."""
    return Example(line["id"], line["domain"], line["context"], line["start"], line["end"], is_mass)


def read_labelled_examples(paths: Iterable[Path], tell: Callable[[str], None]) -> list[Example]:
    """Return the examples labelled by people, by id and each candidate once.

    The majority decides. Candidates with as many yes as no are left out, and ``tell`` gets their
    number.
    """
    lines: dict[str, dict[str, Any]] = {}
    votes: dict[str, Counter[bool]] = {}
    for path in paths:
        for line in read_candidates(path):
            answer = line.get("answer")
            if not isinstance(answer, str) or answer not in _ANSWERS:
                expected = " or ".join(_ANSWERS)
                raise BadData(
                    path, f"{quoted(line['id'])} has answer {quoted(answer)}, not {expected}"
                )
            lines[line["id"]] = line
            votes.setdefault(line["id"], Counter())[_ANSWERS[answer]] += 1
    examples = []
    for name in sorted(lines):
        yes, no = votes[name][True], votes[name][False]
        if yes != no:
            examples.append(make_example(lines[name], is_mass=yes > no))
    if ties := len(lines) - len(examples):
        tell(f"{ties} candidates have as many answers yes as no, and were left out")
    return examples


def find_rule_examples(
    orders: Iterable[Path], candidates: Iterable[Path], *, known_ids: set[str]
) -> list[Example]:
    """Return candidates whose page and time are in a mass schedule that the rules found.

    Candidates of ``known_ids`` are left out.
    """
    times: set[tuple[str, str]] = set()
    for path in orders:
        for order in read_lines(path, fields=("url",)):
            for day in ("sundays", "weekdays"):
                times.update((order["url"], time) for time in order.get(day) or ())
    lines = {
        line["id"]: line
        for path in candidates
        for line in read_candidates(path)
        if (line["url"], line["time"]) in times and line["id"] not in known_ids
    }
    return [make_example(lines[name], is_mass=True) for name in sorted(lines)]


def draw_random_negatives(
    other_files: Iterable[Path], number: int, *, known_ids: set[str], seed: int
) -> list[Example]:
    """Return a sample of ``number`` candidates of any pages, labelled as no masses.

    Nearly none of them is a mass. If there are fewer, all are returned.
    """
    lines = {
        line["id"]: line
        for path in other_files
        for line in read_candidates(path)
        if line["id"] not in known_ids
    }
    sample = Random(seed).sample(sorted(lines), min(number, len(lines)))  # noqa: S311
    return [make_example(lines[name], is_mass=False) for name in sorted(sample)]


def split(examples: Sequence[Example], *, seed: int, part: float) -> tuple[set[str], set[str]]:
    """Return the domains to learn from and the domains to measure on, a ``part`` of all.

    No domain is in both.

    Raises:
        TooFewAnswers: There are fewer than two domains.
    """
    domains = sorted({each.domain for each in examples})
    if len(domains) < 2:
        raise TooFewAnswers(
            f"the answers are of {len(domains)} sites; give answers of two sites at least, because"
            " one is used for measuring"
        )
    Random(seed).shuffle(domains)  # noqa: S311
    number = min(max(1, round(part * len(domains))), len(domains) - 1)
    return set(domains[number:]), set(domains[:number])
