"""Client of the WMS: tasks and jobs for everybody, leases and reports for pilots."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from sluice.clients.base import API, build_path
from sluice.clients.human_tasks import HumanTaskCalls
from sluice.clients.jobs import JobCalls
from sluice.clients.quotas import QuotaCalls
from sluice.clients.work_calls import SharedWorkCalls
from sluice.contracts.access.groups import GroupShares, SetShare
from sluice.contracts.access.secrets import SecretValues
from sluice.contracts.chains.attention import WorkCounts
from sluice.contracts.common.states import TaskState
from sluice.contracts.data.storage_space import StorageWaitList
from sluice.contracts.jobs.steps import RankStep, StepList
from sluice.contracts.jobs.tasks import (
    BoostResult,
    Boosts,
    Job,
    TaskStatus,
    TaskStatusList,
    UnschedulableList,
)
from sluice.contracts.jobs.times import Timeline, WorkTimes
from sluice.contracts.pilots.pilot_list import PilotList
from sluice.contracts.pilots.pilots import (
    Heartbeat,
    HeartbeatAnswer,
    JobToken,
    Lease,
    LeaseRequest,
    RegisterPilot,
    Registration,
    Report,
    ReportAnswers,
    SignOff,
    StorageUrls,
)

#: Seconds for a response beyond the time for which the WMS waits for work.
_LEASE_GRACE = 10.0
#: Timeout in seconds for counting the jobs of a chain.
_COUNT_TIMEOUT = 60.0


class WmsClient(SharedWorkCalls, HumanTaskCalls, JobCalls, QuotaCalls):
    """Client of the WMS."""

    service = "wms"

    async def get_task(self, uid: UUID) -> TaskStatus:
        """Return a task; with ``full``, also with the number of killed jobs.

        Raises:
            NotFound: There is no such task.
        """
        return await self.call("GET", f"{API}/tasks/{uid}", answer=TaskStatus)

    async def list_tasks(
        self,
        uids: Iterable[UUID] = (),
        *,
        state: TaskState | None = None,
        limit: int | None = None,
        troubled: bool = False,
    ) -> TaskStatusList:
        """Return the existing tasks of ``uids``, or the latest tasks.

        Args:
            uids: The tasks.
            state: Only tasks in this state.
            limit: The maximum number of tasks.
            troubled: Only running tasks with failed or quarantined jobs.
        """
        params = {
            "uid": list(uids),
            "state": state,
            "limit": limit,
            "troubled": troubled or None,
        }
        return await self.call("GET", f"{API}/tasks", answer=TaskStatusList, params=params)

    async def get_counts(self, *, troubled: bool = False) -> WorkCounts:
        """Return the numbers of tasks and jobs at one moment.

        ``troubled`` includes the number of troubled tasks.
        """
        return await self.call(
            "GET", f"{API}/counts", answer=WorkCounts, params={"troubled": troubled or None}
        )

    async def list_unschedulable_tasks(self, *, limit: int | None = None) -> UnschedulableList:
        """Return tasks whose jobs fit no node."""
        path, params = f"{API}/unschedulable", {"limit": limit}
        return await self.call("GET", path, answer=UnschedulableList, params=params)

    async def list_storage_waits(self) -> StorageWaitList:
        """Return the storages whose free space jobs wait for."""
        return await self.call("GET", f"{API}/storage-waits", answer=StorageWaitList)

    async def boost(self, boosts: Boosts) -> BoostResult:
        """Set all tasks whose ranks are raised for now."""
        return await self.call("PUT", f"{API}/boosts", body=boosts, answer=BoostResult)

    async def retry_job(self, job_id: int) -> Job:
        """Retry a job.

        Raises:
            NotFound: There is no such job.
            Conflict: The job cannot be retried.
        """
        return await self.call("POST", f"{API}/jobs/{job_id}/retry", answer=Job)

    async def list_pilots(self, *, attention: bool = False, limit: int | None = None) -> PilotList:
        """Return pilots, active ones first.

        ``attention`` selects lost pilots that nobody has acknowledged and that did not start again.
        """
        params = {"attention": attention or None, "limit": limit}
        return await self.call("GET", f"{API}/pilots", answer=PilotList, params=params)

    async def prioritise_step(self, new: RankStep) -> StepList:
        """Set the priority of a step. Repeating the call is safe."""
        return await self.call("PUT", f"{API}/steps", body=new, answer=StepList)

    async def list_shares(self) -> GroupShares:
        """Return the fair shares of groups that have a weight or work."""
        return await self.call("GET", f"{API}/shares", answer=GroupShares)

    async def set_share(self, group: str, new: SetShare) -> None:
        """Set the fair share of a group."""
        await self.call("PUT", build_path("shares", group), body=new)

    async def get_times(
        self,
        chains: Iterable[UUID] = (),
        *,
        template: str | None = None,
        since: datetime | None = None,
    ) -> WorkTimes:
        """Return the times of chains, or of tasks (of a template) that began since a time."""
        params = {
            "chain_uid": list(chains),
            "template": template,
            "since": None if since is None else since.isoformat(),
        }
        return await self.call(
            "GET", f"{API}/times", answer=WorkTimes, params=params, seconds=_COUNT_TIMEOUT
        )

    async def get_timeline(self, chain: UUID) -> Timeline:
        """Return the timeline of a chain.

        Raises:
            NotFound: There is no such chain, or it has no task yet.
        """
        return await self.call(
            "GET", f"{API}/chains/{chain}/timeline", answer=Timeline, seconds=_COUNT_TIMEOUT
        )

    async def register(self, pilot: RegisterPilot) -> Registration:
        """Register a pilot."""
        return await self.call(
            "POST", f"{API}/pilots", body=pilot, answer=Registration, retry=False
        )

    async def lease(self, uid: UUID, request: LeaseRequest) -> Lease:
        """Lease jobs for a pilot.

        The call is not retried, because leases count from the moment of the request.

        Raises:
            NotFound: There is no such pilot.
        """
        return await self.call(
            "POST",
            f"{API}/pilots/{uid}/lease",
            body=request,
            answer=Lease,
            retry=False,
            seconds=request.wait + _LEASE_GRACE,
        )

    async def send_heartbeat(self, uid: UUID, heartbeat: Heartbeat) -> HeartbeatAnswer:
        """Send a heartbeat. The call is not retried, because leases count from the request.

        Raises:
            NotFound: There is no such pilot.
        """
        return await self.call(
            "POST",
            f"{API}/pilots/{uid}/heartbeat",
            body=heartbeat,
            answer=HeartbeatAnswer,
            retry=False,
        )

    async def report(self, uid: UUID, report: Report) -> ReportAnswers:
        """Report the results of a pilot's jobs.

        Raises:
            NotFound: There is no such pilot.
        """
        return await self.call(
            "POST", f"{API}/pilots/{uid}/report", body=report, answer=ReportAnswers, retry=False
        )

    async def list_storages(self, uid: UUID) -> StorageUrls:
        """Return the storages from which leftovers of an attempt may be removed.

        Raises:
            NotFound: There is no such pilot.
            NotAvailable: The DMS does not answer.
        """
        return await self.call(
            "GET", f"{API}/pilots/{uid}/storages", answer=StorageUrls, retry=False
        )

    async def get_secrets(self, uid: UUID, job: JobToken) -> SecretValues:
        """Return the secrets of a job's tool.

        Raises:
            NotFound: There is no such pilot.
            Conflict: The job is not leased to the pilot, or a secret is not available.
            NotAvailable: A service does not answer.
        """
        return await self.call(
            "POST", f"{API}/pilots/{uid}/secrets", body=job, answer=SecretValues, retry=False
        )

    async def sign_off(self, uid: UUID, sign_off: SignOff) -> None:
        """Sign a pilot off."""
        await self.call("POST", f"{API}/pilots/{uid}/sign-off", body=sign_off)
