"""Removal of files that attempts left on storages and no report names."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

import structlog

from pilot.checkpoints.checkpoint_store import remove_job_checkpoints
from sluice.contracts.common.naming import log_place
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.pilots.output_files import StorageUrls
from sluice.contracts.pilots.reports import AttemptReport, ReportAnswers
from sluice.storage import StorageError, is_within, remove_within

log = structlog.get_logger(__name__)


class FileRemover:
    """Removes files from registered storages.

    Files elsewhere are never removed, whatever a journal or report names. ``request_storages``
    returns the registered storages. It raises ``ServiceError``.
    """

    def __init__(self, request_storages: Callable[[], Awaitable[StorageUrls]]) -> None:
        self._request_storages = request_storages
        self._storages: Sequence[str] = ()

    async def remove(self, urls: Sequence[str]) -> bool:
        """Remove files and return whether the registered storages are known.

        If they are not known, nothing is removed. If a storage does not answer, its file stays for
        its auditor. A file outside all storages stays too.
        """
        if not await self._refresh_storages(urls):
            return False
        await asyncio.to_thread(self._remove, urls)
        return True

    async def remove_checkpoints(
        self, reports: Iterable[AttemptReport], answers: ReportAnswers
    ) -> bool:
        """Remove the checkpoints of ended jobs, of all attempts up to the reported one.

        Returns:
            False if the registered storages are not known. Nothing is removed then.
        """
        ended = {(answer.id, answer.attempt) for answer in answers.answers if answer.ended}
        logs = [
            report.log.url
            for report in reports
            if report.checkpoint and report.log is not None and (report.id, report.attempt) in ended
        ]
        if not await self._refresh_storages(logs):
            return False
        if logs:
            await asyncio.to_thread(self._remove_checkpoints, logs)
        return True

    async def _refresh_storages(self, urls: Sequence[str]) -> bool:
        """Request the registered storages if a URL is in none of the known ones.

        Returns:
            False if the WMS cannot answer now.
        """
        if not all(map(self._find_storage, urls)):
            try:
                self._storages = (await self._request_storages()).urls
            except ServiceError as error:
                log.warning("storages.not_told", reason=error.detail)
                return False
        return True

    def _remove_checkpoints(self, logs: Sequence[str]) -> None:
        for url in logs:
            storage, (folder, _, name) = self._find_storage(url), url.rpartition("/")
            place = log_place(name)
            if storage is not None and place is not None:
                remove_job_checkpoints(folder, *place, partial(remove_within, storage))

    def _remove(self, urls: Sequence[str]) -> None:
        for url in urls:
            storage = self._find_storage(url)
            if storage is None:
                log.error(
                    "file.not_removed",
                    url=url,
                    reason="it is not in a storage that is registered for outputs of jobs",
                )
                continue
            try:
                remove_within(storage, url)
            except StorageError as error:
                log.error("file.not_removed", url=url, reason=error.reason)

    def _find_storage(self, url: str) -> str | None:
        return next((storage for storage in self._storages if is_within(storage, url)), None)


def list_files(reports: Iterable[AttemptReport]) -> list[str]:
    """Return the URLs of the files that the reports name."""
    return [
        url
        for report in reports
        for url in (
            *(output.url for output in report.outputs),
            *([] if report.log is None else [report.log.url]),
        )
    ]
