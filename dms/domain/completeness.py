"""The files that a data set lacks before it can close."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UsedNumbers:
    """Numbers (``seq``) of the files of a data set.

    Attributes:
        range: Lowest and highest number; None if there is no file.
        gaps: First and last number of each stretch between them that no file has.
    """

    range: tuple[int, int] | None = None
    gaps: Sequence[tuple[int, int]] = ()


def describe_missing_files(count: int, *, expected_count: int, used_numbers: UsedNumbers) -> str:
    """Say how many files a data set lacks, and which numbers have no file.

    Example: "2 more files: 7 of 9 are registered, with numbers from 1 to 9, but no file has
    3, 5 to 6".
    """
    lacking = expected_count - count
    text = (
        f"{lacking} more {'file' if lacking == 1 else 'files'}:"
        f" {count} of {expected_count} are registered"
    )
    if used_numbers.range is None:
        return text
    text += ", with numbers from {} to {}".format(*used_numbers.range)
    if not used_numbers.gaps:
        return text
    stretches = [
        str(first) if first == last else f"{first} to {last}" for first, last in used_numbers.gaps
    ]
    return f"{text}, but no file has {', '.join(stretches)}"
