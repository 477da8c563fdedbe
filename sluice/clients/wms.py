"""Client of the WMS: tasks and jobs for everybody, leases and reports for pilots."""

from collections.abc import Iterable
from datetime import datetime
from urllib.parse import quote
from uuid import UUID

from sluice.clients.asked_tasks import AskedTaskCalls
from sluice.clients.base import API
from sluice.clients.jobs import JobCalls
from sluice.clients.quotas import QuotaCalls
from sluice.contracts.attention import Acknowledge, WorkCounts
from sluice.contracts.groups import GroupShares, SetShare
from sluice.contracts.limits import LimitList, SetLimit
from sluice.contracts.loaded import LoadTool
from sluice.contracts.pilot_detail import PilotDetail
from sluice.contracts.pilot_list import PilotList
from sluice.contracts.pilots import (
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
from sluice.contracts.room import RoomWaitList
from sluice.contracts.secrets import SecretValues
from sluice.contracts.sites import GivenSite, NewSite, Site, SiteList
from sluice.contracts.states import TaskState
from sluice.contracts.steps import RankStep, StepList
from sluice.contracts.tasks import (
    Boosted,
    Boosts,
    Job,
    TaskStatus,
    TaskStatusList,
    UnschedulableList,
)
from sluice.contracts.times import Timeline, WorkTimes

#: Seconds that an answer may take beyond the time the WMS was asked to wait for work.
_LEASE_GRACE = 10.0
#: Seconds that the jobs of a chain may be counted for.
_COUNTING = 60.0


class WmsClient(AskedTaskCalls, JobCalls, QuotaCalls):
    service = "wms"

    async def task(self, uid: UUID, *, full: bool = False) -> TaskStatus:
        """``full``: with how many of its jobs were killed. Raises ``NotFound``."""
        return await self.call(
            "GET", f"{API}/tasks/{uid}", answer=TaskStatus, params={"full": full or None}
        )

    async def tasks(
        self,
        uids: Iterable[UUID] = (),
        *,
        state: TaskState | None = None,
        limit: int | None = None,
        troubled: bool = False,
        full: bool = False,
    ) -> TaskStatusList:
        """Those of ``uids`` that the WMS knows; without any, the latest; ``troubled``: of those
        that have not ended the ones with jobs that failed for good or are held (a WMS of the
        release before gives the latest). ``full``: as in ``task``.
        """
        params = {
            "uid": list(uids),
            "state": state,
            "limit": limit,
            "troubled": troubled or None,
            "full": full or None,
        }
        return await self.call("GET", f"{API}/tasks", answer=TaskStatusList, params=params)

    async def counts(self, *, troubled: bool = False) -> WorkCounts:
        """Of one moment. ``troubled``: with how many tasks are (a WMS of the release before leaves
        that out). Raises ``NotFound`` where a release before this one answers.
        """
        return await self.call(
            "GET", f"{API}/counts", answer=WorkCounts, params={"troubled": troubled or None}
        )

    async def unschedulable(self, *, limit: int | None = None) -> UnschedulableList:
        """Tasks whose jobs fit no node. Raises ``NotFound`` where a release before this one
        answers.
        """
        path, params = f"{API}/unschedulable", {"limit": limit}
        return await self.call("GET", path, answer=UnschedulableList, params=params)

    async def room_waits(self) -> RoomWaitList:
        """Storages that jobs wait for. Raises ``NotFound`` where a release before this one
        answers.
        """
        return await self.call("GET", f"{API}/room-waits", answer=RoomWaitList)

    async def boost(self, wanted: Boosts) -> Boosted:
        """The tasks that are ranked higher for now, all of them. Raises ``NotFound`` where the WMS
        is of the release before.
        """
        return await self.call("PUT", f"{API}/boosts", body=wanted, answer=Boosted)

    async def retry_job(self, job_id: int) -> Job:
        """Raises ``NotFound``, ``Conflict``."""
        return await self.call("POST", f"{API}/jobs/{job_id}/retry", answer=Job)

    async def pilots(self, *, attention: bool = False, limit: int | None = None) -> PilotList:
        """Those that are there come first. ``attention``: lost ones that nobody has acknowledged
        and that did not start again. A WMS of the release before knows neither and gives all,
        without ``total``.
        """
        params = {"attention": attention or None, "limit": limit}
        return await self.call("GET", f"{API}/pilots", answer=PilotList, params=params)

    async def pilot(self, uid: UUID) -> PilotDetail:
        """With what it has, what it did last, and what failed there. Raises ``NotFound``."""
        return await self.call("GET", f"{API}/pilots/{uid}", answer=PilotDetail)

    async def stop_pilot(self, uid: UUID) -> None:
        """Asks it to hand back what it has, and to end. Raises ``NotFound``; ``Conflict`` where it
        has ended.
        """
        await self.call("POST", f"{API}/pilots/{uid}/stop")

    async def load_tool(self, uid: UUID, asked: LoadTool) -> None:
        """Jobs of a step go to it first. Raises ``NotFound``; ``Conflict`` where it takes none."""
        await self.call("PUT", f"{API}/pilots/{uid}/load", body=asked)

    async def remove_pilot(self, uid: UUID) -> None:
        """Off the lists. Raises ``NotFound``; ``Conflict`` where it is there."""
        await self.call("DELETE", f"{API}/pilots/{uid}")

    async def drain_pilot(self, uid: UUID) -> None:
        """Asks the pilot, with its next heartbeat, to finish what it has and end. Raises
        ``NotFound``.
        """
        await self.call("POST", f"{API}/pilots/{uid}/drain")

    async def acknowledge_pilot(self, uid: UUID, asked: Acknowledge) -> None:
        """Somebody has seen that it was lost. Raises ``NotFound``; ``Conflict`` where it is not, or
        where somebody else has seen it first.
        """
        await self.call("POST", f"{API}/pilots/{uid}/acknowledge", body=asked)

    async def steps(self) -> StepList:
        """Over all chains. Raises ``NotFound`` where a release before this one answers."""
        return await self.call("GET", f"{API}/steps", answer=StepList)

    async def prioritise_step(self, new: RankStep) -> StepList:
        """Repeating it is fine."""
        return await self.call("PUT", f"{API}/steps", body=new, answer=StepList)

    async def limits(self) -> LimitList:
        """On resources that are counted over all nodes."""
        return await self.call("GET", f"{API}/limits", answer=LimitList)

    async def shares(self) -> GroupShares:
        """Of groups that have a weight, or work."""
        return await self.call("GET", f"{API}/shares", answer=GroupShares)

    async def set_share(self, group: str, new: SetShare) -> None:
        await self.call("PUT", f"{API}/shares/{group}", body=new)

    async def set_limit(self, new: SetLimit) -> LimitList:
        """Repeating it is fine."""
        return await self.call("PUT", f"{API}/limits", body=new, answer=LimitList)

    async def remove_limit(self, name: str) -> LimitList:
        """Raises ``NotFound``."""
        return await self.call("DELETE", f"{API}/limits/{quote(name, safe='')}", answer=LimitList)

    async def sites(self) -> SiteList:
        return await self.call("GET", f"{API}/sites", answer=SiteList)

    async def add_site(self, new: NewSite) -> GivenSite:
        """Never repeated by itself. Raises ``Conflict``."""
        return await self.call("POST", f"{API}/sites", body=new, answer=GivenSite, retry=False)

    async def revoke_site(self, name: str) -> Site:
        """Raises ``NotFound``."""
        return await self.call("DELETE", f"{API}/sites/{quote(name, safe='')}", answer=Site)

    async def times(
        self,
        chains: Iterable[UUID] = (),
        *,
        template: str | None = None,
        since: datetime | None = None,
    ) -> WorkTimes:
        """Of chains; without any, of tasks (of a template) that began since then. Raises
        ``NotFound`` where a release before this one answers.
        """
        params = {
            "chain_uid": list(chains),
            "template": template,
            "since": None if since is None else since.isoformat(),
        }
        return await self.call(
            "GET", f"{API}/times", answer=WorkTimes, params=params, seconds=_COUNTING
        )

    async def timeline(self, chain: UUID) -> Timeline:
        """Raises ``NotFound``, also where it has no task yet."""
        return await self.call(
            "GET", f"{API}/chains/{chain}/timeline", answer=Timeline, seconds=_COUNTING
        )

    async def register(self, pilot: RegisterPilot) -> Registration:
        return await self.call(
            "POST", f"{API}/pilots", body=pilot, answer=Registration, retry=False
        )

    async def lease(self, uid: UUID, request: LeaseRequest) -> Lease:
        """Never repeated by itself: leases count from the moment the request was sent. Raises
        ``NotFound``.
        """
        return await self.call(
            "POST",
            f"{API}/pilots/{uid}/lease",
            body=request,
            answer=Lease,
            retry=False,
            seconds=request.wait + _LEASE_GRACE,
        )

    async def heartbeat(self, uid: UUID, heartbeat: Heartbeat) -> HeartbeatAnswer:
        """Never repeated by itself, for the same reason. Raises ``NotFound``."""
        return await self.call(
            "POST",
            f"{API}/pilots/{uid}/heartbeat",
            body=heartbeat,
            answer=HeartbeatAnswer,
            retry=False,
        )

    async def report(self, uid: UUID, report: Report) -> ReportAnswers:
        """Raises ``NotFound`` where the WMS does not know the pilot."""
        return await self.call(
            "POST", f"{API}/pilots/{uid}/report", body=report, answer=ReportAnswers, retry=False
        )

    async def storages(self, uid: UUID) -> StorageUrls:
        """Where what an attempt wrote may be removed. Raises ``NotFound`` for an unknown pilot,
        ``NotAvailable`` where the DMS does not answer.
        """
        return await self.call(
            "GET", f"{API}/pilots/{uid}/storages", answer=StorageUrls, retry=False
        )

    async def secrets(self, uid: UUID, job: JobToken) -> SecretValues:
        """For the job's tool. Raises ``NotFound`` for an unknown pilot; ``Conflict`` where the job
        is not its own, or a secret cannot be had; ``NotAvailable``.
        """
        return await self.call(
            "POST", f"{API}/pilots/{uid}/secrets", body=job, answer=SecretValues, retry=False
        )

    async def sign_off(self, uid: UUID, sign_off: SignOff) -> None:
        await self.call("POST", f"{API}/pilots/{uid}/sign-off", body=sign_off)
