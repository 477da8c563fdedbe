"""Counts that tools report of their output files, such as events, tracks or pages.

The catalogue itself counts files and bytes.

A tool gives a File of its outputs the key ``sluice:counts``, in its ``cwl.output.json`` or by an
expression: names and whole numbers. They go with the file into the catalogue. The catalogue adds
the counts of a data set and writes the sums into its metadata when it closes (``PRODUCED``).
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from sluice.contracts.common.wording import StringRule, validation_sentence
from sluice.text.sentences import lower_first

#: The key of the counts in a CWL File and in a file's metadata in the catalogue.
COUNTS = "sluice:counts"
#: The metadata key of a data set for its counts, files and bytes.
PRODUCED = "produced"
#: Most different names in one data set. Counts with further names are ignored.
MAX_NAMES = 64
#: The largest sum, which databases and CWL's ``long`` can hold. Larger sums are cut to this number.
MAX_SUM = 2**63 - 1

_RESERVED = frozenset({"files", "bytes"})

_VALID_COUNTS = (
    "give at most 16 names (letters, digits, _), each with a whole number from 0 to 2^53 - 1"
)

#: A number of JSON holds all integers below the limit exactly.
Count = Annotated[int, Field(ge=0, lt=2**53, strict=True)]
_Name = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,39}$"),
    StringRule(
        "its name",
        first="[A-Za-z]",
        other="[A-Za-z0-9_]",
        max_length=40,
        rule="has at most 40 characters, the first a letter",
    ),
]
Counts = Annotated[dict[_Name, Count], Field(max_length=16)]

_counts_adapter: TypeAdapter[dict[str, int]] = TypeAdapter(Counts)


class InvalidCounts(ValueError):
    """The counts are invalid. The message says what is wrong and what is valid."""


def require_counts(value: Any) -> dict[str, int]:
    """Return the counts of a file.

    Raises:
        InvalidCounts: The value is not valid.
    """
    try:
        counts = _counts_adapter.validate_python(value)
    except ValidationError as error:
        fault = error.errors()[0]
        where = "".join(f" {part}" for part in fault["loc"][:1])
        why = lower_first(validation_sentence(fault))
        raise InvalidCounts(f"{COUNTS}{where}: {why}; {_VALID_COUNTS}") from error
    if reserved := sorted(_RESERVED & counts.keys()):
        raise InvalidCounts(
            f"{COUNTS} {reserved[0]}: the system counts {' and '.join(sorted(_RESERVED))} itself;"
            " take another name"
        )
    return counts


def counts_in(meta: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts in the metadata of a file, or nothing if they are missing or invalid."""
    try:
        return require_counts(meta[COUNTS]) if COUNTS in meta else {}
    except InvalidCounts:
        return {}


def add_counts(total: Mapping[str, int], further: Mapping[str, int]) -> dict[str, int]:
    """Return the sums of two sets of counts.

    New names are ignored once there are ``MAX_NAMES``, so each sum is complete. A sum stops at
    ``MAX_SUM``, which then means that or more: no count is a reason to lose its file.
    """
    sums = dict(total)
    for name, number in further.items():
        if name in sums or len(sums) < MAX_NAMES:
            sums[name] = min(sums.get(name, 0) + number, MAX_SUM)
    return sums


def produced_facts(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of a data set as conditions name them: ``produced.events``."""
    produced = meta.get(PRODUCED)
    return (
        {f"{PRODUCED}.{name}": value for name, value in produced.items()}
        if isinstance(produced, Mapping)
        else {}
    )


def produced_texts(meta: Mapping[str, Any]) -> list[str]:
    """Return the counts of a data set as text, such as ``1204 events``.

    Files and bytes are left out.
    """
    produced = meta.get(PRODUCED)
    if not isinstance(produced, Mapping):
        return []
    return [
        f"{_amount(number)} {name}"
        for name, number in sorted(produced.items())
        if name not in _RESERVED
    ]


def _amount(number: Any) -> str:
    return f"at least {MAX_SUM}" if isinstance(number, int) and number >= MAX_SUM else str(number)
