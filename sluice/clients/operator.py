"""Client of the operator service: the one address that people and the command line need."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx

from sluice.clients.base import ServiceClient
from sluice.clients.paging import MOST_FILES, each_file, each_known
from sluice.contracts.attention import Acknowledge, NoticeList
from sluice.contracts.chains import (
    Chain,
    ChainOutputs,
    ChainPage,
    ChainTask,
    ChainTaskList,
    RequestChain,
    RerunChain,
    RerunPlan,
)
from sluice.contracts.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    DatasetStatus,
    File,
    FilePage,
    NewDataset,
    NewFiles,
    NewStorage,
    Registered,
    Storage,
)  # fmt: skip
from sluice.contracts.intake import Rematch, Rematched, RematchedAll, TieList, UnmatchedList
from sluice.contracts.logs import FollowedLog
from sluice.contracts.pilots import PilotList
from sluice.contracts.queues import ChooseMessages, DeadMessages, MessagesMoved, QueueList
from sluice.contracts.states import ChainState, JobState, StepState
from sluice.contracts.tasks import (
    Explanation,
    Job,
    JobOrder,
    JobPage,
    Outlook,
    Prioritise,
    TaskStatus,
)
from sluice.contracts.templates import (
    CheckedTemplate,
    CheckTemplate,
    NewTemplate,
    RestoreTemplate,
    Template,
    TemplateChanges,
    TemplateList,
)  # fmt: skip

_API = "/api/v1"


class OperatorClient(ServiceClient):
    """Errors as in ``ServiceClient``: the service's own, and ``NotAvailable``."""

    service = "wfms.operator"

    async def store_template(self, template: NewTemplate) -> Template:
        """The same text again gives the version that is there. Raises ``Unprocessable`` with every
        finding; ``Conflict`` where it is to replace another version than the latest."""
        return await self.call("POST", f"{_API}/templates", body=template, answer=Template)

    async def compare_template(self, template: NewTemplate) -> TemplateChanges:
        """What ``store_template`` would change. Raises ``Unprocessable`` with every finding."""
        return await self.call(
            "POST", f"{_API}/templates/compare", body=template, answer=TemplateChanges
        )

    async def store_run_template(self, template: NewTemplate) -> Template:
        """For ``request_chain`` alone: nothing is matched with it. The same files again give what
        is there. Raises ``Unprocessable`` with every finding."""
        return await self.call("POST", f"{_API}/run-templates", body=template, answer=Template)

    async def run_templates(
        self, *, limit: int | None = None, after: UUID | None = None, paged: bool = False
    ) -> TemplateList:
        """Those that came with runs, the last one run first; with ``paged`` says where the next
        page begins. Raises ``NotFound`` where there never was ``after``."""
        params = {"limit": limit, "after": after, "paged": paged or None}
        return await self.call("GET", f"{_API}/run-templates", answer=TemplateList, params=params)

    async def run_template(self, uid: UUID) -> Template:
        """With its text. Raises ``NotFound``."""
        return await self.call("GET", f"{_API}/run-templates/{uid}", answer=Template)

    async def delete_run_template(self, uid: UUID) -> None:
        """Raises ``NotFound``."""
        await self.call("DELETE", f"{_API}/run-templates/{uid}")

    async def store_template_file(self, path: Path, *, name: str | None = None) -> Template:
        """As ``store_template``; findings name the file. ``name``: by default the file's, without
        its ending."""
        file = {"cwl": (path.name, await asyncio.to_thread(path.read_bytes), "application/yaml")}
        request = self._http.build_request(
            "POST", f"{_API}/templates", files=file, data={} if name is None else {"name": name}
        )
        return Template.model_validate_json((await self._send(request)).content)

    async def check_template(self, cwl: str, *, file: str = "workflow.cwl") -> CheckedTemplate:
        return await self.call(
            "POST",
            f"{_API}/templates/check",
            body=CheckTemplate(cwl=cwl, file=file),
            answer=CheckedTemplate,
        )

    async def templates(
        self, *, every_version: bool = False, disabled: bool = False
    ) -> TemplateList:
        """The latest version of each that data sets may go through, with ``disabled`` also of the
        others; or all versions."""
        params = {"all": every_version or None, "disabled": disabled or None}
        return await self.call("GET", f"{_API}/templates", answer=TemplateList, params=params)

    async def template(self, name: str, *, version: int | None = None) -> Template:
        """With its text. Raises ``NotFound``."""
        return await self.call(
            "GET", f"{_API}/templates/{quote(name)}", answer=Template, params={"version": version}
        )

    async def restore_template(self, name: str, *, version: int) -> Template:
        """The files of ``version`` as the latest. Raises ``NotFound``, and ``Unprocessable`` where
        today's checks refuse them."""
        path = f"{_API}/templates/{quote(name)}/restore"
        return await self.call("POST", path, body=RestoreTemplate(version=version), answer=Template)

    async def disable_template(self, name: str) -> Template:
        """Nothing goes through it any more; running chains go on. Raises ``NotFound``."""
        return await self.call("POST", f"{_API}/templates/{quote(name)}/disable", answer=Template)

    async def enable_template(self, name: str) -> Template:
        """Raises ``NotFound``."""
        return await self.call("POST", f"{_API}/templates/{quote(name)}/enable", answer=Template)

    async def delete_template(self, name: str, *, force: bool = False) -> None:
        """Raises ``NotFound``; ``Conflict`` while chains of it run, unless ``force``."""
        await self.call(
            "DELETE", f"{_API}/templates/{quote(name)}", params={"force": force or None}
        )

    async def request_chain(
        self,
        dataset: UUID,
        template: str,
        *,
        run_template: UUID | None = None,
        params: dict[str, Any] | None = None,
    ) -> Chain:
        """``run_template``: one that ``store_run_template`` gave. A repetition gives the first.
        Raises ``NotFound``, ``Conflict`` (the data set cannot be used), ``Unprocessable``
        (parameters)."""
        chain, _ = await self.request_new_chain(
            dataset, template, run_template=run_template, params=params
        )
        return chain

    async def request_new_chain(
        self,
        dataset: UUID,
        template: str,
        *,
        run_template: UUID | None = None,
        params: dict[str, Any] | None = None,
    ) -> tuple[Chain, bool]:
        """As ``request_chain``, with whether the chain is new."""
        body = RequestChain(
            dataset_uid=dataset, template=template, run_template=run_template, params=params or {}
        )
        return await self.create(f"{_API}/chains", body=body, answer=Chain)

    async def chains(
        self,
        *,
        state: ChainState | None = None,
        name: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> ChainPage:
        """Newest first; ``name``: of their input data set."""
        params = {"state": state, "name": name, "after": after, "limit": limit}
        return await self.call("GET", f"{_API}/chains", answer=ChainPage, params=params)

    async def chain(self, uid: UUID) -> Chain:
        return await self.call("GET", f"{_API}/chains/{uid}", answer=Chain)

    async def outputs(self, uid: UUID) -> ChainOutputs:
        """What the chain gives in the end. Raises ``NotFound``."""
        return await self.call("GET", f"{_API}/chains/{uid}/outputs", answer=ChainOutputs)

    async def cancel_chain(self, uid: UUID) -> Chain:
        """Raises ``NotFound``; ``Conflict`` where it has ended otherwise."""
        return await self.call("POST", f"{_API}/chains/{uid}/cancel", answer=Chain)

    async def plan_rerun(self, uid: UUID, asked: RerunChain) -> RerunPlan:
        """What ``rerun_chain`` would do. Raises as that, but for what is missing."""
        return await self.call(
            "POST", f"{_API}/chains/{uid}/rerun/plan", body=asked, answer=RerunPlan
        )

    async def rerun_chain(self, uid: UUID, asked: RerunChain) -> tuple[Chain, bool]:
        """The new chain, and whether it is new: a ``key`` makes repetitions one. Raises
        ``NotFound``; ``Conflict`` (the chain has not ended, nothing of it failed, or something
        needed cannot be had any more); ``Unprocessable`` (step, parameters)."""
        return await self.create(f"{_API}/chains/{uid}/rerun", body=asked, answer=Chain)

    async def discard_chain(self, uid: UUID) -> Chain:
        """Its data are deleted once it is over, outputs too. Raises ``NotFound``."""
        return await self.call("POST", f"{_API}/chains/{uid}/discard", answer=Chain)

    async def attention(self, *, limit: int | None = None) -> NoticeList:
        """What needs a person."""
        return await self.call(
            "GET", f"{_API}/attention", answer=NoticeList, params={"limit": limit}
        )

    async def acknowledge_chain(self, uid: UUID, asked: Acknowledge) -> Chain:
        """Somebody has seen that it failed. Raises ``NotFound``; ``Conflict`` where it has not, or
        where somebody else has seen it first."""
        return await self.call("POST", f"{_API}/chains/{uid}/acknowledge", body=asked, answer=Chain)

    async def acknowledge_pilot(self, uid: UUID, asked: Acknowledge) -> None:
        """Somebody has seen that it was lost. Raises ``NotFound``; ``Conflict`` where it is not, or
        where somebody else has seen it first."""
        await self.call("POST", f"{_API}/pilots/{uid}/acknowledge", body=asked)

    async def tasks(
        self,
        *,
        chain: UUID | None = None,
        state: StepState | None = None,
        after: str | None = None,
        limit: int | None = None,
        paged: bool = False,
        full: bool = False,
    ) -> ChainTaskList:
        """Those of the newest chains first; ``paged``: and where the next page begins; ``full``:
        with how many jobs of each were killed."""
        params = {
            "chain": chain,
            "state": state,
            "after": after,
            "limit": limit,
            "paged": paged or None,
            "full": full or None,
        }
        return await self.call("GET", f"{_API}/tasks", answer=ChainTaskList, params=params)

    async def task(self, uid: UUID, *, full: bool = False) -> ChainTask:
        """``full``: as in ``tasks``."""
        return await self.call(
            "GET", f"{_API}/tasks/{uid}", answer=ChainTask, params={"full": full or None}
        )

    async def cancel_task(self, uid: UUID) -> TaskStatus:
        return await self.call("POST", f"{_API}/tasks/{uid}/cancel", answer=TaskStatus)

    async def retry_task(self, uid: UUID) -> TaskStatus:
        return await self.call("POST", f"{_API}/tasks/{uid}/retry", answer=TaskStatus)

    async def prioritise(self, uid: UUID, rank: float) -> TaskStatus:
        return await self.call(
            "POST", f"{_API}/tasks/{uid}/rank", body=Prioritise(rank=rank), answer=TaskStatus
        )

    async def explain_task(self, uid: UUID) -> Explanation:
        return await self.call("GET", f"{_API}/tasks/{uid}/explain", answer=Explanation)

    async def outlook(self, uid: UUID) -> Outlook:
        """Raises ``NotFound``, also where the system is of a release that cannot say."""
        return await self.call("GET", f"{_API}/tasks/{uid}/outlook", answer=Outlook)

    async def jobs(
        self,
        task: UUID,
        *,
        state: JobState | None = None,
        sort: JobOrder | None = None,
        after: str | None = None,
        limit: int | None = None,
        full: bool = False,
    ) -> JobPage:
        """Jobs of a task by number, or as ``sort`` says; ``full``: with what is known of their last
        attempts. Raises ``NotFound``, ``Unprocessable`` (jobs that have not ended have no other
        order)."""
        params = {
            "state": state,
            "sort": sort,
            "after": after,
            "limit": limit,
            "full": full or None,
        }
        return await self.call("GET", f"{_API}/tasks/{task}/jobs", answer=JobPage, params=params)

    async def job(self, job_id: int, *, full: bool = False) -> Job:
        """With its attempts; ``full``: and the names of their pilots."""
        return await self.call(
            "GET", f"{_API}/jobs/{job_id}", answer=Job, params={"full": full or None}
        )

    async def explain_job(self, job_id: int) -> Explanation:
        return await self.call("GET", f"{_API}/jobs/{job_id}/explain", answer=Explanation)

    async def job_log(self, job_id: int, *, attempt: int | None = None) -> str:
        """The beginning and the end of its log. Raises ``NotFound`` where there is none."""
        params = {} if attempt is None else {"attempt": attempt}
        request = self._http.build_request("GET", f"{_API}/jobs/{job_id}/log", params=params)
        return (await self._send(request)).text

    async def live_log(self, job_id: int) -> FollowedLog:
        """What it has written so far, while it runs. Raises ``NotFound``."""
        return await self.call("GET", f"{_API}/jobs/{job_id}/log/live", answer=FollowedLog)

    def log_content(
        self, job_id: int, *, attempt: int | None = None
    ) -> AbstractAsyncContextManager[httpx.Response]:
        """All of its log, read while it comes. Raises ``NotFound``, ``NotAvailable``, httpx's
        ``TransportError``."""
        return self.stream(
            f"{_API}/jobs/{job_id}/log/content"
            + ("" if attempt is None else f"?attempt={attempt}"),
            headers={},
        )

    async def unmatched(
        self, *, template: str | None = None, limit: int | None = None
    ) -> UnmatchedList:
        """Data sets that fitted no template, newest first; ``template``: those that it would take
        now."""
        return await self.call(
            "GET",
            f"{_API}/unmatched",
            answer=UnmatchedList,
            params={"template": template, "limit": limit},
        )

    async def dismiss_unmatched(self, dataset: UUID) -> None:
        """Raises ``NotFound`` where it is not among the unmatched."""
        await self.call("DELETE", f"{_API}/unmatched/{dataset}")

    async def rematch(self, dataset: UUID) -> Rematched:
        """Raises ``NotFound`` where it is not among the unmatched, ``Conflict`` where it was
        deleted."""
        return await self.call(
            "POST", f"{_API}/rematch", body=Rematch(dataset_uid=dataset), answer=Rematched
        )

    async def rematch_all(self) -> RematchedAll:
        return await self.call("POST", f"{_API}/rematch-all", answer=RematchedAll, seconds=300)

    async def ties(self) -> TieList:
        """Templates of one priority that match the same data sets."""
        return await self.call("GET", f"{_API}/ties", answer=TieList)

    async def pilots(self, *, after: str | None = None, limit: int | None = None) -> PilotList:
        """Those that are there come first; without ``limit``, ten thousand at most."""
        return await self.call(
            "GET", f"{_API}/pilots", answer=PilotList, params={"after": after, "limit": limit}
        )

    async def drain_pilot(self, uid: UUID) -> None:
        await self.call("POST", f"{_API}/pilots/{uid}/drain")

    async def queues(self) -> QueueList:
        """What waits between services, and what is dead."""
        return await self.call("GET", f"{_API}/queues", answer=QueueList)

    async def dead_messages(self, queue: str, *, limit: int | None = None) -> DeadMessages:
        """The oldest, with their reasons. Raises ``NotFound``."""
        return await self.call(
            "GET",
            f"{_API}/queues/{quote(queue)}/dead",
            answer=DeadMessages,
            params={"limit": limit},
        )

    async def dead_body(self, queue: str, message: str) -> bytes:
        """All that a dead message says. Raises ``NotFound``."""
        path = f"{_API}/queues/{quote(queue)}/dead/{quote(message)}/body"
        return (await self._send(self._http.build_request("GET", path))).content

    async def requeue(self, queue: str, choice: ChooseMessages) -> MessagesMoved:
        """Raises ``NotFound``: the queue, or every message that is named."""
        return await self.call(
            "POST", f"{_API}/queues/{quote(queue)}/requeue", body=choice, answer=MessagesMoved
        )

    async def drop(self, queue: str, choice: ChooseMessages) -> MessagesMoved:
        """As ``requeue``; for good."""
        return await self.call(
            "POST", f"{_API}/queues/{quote(queue)}/drop", body=choice, answer=MessagesMoved
        )

    async def register_dataset(self, dataset: NewDataset) -> Dataset:
        """A repeated registration gives the first."""
        return await self.call("POST", f"{_API}/datasets", body=dataset, answer=Dataset)

    async def datasets(
        self, *, after: str | None = None, limit: int | None = None, **filters: object
    ) -> DatasetPage:
        """``filters``: those of the DMS (``type``, ``state``, ``name`` …)."""
        return await self.call(
            "GET",
            f"{_API}/datasets",
            answer=DatasetPage,
            params={**filters, "after": after, "limit": limit},
        )

    async def datasets_of(self, uids: Sequence[UUID]) -> list[Dataset]:
        """Those of ``uids`` that are known."""
        return await each_known(lambda asked: self.datasets(uid=asked), uids)

    async def dataset(self, uid: UUID) -> Dataset:
        return await self.call("GET", f"{_API}/datasets/{uid}", answer=Dataset)

    async def dataset_status(self, uid: UUID) -> DatasetStatus:
        """What it waits for. Raises ``NotFound`` (also where a release before this one answers)."""
        return await self.call("GET", f"{_API}/datasets/{uid}/status", answer=DatasetStatus)

    async def files(
        self, dataset: UUID, *, after: str | None = None, limit: int | None = None
    ) -> FilePage:
        params = {"after": after, "limit": limit}
        return await self.call(
            "GET", f"{_API}/datasets/{dataset}/files", answer=FilePage, params=params
        )

    async def all_files(self, dataset: UUID) -> AsyncIterator[File]:
        """In order, read page by page. Raises ``NotFound``."""
        async for file in each_file(
            lambda after: self.files(dataset, after=after, limit=MOST_FILES)
        ):
            yield file

    def content(self, file: File, *, start: int = 0) -> AbstractAsyncContextManager[httpx.Response]:
        """What is in the file, from byte ``start`` on, read while it comes; all of it where that is
        another file's by now. Raises ``NotFound``, ``NotAvailable``, httpx's ``TransportError``
        where it breaks off."""
        ranged = {"Range": f"bytes={start}-", "If-Range": f'"{file.checksum}"'} if start else {}
        return self.stream(
            f"{_API}/datasets/{file.dataset_uid}/files/{file.id}/content", headers=ranged
        )

    async def register_files(self, dataset: UUID, files: NewFiles) -> Registered:
        return await self.call(
            "POST", f"{_API}/datasets/{dataset}/files", body=files, answer=Registered
        )

    async def close_dataset(self, uid: UUID, *, files: int | None = None) -> Dataset:
        return await self.call(
            "POST", f"{_API}/datasets/{uid}/close", body=CloseDataset(files=files), answer=Dataset
        )

    async def delete_dataset(self, uid: UUID, *, force: bool = False) -> Dataset:
        """As it is now: deleting, or as before while chains that need it are canceled (``force``).
        Raises ``NotFound``; ``Conflict`` while chains need it, or for an output, unless ``force``.
        """
        return await self.call(
            "DELETE", f"{_API}/datasets/{uid}", answer=Dataset, params={"force": force}
        )

    async def register_storage(self, storage: NewStorage) -> Storage:
        return await self.call("POST", f"{_API}/storages", body=storage, answer=Storage)
