"""What tools say that they counted in what they wrote (events, tracks, pages); files and bytes the
catalogue counts itself.

A tool gives a File of its outputs the key ``sluice:counts``, in its ``cwl.output.json`` or by an
expression: names and whole numbers. They go with the file into the catalogue, which adds up those
of a data set, and writes the sums into its metadata when it closes (``PRODUCED``).
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from sluice.contracts.wording import Spelling, sentence_of

#: Of a File in CWL, and of a file's metadata in the catalogue.
COUNTS = "sluice:counts"
#: Of a data set's metadata: its counts, files and bytes.
PRODUCED = "produced"
#: Different names in one data set; what comes beyond them is not counted.
MOST_NAMES = 64
#: A sum of so much or more is told as this: what databases, JSON and CWL's ``long`` all hold.
MOST_SUM = 2**63 - 1

_RESERVED = frozenset({"files", "bytes"})

_WANTED = "give at most 16 names (letters, digits, _), each with a whole number from 0 to 2^53 - 1"

#: Exactly so many fit into a number of JSON.
Count = Annotated[int, Field(ge=0, lt=2**53, strict=True)]
_Name = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,39}$"),
    Spelling(
        "its name",
        first="[A-Za-z]",
        other="[A-Za-z0-9_]",
        most=40,
        rule="has at most 40 characters, the first a letter",
    ),
]
Counts = Annotated[dict[_Name, Count], Field(max_length=16)]

_counts: TypeAdapter[dict[str, int]] = TypeAdapter(Counts)


class WrongCounts(ValueError):
    """Says what is wrong, and what is wanted."""


def require_counts(value: Any) -> dict[str, int]:
    """Raises ``WrongCounts``."""
    try:
        found = _counts.validate_python(value)
    except ValidationError as error:
        wrong = error.errors()[0]
        where = "".join(f" {part}" for part in wrong["loc"][:1])
        sentence = sentence_of(wrong)
        why = f"{sentence[0].lower()}{sentence[1:]}"
        raise WrongCounts(f"{COUNTS}{where}: {why}; {_WANTED}") from error
    if taken := sorted(_RESERVED & found.keys()):
        raise WrongCounts(
            f"{COUNTS} {taken[0]}: the system counts {' and '.join(sorted(_RESERVED))} itself; take"
            " another name"
        )
    return found


def counts_in(meta: Mapping[str, Any]) -> dict[str, int]:
    """Of a file's metadata; nothing where there are none, or something else has that name."""
    try:
        return require_counts(meta[COUNTS]) if COUNTS in meta else {}
    except WrongCounts:
        return {}


def added(total: Mapping[str, int], further: Mapping[str, int]) -> dict[str, int]:
    """``total`` with ``further``, which adds no name once there are ``MOST_NAMES``: so each sum
    there is, is whole. One that would pass ``MOST_SUM`` stays there, and means that or more: no
    count is a reason to lose its file."""
    sums = dict(total)
    for name, number in further.items():
        if name in sums or len(sums) < MOST_NAMES:
            sums[name] = min(sums.get(name, 0) + number, MOST_SUM)
    return sums


def produced_facts(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What conditions name of a data set's counts: ``produced.events``."""
    produced = meta.get(PRODUCED)
    return (
        {f"{PRODUCED}.{name}": value for name, value in produced.items()}
        if isinstance(produced, Mapping)
        else {}
    )


def produced_texts(meta: Mapping[str, Any]) -> list[str]:
    """``1204 events``, or ``at least`` so many, for people; files and bytes, which are told
    elsewhere, are left out."""
    produced = meta.get(PRODUCED)
    if not isinstance(produced, Mapping):
        return []
    return [
        f"{_amount(number)} {name}"
        for name, number in sorted(produced.items())
        if name not in _RESERVED
    ]


def _amount(number: Any) -> str:
    return f"at least {MOST_SUM}" if isinstance(number, int) and number >= MOST_SUM else str(number)
