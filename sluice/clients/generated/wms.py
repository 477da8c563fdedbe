"""Calls of wms, generated from its OpenAPI document by `make docs`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from sluice.clients.base import API, ServiceClient, build_path

if TYPE_CHECKING:
    from sluice.contracts.access.groups import GroupShares, SetShare
    from sluice.contracts.access.quotas import HolderKind, Holdings, SetQuotaLimits
    from sluice.contracts.access.secrets import SecretValues
    from sluice.contracts.chains.attention import Acknowledge, WorkCounts
    from sluice.contracts.common.states import JobState, TaskState
    from sluice.contracts.data.storage_space import StorageWaitList
    from sluice.contracts.human_tasks.annotation import (
        AcceptedAnswers,
        AnsweredJob,
        HumanJobList,
        HumanTaskList,
        RefusedJob,
    )
    from sluice.contracts.jobs.limits import LimitList, SetLimit
    from sluice.contracts.jobs.steps import RankStep, StepList
    from sluice.contracts.jobs.tasks import (
        BoostResult,
        Boosts,
        Cancel,
        Explanation,
        Job,
        JobOrder,
        JobPage,
        Schedulability,
        TaskStatus,
        TaskStatusList,
        UnschedulableList,
    )
    from sluice.contracts.jobs.times import Timeline, WorkTimes
    from sluice.contracts.jobs.warm_workers import LoadTool
    from sluice.contracts.pilots.leases import JobToken
    from sluice.contracts.pilots.output_files import StorageUrls
    from sluice.contracts.pilots.pilot_detail import PilotDetail
    from sluice.contracts.pilots.pilot_list import PilotList
    from sluice.contracts.pilots.registration import SignOff
    from sluice.contracts.pilots.sites import NewSite, NewSiteSecret, Site, SiteList


class ForwardedWmsCalls(ServiceClient):
    """Calls that the operator service forwards."""

    async def get_timeline(self, uid: UUID) -> Timeline:
        """Return which pilot worked when on a chain, and how many jobs waited.

        It can raise ``NotFound``.
        """
        from sluice.contracts.jobs.times import Timeline

        return await self.call("GET", f"{API}/chains/{uid}/timeline", seconds=60, answer=Timeline)

    async def get_job(self, job: int) -> Job:
        """Return a job with its attempts.

        It can raise ``NotFound``.
        """
        from sluice.contracts.jobs.tasks import Job

        return await self.call("GET", f"{API}/jobs/{job}", answer=Job)

    async def explain_job(self, job: int) -> Explanation:
        """Explain why a job does not run, or why it failed.

        It can raise ``NotFound``.
        """
        from sluice.contracts.jobs.tasks import Explanation

        return await self.call("GET", f"{API}/jobs/{job}/explain", answer=Explanation)

    async def retry_job(self, job: int) -> Job:
        """Retry a failed or quarantined job, with all its attempts again.

        A job in another state, or whose task has ended, is refused (409).

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.jobs.tasks import Job

        return await self.call("POST", f"{API}/jobs/{job}/retry", answer=Job)

    async def list_limits(self) -> LimitList:
        """List the limits on resources that are counted over all nodes.

        Each limit has its amount, how much of it is in use or spent, and how many waiting jobs
        need the resource.
        """
        from sluice.contracts.jobs.limits import LimitList

        return await self.call("GET", f"{API}/limits", answer=LimitList)

    async def set_limit(self, body: SetLimit) -> LimitList:
        """Set the limit of a resource over all nodes.

        The amount holds at any time, or in each period (`minute`, `hour`, `day`, in UTC).
        Repeating it is fine.
        """
        from sluice.contracts.jobs.limits import LimitList

        return await self.call("PUT", f"{API}/limits", body=body, answer=LimitList)

    async def remove_limit(self, name: str) -> LimitList:
        """Remove a limit.

        From then on only nodes that offer the resource have it.

        It can raise ``NotFound``.
        """
        from sluice.contracts.jobs.limits import LimitList

        return await self.call("DELETE", build_path("limits", name), answer=LimitList)

    async def list_pilots(
        self,
        *,
        name: str | None = None,
        attention: bool | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> PilotList:
        """List pilots: present ones, then unacknowledged lost ones, then those ended within a day.

        Within each kind the latest comes first. `after` is the `after` of the previous page.
        """
        from sluice.contracts.pilots.pilot_list import PilotList

        return await self.call(
            "GET",
            f"{API}/pilots",
            params={"name": name, "attention": attention, "after": after, "limit": limit},
            answer=PilotList,
        )

    async def remove_pilot(self, uid: UUID) -> None:
        """Remove an ended or lost pilot from the lists until it comes back.

        If the pilot is present: 409.

        It can raise ``NotFound`` and ``Conflict``.
        """
        await self.call("DELETE", f"{API}/pilots/{uid}")

    async def get_pilot(self, uid: UUID) -> PilotDetail:
        """Return a pilot with its jobs, last attempts and failures.

        Jobs that the caller may not see are left out.

        It can raise ``NotFound``.
        """
        from sluice.contracts.pilots.pilot_detail import PilotDetail

        return await self.call("GET", f"{API}/pilots/{uid}", answer=PilotDetail)

    async def acknowledge_pilot(self, uid: UUID, body: Acknowledge) -> None:
        """Acknowledge the loss of a pilot.

        Another person is told who was first (409).

        It can raise ``NotFound`` and ``Conflict``.
        """
        await self.call("POST", f"{API}/pilots/{uid}/acknowledge", body=body)

    async def drain_pilot(self, uid: UUID) -> None:
        """Ask a pilot to finish its jobs and end.

        It gets no more jobs. The request may be repeated.

        It can raise ``NotFound``.
        """
        await self.call("POST", f"{API}/pilots/{uid}/drain")

    async def stop_pilot(self, uid: UUID) -> None:
        """Ask a pilot to stop its jobs, return them, and end.

        Other pilots get its jobs at once; this does not count against the jobs. The request may
        be repeated. If the pilot has ended: 409.

        It can raise ``NotFound`` and ``Conflict``.
        """
        await self.call("POST", f"{API}/pilots/{uid}/stop")

    async def list_sites(self) -> SiteList:
        """List the sites that pilots come from."""
        from sluice.contracts.pilots.sites import SiteList

        return await self.call("GET", f"{API}/sites", answer=SiteList)

    async def add_site(self, body: NewSite) -> NewSiteSecret:
        """Add a site, and return the token with which its pilots enrol.

        The token is returned only this once.

        It can raise ``Conflict``.
        """
        from sluice.contracts.pilots.sites import NewSiteSecret

        return await self.call("POST", f"{API}/sites", retry=False, body=body, answer=NewSiteSecret)

    async def revoke_site(self, name: str) -> Site:
        """Revoke a site: its token and the tokens of its pilots are no longer accepted.

        The jobs of its pilots run elsewhere after their leases have expired.

        It can raise ``NotFound``.
        """
        from sluice.contracts.pilots.sites import Site

        return await self.call("DELETE", build_path("sites", name), answer=Site)

    async def explain_task(self, uid: UUID) -> Explanation:
        """Explain why a task does not run, or why it failed.

        It can raise ``NotFound``.
        """
        from sluice.contracts.jobs.tasks import Explanation

        return await self.call("GET", f"{API}/tasks/{uid}/explain", answer=Explanation)

    async def list_jobs(
        self,
        uid: UUID,
        *,
        state: JobState | None = None,
        sort: JobOrder | None = None,
        after: str | None = None,
        limit: int | None = None,
        full: bool | None = None,
    ) -> JobPage:
        """List the jobs of a task.

        By default jobs are listed by number, and ready jobs in the order in which they are
        leased. With `sort` by time or memory, only jobs that have ended are listed, the largest
        value first. `after` is the `after` of the previous page with the same order and state.

        It can raise ``NotFound``.
        """
        from sluice.contracts.jobs.tasks import JobPage

        return await self.call(
            "GET",
            f"{API}/tasks/{uid}/jobs",
            params={"state": state, "sort": sort, "after": after, "limit": limit, "full": full},
            answer=JobPage,
        )

    async def get_outlook(self, uid: UUID) -> Schedulability:
        """Return whether the jobs of a task will ever find a node.

        It can raise ``NotFound``.
        """
        from sluice.contracts.jobs.tasks import Schedulability

        return await self.call("GET", f"{API}/tasks/{uid}/outlook", answer=Schedulability)

    async def retry_task(self, uid: UUID) -> TaskStatus:
        """Retry the failed and quarantined jobs of a task, with all their attempts again.

        A task that has ended is refused (409).

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.jobs.tasks import TaskStatus

        return await self.call("POST", f"{API}/tasks/{uid}/retry", answer=TaskStatus)

    async def get_times(
        self,
        *,
        chain_uid: Sequence[UUID] | None = None,
        template: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> WorkTimes:
        """Return how long jobs waited and ran, by step and in total.

        With `chain_uid`, of these chains, while they run and afterwards. Without, of the tasks
        (of `template`, if given) that were created between `since` and `until`: by default on
        the last day.
        """
        from sluice.contracts.jobs.times import WorkTimes

        return await self.call(
            "GET",
            f"{API}/times",
            params={"chain_uid": chain_uid, "template": template, "since": since, "until": until},
            seconds=60,
            answer=WorkTimes,
        )


class WmsCalls(ForwardedWmsCalls):
    """All calls."""

    async def list_human_tasks(self) -> HumanTaskList:
        """List the human tasks that have not ended, oldest first."""
        from sluice.contracts.human_tasks.annotation import HumanTaskList

        return await self.call("GET", f"{API}/asked", answer=HumanTaskList)

    async def report_answers(
        self, uid: UUID, *, jobs: Sequence[AnsweredJob] = (), refused: Sequence[RefusedJob] = ()
    ) -> AcceptedAnswers:
        """Finish jobs with the files of their answers, and fail the jobs in `refused`.

        Repeating it is fine. No job is changed (422) if one file is wrong for a job that still
        waits: the file is missing, is not where the task's outputs belong, or does not have the
        name that the job's first attempt would give it. The field `jobs` has the ids of these
        jobs, separated by commas.

        It can raise ``NotFound``.
        """
        from sluice.contracts.human_tasks.annotation import AcceptedAnswers, AnsweredJobs

        return await self.call(
            "POST",
            f"{API}/asked/{uid}/answers",
            body=AnsweredJobs(jobs=list(jobs), refused=list(refused)),
            answer=AcceptedAnswers,
        )

    async def list_human_jobs(
        self, uid: UUID, *, after: int | None = None, limit: int | None = None
    ) -> HumanJobList:
        """List the jobs of a human task that wait for answers, by id.

        Only jobs with an id above `after` are listed. No job appears later behind a listed job
        with a lower id, so a client that pages by id misses no job.

        It can raise ``NotFound``.
        """
        from sluice.contracts.human_tasks.annotation import HumanJobList

        return await self.call(
            "GET",
            f"{API}/asked/{uid}/jobs",
            params={"after": after, "limit": limit},
            answer=HumanJobList,
        )

    async def boost(self, body: Boosts) -> BoostResult:
        """Raise the ranks of the given tasks, and of no others, until the next request.

        Ranks that a person has set stay as they are.
        """
        from sluice.contracts.jobs.tasks import BoostResult

        return await self.call("PUT", f"{API}/boosts", body=body, answer=BoostResult)

    async def get_counts(self, *, troubled: bool | None = None) -> WorkCounts:
        """Count the jobs of all tasks that have not ended, and the slots of present pilots.

        Quarantined jobs and tasks with troubled jobs are counted only for groups that the
        caller may see.
        """
        from sluice.contracts.chains.attention import WorkCounts

        return await self.call(
            "GET", f"{API}/counts", params={"troubled": troubled}, answer=WorkCounts
        )

    async def load_tool(self, uid: UUID, body: LoadTool) -> None:
        """Let a pilot take a step's jobs first, to load the step's tool there; `null` ends this.

        It can raise ``NotFound`` and ``Conflict``.
        """
        await self.call("PUT", f"{API}/pilots/{uid}/load", body=body)

    async def get_secrets(self, uid: UUID, body: JobToken) -> SecretValues:
        """Return the secrets of a job that the pilot has leased; they are for the tool only.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.access.secrets import SecretValues

        return await self.call(
            "POST", f"{API}/pilots/{uid}/secrets", retry=False, body=body, answer=SecretValues
        )

    async def sign_off(self, uid: UUID, body: SignOff) -> None:
        """Sign off a pilot that ends.

        The jobs that it returns are ready at once, and the return does not count against them.
        Repeating it is fine.

        It can raise ``NotFound``.
        """
        await self.call("POST", f"{API}/pilots/{uid}/sign-off", body=body)

    async def list_pilot_storages(self, uid: UUID) -> StorageUrls:
        """List the storages where a pilot may delete files that its attempts left unreported.

        It can raise ``NotFound``.
        """
        from sluice.contracts.pilots.output_files import StorageUrls

        return await self.call(
            "GET", f"{API}/pilots/{uid}/storages", retry=False, answer=StorageUrls
        )

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

    async def list_shares(self) -> GroupShares:
        """List the groups that have a weight or work.

        Each group has its weight and the number of its jobs that pilots have.
        """
        from sluice.contracts.access.groups import GroupShares

        return await self.call("GET", f"{API}/shares", answer=GroupShares)

    async def set_share(self, group: str, body: SetShare) -> None:
        """Set the weight of a group.

        Groups with work for the same nodes share them in proportion to their weights. Repeating
        it is fine.
        """
        await self.call("PUT", build_path("shares", group), body=body)

    async def list_steps(self) -> StepList:
        """List the steps that have tasks or had some within a day.

        Each step has the number of waiting jobs, since when the oldest one waits, the number of
        jobs that pilots have, the mean time of its jobs, and its priority.
        """
        from sluice.contracts.jobs.steps import StepList

        return await self.call("GET", f"{API}/steps", answer=StepList)

    async def prioritise_step(self, body: RankStep) -> StepList:
        """Set the priority of a step across all chains.

        A priority of 0 or more is added to the ranks of the step's tasks. With -1 no job of the
        step is leased, and running jobs finish. Repeating it is fine.
        """
        from sluice.contracts.jobs.steps import StepList

        return await self.call("PUT", f"{API}/steps", body=body, answer=StepList)

    async def list_storage_waits(self) -> StorageWaitList:
        """List the storages without enough space for the outputs of waiting jobs.

        The storage that jobs wait for longest comes first.
        """
        from sluice.contracts.data.storage_space import StorageWaitList

        return await self.call("GET", f"{API}/storage-waits", answer=StorageWaitList)

    async def list_tasks(
        self,
        *,
        uid: Sequence[UUID] | None = None,
        state: TaskState | None = None,
        limit: int | None = None,
        troubled: bool | None = None,
    ) -> TaskStatusList:
        """Return the states of tasks and the numbers of their jobs.

        With `uid`, the tasks of these uids that exist; without, the latest tasks. With
        `troubled`, only those that have not ended and have jobs that failed permanently or are
        quarantined.
        """
        from sluice.contracts.jobs.tasks import TaskStatusList

        return await self.call(
            "GET",
            f"{API}/tasks",
            params={"uid": uid, "state": state, "limit": limit, "troubled": troubled},
            answer=TaskStatusList,
        )

    async def get_task(self, uid: UUID) -> TaskStatus:
        """Return a task with its state and the numbers of its jobs by state.

        It can raise ``NotFound``.
        """
        from sluice.contracts.jobs.tasks import TaskStatus

        return await self.call("GET", f"{API}/tasks/{uid}", answer=TaskStatus)

    async def cancel_task(self, uid: UUID, body: Cancel | None = None) -> TaskStatus:
        """Cancel a task with all its open jobs.

        Pilots learn of it with their next heartbeat. Repeating it is fine; the first reason
        stays. A task that has finished or failed is refused (409).

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.jobs.tasks import TaskStatus

        return await self.call("POST", f"{API}/tasks/{uid}/cancel", body=body, answer=TaskStatus)

    async def prioritise_task(self, uid: UUID, *, rank: float) -> TaskStatus:
        """Set the rank of a task; tasks with a higher rank run earlier.

        From then on aging and retries add to this rank. A task that has ended is refused (409).

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.jobs.tasks import Prioritise, TaskStatus

        return await self.call(
            "POST", f"{API}/tasks/{uid}/rank", body=Prioritise(rank=rank), answer=TaskStatus
        )

    async def list_unschedulable_tasks(self, *, limit: int | None = None) -> UnschedulableList:
        """List the tasks with ready jobs that fit no node, oldest first.

        They fit neither a present node nor one that can be launched.
        """
        from sluice.contracts.jobs.tasks import UnschedulableList

        return await self.call(
            "GET", f"{API}/unschedulable", params={"limit": limit}, answer=UnschedulableList
        )
