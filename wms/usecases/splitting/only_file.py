"""The only file of an input, and the error about an input with too many files."""

from sluice.contracts.common.numbers import format_count
from sluice.contracts.jobs.job_inputs import InputFile
from wms.usecases.splitting.input_files import InputDatasets, UnusableInput


async def list_only_file(
    datasets: InputDatasets, *, optional: bool, port: str, step: str
) -> list[InputFile]:
    """Return the only file as a list, or an empty list.

    Raises:
        UnusableInput: There are several files, or none although one is needed.
    """
    files = await datasets.at_most(2)
    if len(files) > 1:
        raise create_excess_error(datasets, 1, port=port, step=step)
    if not files and not optional:
        raise UnusableInput(
            f"data set {datasets.names}, whose file every job of step {step} needs, is empty"
        )
    return files


def create_excess_error(
    datasets: InputDatasets, limit: int, *, port: str, step: str
) -> UnusableInput:
    """Return the error that an input has more than ``limit`` files."""
    return UnusableInput(
        f"every job of step {step} is given data set {datasets.names} at its input {port}, which"
        f" takes at most {format_count(limit, 'file')}; the data set has {datasets.count}"
    )
