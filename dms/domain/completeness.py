"""What a data set that is to close at a number of files still lacks."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NumbersUsed:
    """Numbers (``seq``) of the files of a data set. ``range``: lowest and highest, None where there
    is no file; ``gaps``: between these, first and last number of each stretch that no file has."""

    range: tuple[int, int] | None = None
    gaps: Sequence[tuple[int, int]] = ()


def missing_files_text(count: int, *, wanted: int, used: NumbersUsed) -> str:
    """``2 more files: 7 of 9 are registered, with numbers from 1 to 9, of which no file has 3, 5 to
    6``."""
    lacking = wanted - count
    text = (
        f"{lacking} more {'file' if lacking == 1 else 'files'}: {count} of {wanted} are registered"
    )
    if used.range is None:
        return text
    text += ", with numbers from {} to {}".format(*used.range)
    if not used.gaps:
        return text
    stretches = [str(first) if first == last else f"{first} to {last}" for first, last in used.gaps]
    return f"{text}, of which no file has {', '.join(stretches)}"
