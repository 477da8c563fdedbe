"""The text about a failed job, the same wherever it is shown."""

from collections.abc import Sequence

from sluice.contracts.common.states import ErrorClass
from sluice.contracts.common.wording import in_parentheses


def format_failure(
    job_id: int, inputs: Sequence[str], *, error: ErrorClass | None, message: str
) -> str:
    """Return a sentence with the job's number, its inputs, its error, and how to see its log.

    Args:
        job_id: Number of the job.
        inputs: Names of its input files.
        error: Class of its error; None for a job without one, such as a job that was lost with its
            pilots.
        message: First sentence of the error.
    """
    why = f"{error}: {message or 'no message'}" if error else message or "no message"
    return f"job {job_id}{in_parentheses(inputs)}: {why} (`sluice logs {job_id}` shows its log)"
