"""Scatters over more than files of equal number: lists of values and cross products (CWL)."""

from collections.abc import Mapping
from math import prod

from sluice.contracts.common.numbers import format_count
from sluice.contracts.jobs.job_inputs import InputFile, InputItem, JobInput
from sluice.text.visible_text import quoted

#: Most jobs that are made of one step.
MAX_COMBINATIONS = 10_000_000


def describe_excess_jobs(step: str, sizes: Mapping[str, int]) -> str:
    """Return what is wrong if there are too many combinations, else an empty text."""
    jobs = prod(sizes.values())
    if jobs <= MAX_COMBINATIONS:
        return ""
    sizes_text = " × ".join(f"{size} of {quoted(port)}" for port, size in sizes.items())
    return (
        f"step {quoted(step)} takes each with each, {sizes_text}, and would have"
        f" {format_count(jobs, 'job')}: a step may have at most {MAX_COMBINATIONS}"
    )


def build_list_item(port: str, place: int, number: int) -> InputItem:
    """Return the input of job or entry ``number`` from a list."""
    return InputItem.model_construct(seq=number, name=f"{port}[{place}]", port=port, place=place)


def renumber(job_input: InputFile | InputItem, number: int) -> JobInput:
    """Return the same input for another number."""
    return job_input.model_copy(update={"seq": number})
