"""What attempts left behind on storages, and nobody will report, is removed."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

import structlog

from sluice.contracts.pilots import AttemptReport, StorageUrls
from sluice.contracts.problems import NotFound, ServiceError
from sluice.storage import StorageError, remove_within, within

log = structlog.get_logger(__name__)


class Leftovers:
    """Removes files of registered storages, and nothing else, whatever a journal or a report names.
    ``ask``: which storages there are; raises ``ServiceError``."""

    def __init__(self, ask: Callable[[], Awaitable[StorageUrls]]) -> None:
        self._ask = ask
        self._storages: Sequence[str] = ()

    async def remove(self, urls: Sequence[str]) -> bool:
        """False where it cannot be learnt now which storages there are; nothing is removed then.

        A storage that does not answer keeps its file, for its auditor to find; so does all that
        lies in no storage.
        """
        if not all(map(self._storage_of, urls)):
            try:
                self._storages = (await self._ask()).urls
            except NotFound:
                log.warning(
                    "storages.not_told",
                    note="a WMS of the release before does not tell them: no file is removed",
                )
            except ServiceError as error:
                log.warning("storages.not_told", reason=error.detail)
                return False
        await asyncio.to_thread(self._remove, urls)
        return True

    def _remove(self, urls: Sequence[str]) -> None:
        for url in urls:
            storage = self._storage_of(url)
            if storage is None:
                log.error(
                    "file.not_removed",
                    url=url,
                    reason="it lies in no storage that is registered for what jobs write",
                )
                continue
            try:
                remove_within(storage, url)
            except StorageError as error:
                log.error("file.not_removed", url=url, reason=error.reason)

    def _storage_of(self, url: str) -> str | None:
        return next((storage for storage in self._storages if within(storage, url)), None)


def files_of(reports: Iterable[AttemptReport]) -> list[str]:
    """What the reports say that their attempts wrote."""
    return [
        url
        for report in reports
        for url in (
            *(output.url for output in report.outputs),
            *([] if report.log is None else [report.log.url]),
        )
    ]
