"""Calls of wfms.chains, generated from its OpenAPI document by `make docs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from sluice.clients.base import API, ServiceClient, build_path

if TYPE_CHECKING:
    from sluice.contracts.access.quotas import HolderKind, Holdings, SetQuotaLimits
    from sluice.contracts.chains.attention import Acknowledge, ChainCounts
    from sluice.contracts.chains.chains import (
        Chain,
        ChainListState,
        ChainPage,
        ChainTask,
        ChainTaskList,
        NewChain,
        Release,
        RerunChain,
        RerunPlan,
        TaskEnded,
    )
    from sluice.contracts.common.states import StepState
    from sluice.contracts.data.datasets import Dataset
    from sluice.contracts.jobs.tasks import Cancel, TaskStatus


class ForwardedChainsCalls(ServiceClient):
    """Calls that the operator service forwards."""

    async def acknowledge_chain(self, uid: UUID, body: Acknowledge) -> Chain:
        """Acknowledge the failure of a chain, so that it no longer needs attention.

        The request may be repeated. Another person is told who was first (409).

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.chains import Chain

        return await self.call("POST", f"{API}/chains/{uid}/acknowledge", body=body, answer=Chain)

    async def cancel_chain(self, uid: UUID, body: Cancel | None = None) -> Chain:
        """Cancel a chain and its running tasks.

        The chain is canceled once these tasks have stopped. A chain that uploads its output is
        canceled at once, and outputs that are not safe on the output storage are deleted.
        Repeating it is fine; the first reason stays.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.chains import Chain

        return await self.call("POST", f"{API}/chains/{uid}/cancel", body=body, answer=Chain)

    async def discard_chain(self, uid: UUID) -> Chain:
        """Delete all data of a chain, outputs included, once it has ended.

        The chain is not stopped. Repeating it is fine.

        It can raise ``NotFound``.
        """
        from sluice.contracts.chains.chains import Chain

        return await self.call("POST", f"{API}/chains/{uid}/discard", answer=Chain)

    async def rank_chain(self, uid: UUID, *, rank: float) -> Chain:
        """Set the rank of a chain, which is added to the ranks of its steps.

        The new rank applies to running steps at once. A chain with no more steps to run is
        refused (409). Repeating it is fine.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.chains import Chain
        from sluice.contracts.jobs.tasks import Prioritise

        return await self.call(
            "POST", f"{API}/chains/{uid}/rank", body=Prioritise(rank=rank), answer=Chain
        )

    async def delete_dataset(
        self, uid: UUID, *, force: bool | None = None, taken_back: bool | None = None
    ) -> Dataset:
        """Delete a data set that no chain needs.

        With `force`, cancel the chains that need it.

        Without `force`, the request is refused while chains that have not ended need the data
        set, and for outputs. With it, the data set is deleted when the last of these chains has
        ended. A data set that holds a version of an asset is always refused until that version
        is withdrawn. The request may be repeated.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.datasets import Dataset

        return await self.call(
            "DELETE",
            f"{API}/datasets/{uid}",
            params={"force": force, "taken_back": taken_back},
            answer=Dataset,
        )

    async def get_task(self, uid: UUID) -> ChainTask:
        """Return a task.

        Its counts are left out if the WMS does not answer.

        It can raise ``NotFound``.
        """
        from sluice.contracts.chains.chains import ChainTask

        return await self.call("GET", f"{API}/tasks/{uid}", answer=ChainTask)

    async def cancel_task(self, uid: UUID, body: Cancel | None = None) -> TaskStatus:
        """Cancel a task.

        The chain service forwards the request to the WMS.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.jobs.tasks import TaskStatus

        return await self.call("POST", f"{API}/tasks/{uid}/cancel", body=body, answer=TaskStatus)

    async def prioritise_task(self, uid: UUID, *, rank: float) -> TaskStatus:
        """Set the rank of a task.

        A higher rank runs earlier.

        The chain service forwards the request to the WMS.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.jobs.tasks import Prioritise, TaskStatus

        return await self.call(
            "POST", f"{API}/tasks/{uid}/rank", body=Prioritise(rank=rank), answer=TaskStatus
        )


class ChainsCalls(ForwardedChainsCalls):
    """All calls."""

    async def list_chains(
        self,
        *,
        after: str | None = None,
        uid: Sequence[UUID] | None = None,
        attention: bool | None = None,
        ended: bool | None = None,
        limit: int | None = None,
        state: ChainListState | None = None,
        dataset_uid: UUID | None = None,
        uses: UUID | None = None,
        template: str | None = None,
        owner: str | None = None,
        meta: Sequence[str] | None = None,
    ) -> ChainPage:
        """List chains, newest first.

        `uid`: only these; `dataset_uid`: those with this input; `uses`: those that have it as
        their input or as a parameter value; `template`: those of any version of the template of
        this name; `owner`: those of this account; `meta`: those whose input has these values in
        its metadata; `attention`: those that failed and that nobody has acknowledged, discarded
        or run again, and those with a step that cannot continue; `ended`: instead, those that
        have ended, the last to end first, on one page.
        """
        from sluice.contracts.chains.chains import ChainPage

        return await self.call(
            "GET",
            f"{API}/chains",
            params={
                "after": after,
                "uid": uid,
                "attention": attention,
                "ended": ended,
                "limit": limit,
                "state": state,
                "dataset_uid": dataset_uid,
                "uses": uses,
                "template": template,
                "owner": owner,
                "meta": meta,
            },
            answer=ChainPage,
        )

    async def get_chain(self, uid: UUID) -> Chain:
        """Return a chain with its steps and data sets.

        It can raise ``NotFound``.
        """
        from sluice.contracts.chains.chains import Chain

        return await self.call("GET", f"{API}/chains/{uid}", answer=Chain)

    async def rerun_chain(self, uid: UUID, body: RerunChain) -> tuple[Chain, bool]:
        """Run a chain that is over again.

        201 with a new chain, which takes over the data of finished steps that still exists; 200
        with the first one for a repetition with the same `key`. Refused if data that it needs
        no longer exists.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.chains import Chain

        return await self.create(f"{API}/chains/{uid}/rerun", body=body, answer=Chain)

    async def plan_rerun(self, uid: UUID, body: RerunChain) -> RerunPlan:
        """Return what a rerun would do.

        The answer says which steps run how many jobs, which steps are taken over, and what is
        missing.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.chains import RerunPlan

        return await self.call(
            "POST", f"{API}/chains/{uid}/rerun/plan", body=body, answer=RerunPlan
        )

    async def get_counts(self) -> ChainCounts:
        """Count the chains that have not ended, and those that need a person.

        The latter are listed by `/chains?attention=true`.
        """
        from sluice.contracts.chains.attention import ChainCounts

        return await self.call("GET", f"{API}/counts", answer=ChainCounts)

    async def create_new_chain(self, body: NewChain) -> tuple[Chain, bool]:
        """Carry a data set through a template.

        201 for a new chain, 200 with the first one for a repetition.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.chains import Chain

        return await self.create(f"{API}/datasets", body=body, answer=Chain)

    async def list_holdings(self, kind: HolderKind, *, name: str | None = None) -> Holdings:
        """List what each group or person uses here, and the quotas.

        People see themselves and their groups.
        """
        from sluice.contracts.access.quotas import Holdings

        return await self.call(
            "GET", build_path("quotas", kind), params={"name": name}, answer=Holdings
        )

    async def set_quota_limits(self, kind: HolderKind, name: str, body: SetQuotaLimits) -> None:
        """Set how much a group or a person may use here.

        The quota applies to later additions. Existing usage stays. Repeating the request is
        safe.
        """
        await self.call("PUT", build_path("quotas", kind, name), body=body)

    async def list_tasks(
        self,
        *,
        chain_uid: UUID | None = None,
        state: StepState | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> ChainTaskList:
        """List tasks, those of the newest chains first.

        Counts are left out if the WMS does not answer. `after`: the `after` of the page before.
        """
        from sluice.contracts.chains.chains import ChainTaskList

        return await self.call(
            "GET",
            f"{API}/tasks",
            params={"chain_uid": chain_uid, "state": state, "after": after, "limit": limit},
            answer=ChainTaskList,
        )

    async def report_task_end(self, body: TaskEnded) -> Release:
        """Record the end of a task or upload, and return the data sets to delete (repeatable).

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.chains import Release

        return await self.call("POST", f"{API}/tasks/finished", body=body, answer=Release)
