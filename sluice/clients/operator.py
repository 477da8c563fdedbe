"""Client of the operator service: the one address that people and the command line need."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import httpx

from sluice.clients.base import API, Parameters, build_path, build_query
from sluice.clients.generated.operator import OperatorCalls
from sluice.clients.job_pages import JobPages
from sluice.clients.paging import MAX_FILES, iterate_files, read_existing_datasets
from sluice.contracts.access.quotas import PersonQuotas
from sluice.contracts.chains.chains import Chain, RequestChain
from sluice.contracts.data.datasets import Dataset, File


class HumanStepKey(NamedTuple):
    """A human step of a group's template."""

    group: str
    template: str
    step: str


class OperatorClient(JobPages, OperatorCalls):
    """Client of the operator service: the generated calls, and streams.

    Errors are as in ``ServiceClient``. A stream that breaks off raises httpx's ``TransportError``.
    """

    service = "wfms.operator"

    async def request_chain(
        self,
        dataset: UUID | None,
        template: str,
        *,
        run_template: UUID | None = None,
        params: dict[str, Any] | None = None,
        rank: float = 0.0,
    ) -> Chain:
        """Request a chain, or return the one of an earlier equal request.

        Args:
            dataset: The input. None means that the template takes no input.
            template: The name of the template.
            run_template: A template from ``store_run_template``.
            params: The parameters.
            rank: Added to the ranks of the chain's tasks.

        Raises:
            NotFound: The data set or the template does not exist.
            Conflict: The data set cannot be used.
            Unprocessable: The parameters are wrong.
        """
        request = RequestChain(
            dataset_uid=dataset,
            template=template,
            run_template=run_template,
            params=params or {},
            rank=rank,
        )
        chain, _ = await self.request_new_chain(request)
        return chain

    async def get_dataset(
        self, uid: UUID, *, released: bool | None = True, copied: bool | None = None
    ) -> Dataset:
        """Return a data set, by default with the number of its released files."""
        return await super().get_dataset(uid, released=released, copied=copied)

    async def list_datasets_by_uid(self, uids: Sequence[UUID]) -> list[Dataset]:
        """Return the existing data sets of ``uids``, in requests of 100 uids."""
        return await read_existing_datasets(lambda part: self.list_datasets(uid=part), uids)

    async def iterate_files(self, dataset: UUID) -> AsyncIterator[File]:
        """Yield all files in order.

        Raises:
            NotFound: There is no such data set.
        """
        async for file in iterate_files(
            lambda after: self.list_files(dataset, after=after, limit=MAX_FILES)
        ):
            yield file

    async def get_own_quotas(self) -> PersonQuotas:
        """Return the quotas of the caller."""
        return await self.get_person_quotas((await self.get_own_account()).name)

    def stream_content(
        self, file: File, *, start: int = 0
    ) -> AbstractAsyncContextManager[httpx.Response]:
        """Stream the content of a file from byte ``start`` on.

        If another file has taken its place, all of that file is sent.

        Raises:
            NotFound: There is no such file.
            NotAvailable: The storage does not answer.
        """
        headers = {"Range": f"bytes={start}-", "If-Range": f'"{file.checksum}"'} if start else {}
        return self.stream(
            f"{API}/datasets/{file.dataset_uid}/files/{file.id}/content", headers=headers
        )

    def stream_answers(self, step_key: HumanStepKey) -> AbstractAsyncContextManager[httpx.Response]:
        """Stream all answers of a step as JSON Lines.

        Raises:
            NotFound: There is no such step.
            NotAvailable: The service does not answer.
        """
        return self.stream(build_path("asking", "steps", *step_key, "answers"), headers={})

    async def get_job_log(self, job: int, *, attempt: int | None = None) -> str:
        """Return the beginning and the end of a job's log.

        Raises:
            NotFound: There is no log.
        """
        return (await self._get(f"{API}/jobs/{job}/log", {"attempt": attempt})).text

    def stream_log(
        self, job: int, *, attempt: int | None = None
    ) -> AbstractAsyncContextManager[httpx.Response]:
        """Stream the whole log of a job.

        Raises:
            NotFound: There is no log.
            NotAvailable: The storage does not answer.
        """
        query = "" if attempt is None else f"?attempt={attempt}"
        return self.stream(f"{API}/jobs/{job}/log/content{query}", headers={})

    async def get_dead_body(self, queue: str, message: str) -> bytes:
        """Return the whole body of a dead letter.

        Raises:
            NotFound: There is no such dead letter.
        """
        return (await self._get(build_path("queues", queue, "dead", message, "body"), {})).content

    async def get_times_picture(
        self,
        chains: Sequence[UUID] = (),
        *,
        template: str | None = None,
        since: datetime | None = None,
    ) -> bytes:
        """Return the picture (SVG) of the times as in ``get_times``."""
        params = {"chain_uid": chains, "template": template, "since": since}
        return (await self._get(f"{API}/times.svg", params)).content

    async def get_timeline_picture(self, chain: UUID) -> bytes:
        """Return the picture (SVG) of the timeline of a chain.

        Raises:
            NotFound: There is no such chain, or it has no task yet.
        """
        return (await self._get(f"{API}/chains/{chain}/timeline.svg", {})).content

    async def _get(self, path: str, params: Parameters) -> httpx.Response:
        return await self._send(self._request("GET", path, params=build_query(params)))
