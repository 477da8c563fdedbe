"""What a task scatters over where that is more than files of the same number (CWL: lists of values,
and crossproducts): each input of it has so many entries, taken together or each with each."""

from collections.abc import Mapping
from math import prod

from sluice.contracts.job_inputs import InputFile, InputItem, JobInput
from sluice.contracts.numbers import counted

#: More jobs than any system here would see the end of.
MOST_COMBINATIONS = 10_000_000


def too_many(step: str, sizes: Mapping[str, int]) -> str:
    """What is wrong where there are more combinations than can be worked through; empty:
    nothing."""
    jobs = prod(sizes.values())
    if jobs <= MOST_COMBINATIONS:
        return ""
    told = " × ".join(f"{size} of '{port}'" for port, size in sizes.items())
    return (
        f"step {step} takes each with each, {told}, which would be {counted(jobs, 'job')}: at most"
        f" {MOST_COMBINATIONS} are made of one step"
    )


def list_item(port: str, place: int, number: int) -> InputItem:
    """What the job, or the entry, ``number`` gets of a list."""
    return InputItem.model_construct(seq=number, name=f"{port}[{place}]", port=port, place=place)


def numbered(given: InputFile | InputItem, number: int) -> JobInput:
    """The same for another number."""
    return given.model_copy(update={"seq": number})
