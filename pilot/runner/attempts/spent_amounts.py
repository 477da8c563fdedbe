"""Amounts of reserved resources that a tool reports as spent."""

import os
from collections.abc import Callable, Mapping

from pilot.folders.work_folder import OUT
from pilot.runner.files.job_files import ForeignFileError, JobFiles
from sluice.contracts.jobs.spent import MAX_SPENT_FILE, SPENT_FILE, InvalidSpentFile, parse_spent
from sluice.text.os_errors import reason_of


class ToolAmounts:
    """Adds up the amounts that the runs of an attempt's tool report.

    A resource that one of the runs does not report is left out of ``amounts``: all of it counts as
    spent.
    """

    def __init__(
        self, reserved_amounts: Mapping[str, float], *, note: Callable[[str], None]
    ) -> None:
        """Start with nothing spent.

        Args:
            reserved_amounts: Amounts that the job needs, by the name of the resource.
            note: Function that takes a line for the job's log.
        """
        self._reserved_amounts = reserved_amounts
        self._note = note
        self.amounts = dict.fromkeys(reserved_amounts, 0.0)

    def add(self, job_files: JobFiles) -> None:
        """Read and remove the file in which a run of the tool reports amounts."""
        path = f"{job_files.folder}/{OUT}/{SPENT_FILE}"
        if self._reserved_amounts:
            reported = self._read_amounts(path, job_files)
            self.amounts = {
                name: min(amount + reported[name], self._reserved_amounts[name])
                for name, amount in self.amounts.items()
                if name in reported
            }
        job_files.remove(path)

    def _read_amounts(self, path: str, job_files: JobFiles) -> dict[str, float]:
        try:
            if not job_files.is_file(path):
                return {}
            with os.fdopen(job_files.open(path), "rb") as file:
                return parse_spent(file.read(MAX_SPENT_FILE + 1))
        except (InvalidSpentFile, ForeignFileError, OSError) as error:
            self._note(f"the whole reservation of the job counts as spent: {reason_of(error)}")
            return {}
